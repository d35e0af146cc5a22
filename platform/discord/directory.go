package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/disgoorg/disgo/rest"
	"golang.org/x/sync/singleflight"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/internal/recent"
)

// Bounds of the directory's memory. What is dropped is asked for again.
const (
	maxPlaces = 50_000 // channels and threads
	maxForums = 5_000  // of which tags are known
	maxGuilds = 2_500  // of which roles are known; Discord's bound for one shard
	maxPeople = 50_000 // of all guilds together
)

// unknownType is the type of a channel that only the store knows. It is none of
// Discord's.
const unknownType = -1

// errNoAccess says that Discord does not show a channel: it does not exist, or the
// bot may not see it.
var errNoAccess = errors.New("the channel does not exist, or the bot may not see it")

// A place is a Discord channel or thread.
type place struct {
	discordmsg.ChannelInfo
	category string          // of a channel, and of the channel that a thread is in; "" where there is none or it is not known
	at       earshot.Channel // in which its messages are kept: of a thread its parent, else itself
}

// channel returns the channel of Earshot in which the place's messages are kept.
func (x place) channel() earshot.Channel { return x.at }

// thread returns the thread that the place's messages belong to; "" for a channel's
// top level.
func (x place) thread() earshot.MessageID { _, t := x.Where(); return t }

// forum reports whether what is said in the place is said in posts only.
func (x place) forum() bool {
	return x.Type == discordmsg.GuildForum || x.Type == discordmsg.GuildMedia
}

// target returns the id of the Discord channel in which a reply belongs: the thread's
// or, at the top level, the channel's. It knows what [Platform.knowHome] has asked.
func (p *Platform) target(x bot.Place) string {
	if x.Thread != "" {
		return string(x.Thread)
	}
	return p.home(x.Channel.ID, x.Anchor)
}

// home returns the id of the Discord channel that has a stored message. A forum post's
// first message stands at the forum's top level in the store, and on Discord in the
// post, which has its id.
func (p *Platform) home(c earshot.ChannelID, m earshot.Message) string {
	if m.Thread != "" {
		return string(m.Thread)
	}
	if x, ok := p.directory.places.Get(string(c)); ok && x.forum() && m.ID != "" {
		return string(m.ID)
	}
	return string(c)
}

// knowHome asks Discord for what [Platform.target] and [Platform.home] must know of a
// channel, unless it is known. A channel that Discord does not show is no error here:
// the call that needs it will be refused.
func (p *Platform) knowHome(ctx context.Context, c earshot.ChannelID) error {
	if _, err := p.directory.place(ctx, string(c)); !errors.Is(err, errNoAccess) {
		return err
	}
	return nil
}

// A directory is what is known of guilds, channels, threads and roles. Events fill it;
// what they have not told is asked of the store and then of Discord, since after a
// resumed session Discord does not tell again what guilds consist of. It is safe for
// concurrent use.
type directory struct {
	p       *Platform
	flights singleflight.Group

	places   recent.Map[string, place]
	tags     recent.Map[string, map[string]string]   // of forums, by id
	people   recent.Map[person, string]              // names
	speakers recent.Map[person, struct{}]            // webhooks' names under which people speak
	noRoot   recent.Map[earshot.MessageID, struct{}] // threads that were started from no message

	mu     sync.Mutex                          // guards what follows
	roles  recent.Map[string, map[string]role] // by guild
	loaded map[string]bool                     // guilds of which the store's names were read
}

// A role is a guild's role.
type role struct {
	name string
	own  bool // Discord made it for our bot
}

func newDirectory(p *Platform) *directory {
	return &directory{
		p: p, places: recent.Map[string, place]{Most: maxPlaces}, tags: recent.Map[string, map[string]string]{Most: maxForums}, roles: recent.Map[string, map[string]role]{Most: maxGuilds},
		noRoot: recent.Map[earshot.MessageID, struct{}]{Most: maxPlaces},
		people: recent.Map[person, string]{Most: maxPeople}, speakers: recent.Map[person, struct{}]{Most: maxPeople}, loaded: map[string]bool{},
	}
}

// place returns a Discord channel by its id, with the name of a thread's parent, and
// asks Discord for what is not in memory. The error wraps [errNoAccess] where Discord
// does not show it; after others asking again may help.
func (d *directory) place(ctx context.Context, id string) (place, error) {
	x, ok := d.places.Get(id)
	if !ok || x.Type == unknownType {
		var err error
		if x, err = d.ask(ctx, id); err != nil {
			return place{}, err
		}
	}
	return d.withParent(ctx, x)
}

// placeIn is place for a channel of a guild, "" for direct messages, of which only
// where its messages are kept matters: Discord is not asked for a channel that is
// stored, and the place's type may be unknownType.
func (d *directory) placeIn(ctx context.Context, guild, id string) (place, error) {
	if x, ok := d.places.Get(id); ok {
		return d.withParent(ctx, x)
	}
	c, err := d.p.o.Store.Channel(ctx, earshot.Scope{Platform: earshot.Discord, Workspace: discordmsg.Workspace(guild), Channel: earshot.ChannelID(id)})
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return d.place(ctx, id)
	case err != nil:
		return place{}, fmt.Errorf("look up channel %s: %w", id, err)
	}
	t, ok := typeOf(c)
	if !ok {
		return d.place(ctx, id)
	}
	x := place{ChannelInfo: discordmsg.ChannelInfo{Channel: discordmsg.Channel{ID: id, Type: t}, Guild: guild, Name: c.Name, Topic: c.Topic}, at: c}
	d.keep(x)
	return x, nil
}

// typeOf returns the type of a stored channel. ok is false where it could be a private
// thread: that is a channel by itself, of which all is one thread, as a private channel
// is not.
func typeOf(c earshot.Channel) (t int, ok bool) {
	switch {
	case c.Kind == earshot.KindDM:
		return discordmsg.DM, true
	case c.Kind == earshot.KindChannel && c.Name != "":
		return unknownType, true
	}
	return 0, false
}

// withParent sets where a place's messages are kept.
func (d *directory) withParent(ctx context.Context, x place) (place, error) {
	if x.at.ID != "" {
		return x, nil
	}
	id, _ := x.Where()
	if string(id) == x.ID {
		x.at = x.Earshot(x.Guild)
		return x, nil
	}
	parent, err := d.placeIn(ctx, x.Guild, x.Parent)
	switch {
	case err == nil:
		x.at, x.category = parent.at, parent.category
	case errors.Is(err, errNoAccess):
		x.at = earshot.Channel{Platform: earshot.Discord, Workspace: discordmsg.Workspace(x.Guild), ID: id, Kind: earshot.KindChannel}
	default:
		return place{}, err
	}
	return x, nil
}

// keep remembers a place, and returns whether anything of it was not known.
func (d *directory) keep(x place) (news bool) {
	was, ok := d.places.Put(x.ID, x)
	return !ok || was != x
}

// privateThreads returns the ids of a channel's private threads, as far as they are
// known.
func (d *directory) privateThreads(channel string) []string {
	return d.places.Keys(func(_ string, x place) bool { return x.Type == discordmsg.PrivateThread && x.Parent == channel })
}

// within returns what says of an id whether it may be that of a channel's, or of one
// of its threads; and of a guild's, whether it may be that or a channel's in it. Of an
// id that is not known nobody can tell.
func (d *directory) within(channel, guild string) func(id string) bool {
	return func(id string) bool {
		if id == channel || id == guild {
			return true
		}
		x, ok := d.places.Get(id)
		return !ok || channel != "" && x.Thread() && x.Parent == channel || guild != "" && x.Guild == guild
	}
}

// ask asks Discord what a channel is. Callers that ask for the same one share the
// answer.
func (d *directory) ask(ctx context.Context, id string) (place, error) {
	got, err, _ := d.flights.Do("channel "+id, func() (any, error) {
		raw, err := d.p.client.Call(ctx, rest.GetChannel, []any{id}, nil, nil)
		if api := (*discordapi.Error)(nil); errors.As(err, &api) && (api.Code != 0 || api.Status == http.StatusBadRequest || api.Status == http.StatusNotFound) {
			// A refusal of any kind: asked again it would be the same. One without a code
			// can be a proxy's, which is passing.
			return place{}, fmt.Errorf("channel %s: %w: %w", id, errNoAccess, err)
		}
		if err != nil {
			return place{}, fmt.Errorf("channel %s: %w", id, err)
		}
		x, ok := readPlace(raw, "")
		if !ok || x.ID != id {
			return place{}, fmt.Errorf("channel %s: %w", id, discordapi.ErrNotAnswered)
		}
		if x.Hidden {
			return place{}, fmt.Errorf("channel %s: %w", id, errNoAccess)
		}
		d.learnTags(id, raw)
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
	c, ok := discordmsg.ReadChannel(raw)
	if !ok {
		return place{}, false
	}
	c.Guild = cmp.Or(c.Guild, guild)
	x := place{ChannelInfo: c}
	if !c.Thread() {
		x.category = c.Parent
	}
	return x, true
}
