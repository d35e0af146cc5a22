package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// For how long names are current, and what asking for them may cost. Changes come
// as events, so that names are seldom out of date.
const (
	userTTL    = 10 * time.Minute
	channelTTL = time.Hour
	groupTTL   = time.Hour
	failedTTL  = time.Minute // what could not be had is not asked for again at once
	// nameTime is how long an event waits for names that are not known: Slack
	// wants its answer within three seconds. After it the message is recorded
	// with ids and no names; the next message of the same author brings the name
	// to all of theirs.
	nameTime = time.Second
	maxAsked = 30 // names that are asked for because of one message or page of history
	together = 4  // at a time
)

// A nameResolver resolves ids of users, channels and groups: from memory, which is filled
// from the store, and from Slack where the store does not know them. It is safe for
// concurrent use.
type nameResolver struct {
	p       *Platform
	flights singleflight.Group

	mu       sync.Mutex // guards what follows
	loaded   bool       // the store's authors were read
	users    map[earshot.AuthorID]cachedValue[earshot.Author]
	bots     map[earshot.AuthorID]earshot.AuthorID // a bot id's user
	channels map[earshot.ChannelID]cachedValue[earshot.Channel]
	teams    map[earshot.WorkspaceID]cachedValue[string] // names of other organisations
	groups   map[string]string                           // handles by id
	members  map[string][]earshot.AuthorID               // of groups whose members are known
	ours     map[string]bool                             // of groups whose members are known, whether the bot is one
	groupsAt time.Time                                   // until when they are current
}

// cachedValue is a value, and until when it is current. After a failure the value may be
// zero.
type cachedValue[T any] struct {
	value T
	until time.Time
}

func newNames(p *Platform) *nameResolver {
	return &nameResolver{
		p: p, users: map[earshot.AuthorID]cachedValue[earshot.Author]{}, bots: map[earshot.AuthorID]earshot.AuthorID{},
		channels: map[earshot.ChannelID]cachedValue[earshot.Channel]{}, teams: map[earshot.WorkspaceID]cachedValue[string]{}, groups: map[string]string{}, ours: map[string]bool{}, members: map[string][]earshot.AuthorID{},
	}
}

// missingIDs collects ids that a message has and that are not known or not current.
type missingIDs struct {
	users    []earshot.AuthorID
	channels []earshot.ChannelID
	groups   bool
}

func (m *missingIDs) none() bool { return len(m.users)+len(m.channels) == 0 && !m.groups }

// known returns a lookup in memory that adds to m what is missing.
func (n *nameResolver) known(m *missingIDs) slackmsg.Names {
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

// decode decodes a message, with the names that can be resolved within ctx.
func (n *nameResolver) decode(ctx context.Context, raw []byte) (slackmsg.DecodedMessage, error) {
	n.load(ctx)
	var m missingIDs
	d, err := n.read(raw, &m)
	if err == nil && !m.none() {
		n.ask(ctx, m)
		d, err = n.read(raw, &missingIDs{})
	}
	return d, err
}

// author returns a user; known is false where Slack does not tell in time.
func (n *nameResolver) author(ctx context.Context, id earshot.AuthorID) (a earshot.Author, known bool) {
	n.load(ctx)
	var m missingIDs
	if a, known = n.known(&m).User(id); !m.none() {
		n.ask(ctx, m)
		a, known = n.known(&missingIDs{}).User(id)
	}
	return a, known
}

// learn asks for the names that messages need, as far as ctx allows.
func (n *nameResolver) learn(ctx context.Context, messages []json.RawMessage) {
	n.load(ctx)
	var m missingIDs
	for _, raw := range messages {
		_, _ = n.read(raw, &m) // only for what it adds to m
	}
	if !m.none() {
		n.ask(ctx, m)
	}
}

// person asks for the name of somebody who may have said nothing yet, as far as ctx
// allows.
func (n *nameResolver) person(ctx context.Context, id earshot.AuthorID) {
	n.load(ctx)
	var m missingIDs
	n.known(&m).User(id)
	if !m.none() {
		n.ask(ctx, m)
	}
}

// read decodes a message with the names in memory, and adds to m what is missing.
func (n *nameResolver) read(raw []byte, m *missingIDs) (slackmsg.DecodedMessage, error) {
	d, err := slackmsg.Decode(raw, n.known(m))
	// Where nothing but the id is known the name stays empty, so that the store
	// prefers a copy of the message that has a name.
	if d.Message.Author.Name == string(d.Message.Author.ID) {
		d.Message.Author.Name = ""
	}
	if a := &d.Message.Author; a.Kind == earshot.Human && n.foreign(d.Team) {
		a.Standing = earshot.External // also of whom Slack told nothing yet
	}
	return d, err
}

// load reads the authors that the store knows, once.
func (n *nameResolver) load(ctx context.Context) {
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
			n.users[a.ID] = cachedValue[earshot.Author]{a, until}
		}
	}
}

// ask asks Slack for what is missing. What Slack does not give is not asked for
// again for a while.
func (n *nameResolver) ask(ctx context.Context, m missingIDs) {
	var g errgroup.Group
	g.SetLimit(together)
	for _, id := range m.users {
		had := func() bool { return !n.p.o.Now().After(n.users[id].until) }
		g.Go(func() error { return n.once(ctx, "user "+string(id), had, func() error { return n.askUser(ctx, id) }) })
	}
	for _, id := range m.channels {
		g.Go(func() error {
			_, err := n.channel(ctx, earshot.Channel{ID: id}, 0)
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

// once lets one caller at a time ask for a thing; the others share its result, as
// long as their ctx allows. had reports, under the lock, whether the thing is known
// and current.
func (n *nameResolver) once(ctx context.Context, what string, had func() bool, ask func() error) error {
	current := func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return had()
	}
	if current() {
		return nil
	}
	done := n.flights.DoChan(what, func() (any, error) {
		if current() { // asked for since the caller looked
			return nil, nil
		}
		return nil, ask()
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *nameResolver) askUser(ctx context.Context, id earshot.AuthorID) error {
	method, args, field := "users.info", url.Values{"user": {string(id)}}, "user"
	if id[0] == 'B' {
		method, args, field = "bots.info", url.Values{"bot": {string(id)}}, "bot"
	}
	raw, err := n.object(ctx, method, args, field)
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.users[id] = cachedValue[earshot.Author]{n.users[id].value, n.p.o.Now().Add(negativeTTL(err, userTTL))}
		return err
	}
	a, bot, team, ok := slackmsg.Author(raw)
	if id[0] == 'B' {
		a.Kind = earshot.Bot
	}
	if n.foreign(team) && a.Kind == earshot.Human {
		a.Standing = earshot.External
	}
	if a.Standing == earshot.External {
		a.Team = n.team(ctx, team)
	}
	if !ok || a.ID != id {
		a = earshot.Author{}
	}
	return n.putUser(ctx, id, a, bot)
}

// foreign reports whether a team is another organisation's. Workspaces of one
// enterprise are of one organisation, and there only Slack can tell.
func (n *nameResolver) foreign(team earshot.WorkspaceID) bool {
	return team != "" && team != n.p.workspace && n.p.enterprise == ""
}

// team returns the name of another organisation, "" where Slack does not tell it, as
// without the scope team:read.
func (n *nameResolver) team(ctx context.Context, id earshot.WorkspaceID) string {
	n.mu.Lock()
	k := n.teams[id]
	n.mu.Unlock()
	if !n.p.o.Now().After(k.until) || id == "" {
		return k.value
	}
	raw, err := n.object(ctx, "team.info", url.Values{"team": {string(id)}}, "team")
	var team struct {
		Name string `json:"name"`
	}
	ttl := channelTTL
	if err != nil {
		ttl, team.Name = negativeTTL(err, channelTTL), k.value
	} else if json.Unmarshal(raw, &team) != nil {
		team.Name = ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.teams[id] = cachedValue[string]{team.Name, n.p.o.Now().Add(ttl)}
	return team.Name
}

// putUser keeps what is known of an author, in the store where that is new.
func (n *nameResolver) putUser(ctx context.Context, id earshot.AuthorID, a earshot.Author, bot earshot.AuthorID) error {
	n.mu.Lock()
	before := n.users[id]
	if a.AsOf != 0 && a.AsOf < before.value.AsOf { // an event that comes late
		n.mu.Unlock()
		return nil
	}
	now := a
	now.AsOf = max(a.AsOf, before.value.AsOf)
	n.users[id] = cachedValue[earshot.Author]{now, n.p.o.Now().Add(userTTL)}
	if bot != "" && bot != id {
		n.bots[bot] = id
	}
	n.mu.Unlock()
	if a.ID == "" || now == before.value {
		return nil
	}
	err := n.p.o.Store.PutAuthors(ctx, earshot.Slack, n.p.workspace, a)
	if err != nil { // so that it is new when it comes again
		n.mu.Lock()
		defer n.mu.Unlock()
		n.users[id] = before
	}
	return err
}

// changed takes over a profile from an event, where the user is known already.
func (n *nameResolver) changed(ctx context.Context, a earshot.Author, bot earshot.AuthorID) error {
	n.load(ctx)
	n.mu.Lock()
	known, ok := n.users[a.ID]
	n.mu.Unlock()
	if !ok {
		return nil // the profile is asked for once the user says something
	}
	if k := known.value; k.Standing == earshot.External { // which a profile alone does not tell
		a.Standing, a.Team = k.Standing, k.Team
	}
	return n.putUser(ctx, a.ID, a, bot)
}

// askGroups reads all user groups at once, with their members: there is no call for one.
func (n *nameResolver) askGroups(ctx context.Context) error {
	list, err := n.object(ctx, "usergroups.list", url.Values{"include_users": {"true"}}, "usergroups")
	var groups []struct {
		ID     string             `json:"id"`
		Handle string             `json:"handle"`
		Users  []earshot.AuthorID `json:"users"`
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.groupsAt = n.p.o.Now().Add(negativeTTL(err, groupTTL))
		return err
	}
	_ = json.Unmarshal(list, &groups) // groups that cannot be read are left out
	for _, g := range groups {
		n.putMembers(g.ID, g.Handle, g.Users)
	}
	n.groupsAt = n.p.o.Now().Add(groupTTL)
	return nil
}

// putGroup takes over a group's name and members from an event; nil says nothing of
// them.
func (n *nameResolver) putGroup(id, handle string, users []earshot.AuthorID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.putMembers(id, handle, users)
}

// putMembers keeps a group's name, and whether the bot is one of its members. n.mu is
// held.
func (n *nameResolver) putMembers(id, handle string, users []earshot.AuthorID) {
	n.groups[id] = handle
	if users != nil {
		n.members[id] = users
		n.ours[id] = slices.ContainsFunc(users, n.p.identity.Is)
	}
}

// inGroup reports whether the bot is a member of one of some groups; known is false
// where Slack does not say so of each. The groups are read at most once in groupTTL.
func (n *nameResolver) inGroup(ctx context.Context, ids []string) (in, known bool) {
	n.readGroups(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	known = true
	for _, id := range ids {
		ours, ok := n.ours[id]
		in, known = in || ours, known && ok
	}
	return in, known
}

// inGroups reports whether somebody is a member of one of some groups. Nobody is one of a
// group whose members Slack does not tell.
func (n *nameResolver) inGroups(ctx context.Context, who earshot.AuthorID, ids []string) bool {
	n.readGroups(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(n.members[id], who) })
}

// readGroups reads the groups where they are not current.
func (n *nameResolver) readGroups(ctx context.Context) {
	n.mu.Lock()
	asks := n.p.o.Now().After(n.groupsAt)
	n.mu.Unlock()
	if asks {
		n.ask(ctx, missingIDs{groups: true})
	}
}

// object calls a method and returns one member of its answer.
func (n *nameResolver) object(ctx context.Context, method string, args url.Values, field string) (json.RawMessage, error) {
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
