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
		p.replies.release(d.Place)
	}
	return err
}

// finish gives a placeholder its final text.
func (p *Platform) finish(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	body := markup.Write(d.Text, d.Mentions...)
	if p.stopStream(ctx, d, id, body) {
		return nil
	}
	err := p.replace(ctx, p.client.Call, d, id, body)
	if slackapi.IsRefused(err, "streaming_state_conflict") { // another process began the stream
		if err := p.stopForeignStream(ctx, d, id); err != nil {
			return postError(err)
		}
		err = p.replace(ctx, p.client.Call, d, id, body)
	}
	return p.updateError(err)
}

// grow shows an unfinished text where the rate allows it: half of a minute's calls
// are kept for final texts. Streams are continued by Writing instead.
func (p *Platform) grow(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	now := p.o.Now()
	free, most := p.client.Free(slackapi.Update, nil)
	spare := free - p.replies.reservedCalls(slackapi.Update, now)
	if _, streams := p.replies.streams.Get(streamKey{d.Channel.ID, id}); streams || !p.replies.allowed(slackapi.Update+" growing", now) || spare <= most/2 || !p.replies.growing.AllowN(now, 1) {
		return &bot.PostError{Retry: growEvery, Err: errors.New("the rate is kept for the last text")}
	}
	return p.updateError(p.replace(ctx, p.client.Try, d, id, markup.Write(d.Text, d.Mentions...)))
}

// replace gives a message its text. It repeats the metadata of the post, which a
// stream has not had yet.
func (p *Platform) replace(ctx context.Context, call apiCaller, d bot.Draft, id earshot.MessageID, body markup.Body) error {
	_, err := p.send(ctx, call, slackapi.Update, url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, !d.Growing)}}, body, buttons(d)...)
	return err
}

// updateError turns an error of chat.update into a [*bot.PostError], with or without
// Retry, where the message is certainly unchanged. Other errors stay as they are.
func (p *Platform) updateError(err error) error {
	var limited *slackapi.LimitedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		p.replies.until.Put(slackapi.Update+" growing", p.o.Now().Add(limited.After+time.Minute))
	case slackapi.IsRefused(err, "message_not_found"):
		err = fmt.Errorf("somebody has deleted the message: %w", err)
		return &bot.PostError{Err: err}
	case slackapi.IsRefused(err, "edit_window_closed"):
		err = fmt.Errorf("the workspace's settings allow edits for a time only: %w", err)
		return &bot.PostError{Err: err}
	case slackapi.IsRefused(err, "streaming_state_conflict"):
		return err // finish stops the stream
	}
	return postError(err)
}
