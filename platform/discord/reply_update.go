package discord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/markup"
)

// growEvery is after how long a growing text that had no room is shown again.
const growEvery = time.Second

// Update implements [bot.Updater]: Edit Message.
func (p *Platform) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	buttons, err := buttonsOf(d)
	if err != nil {
		return err
	}
	channel, err := p.channelOf(ctx, d.Place, id)
	if err != nil {
		return err
	}
	body := changedMessage{Content: markup.Write(d.Text, d.Mentions...), Flags: suppressEmbeds, Mentions: mentionedBy(d), Components: buttons}
	if d.Growing {
		// One call is kept for the last text of each placeholder of the channel.
		if free, most := p.client.Free(rest.UpdateMessage, channel, id); most > 1 && free <= p.replies.waiting(channel, p.o.Now()) || free < 1 {
			return &bot.PostError{Retry: growEvery, Err: errors.New("the rate is kept for the last text")}
		}
		_, err = p.client.Try(ctx, rest.UpdateMessage, []any{channel, id}, nil, body)
		return updateError(err)
	}
	if err := p.questionStands(ctx, d.Place); err != nil {
		return err
	}
	_, err = p.client.Call(ctx, rest.UpdateMessage, []any{channel, id}, nil, body)
	if discordapi.IsRefused(err, discordapi.ThreadArchived) {
		if err = p.unarchive(ctx, channel); err == nil {
			_, err = p.client.Call(ctx, rest.UpdateMessage, []any{channel, id}, nil, body)
		}
	}
	err = updateError(err)
	var refused *bot.PostError
	if err == nil || errors.As(err, &refused) && refused.Retry == 0 {
		p.replies.release(d.Place)
	}
	return err
}

// updateError turns an error of an update into a [*bot.PostError] where the message is
// certainly unchanged.
func updateError(err error) error {
	if discordapi.IsRefused(err, discordapi.UnknownMessage, discordapi.UnknownChannel) {
		return &bot.PostError{Err: fmt.Errorf("somebody has deleted the message: %w", err)}
	}
	return postError(err)
}

// Remove implements [bot.Remover]: Delete Message.
func (p *Platform) Remove(ctx context.Context, at bot.Place, id earshot.MessageID) error {
	channel, err := p.channelOf(ctx, at, id)
	if err != nil {
		return err
	}
	_, err = p.client.Call(ctx, rest.DeleteMessage, []any{channel, id}, nil, nil)
	if discordapi.IsRefused(err, discordapi.ThreadArchived) {
		if err = p.unarchive(ctx, channel); err == nil {
			_, err = p.client.Call(ctx, rest.DeleteMessage, []any{channel, id}, nil, nil)
		}
	}
	if err != nil && !discordapi.IsRefused(err, discordapi.UnknownMessage, discordapi.UnknownChannel) {
		return postError(err)
	}
	p.replies.release(at)
	return nil
}

// unarchive opens a thread in which nothing was said for a while: a post does so by
// itself, an update or a deletion is refused.
func (p *Platform) unarchive(ctx context.Context, thread string) error {
	_, err := p.client.Call(ctx, rest.UpdateChannel, []any{thread}, nil, map[string]bool{"archived": false})
	return err
}

// channelOf returns the Discord channel in which a post of ours stands. The store has
// the message of every answer that an earlier process began.
func (p *Platform) channelOf(ctx context.Context, at bot.Place, id earshot.MessageID) (string, error) {
	if to, ok := p.replies.to.Get(placeKey(at)); ok {
		return to.id, nil
	}
	if err := p.knowHome(ctx, at.Channel.ID); err != nil {
		return "", &bot.PostError{Retry: again, Err: fmt.Errorf("where channel %s is: %w", at.Channel.ID, err)}
	}
	m, err := p.o.Store.Message(ctx, at.Channel.Scope(), id)
	switch {
	case err == nil:
		return p.home(at.Channel.ID, m), nil
	case errors.Is(err, earshot.ErrNotFound):
		return p.placed(at).id, nil
	}
	return "", &bot.PostError{Retry: again, Err: fmt.Errorf("where is message %s: %w", id, err)}
}
