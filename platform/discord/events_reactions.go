package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// reaction adds or removes emoji of a stored message. A message that is not stored has
// its reactions when it is read from history. Who reacted is not kept.
//
// The new list goes to the bot as an event about the message, so that it is stored
// together with the place where the session continues: a reaction that comes again
// after a crash is not counted twice. All events of a channel come by one shard, one
// after another, so nobody else counts at the same time.
func (p *Platform) reaction(ctx context.Context, x *delivery) error {
	r, ok := discordmsg.ReadReaction(x.Data)
	if !ok {
		return nil
	}
	at, ok, err := p.listensTo(ctx, x, r.Guild, r.Channel)
	if err != nil || !ok {
		return err
	}
	m, err := p.o.Store.Message(ctx, at.channel().Scope(), r.Message)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && m.Deleted {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reaction to message %s: %w", r.Message, err)
	}
	now := reacted(m.Reactions, x.Type, r.Emoji)
	if slices.Equal(now, m.Reactions) {
		return nil
	}
	m.Reactions, m.Mentions, m.Files = now, nil, nil // nil: as they are stored
	_, err = p.pass(ctx, x, passed{channel: at.channel(), message: m, known: true})
	return err
}

// reacted returns a list of reactions after an event. It is never nil.
func reacted(list []earshot.Reaction, event, emoji string) []earshot.Reaction {
	list = append([]earshot.Reaction{}, list...)
	if event == "MESSAGE_REACTION_REMOVE_ALL" {
		return list[:0]
	}
	i := slices.IndexFunc(list, func(r earshot.Reaction) bool { return r.Name == emoji })
	switch {
	case emoji == "":
	case event == "MESSAGE_REACTION_ADD" && i < 0:
		list = append(list, earshot.Reaction{Name: emoji, Count: 1})
	case event == "MESSAGE_REACTION_ADD":
		list[i].Count++
	case i >= 0 && event == "MESSAGE_REACTION_REMOVE" && list[i].Count > 1:
		list[i].Count--
	case i >= 0:
		list = slices.Delete(list, i, i+1)
	}
	return list
}
