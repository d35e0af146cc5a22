package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// Update implements [bot.Updater]: chat.update. A stream is ended first.
func (p *Platform) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	if d.Growing {
		return p.grow(ctx, d, id)
	}
	err := p.finish(ctx, d, id)
	var no *bot.PostError
	if err == nil || errors.As(err, &no) && no.Retry == 0 {
		p.out.settled(d.Place)
	}
	return err
}

// finish gives a placeholder its last text.
func (p *Platform) finish(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	body := markup.Write(d.Text, d.Anchor.Author.ID)
	if p.end(ctx, d, id, body) {
		return nil
	}
	err := p.replace(ctx, p.client.Call, d, id, body)
	if slackapi.Refused(err, "streaming_state_conflict") { // begun by a process that is gone
		if err := p.close(ctx, d, id); err != nil {
			return undone(err)
		}
		err = p.replace(ctx, p.client.Call, d, id, body)
	}
	return p.unchanged(err)
}

// grow shows what there is of a text so far, where the rate allows it: half of
// the calls that may come at once are kept for last texts. What streams is shown by Writing.
func (p *Platform) grow(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	now := p.o.Now()
	free, most := p.client.Free(slackapi.Update, nil)
	spare := free - p.out.owes(slackapi.Update, now)
	if p.out.stream(d.Channel.ID, id) != nil || !p.out.may(slackapi.Update+" growing", now) || spare <= most/2 || !p.out.growing.AllowN(now, 1) {
		return &bot.PostError{Retry: growEvery, Err: errors.New("the rate is kept for the last text")}
	}
	return p.unchanged(p.replace(ctx, p.client.Try, d, id, markup.Write(d.Text, d.Anchor.Author.ID)))
}

// replace gives a message its text. The metadata is what it was posted with; a
// stream gets it now.
func (p *Platform) replace(ctx context.Context, call caller, d bot.Draft, id earshot.MessageID, body markup.Body) error {
	_, err := p.say(ctx, call, slackapi.Update, url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, !d.Growing)}}, body)
	return err
}

// unchanged turns an error of chat.update into what the bot decides by: a
// [*bot.PostError] that may be repeated, one that may not, or another where the
// message may have changed all the same.
func (p *Platform) unchanged(err error) error {
	var limited *slackapi.LimitedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		p.out.block(slackapi.Update+" growing", p.o.Now().Add(limited.After+time.Minute))
	case slackapi.Refused(err, "message_not_found"):
		err = fmt.Errorf("somebody has deleted the message: %w", err)
		return &bot.PostError{Err: err}
	case slackapi.Refused(err, "edit_window_closed"):
		err = fmt.Errorf("the workspace's settings allow edits for a time only: %w", err)
		return &bot.PostError{Err: err}
	case slackapi.Refused(err, "streaming_state_conflict"):
		return err // it is stopped the next time
	}
	return undone(err)
}
