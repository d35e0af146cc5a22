package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"

	"github.com/earshot-ai/earshot"
)

// keepRights takes over what a guild that has come grants to the bot. What the bot could do
// before a session was lost, and cannot any more, is told as if it had happened now.
// Without the bot's member, which Discord always tells, or without roles nothing can be
// computed.
func (p *Platform) keepRights(ctx context.Context, guild string, owner bool, members, channels []json.RawMessage) error {
	now := &rights{channels: map[string]*channelRights{}}
	for _, raw := range members {
		if m, ok := p.ownMember(raw); ok {
			now.self = m
		}
	}
	roles := p.directory.rolePermissions(guild)
	if now.self.id == "" || len(roles) == 0 {
		return nil
	}
	now.self.owner = owner
	was, _ := p.rights.Get(guild)
	for _, raw := range channels {
		id, over, ok := readOverwrites(raw)
		if !ok {
			continue
		}
		c := &channelRights{over: over}
		if was != nil && was.channels[id] != nil {
			c.has, c.lost = was.channels[id].has, was.channels[id].lost
		} else {
			c.has = permitted(guild, roles, now.self, over)
		}
		now.channels[id] = c
	}
	p.rights.Put(guild, now)
	return p.compareRights(ctx, guild)
}

// ownMember reads a member object where it is the bot's.
func (p *Platform) ownMember(raw []byte) (member, bool) {
	var m struct {
		User struct {
			ID string `json:"id"`
		} `json:"user"`
		Roles []string   `json:"roles"`
		Until *time.Time `json:"communication_disabled_until"`
	}
	_ = json.Unmarshal(raw, &m) // a field of another kind costs itself
	if m.User.ID == "" || m.User.ID != string(p.user) {
		return member{}, false
	}
	return member{id: m.User.ID, roles: m.Roles, timedOut: m.Until != nil && m.Until.After(p.o.Now())}, true
}

// channelRightsChanged takes over the overwrites of a channel that is new or has changed.
func (p *Platform) channelRightsChanged(ctx context.Context, guild string, raw []byte) error {
	r, ok := p.rights.Get(guild)
	id, over, is := readOverwrites(raw)
	if !ok || !is {
		return nil
	}
	p.rightsMu.Lock()
	c := r.channels[id]
	if c == nil {
		c = &channelRights{has: permitted(guild, p.directory.rolePermissions(guild), r.self, over)}
		r.channels[id] = c
	}
	c.over = over
	p.rightsMu.Unlock()
	return p.compareRights(ctx, guild)
}

// ownMemberChanged takes over the bot's roles in a guild.
func (p *Platform) ownMemberChanged(ctx context.Context, guild string, raw []byte) error {
	r, ok := p.rights.Get(guild)
	m, is := p.ownMember(raw)
	if !ok || !is {
		return nil
	}
	m.owner = r.self.owner
	r.self = m
	return p.compareRights(ctx, guild)
}

// compareRights computes what the bot may do in the channels of a guild, and acts on what
// has changed: a channel that it does not see any more is left, and what else it has
// lost or got back is said in the log and by [Platform.Lost].
func (p *Platform) compareRights(ctx context.Context, guild string) error {
	r, ok := p.rights.Get(guild)
	if !ok {
		return nil
	}
	lost, back := map[discord.Permissions][]string{}, map[discord.Permissions][]string{}
	var hidden []string
	roles := p.directory.rolePermissions(guild)
	p.rightsMu.Lock()
	for _, id := range slices.Sorted(maps.Keys(r.channels)) {
		c := r.channels[id]
		now := permitted(guild, roles, r.self, c.over)
		if c.has.Has(discord.PermissionViewChannel) && !now.Has(discord.PermissionViewChannel) {
			hidden = append(hidden, id)
			c.lost, c.has = 0, now // it has nothing to do there
			continue
		}
		for _, n := range permissionNames {
			switch {
			case c.has.Has(n.permission) && !now.Has(n.permission):
				lost[n.permission] = append(lost[n.permission], id)
			case c.lost.Has(n.permission) && now.Has(n.permission):
				back[n.permission] = append(back[n.permission], id)
			}
		}
		c.lost = (c.lost | c.has&watched) &^ now
		c.has = now
	}
	p.rightsMu.Unlock()
	for _, n := range permissionNames {
		if at := lost[n.permission]; len(at) > 0 {
			p.o.Log.Warn("the bot has lost a permission", "workspace", guild, "permission", n.name, "channels", len(at), "some", someIDs(at), "costs", n.costs)
		}
		if at := back[n.permission]; len(at) > 0 {
			p.o.Log.Info("the bot has a permission again", "workspace", guild, "permission", n.name, "channels", len(at), "some", someIDs(at))
		}
	}
	for i, id := range hidden {
		c := place{}
		c.ID, c.Guild = id, guild
		if err := p.channelHidden(ctx, c); err != nil {
			p.rightsMu.Lock()
			for _, id := range hidden[i:] { // the event comes again, and with it these
				r.channels[id].has |= discord.PermissionViewChannel
			}
			p.rightsMu.Unlock()
			return err
		}
	}
	return nil
}

// someIDs names the first of a list of channels.
func someIDs(ids []string) string { return strings.Join(ids[:min(len(ids), 5)], " ") }

// Lost says which permissions the bot had in some channels since the program began and
// does not have any more, by name and number of channels; "" where it has all.
func (p *Platform) Lost() string {
	count := map[discord.Permissions]int{}
	var all []*rights
	p.rights.Keys(func(_ string, r *rights) bool { all = append(all, r); return false })
	p.rightsMu.Lock()
	defer p.rightsMu.Unlock()
	for _, r := range all {
		for _, c := range r.channels {
			for _, n := range permissionNames {
				if c.lost.Has(n.permission) {
					count[n.permission]++
				}
			}
		}
	}
	var out []string
	for _, n := range permissionNames {
		if k := count[n.permission]; k > 0 {
			out = append(out, fmt.Sprintf("%s in %d", n.name, k))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "it has lost permissions in channels: " + strings.Join(out, ", ") + " (the log names them; earshot check discord --channel)"
}

// forgetRefusals forgets who of a guild is not answered: a role of theirs may be gone.
func (p *Platform) forgetRefusals(guild string) {
	for _, who := range p.refusals.Keys(func(who person, _ knownRefusal) bool { return who.guild == guild }) {
		p.refusals.Drop(who)
	}
}

// learnRoles takes over the roles that somebody has now, where Discord tells of others than
// the bot.
func (p *Platform) learnRoles(guild string, who earshot.AuthorID, roles []string) {
	p.learnRefusal(person{guild, string(who)}, p.notAllowed(who, roles) != "")
}
