package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// channelChanged takes over a channel's new name, where the channel is known.
func (p *Platform) channelChanged(ctx context.Context, x delivery) error {
	fromEvent := x.Event.Channel
	if fromEvent.ID == "" {
		return nil
	}
	_, err := p.o.Store.Channel(ctx, p.scope(fromEvent.ID))
	if errors.Is(err, earshot.ErrNotFound) {
		return nil
	}
	if err == nil {
		fromEvent.Kind = "" // the event tells half of it
		_, err = p.names.channel(ctx, fromEvent, x.Event.Time)
	}
	if err != nil {
		return fmt.Errorf("channel %s: %w", fromEvent.ID, err)
	}
	return nil
}

// joined learns about a channel that the bot was invited to.
func (p *Platform) joined(ctx context.Context, x delivery) error {
	if !p.identity.Is(x.Event.User) || x.Event.Channel.ID == "" {
		return nil // that other people joined comes as a message
	}
	c, err := p.names.channel(ctx, x.Event.Channel, x.Event.Time)
	if err != nil {
		return err
	}
	p.o.Log.Info("joined a channel", "channel", c.ID)
	if err := p.o.Store.DropNote(ctx, p.leaving(c.ID)); err != nil {
		return fmt.Errorf("channel %s: %w", c.ID, err)
	}
	if err := p.o.Store.PutChannel(ctx, c); err != nil {
		return fmt.Errorf("channel %s: %w", c.ID, err)
	}
	return p.welcome(ctx, c.ID)
}

// left handles the events that the bot, or somebody else, left a channel.
func (p *Platform) left(ctx context.Context, x delivery) error {
	c := x.Event.Channel
	if c.ID == "" || x.Event.Type == "member_left_channel" && !p.identity.Is(x.Event.User) {
		return nil
	}
	p.o.Log.Info("left a channel", "channel", c.ID, "purge", p.o.Purge)
	if err := p.o.Store.DropNote(ctx, p.welcomed(c.ID)); err != nil {
		return fmt.Errorf("left channel %s: %w", c.ID, err)
	}
	if p.o.Purge {
		if err := p.planErasure(ctx, p.leaving(c.ID), func(ctx context.Context) (answer, error) { return p.member(ctx, c.ID) }); err != nil {
			return fmt.Errorf("left channel %s: %w", c.ID, err)
		}
	}
	return p.leave(ctx, p.scope(c.ID), false)
}

// leave erases a channel where purge is set, and reports it to Options.Left.
func (p *Platform) leave(ctx context.Context, s earshot.Scope, purge bool) error {
	if purge {
		p.names.forget(s.Channel)
		if err := p.o.Store.Erase(ctx, s); err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return fmt.Errorf("leave channel %s: %w", s.Channel, err)
		}
	}
	return p.o.Left(ctx, s)
}

// removed handles the events that the app was uninstalled, or its tokens revoked.
func (p *Platform) removed(ctx context.Context, x delivery) error {
	if x.Event.Type == "tokens_revoked" && !slices.ContainsFunc(x.Event.Bots, p.identity.Is) {
		return nil
	}
	// It may come late, and the app may have been installed again.
	switch a, err := p.installed(ctx); {
	case a == yes:
		return nil
	case p.asksTwice():
		// Erasing cannot be undone: Confirm asks a second time.
		return p.planErasure(ctx, p.uninstalling(), func(context.Context) (answer, error) { return a, err })
	case x.Event.Type == "tokens_revoked" && a == no:
		return nil // [Platform.SignedOut] tells; the app is still there, and may get another token
	case a == no:
		return p.uninstalled(ctx, false)
	default:
		return fmt.Errorf("%s: %w", x.Event.Type, err)
	}
}

// asksTwice reports whether what follows an uninstallation cannot be undone, so that Slack
// must confirm it a second time.
func (p *Platform) asksTwice() bool { return p.o.Purge || p.o.Uninstalled != nil }

// uninstalled stops the platform and leaves all channels of the workspace.
func (p *Platform) uninstalled(ctx context.Context, purge bool) error {
	if p.o.Uninstalled != nil {
		p.o.Log.Info("the app was removed from the workspace", "workspace", p.workspace)
		p.stop()
		return p.o.Uninstalled(ctx)
	}
	p.o.Log.Error("the app was removed from the workspace: install it again and set the new tokens", "workspace", p.workspace, "purge", purge)
	p.stop()
	list, err := p.o.Store.FindChannels(ctx, earshot.ChannelQuery{Platform: earshot.Slack, Workspaces: []earshot.WorkspaceID{p.workspace}})
	if err != nil {
		return fmt.Errorf("leave workspace %s: %w", p.workspace, err)
	}
	for _, c := range list {
		if err := p.leave(ctx, c.Scope(), purge); err != nil {
			return err
		}
	}
	return nil
}

// userChanged takes over a user's profile.
func (p *Platform) userChanged(ctx context.Context, x delivery) error {
	if x.Event.Author.ID == "" || p.identity.Is(x.Event.Author.ID) {
		return nil
	}
	a := x.Event.Author
	a.AsOf = x.Event.Time
	return p.names.changed(ctx, a, x.Event.Bot)
}

// groupChanged takes over a user group's name and members.
func (p *Platform) groupChanged(_ context.Context, x delivery) error {
	if x.Event.Group != "" && x.Event.Handle != "" {
		p.names.putGroup(x.Event.Group, x.Event.Handle, x.Event.Users)
	}
	return nil
}
