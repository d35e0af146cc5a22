package discord

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// reaction records that somebody gave an emoji to a message, or took it back, or that
// a moderator took all away. Discord tells no time: the order in which the events come
// decides. All events of a channel come by one shard, one after another, and a session
// that is resumed tells again everything from some event on, so that the last of them
// is the last again.
func (p *Platform) reaction(ctx context.Context, x *delivery) error {
	r, ok := discordmsg.ReadReaction(x.Data)
	if !ok {
		return nil
	}
	at, ok, err := p.listensTo(ctx, x, r.Guild, r.Channel)
	if err != nil || !ok {
		return err
	}
	did := earshot.ReactionEvent{Message: r.Message, Emoji: r.Emoji, At: p.reactedAt(earshot.TimeOf(x.Received))}
	switch x.Type {
	case "MESSAGE_REACTION_REMOVE_ALL":
		did.Emoji, did.All, did.Taken = "", true, true
	case "MESSAGE_REACTION_REMOVE_EMOJI":
		did.All, did.Taken = true, true
	default:
		did.Author, did.Taken = r.User, x.Type == "MESSAGE_REACTION_REMOVE"
	}
	if did.Emoji == "" && x.Type != "MESSAGE_REACTION_REMOVE_ALL" || did.Author == "" && !did.All {
		return nil
	}
	_, err = p.o.Store.React(ctx, at.channel().Scope(), did)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return fmt.Errorf("reaction to message %s: %w", r.Message, err)
	}
	if r.Member.ID == "" || r.Member.ID != r.User {
		return nil
	}
	return p.directory.meet(ctx, r.Guild, r.Member) // prompts say who reacted
}

// reactedAt returns the time of a reaction that came at a time: later than that of the
// one before.
func (p *Platform) reactedAt(came earshot.Time) earshot.Time {
	for {
		last := p.reacted.Load()
		next := max(int64(came), last+1)
		if p.reacted.CompareAndSwap(last, next) {
			return earshot.Time(next)
		}
	}
}
