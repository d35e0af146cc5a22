package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// ready checks that the session is of the bot that the platform was made for, and
// remembers where it begins.
func (p *Platform) ready(ctx context.Context, x *delivery) error {
	var r struct {
		User   json.RawMessage   `json:"user"`
		Guilds []json.RawMessage `json:"guilds"`
	}
	_ = json.Unmarshal(x.Data, &r) // a field of another kind costs itself
	if me := parseUser(r.User); me.User != "" && !p.identity.Is(earshot.AuthorID(me.User)) {
		p.o.Log.Error("the session is another bot's: start again")
	}
	if err := p.notePlace(ctx, x); err != nil {
		return err
	}
	p.o.Log.Info("a session with discord began", "shard", x.Shard, "of", x.of, "guilds", len(r.Guilds))
	return nil
}

// guild takes over what a guild consists of. It comes for each guild after a session
// began, when the bot was invited, and when a guild is available again.
func (p *Platform) guild(ctx context.Context, x *delivery) error {
	var g struct {
		ID          string            `json:"id"`
		Unavailable bool              `json:"unavailable"`
		Channels    []json.RawMessage `json:"channels"`
		Threads     []json.RawMessage `json:"threads"`
		Roles       []json.RawMessage `json:"roles"`
	}
	_ = json.Unmarshal(x.Data, &g) // a field of another kind costs itself
	if g.ID == "" || g.Unavailable {
		return nil
	}
	var hidden []place
	for _, list := range [][]json.RawMessage{g.Channels, g.Threads} {
		for _, raw := range list {
			switch c, ok := readPlace(raw, g.ID); {
			case ok && c.Hidden:
				hidden = append(hidden, c)
			case ok:
				p.directory.learnTags(c.ID, raw)
				p.directory.keep(c)
			}
		}
	}
	if len(g.Roles) > 0 { // a guild has one at least: without any they are not told, and asked for
		p.directory.setRoles(g.ID, g.Roles)
	}
	p.client.Again(p.directory.within("", g.ID))
	for _, c := range hidden {
		if err := p.channelHidden(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// channelChanged takes over a channel or thread that is new or has changed. What is
// stored of the channel is renewed.
func (p *Platform) channelChanged(ctx context.Context, x *delivery) error {
	c, ok := readPlace(x.Data, "")
	if !ok {
		return nil
	}
	// Permissions may be what has changed.
	p.client.Again(p.directory.within(c.ID, ""))
	if c.Hidden {
		return p.channelHidden(ctx, c)
	}
	p.directory.learnTags(c.ID, x.Data)
	if !p.directory.keep(c) {
		return nil
	}
	if id, _ := c.Where(); string(id) != c.ID {
		at, ok, err := p.listensTo(ctx, x, c.Guild, c.ID)
		if err != nil || !ok {
			return err
		}
		return p.learnSubject(ctx, at)
	}
	now := c.Earshot(c.Guild)
	was, err := p.o.Store.Channel(ctx, now.Scope())
	if errors.Is(err, earshot.ErrNotFound) || err == nil && was == now {
		return nil
	}
	if err == nil {
		err = p.o.Store.PutChannel(ctx, now)
	}
	if err != nil {
		return fmt.Errorf("channel %s: %w", c.ID, err)
	}
	return nil
}

// threadList takes over the threads of channels that the bot sees now.
func (p *Platform) threadList(_ context.Context, x *delivery) error {
	var t struct {
		Guild   string            `json:"guild_id"`
		Threads []json.RawMessage `json:"threads"`
	}
	if json.Unmarshal(x.Data, &t) != nil {
		return nil
	}
	for _, raw := range t.Threads {
		if c, ok := readPlace(raw, t.Guild); ok {
			p.directory.keep(c)
		}
	}
	return nil
}

// roleChanged takes over a role that is new, has changed or is gone. The bot may be
// allowed what it was not.
func (p *Platform) roleChanged(_ context.Context, x *delivery) error {
	var r struct {
		Guild string          `json:"guild_id"`
		Role  json.RawMessage `json:"role"`
		Gone  string          `json:"role_id"`
	}
	if json.Unmarshal(x.Data, &r) != nil || r.Guild == "" {
		return nil
	}
	p.client.Again(p.directory.within("", r.Guild))
	if x.Type == "GUILD_ROLE_DELETE" {
		p.directory.setRole(r.Guild, r.Gone, nil)
		return nil
	}
	if id, now, ok := p.directory.readRole(r.Role); ok {
		p.directory.setRole(r.Guild, id, &now)
	}
	return nil
}

// memberChanged takes over a member's new name. Without the intent for members Discord
// tells this of the bot alone, whose name to a model is always the same.
func (p *Platform) memberChanged(ctx context.Context, x *delivery) error {
	m, ok := discordmsg.ReadMember(x.Data)
	if !ok || m.Guild == "" {
		return nil
	}
	if p.identity.Is(m.Author.ID) {
		p.client.Again(p.directory.within("", m.Guild)) // its roles may have changed
	}
	return p.directory.meet(ctx, m.Guild, m.Author)
}
