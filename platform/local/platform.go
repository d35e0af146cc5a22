// Package local is a platform without a network: channels, threads, several people,
// edits, deletions, reactions and files, in the same store as everything else. People
// use it in a terminal or by HTTP on loopback; end-to-end tests use it too.
//
// It has two sides. The bot uses [Platform]: it posts, and finds its posts again.
// People use [Chat]: what they say becomes an event, and the call returns once the
// event is durable. [Chat.Terminal] and [Chat.Handler] are its user interfaces.
//
//	p, err := local.Open(ctx, store, &local.Options{Agent: identity})
//	chat := p.Chat(bot.Handle, bot.Choose)
//	m, err := chat.Say(ctx, local.Said{Channel: "general", As: "bob", Text: "@earshot hello"})
//
// Only this package makes the ids of local messages. An id has the form of a Slack ts,
// or is made of the sender's key if there is one, so that the same message sent twice is
// one message.
//
// Unstable: what this package exports may change with any version.
package local

import (
	"cmp"
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
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/internal/recent"
)

// Errors that callers decide on. Other errors are the store's or the handler's.
var (
	ErrInvalid   = errors.New("invalid")     // a name or a text that is not allowed
	ErrForbidden = errors.New("not allowed") // the message is another person's
)

// Options configure a platform. Zero fields mean the defaults.
type Options struct {
	// Agent is the bot. Default: earshot.
	Agent earshot.Identity
	// Platform and Workspace name the stored workspace, so that people can talk in
	// an imported one. Default: local, local.
	Platform  earshot.Platform
	Workspace earshot.WorkspaceID
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// A Store is the part of an [earshot.Store] that a platform uses.
type Store interface {
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	PutChannel(ctx context.Context, c earshot.Channel) error
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error)
	React(ctx context.Context, s earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error)
	Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error)
}

// A Platform is one workspace. It is safe for concurrent use, and several processes
// may use one workspace over one store: a new message comes after everything that
// its channel has stored, whatever their clocks say.
type Platform struct {
	store Store
	o     Options

	mu       sync.Mutex // guards what follows
	last     earshot.Time
	watchers []*watcher
	drafts   []channelDraft
	files    []storedFile // the oldest first

	choices recent.Map[place, []bot.Choice] // of messages that this process has posted
}

// Open returns the platform of a stored workspace, and creates the channel general if
// there is none.
func Open(ctx context.Context, st Store, o *Options) (*Platform, error) {
	p := &Platform{store: st, choices: recent.Map[place, []bot.Choice]{Most: maxOffered}}
	if o != nil {
		p.o = *o
	}
	if p.o.Agent.ID == "" {
		p.o.Agent = earshot.Identity{ID: "earshot", Name: "earshot"}
	}
	p.o.Platform, p.o.Workspace = cmp.Or(p.o.Platform, earshot.Local), cmp.Or(p.o.Workspace, "local")
	if p.o.Now == nil {
		p.o.Now = time.Now
	}
	list, err := st.FindChannels(ctx, p.mine(1))
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
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

// now returns the time of the next message in a channel: later than everything that
// is stored there, and different for any two messages of this process.
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

// Agent returns who the bot is.
func (p *Platform) Agent() earshot.Identity { return p.o.Agent }

// Has reports whether a channel, stored or not, belongs to this workspace.
func (p *Platform) Has(s earshot.Scope) bool {
	return s.Platform == p.o.Platform && s.Workspace == p.o.Workspace
}

// Place returns the scope that a channel of this workspace with this id has, stored or
// not.
func (p *Platform) Place(id earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: p.o.Platform, Workspace: p.o.Workspace, Channel: id}
}

// Channels lists the workspace's channels.
func (p *Platform) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	list, err := p.store.FindChannels(ctx, p.mine(0))
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	return list, nil
}

// mine selects the workspace's channels.
func (p *Platform) mine(limit int) earshot.ChannelQuery {
	return earshot.ChannelQuery{Platform: p.o.Platform, Workspaces: []earshot.WorkspaceID{p.o.Workspace}, Limit: limit}
}

var channelName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Channel returns the channel with this name or id, without a leading #, and creates
// one if there is none. The error is [ErrInvalid] for a name that is not allowed.
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
	c, err := p.store.Channel(ctx, p.Place(earshot.ChannelID(want)))
	if !errors.Is(err, earshot.ErrNotFound) {
		return c, err
	}
	q := p.mine(0)
	q.Names = []string{want}
	list, err := p.store.FindChannels(ctx, q)
	if err != nil {
		return earshot.Channel{}, err
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

// deriveID derives an id from the key of a message and its sender, so that the keys of
// two senders cannot collide.
func deriveID(letter, who, key string) earshot.MessageID {
	sum := sha256.Sum256([]byte(who + "\x00" + key))
	return earshot.MessageID(letter + hex.EncodeToString(sum[:10]))
}

// A place is a message in its channel.
type place struct {
	scope earshot.Scope
	id    earshot.MessageID
}

// freeIDAt derives an id from a time that no other message has.
func freeIDAt(t earshot.Time) earshot.MessageID {
	return earshot.MessageID(t.TS())
}
