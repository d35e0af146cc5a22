package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/disgoorg/disgo/rest"
	"golang.org/x/sync/singleflight"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// Bounds of the directory's memory. What is dropped is asked for again.
const (
	maxPlaces = 20_000 // channels and threads
	maxGuilds = 2_500  // of which roles are known; Discord's bound for one shard
)

// unknownType is the type of a channel that only the store knows. It is none of
// Discord's.
const unknownType = -1

// errNoAccess says that Discord does not show a channel: it does not exist, or the
// bot may not see it.
var errNoAccess = errors.New("the channel does not exist, or the bot may not see it")

// A place is a Discord channel or thread.
type place struct {
	discordmsg.Channel
	guild    string // "" for a DM
	name     string
	topic    string
	category string          // of a channel, and of the channel that a thread is in; "" where there is none or it is not known
	at       earshot.Channel // in which its messages are kept: of a thread its parent, else itself
}

// channel returns the channel of Earshot in which the place's messages are kept.
func (x place) channel() earshot.Channel { return x.at }

// thread returns the thread that the place's messages belong to; "" for a channel's
// top level.
func (x place) thread() earshot.MessageID { _, t := x.Where(); return t }

// workspace returns the workspace of a guild.
func workspace(guild string) earshot.WorkspaceID {
	if guild == "" {
		return discordmsg.DirectMessages
	}
	return earshot.WorkspaceID(guild)
}

// guildOf returns the guild of a workspace, "" for direct messages.
func guildOf(w earshot.WorkspaceID) string {
	if w == discordmsg.DirectMessages {
		return ""
	}
	return string(w)
}

// target returns the id of the Discord channel in which a reply belongs: the thread's
// or, at the top level, the channel's.
func (p *Platform) target(ctx context.Context, x bot.Place) (string, error) {
	if x.Thread != "" {
		return string(x.Thread), nil
	}
	return p.home(ctx, x.Channel.ID, x.Anchor)
}

// home returns the id of the Discord channel that has a stored message. A forum post's
// first message stands at the forum's top level in the store, and on Discord in the
// post, which has its id.
func (p *Platform) home(ctx context.Context, c earshot.ChannelID, m earshot.Message) (string, error) {
	if m.Thread != "" {
		return string(m.Thread), nil
	}
	x, err := p.directory.typed(ctx, string(c))
	if err != nil {
		return "", err
	}
	if (x.Type == discordmsg.GuildForum || x.Type == discordmsg.GuildMedia) && m.ID != "" {
		return string(m.ID), nil
	}
	return string(c), nil
}

// A directory is what is known of guilds, channels, threads and roles. Events fill it;
// what they have not told is asked of the store and then of Discord, since after a
// resumed session Discord does not tell again what guilds consist of. It is safe for
// concurrent use.
type directory struct {
	p       *Platform
	flights singleflight.Group

	mu     sync.Mutex // guards what follows
	places recent[string, place]
	roles  recent[string, map[string]role] // by guild
}

// A role is a guild's role.
type role struct {
	name string
	own  bool // Discord made it for our bot
}

func newDirectory(p *Platform) *directory {
	return &directory{p: p, places: recent[string, place]{most: maxPlaces}, roles: recent[string, map[string]role]{most: maxGuilds}}
}

// place returns a Discord channel by its id, with the name of a thread's parent. It
// looks in memory, in the store (guild "" is direct messages; where the guild is not
// known the store cannot be asked) and then asks Discord. The error is
// [errNoAccess] where Discord does not show it; after others asking again may help.
func (d *directory) place(ctx context.Context, id string) (place, error) {
	x, ok := d.known(id)
	if !ok {
		var err error
		if x, err = d.ask(ctx, id); err != nil {
			return place{}, err
		}
	}
	return d.withParent(ctx, x)
}

// placeIn is place for a channel of which the guild is known, "" for direct messages:
// a channel that the store has is not asked for. Its Type may be unknownType.
func (d *directory) placeIn(ctx context.Context, guild, id string) (place, error) {
	if _, ok := d.known(id); !ok {
		c, err := d.p.o.Store.Channel(ctx, earshot.Scope{Platform: earshot.Discord, Workspace: workspace(guild), Channel: earshot.ChannelID(id)})
		switch {
		case err == nil && c.Kind != "":
			x := place{Channel: discordmsg.Channel{ID: id, Type: typeOf(c)}, guild: guild, name: c.Name, topic: c.Topic, at: c}
			d.keep(x)
		case err != nil && !errors.Is(err, earshot.ErrNotFound):
			return place{}, fmt.Errorf("look up channel %s: %w", id, err)
		}
	}
	return d.place(ctx, id)
}

// typed is place for a caller that needs the channel's type.
func (d *directory) typed(ctx context.Context, id string) (place, error) {
	if x, ok := d.known(id); ok && x.Type == unknownType {
		if _, err := d.ask(ctx, id); err != nil {
			return place{}, err
		}
	}
	return d.place(ctx, id)
}

// typeOf returns the type of a stored channel: that of a text channel and of a forum
// cannot be told apart.
func typeOf(c earshot.Channel) int {
	direct := c.Workspace == discordmsg.DirectMessages
	switch {
	case c.Kind == earshot.KindDM:
		return discordmsg.DM
	case c.Kind == earshot.KindGroup && direct:
		return discordmsg.GroupDM
	case c.Kind == earshot.KindGroup:
		return discordmsg.PrivateThread
	}
	return unknownType
}

// withParent sets where a place's messages are kept.
func (d *directory) withParent(ctx context.Context, x place) (place, error) {
	if x.at.ID != "" {
		return x, nil
	}
	id, _ := x.Where()
	if string(id) == x.ID {
		x.at = earshot.Channel{Platform: earshot.Discord, Workspace: workspace(x.guild), ID: id, Name: x.name, Kind: kindOf(x.Type), Topic: x.topic}
		return x, nil
	}
	parent, err := d.placeIn(ctx, x.guild, x.Parent)
	if errors.Is(err, errNoAccess) {
		// A person can be in a thread without seeing its channel's name.
		x.at = earshot.Channel{Platform: earshot.Discord, Workspace: workspace(x.guild), ID: id, Kind: earshot.KindChannel}
		return x, nil
	}
	if err != nil {
		return place{}, err
	}
	x.at, x.category = parent.at, parent.category
	return x, nil
}

// kindOf returns the kind of a channel of a type. To Earshot a channel is what a
// guild's members read, whatever their roles must be for it.
func kindOf(t int) earshot.ChannelKind {
	switch t {
	case discordmsg.DM:
		return earshot.KindDM
	case discordmsg.GroupDM, discordmsg.PrivateThread:
		return earshot.KindGroup
	}
	return earshot.KindChannel
}

func (d *directory) known(id string) (place, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.places.get(id)
}

// keep remembers a place, and returns whether anything of it was not known.
func (d *directory) keep(x place) (news bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, ok := d.places.get(x.ID)
	d.places.put(x.ID, x)
	return !ok || was != x
}

func (d *directory) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.places.drop(id)
}

// ask asks Discord what a channel is. Callers that ask for the same one share the
// answer.
func (d *directory) ask(ctx context.Context, id string) (place, error) {
	got, err, _ := d.flights.Do("channel "+id, func() (any, error) {
		raw, err := d.p.client.Call(ctx, rest.GetChannel, []any{id}, nil, nil)
		if discordapi.Refused(err, discordapi.UnknownChannel, discordapi.MissingAccess) {
			return place{}, fmt.Errorf("channel %s: %w", id, errNoAccess)
		}
		if err != nil {
			return place{}, fmt.Errorf("channel %s: %w", id, err)
		}
		x, ok := readPlace(raw, "")
		if !ok || x.ID != id {
			return place{}, fmt.Errorf("channel %s: %w", id, discordapi.ErrNotAnswered)
		}
		d.keep(x)
		return x, nil
	})
	if err != nil {
		return place{}, err
	}
	return got.(place), nil
}

// readPlace reads a channel object. guild is used where the object names none, as in
// GUILD_CREATE.
func readPlace(raw []byte, guild string) (place, bool) {
	var c struct {
		ID         string  `json:"id"`
		Type       *int    `json:"type"`
		Guild      string  `json:"guild_id"`
		Parent     *string `json:"parent_id"`
		Name       *string `json:"name"`
		Topic      *string `json:"topic"`
		Recipients []struct {
			Name   string `json:"username"`
			Global string `json:"global_name"`
		} `json:"recipients"`
	}
	if json.Unmarshal(raw, &c) != nil || c.ID == "" || c.Type == nil {
		return place{}, false
	}
	x := place{Channel: discordmsg.Channel{ID: c.ID, Type: *c.Type}, guild: c.Guild}
	if x.guild == "" {
		x.guild = guild
	}
	for _, f := range []struct{ to, from *string }{{&x.Parent, c.Parent}, {&x.name, c.Name}, {&x.topic, c.Topic}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if !x.Thread() {
		x.category = x.Parent
	}
	if x.Type == discordmsg.DM && x.name == "" && len(c.Recipients) > 0 {
		var names []string
		for _, r := range c.Recipients {
			if r.Global != "" {
				r.Name = r.Global
			}
			names = append(names, r.Name)
		}
		x.name = strings.Join(names, ", ")
	}
	return x, true
}
