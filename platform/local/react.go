package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// React adds an emoji, by its name without colons, to a message. A person can add each
// emoji once.
func (c *Chat) React(ctx context.Context, channel string, id earshot.MessageID, as, name string) (earshot.Message, error) {
	return c.react(ctx, channel, id, as, name, false)
}

// Unreact takes an emoji back. The error is [ErrForbidden] where this person has not
// given it.
func (c *Chat) Unreact(ctx context.Context, channel string, id earshot.MessageID, as, name string) (earshot.Message, error) {
	return c.react(ctx, channel, id, as, name, true)
}

// Reacted returns the emojis that a person has given to each of the messages and can
// take back, by name.
func (c *Chat) Reacted(ctx context.Context, s earshot.Scope, who earshot.AuthorID, ids ...earshot.MessageID) (map[earshot.MessageID][]string, error) {
	list, err := c.store.Reactors(ctx, s, ids...)
	names := map[earshot.MessageID][]string{}
	for id, reactors := range list {
		for _, r := range reactors {
			if r.ID == who {
				names[id] = append(names[id], r.Emoji)
			}
		}
	}
	return names, err
}

func (c *Chat) react(ctx context.Context, channel string, id earshot.MessageID, as, name string, take bool) (earshot.Message, error) {
	name = strings.Trim(strings.TrimSpace(name), ":")
	if name == "" || len(name) > maxName || strings.ContainsAny(name, " \n:<>") {
		return earshot.Message{}, fmt.Errorf("%w: an emoji is given by its name", ErrInvalid)
	}
	ch, who, m, err := c.find(ctx, channel, id, as)
	if err != nil {
		return earshot.Message{}, err
	}
	at := ch.Scope()
	mine, err := c.Reacted(ctx, at, who.ID, id)
	if err != nil {
		return earshot.Message{}, err
	}
	switch gave := slices.Contains(mine[id], name); {
	case gave && !take:
		return m, nil
	case !gave && take:
		return earshot.Message{}, fmt.Errorf("%w: %s has not given the emoji %s", ErrForbidden, who.Name, name)
	}
	now, err := c.now(ctx, at)
	if err != nil {
		return earshot.Message{}, err
	}
	// A reaction asks nothing, so the bot needs no event.
	if _, err := c.store.React(ctx, at, earshot.ReactionEvent{Message: id, Emoji: name, Author: who.ID, Taken: take, At: now}); err != nil {
		return earshot.Message{}, fmt.Errorf("record a reaction: %w", err)
	}
	if m, err = c.store.Message(ctx, at, id); err != nil {
		return earshot.Message{}, fmt.Errorf("read message %s: %w", id, err)
	}
	c.tell(Update{Channel: ch, Change: earshot.Updated, Message: m})
	return m, nil
}
