package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// storeChannel stores a channel that is new or has changed.
func (b *Bot) storeChannel(ctx context.Context, c earshot.Channel) error {
	b.mu.Lock()
	known := b.channels[c.Scope()] == c
	b.mu.Unlock()
	if known {
		return nil
	}
	if err := b.store.PutChannel(ctx, c); err != nil {
		return fmt.Errorf("store channel %s: %w", c.ID, err)
	}
	b.mu.Lock()
	b.channels[c.Scope()] = c
	b.mu.Unlock()
	return nil
}

// Left forgets a channel that the bot is no longer in. The channel may then be
// erased from the store; it is stored again with the next event in it.
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
	c, err := b.store.Channel(ctx, s)
	if errors.Is(err, earshot.ErrNotFound) {
		return earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Kind: earshot.KindChannel}, nil
	}
	if err != nil {
		return earshot.Channel{}, fmt.Errorf("look up channel %s: %w", s.Channel, err)
	}
	return c, nil
}
