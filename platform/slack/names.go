package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// How long names are good, and what asking for them may cost. Events tell of
// changes, so that a name is seldom older than its last use.
const (
	userTTL    = 10 * time.Minute
	channelTTL = time.Hour
	groupTTL   = time.Hour
	failedTTL  = time.Minute // what could not be had is not asked for again at once
	// nameTime is how long an event waits for the names of people who are seen
	// for the first time, and for what a channel is that is. Slack wants its
	// answer within three seconds. After it the message is recorded with their
	// ids and no names: the next message of theirs brings the name to all of them.
	nameTime = time.Second
	maxAsked = 30 // names that one message or page of history asks for
	together = 4  // at a time
)

// A names keeps who and what ids stand for: in memory, filled from the store,
// and from Slack where the store does not know. It is safe for concurrent use.
type names struct {
	p *Platform

	mu       sync.Mutex // guards what follows
	loaded   bool       // the store's authors are here
	users    map[earshot.AuthorID]known[earshot.Author]
	bots     map[earshot.AuthorID]earshot.AuthorID // a bot id's user
	channels map[earshot.ChannelID]known[earshot.Channel]
	groups   map[string]string // handles by id
	groupsAt time.Time         // until when they are good
	flights  map[string]chan struct{}
}

// known is a value until it is to be asked for again. After a failure it may
// be the zero value.
type known[T any] struct {
	value T
	until time.Time
}

func newNames(p *Platform) *names {
	return &names{
		p: p, users: map[earshot.AuthorID]known[earshot.Author]{}, bots: map[earshot.AuthorID]earshot.AuthorID{},
		channels: map[earshot.ChannelID]known[earshot.Channel]{}, groups: map[string]string{}, flights: map[string]chan struct{}{},
	}
}

// A missing collects the ids that a decoding asked for and nobody knew.
type missing struct {
	users    []earshot.AuthorID
	channels []earshot.ChannelID
	groups   bool
}

func (m *missing) none() bool { return len(m.users)+len(m.channels) == 0 && !m.groups }

// known returns the names that are at hand, noting in m what is not.
func (n *names) known(m *missing) slackmsg.Names {
	now := n.p.o.Now()
	return slackmsg.Names{
		User: func(id earshot.AuthorID) (earshot.Author, bool) {
			if n.p.identity.Is(id) {
				return earshot.Author{ID: id, Name: n.p.identity.Name, Kind: earshot.Bot}, true
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if u, ok := n.bots[id]; ok {
				id = u
			}
			k := n.users[id]
			if now.After(k.until) && askable(id) && len(m.users) < maxAsked && !slices.Contains(m.users, id) {
				m.users = append(m.users, id)
			}
			return k.value, k.value.ID != ""
		},
		Channel: func(id earshot.ChannelID) string {
			n.mu.Lock()
			defer n.mu.Unlock()
			k := n.channels[id]
			if now.After(k.until) && len(m.channels) < maxAsked && !slices.Contains(m.channels, id) {
				m.channels = append(m.channels, id)
			}
			if k.value.Kind != earshot.KindChannel {
				return "" // a private channel's name is its members' to know
			}
			return k.value.Name
		},
		Group: func(id string) string {
			n.mu.Lock()
			defer n.mu.Unlock()
			m.groups = m.groups || now.After(n.groupsAt)
			return n.groups[id]
		},
	}
}

// askable reports whether Slack knows users by such an id.
func askable(id earshot.AuthorID) bool {
	return len(id) > 1 && (id[0] == 'U' || id[0] == 'W' || id[0] == 'B') && id != "USLACKBOT"
}

// decode decodes a message with the names that can be had within ctx.
func (n *names) decode(ctx context.Context, raw []byte) (slackmsg.Decoded, error) {
	n.load(ctx)
	var m missing
	d, err := n.read(raw, &m)
	if err == nil && !m.none() {
		n.ask(ctx, m)
		d, err = n.read(raw, &missing{})
	}
	return d, err
}

// learn asks for the names that messages need, as far as ctx allows.
func (n *names) learn(ctx context.Context, messages []json.RawMessage) {
	n.load(ctx)
	var m missing
	for _, raw := range messages {
		_, _ = n.read(raw, &m) // only what it asks for counts
	}
	if !m.none() {
		n.ask(ctx, m)
	}
}

// read decodes a message with the names that are at hand, noting in m what is
// not.
func (n *names) read(raw []byte, m *missing) (slackmsg.Decoded, error) {
	d, err := slackmsg.Decode(raw, n.known(m))
	// An id is no name: where nothing else is known, a copy that comes with a
	// name must win over this one.
	if d.Message.Author.Name == string(d.Message.Author.ID) {
		d.Message.Author.Name = ""
	}
	return d, err
}

// load reads the authors that the store knows, once.
func (n *names) load(ctx context.Context) {
	n.mu.Lock()
	loaded := n.loaded
	n.mu.Unlock()
	if loaded {
		return
	}
	list, err := n.p.o.Store.Authors(ctx, earshot.Slack, n.p.workspace)
	if err != nil {
		n.p.o.Log.Warn("names are not read from the store", "err", err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loaded = true
	until := n.p.o.Now().Add(userTTL)
	for _, a := range list {
		if _, ok := n.users[a.ID]; !ok {
			n.users[a.ID] = known[earshot.Author]{a, until}
		}
	}
}

// ask asks for what is missing. What cannot be had stays unknown for a while.
func (n *names) ask(ctx context.Context, m missing) {
	var g errgroup.Group
	g.SetLimit(together)
	for _, id := range m.users {
		had := func() bool { return !n.p.o.Now().After(n.users[id].until) }
		g.Go(func() error { return n.once(ctx, "user "+string(id), had, func() error { return n.askUser(ctx, id) }) })
	}
	for _, id := range m.channels {
		g.Go(func() error {
			_, err := n.channel(ctx, earshot.Channel{ID: id})
			return err
		})
	}
	if m.groups {
		had := func() bool { return !n.p.o.Now().After(n.groupsAt) }
		g.Go(func() error { return n.once(ctx, "groups", had, func() error { return n.askGroups(ctx) }) })
	}
	if err := g.Wait(); err != nil {
		n.p.o.Log.Debug("names are not known", "err", err)
	}
}

// once lets one caller at a time ask for a thing; the others wait for it. had
// reports, under the lock, whether it was had since the caller looked.
func (n *names) once(ctx context.Context, what string, had func() bool, ask func() error) error {
	n.mu.Lock()
	if had() {
		n.mu.Unlock()
		return nil
	}
	flight, flying := n.flights[what]
	if !flying {
		flight = make(chan struct{})
		n.flights[what] = flight
	}
	n.mu.Unlock()
	if flying {
		select {
		case <-flight:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() {
		n.mu.Lock()
		delete(n.flights, what)
		n.mu.Unlock()
		close(flight)
	}()
	return ask()
}

func (n *names) askUser(ctx context.Context, id earshot.AuthorID) error {
	method, args, field := "users.info", url.Values{"user": {string(id)}}, "user"
	if id[0] == 'B' {
		method, args, field = "bots.info", url.Values{"bot": {string(id)}}, "bot"
	}
	raw, err := n.object(ctx, method, args, field)
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.users[id] = known[earshot.Author]{n.users[id].value, n.p.o.Now().Add(refused(err, userTTL))}
		return err
	}
	a, bot, _, ok := slackmsg.Author(raw)
	if id[0] == 'B' {
		a.Kind = earshot.Bot
	}
	if !ok || a.ID != id {
		a = earshot.Author{}
	}
	return n.putUser(ctx, id, a, bot)
}

// putUser keeps what is known of an author, in the store where that is new.
func (n *names) putUser(ctx context.Context, id earshot.AuthorID, a earshot.Author, bot earshot.AuthorID) error {
	n.mu.Lock()
	before := n.users[id].value
	n.users[id] = known[earshot.Author]{a, n.p.o.Now().Add(userTTL)}
	if bot != "" && bot != id {
		n.bots[bot] = id
	}
	n.mu.Unlock()
	if a.ID == "" || a == before {
		return nil
	}
	return n.p.o.Store.PutAuthors(ctx, earshot.Slack, n.p.workspace, a)
}

// changed takes over a profile that an event tells, of whom is known here.
func (n *names) changed(ctx context.Context, a earshot.Author, bot earshot.AuthorID) error {
	n.load(ctx)
	n.mu.Lock()
	_, ok := n.users[a.ID]
	n.mu.Unlock()
	if !ok {
		return nil // asked for when somebody of that name speaks
	}
	return n.putUser(ctx, a.ID, a, bot)
}

// askGroups reads all user groups at once: there is no call for one.
func (n *names) askGroups(ctx context.Context) error {
	list, err := n.object(ctx, "usergroups.list", nil, "usergroups")
	var groups []struct {
		ID     string `json:"id"`
		Handle string `json:"handle"`
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.groupsAt = n.p.o.Now().Add(refused(err, groupTTL))
		return err
	}
	_ = json.Unmarshal(list, &groups) // what can be read counts
	for _, g := range groups {
		n.groups[g.ID] = g.Handle
	}
	n.groupsAt = n.p.o.Now().Add(groupTTL)
	return nil
}

// putGroup takes over a group's name that an event tells.
func (n *names) putGroup(id, handle string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.groups[id] = handle
}

// object calls a method and returns one member of its answer.
func (n *names) object(ctx context.Context, method string, args url.Values, field string) (json.RawMessage, error) {
	raw, err := n.p.client.Call(ctx, method, args)
	if err != nil {
		return nil, err
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(raw, &answer) != nil {
		return nil, slackapi.ErrAnswer
	}
	return answer[field], nil
}
