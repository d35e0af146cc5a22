package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// record makes an event durable, with the turn that it asks for, and confirms
// the post that our own message is.
func (b *Bot) record(ctx context.Context, e Event, ask *earshot.ConversationID, why string) (Outcome, error) {
	if e.Received == 0 {
		e.Received = b.Now()
	}
	if err := b.meet(ctx, e.Channel); err != nil {
		return Outcome{}, err
	}
	e, err := b.unsaid(ctx, e)
	if err != nil {
		return Outcome{}, fmt.Errorf("look up message %s: %w", e.Message.ID, err)
	}
	b.Fault(faultBeforeCommit)
	accepted, err := b.Store.Accept(ctx, e.Channel.Scope(), e.Event, ask)
	if err != nil {
		return Outcome{}, fmt.Errorf("record message %s: %w", e.Message.ID, err)
	}
	if e.Key != "" && b.Identity.Is(e.Message.Author.ID) && !e.Message.Deleted {
		err := b.Store.Confirm(ctx, e.Channel.Scope(), e.Key, e.Message.ID)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) && !errors.Is(err, earshot.ErrConflict) {
			return Outcome{}, fmt.Errorf("confirm message %s: %w", e.Message.ID, err)
		}
	}
	if m := e.Message; b.Files != nil && (m.Deleted || m.Edited != 0) {
		b.Files.Forget(e.Channel.Scope(), m.ID)
	}
	b.Fault(faultAfterCommitBeforeAck)
	if accepted.Opened {
		b.hurry()
	}
	return Outcome{Accepted: accepted, Why: why}, nil
}

// meet stores a channel when it is not known as it is now.
func (b *Bot) meet(ctx context.Context, c earshot.Channel) error {
	b.mu.Lock()
	known := b.channels[c.Scope()] == c
	b.mu.Unlock()
	if known {
		return nil
	}
	if err := b.Store.PutChannel(ctx, c); err != nil {
		return fmt.Errorf("store channel %s: %w", c.ID, err)
	}
	b.mu.Lock()
	b.channels[c.Scope()] = c
	b.mu.Unlock()
	return nil
}

// Left forgets what the bot remembers of a channel that it is no longer in: the
// channel may be erased, and is stored again when an event comes.
func (b *Bot) Left(s earshot.Scope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.channels, s)
}

// channel returns what is known of a channel.
func (b *Bot) channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error) {
	b.mu.Lock()
	c, ok := b.channels[s]
	b.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := b.Store.Channel(ctx, s)
	if errors.Is(err, earshot.ErrNotFound) {
		return earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Kind: earshot.KindChannel}, nil
	}
	if err != nil {
		return earshot.Channel{}, fmt.Errorf("look up channel %s: %w", s.Channel, err)
	}
	return c, nil
}
