// Package local is a platform without a network: channels, threads, several
// people, edits, deletions, reactions and files, kept in the same store as
// everything else. It is a terminal, an HTTP front on loopback, and what
// end-to-end tests talk to.
//
// It has two sides. [Platform] is the bot's: it posts there, and finds what it
// has posted. [Chat] is the people's: what they say becomes an event, and the
// call returns once the event is durable. [Chat.Terminal] and [Chat.Handler] are
// the ways in.
//
//	p, err := local.Open(ctx, store, &local.Options{Agent: identity})
//	chat := p.Chat(bot.Handle)
//	m, err := chat.Say(ctx, local.Said{Channel: "general", As: "bob", Text: "@earshot hello"})
//
// Ids of local messages are made here only. A message's id has the form of a
// Slack ts, unless its sender gave a key: then it is made of the key, so that
// the same thing said twice is one message.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// What callers decide by. Other errors are the store's or the handler's.
var (
	ErrInvalid   = errors.New("invalid")     // a name or a text that cannot be
	ErrForbidden = errors.New("not allowed") // what another person wrote
)

// Options configure a platform. Zero fields mean
// their defaults.
type Options struct {
	// Agent is the bot. Default: earshot.
	Agent earshot.Identity
	// Platform and Workspace say which stored workspace this is, so that an
	// imported one can be talked in. Default: local, local.
	Platform  earshot.Platform
	Workspace earshot.WorkspaceID
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// A Store is what a platform needs of an [earshot.Store].
type Store interface {
	Channels(ctx context.Context) ([]earshot.ChannelInfo, error)
	PutChannel(ctx context.Context, c earshot.Channel) error
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error)
}

// A Platform is one workspace. It is safe for concurrent use, and several
// processes may talk in it over one store: what is said stands behind all that
// is stored in its channel by then, whatever their clocks show.
type Platform struct {
	store Store
	o     Options

	mu       sync.Mutex // guards what follows
	last     earshot.Time
	watchers []*watcher
	reacted  map[reaction]bool
	files    []storedFile // the oldest first
}

type reaction struct {
	scope  earshot.Scope
	id     earshot.MessageID
	author earshot.AuthorID
	name   string
}

// Open returns the platform that a store holds a workspace of, and makes the
// channel general where there is none.
func Open(ctx context.Context, st Store, o *Options) (*Platform, error) {
	p := &Platform{store: st, reacted: map[reaction]bool{}}
	if o != nil {
		p.o = *o
	}
	if p.o.Agent.ID == "" {
		p.o.Agent = earshot.Identity{ID: "earshot", Name: "earshot"}
	}
	if p.o.Platform == "" {
		p.o.Platform = earshot.Local
	}
	if p.o.Workspace == "" {
		p.o.Workspace = "local"
	}
	if p.o.Now == nil {
		p.o.Now = time.Now
	}
	list, err := p.Channels(ctx)
	if err != nil {
		return nil, err
	}
	if err := st.PutAuthors(ctx, p.o.Platform, p.o.Workspace, p.agent()); err != nil {
		return nil, fmt.Errorf("store the agent: %w", err)
	}
	if len(list) == 0 {
		_, err = p.Channel(ctx, "general")
	}
	return p, err
}

func (p *Platform) agent() earshot.Author {
	return earshot.Author{ID: p.o.Agent.ID, Name: p.o.Agent.Name, Kind: earshot.Bot}
}

// now returns the time of the next thing said in a channel: later than all that
// is stored there, and no two in a process have the same.
func (p *Platform) now(ctx context.Context, s earshot.Scope) (earshot.Time, error) {
	newest, err := p.store.Newest(ctx, s, earshot.Whole(), earshot.Position{}, 1)
	if err != nil {
		return 0, fmt.Errorf("look where %s ends: %w", s.Channel, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = max(p.last+1, earshot.TimeOf(p.o.Now()))
	if len(newest) > 0 {
		p.last = max(p.last, newest[0].Time+1)
	}
	return p.last, nil
}

// Channels lists the workspace's channels.
func (p *Platform) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	all, err := p.store.Channels(ctx)
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	var list []earshot.ChannelInfo
	for _, c := range all {
		if c.Platform == p.o.Platform && c.Workspace == p.o.Workspace {
			list = append(list, c)
		}
	}
	return list, nil
}

var channelName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Channel returns the channel with this name or id, without a leading #, and
// makes one where there is none. The error is [ErrInvalid] for a name that
// cannot be.
func (p *Platform) Channel(ctx context.Context, name string) (earshot.Channel, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "#")
	c, err := p.channel(ctx, name)
	if !errors.Is(err, earshot.ErrNotFound) {
		return c, err
	}
	if !channelName.MatchString(name) || strings.HasPrefix(name, dmPrefix) {
		return earshot.Channel{}, fmt.Errorf("%w: a channel's name is 1 to 64 small letters, digits, _ and -, and does not begin with %s", ErrInvalid, dmPrefix)
	}
	return p.put(ctx, earshot.ChannelID(name), name, earshot.KindChannel)
}

// channel returns a stored channel by id or name, or ErrNotFound.
func (p *Platform) channel(ctx context.Context, want string) (earshot.Channel, error) {
	list, err := p.Channels(ctx)
	if err != nil {
		return earshot.Channel{}, err
	}
	for _, c := range list {
		if string(c.ID) == want {
			return c.Channel, nil
		}
	}
	for _, c := range list {
		if c.Name == want && want != "" {
			return c.Channel, nil
		}
	}
	return earshot.Channel{}, fmt.Errorf("channel %q: %w", want, earshot.ErrNotFound)
}

// dmPrefix begins the ids of direct messages between a person and the bot.
const dmPrefix = "dm-"

// DM returns the direct messages between a person and the bot.
func (p *Platform) DM(ctx context.Context, person string) (earshot.Channel, error) {
	who, err := p.person(ctx, person, false)
	if err != nil {
		return earshot.Channel{}, err
	}
	id := dmPrefix + string(who.ID)
	c, err := p.channel(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return p.put(ctx, earshot.ChannelID(id), who.Name, earshot.KindDM)
	}
	return c, err
}

func (p *Platform) put(ctx context.Context, id earshot.ChannelID, name string, kind earshot.ChannelKind) (earshot.Channel, error) {
	c := earshot.Channel{Platform: p.o.Platform, Workspace: p.o.Workspace, ID: id, Name: name, Kind: kind}
	if err := p.store.PutChannel(ctx, c); err != nil {
		return earshot.Channel{}, fmt.Errorf("store channel %s: %w", id, err)
	}
	return c, nil
}

// keyed makes an id of what identifies a message. who keeps the keys of one
// sender from meeting those of another.
func keyed(letter, who, key string) earshot.MessageID {
	sum := sha256.Sum256([]byte(who + "\x00" + key))
	return earshot.MessageID(letter + hex.EncodeToString(sum[:10]))
}

// at makes an id of a time, which nothing else said has.
func at(t earshot.Time) earshot.MessageID {
	return earshot.MessageID(t.TS())
}
