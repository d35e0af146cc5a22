package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if r.Member.ID != "" && r.Member.ID == r.User {
		if err := p.directory.meet(ctx, r.Guild, r.Member); err != nil { // prompts say who reacted
			return err
		}
	}
	if x.Type != "MESSAGE_REACTION_ADD" || r.Bot || !slices.Contains(p.o.Reactions, r.Emoji) {
		return nil
	}
	return p.askedByReaction(ctx, x, at.channel(), did)
}

// askedByReaction hands an emoji that asks to the bot, unless a bot gave it.
func (p *Platform) askedByReaction(ctx context.Context, x *delivery, c earshot.Channel, did earshot.ReactionEvent) error {
	known, err := p.o.Store.Authors(ctx, earshot.Discord, c.Workspace, did.Author)
	if err != nil {
		return fmt.Errorf("reaction to message %s: %w", did.Message, err)
	}
	if slices.ContainsFunc(known, func(a earshot.Author) bool { return a.Kind == earshot.Bot }) {
		return nil
	}
	refused, err := p.Refused(ctx, c, did.Author)
	if err != nil {
		return fmt.Errorf("reaction to message %s: %w", did.Message, err)
	}
	m := dispatchMessage{
		channel: c, message: earshot.Message{ID: did.Message}, refused: refused, suffix: "reaction",
		by: earshot.Reactor{Emoji: did.Emoji, ID: did.Author, At: did.At},
	}
	return p.pass(ctx, x, m)
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
