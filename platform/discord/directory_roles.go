package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// names returns what the decoder resolves the ids of a guild's message with, from
// memory; guild is "" for direct messages. A message itself names whom it mentions.
func (d *directory) names(guild string) discordmsg.Names {
	d.mu.Lock()
	roles, _ := d.roles.Get(guild)
	d.mu.Unlock()
	return discordmsg.Names{
		User: func(id string) string {
			if d.p.identity.Is(earshot.AuthorID(id)) {
				return d.p.identity.Name
			}
			name, _ := d.people.Get(person{guild, id})
			return name
		},
		Channel: func(id string) string {
			x, ok := d.places.Get(id)
			if !ok || x.Guild != guild || x.Private {
				return "" // the name of a private channel or of another guild's is its readers' to know
			}
			return x.Name
		},
		Role:    func(id string) string { return roles[id].name },
		Self:    string(d.p.user),
		OwnRole: func(id string) bool { return roles[id].own },
	}
}

// decode decodes a message of a guild, "" for direct messages. Where it mentions roles
// that are not known they are asked for, since one of them may be the bot's own. What a
// person says through a proxy is a person's.
func (d *directory) decode(ctx context.Context, guild string, raw []byte) (discordmsg.DecodedMessage, error) {
	if err := d.loadNames(ctx, guild); err != nil {
		return discordmsg.DecodedMessage{}, err
	}
	if guild != "" && mentionsRoles(raw) {
		if err := d.needRoles(ctx, guild); err != nil {
			return discordmsg.DecodedMessage{}, err
		}
	}
	m, err := discordmsg.Decode(raw, d.names(guild))
	if err != nil {
		return m, err
	}
	if h, _ := readHead(raw); m.Webhook != "" && (slices.Contains(proxyApps, h.App) || d.speaks(guild, m.Message.Author.ID)) {
		m.Message.Author.Kind = earshot.Human
	}
	if r := m.Referenced; r != nil && r.Webhook != "" && d.speaks(guild, r.Message.Author.ID) {
		r.Message.Author.Kind = earshot.Human
	}
	if m.Message.Author.ID == d.p.user {
		m.Message.Author.ID = d.p.identity.ID // by which our posts are written down
	}
	d.p.attribute(&m)
	if m.Referenced != nil {
		d.p.attribute(m.Referenced)
	}
	return m, nil
}

// mentionsRoles reports whether a message mentions a role.
func mentionsRoles(raw []byte) bool {
	var m struct {
		Roles []json.RawMessage `json:"mention_roles"`
	}
	return json.Unmarshal(raw, &m) == nil && len(m.Roles) > 0
}

// needRoles asks for the roles of a guild, unless they are known. Where Discord
// refuses, the guild counts as one without roles.
func (d *directory) needRoles(ctx context.Context, guild string) error {
	d.mu.Lock()
	_, ok := d.roles.Get(guild)
	d.mu.Unlock()
	if ok {
		return nil
	}
	_, err, _ := d.flights.Do("roles "+guild, func() (any, error) {
		raw, err := d.p.client.Call(ctx, rest.GetRoles, []any{guild}, nil, nil)
		if err != nil && !discordapi.IsRefused(err, discordapi.UnknownGuild, discordapi.MissingAccess, discordapi.MissingPermissions) {
			return nil, fmt.Errorf("roles of guild %s: %w", guild, err)
		}
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // no list: no roles
		d.setRoles(guild, list)
		return nil, nil
	})
	return err
}

// setRoles replaces the roles of a guild.
func (d *directory) setRoles(guild string, list []json.RawMessage) {
	roles := map[string]role{}
	for _, raw := range list {
		if id, r, ok := d.readRole(raw); ok {
			roles[id] = r
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roles.Put(guild, roles)
}

// setRole adds, changes or, where r is nil, removes a role of a guild whose roles are
// known.
func (d *directory) setRole(guild, id string, r *role) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, ok := d.roles.Get(guild)
	if !ok {
		return
	}
	roles := maps.Clone(was) // it is being read
	if delete(roles, id); r != nil {
		roles[id] = *r
	}
	d.roles.Put(guild, roles)
}

// readRole reads a role object. Discord makes a role for each bot that is invited
// with permissions, with the bot's user in its tags.
func (d *directory) readRole(raw []byte) (id string, r role, ok bool) {
	var x struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Tags struct {
			Bot string `json:"bot_id"`
		} `json:"tags"`
	}
	if json.Unmarshal(raw, &x) != nil || x.ID == "" {
		return "", role{}, false
	}
	return x.ID, role{name: x.Name, own: d.p.identity.Is(earshot.AuthorID(x.Tags.Bot))}, true
}
