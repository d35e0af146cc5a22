package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// enterWorkspace tells of a guild before its first event is passed on, and stores the
// bot among its authors. The workspace of direct messages is one as well.
func (p *Platform) enterWorkspace(ctx context.Context, w earshot.WorkspaceID) error {
	if _, ok := p.entered.Get(w); ok {
		return nil
	}
	if err := p.self().Introduce(ctx, w, p.identity, p.user); err != nil {
		return err
	}
	if err := p.o.Joined(ctx, w); err != nil {
		return fmt.Errorf("guild %s: %w", w, err)
	}
	p.entered.Put(w, struct{}{})
	return nil
}

// channelGone handles that a channel or a private thread was deleted.
func (p *Platform) channelGone(ctx context.Context, x *delivery) error {
	c, ok := readPlace(x.Data, "")
	if !ok {
		return nil
	}
	p.o.Log.Info("a channel was deleted", "channel", c.ID, "purge", p.o.Purge)
	return p.leaveWithThreads(ctx, c)
}

// threadMembers handles that the bot was removed from a private thread, which it then
// cannot see any more. In other threads it need not be a member.
func (p *Platform) threadMembers(ctx context.Context, x *delivery) error {
	var t struct {
		ID      string             `json:"id"`
		Guild   string             `json:"guild_id"`
		Removed []earshot.AuthorID `json:"removed_member_ids"`
	}
	if json.Unmarshal(x.Data, &t) != nil || !slices.ContainsFunc(t.Removed, p.identity.Is) {
		return nil
	}
	if c, ok := p.directory.places.Get(t.ID); ok && c.Type != discordmsg.PrivateThread {
		return nil
	}
	// That it is stored as a channel says that it is a private thread.
	p.o.Log.Info("removed from a private thread", "channel", t.ID, "purge", p.o.Purge)
	return p.leaveChannel(ctx, t.Guild, t.ID)
}

// channelHidden handles that the bot may not see a channel, of which Discord tells
// nothing then. Where it is stored the bot saw it before. Should it be shown again,
// nothing is known of what was said meanwhile, as in a channel that is new.
func (p *Platform) channelHidden(ctx context.Context, c place) error {
	if was, ok := p.directory.places.Get(c.ID); ok {
		p.o.Log.Info("a channel is no longer shown to the bot", "channel", was.ID, "purge", p.o.Purge)
	}
	return p.leaveWithThreads(ctx, c)
}

// leaveWithThreads is leaveChannel for a channel and its private threads, which are
// shown to nobody who does not see the channel.
func (p *Platform) leaveWithThreads(ctx context.Context, c place) error {
	for _, thread := range append(p.directory.privateThreads(c.ID), c.ID) {
		if err := p.leaveChannel(ctx, c.Guild, thread); err != nil {
			return err
		}
	}
	return nil
}

// leaveChannel forgets a channel that the bot no longer sees, where it is stored.
// Before anything is erased Discord must confirm it, since erasing cannot be undone.
func (p *Platform) leaveChannel(ctx context.Context, guild, id string) error {
	p.directory.places.Drop(id)
	s := earshot.Scope{Platform: earshot.Discord, Workspace: discordmsg.Workspace(guild), Channel: earshot.ChannelID(id)}
	if _, err := p.o.Store.Channel(ctx, s); errors.Is(err, earshot.ErrNotFound) {
		return nil
	} else if err != nil {
		return fmt.Errorf("leave channel %s: %w", id, err)
	}
	purge := false
	if p.o.Purge {
		_, err := p.client.Call(ctx, rest.GetChannel, []any{id}, nil, nil)
		purge = discordapi.IsRefused(err, discordapi.UnknownChannel, discordapi.MissingAccess)
		if err != nil && !purge {
			return fmt.Errorf("leave channel %s: %w", id, err)
		}
	}
	return p.leave(ctx, s, purge)
}

// guildGone handles that the bot was removed from a guild. A guild that is only
// unavailable has an outage.
func (p *Platform) guildGone(ctx context.Context, x *delivery) error {
	var g struct {
		ID          string `json:"id"`
		Unavailable bool   `json:"unavailable"`
	}
	if json.Unmarshal(x.Data, &g) != nil || g.ID == "" || g.Unavailable {
		return nil
	}
	w := discordmsg.Workspace(g.ID)
	p.o.Log.Info("removed from a guild", "workspace", w, "purge", p.o.Purge)
	p.entered.Drop(w)
	purge := false
	if p.o.Purge {
		_, err := p.client.Call(ctx, rest.GetGuild, []any{g.ID}, nil, nil)
		purge = discordapi.IsRefused(err, discordapi.UnknownGuild, discordapi.MissingAccess)
		if err != nil && !purge {
			return fmt.Errorf("leave guild %s: %w", g.ID, err)
		}
	}
	list, err := p.o.Store.FindChannels(ctx, earshot.ChannelQuery{Platform: earshot.Discord, Workspaces: []earshot.WorkspaceID{w}})
	if err != nil {
		return fmt.Errorf("leave guild %s: %w", g.ID, err)
	}
	for _, c := range list {
		p.directory.places.Drop(string(c.ID))
		if err := p.leave(ctx, c.Scope(), purge); err != nil {
			return err
		}
	}
	return nil
}

// leave erases a channel where purge is set, and reports it to Options.Left.
func (p *Platform) leave(ctx context.Context, s earshot.Scope, purge bool) error {
	if purge {
		if err := p.o.Store.Erase(ctx, s); err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return fmt.Errorf("leave channel %s: %w", s.Channel, err)
		}
	}
	return p.o.Left(ctx, s)
}
