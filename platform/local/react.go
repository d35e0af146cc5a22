package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A reaction is an emoji that a person has given to a message. The store counts
// emojis; who gave them is known within one process only.
type reaction struct {
	scope  earshot.Scope
	id     earshot.MessageID
	author earshot.AuthorID
	name   string
}

// React adds an emoji, by its name without colons, to a message. Within one process a
// person can add each emoji once.
func (c *Chat) React(ctx context.Context, channel string, id earshot.MessageID, as, name string) (earshot.Message, error) {
	return c.react(ctx, channel, id, as, name, 1)
}

// Unreact takes an emoji back. The error is [ErrForbidden] where this person has not
// given it in this process.
func (c *Chat) Unreact(ctx context.Context, channel string, id earshot.MessageID, as, name string) (earshot.Message, error) {
	return c.react(ctx, channel, id, as, name, -1)
}

// Reacted returns the emojis that a person has given to a message and can take back, by
// name.
func (c *Chat) Reacted(s earshot.Scope, id earshot.MessageID, who earshot.AuthorID) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for r := range c.reacted {
		if r.scope == s && r.id == id && r.author == who {
			names = append(names, r.name)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

func (c *Chat) react(ctx context.Context, channel string, id earshot.MessageID, as, name string, by int) (earshot.Message, error) {
	name = strings.Trim(strings.TrimSpace(name), ":")
	if name == "" || len(name) > maxName || strings.ContainsAny(name, " \n:<>") {
		return earshot.Message{}, fmt.Errorf("%w: an emoji is given by its name", ErrInvalid)
	}
	ch, err := c.channel(ctx, channel)
	if err != nil {
		return earshot.Message{}, err
	}
	who, err := c.person(ctx, as, false)
	if err != nil {
		return earshot.Message{}, err
	}
	m, err := c.store.Message(ctx, ch.Scope(), id)
	if err != nil || m.Deleted {
		return earshot.Message{}, fmt.Errorf("message %s: %w", id, orNotFound(err))
	}
	r := reaction{ch.Scope(), id, who.ID, name}
	switch changed := c.reacts(r, by > 0); {
	case !changed && by > 0:
		return m, nil
	case !changed:
		return earshot.Message{}, fmt.Errorf("%w: %s has not given the emoji %s", ErrForbidden, who.Name, name)
	}
	// A reaction asks nothing, so the bot needs no event.
	if _, err := c.store.React(ctx, r.scope, id, name, by); err != nil {
		c.reacts(r, by < 0)
		return earshot.Message{}, fmt.Errorf("record a reaction: %w", err)
	}
	if m, err = c.store.Message(ctx, r.scope, id); err != nil {
		return earshot.Message{}, fmt.Errorf("read message %s: %w", id, err)
	}
	c.tell(Update{Channel: ch, Change: earshot.Updated, Message: m})
	return m, nil
}

// reacts remembers that somebody has given an emoji, or has it no more, and reports
// whether that is news.
func (c *Chat) reacts(r reaction, gives bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reacted[r] == gives {
		return false
	}
	if c.reacted[r] = gives; !gives {
		delete(c.reacted, r)
	}
	return true
}
