// Package simulate has fake chat platforms that behave as the real ones do,
// for tests and for trying a bot of any language without an account.
//
// [NewSlack] starts a Slack on loopback: a Web API under URL/api/, events by
// signed HTTP or by Socket Mode, and files. People act through its methods
// ([Slack.Say], [Slack.Edit], [Slack.Delete], …), the app under test through
// the API, and [Slack.Inject] makes either go wrong. [Slack.Calls] and
// [Slack.Messages] tell what the app did and what people see.
//
//	s, err := simulate.NewSlack(nil)
//	defer s.Close()
//	mara := s.AddUser(simulate.User{Name: "mara"})
//	general := s.AddChannel(simulate.Channel{Name: "general", Members: []string{mara, s.App().UserID}})
//	s.Deliver("http://127.0.0.1:8080/slack/events")
//	s.Say(general, mara, "<@"+s.App().UserID+"> hello")
//
// It knows nothing of the adapter that Earshot has for Slack: what both hold
// true they hold from Slack's documentation.
package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// SlackOptions says what kind of Slack it is. The zero value is one that an
// internal app meets, with Slack's own times.
type SlackOptions struct {
	Listen string // a loopback address; "" is a free port on 127.0.0.1
	// Listener is served in place of Listen: a network that is not the machine's.
	Listener net.Listener
	Now      func() time.Time // nil is time.Now
	Seed     uint64           // of everything that is left to chance

	Team   Team  // zero fields get fixed values; those of Export where it tells
	Export fs.FS // what was said before: an export in Slack's layout
	App    App   // the app under test; zero fields get fixed values

	Tier   Tier           // how often the app may call
	Limits map[string]int // calls a minute by method, before the tier; 0 is no limit

	// Where documents are silent or clients disagree, a setting chooses.
	RootOnFirstPageOnly bool // conversations.replies repeats the root on every page otherwise
	HistoryForward      bool // conversations.history with oldest but no latest starts at oldest
	RepliedEvents       bool // a reply is also told as message_replied of its root, without its subtype

	EventsURL  string          // where events go; Deliver changes it
	SocketMode bool            // events go to sockets instead
	AckWithin  time.Duration   // an event must be answered within; 0 is 3 s
	Retries    []time.Duration // waits before an event is sent again; nil is 0, 1 and 5 minutes
	Senders    int             // events that may be under way at once; 0 is 1, which keeps their order
	PingEvery  time.Duration   // between pings on a socket; 0 is 5 s
	DrainFor   time.Duration   // a socket lives on after its disconnect message; 0 is 10 s

	Log *slog.Logger // calls and events, one line each, at Info; nil discards
}

// A Team is a workspace.
type Team struct{ ID, Name, Domain string }

const defaultTeam = "T0SIMULATE"

// An App is what is installed in the workspace. Its secrets are made up and
// the same in every run.
type App struct {
	ID, BotID, UserID, Name string

	BotToken, AppToken, SigningSecret string

	Scopes    []string // nil is AllScopes
	AgentView bool     // its DMs open as an agent's: app_home_opened, app_context_changed
}

// AllScopes are the bot scopes that the methods here ask for.
func AllScopes() []string {
	return []string{
		"app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read", "chat:write",
		"files:read", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
		"mpim:write", "reactions:read", "reactions:write", "team:read", "usergroups:read", "users:read",
	}
}

// A Slack is one workspace and the servers around it. Its methods may be used
// by several goroutines. People's methods (Say, Edit, …) panic when they name
// a channel, a person or a message that does not exist: that is a mistake in
// the script.
type Slack struct {
	o      SlackOptions
	url    string
	server *http.Server
	ctx    context.Context //nolint:containedctx // ends with Close; every goroutine here ends with it
	stop   context.CancelFunc
	busy   sync.WaitGroup

	mu         sync.Mutex // guards what follows
	rng        *rand.Rand
	lastID     int64
	users      []*User
	bots       []*Bot
	groups     []*UserGroup
	channels   []*channel
	files      []*File
	ephemerals []Ephemeral
	statuses   map[place]status
	removed    bool // the app was uninstalled

	calls  []*Call
	spent  map[string][]time.Time // moments of calls in the last minute, by limit
	faults []*fault

	eventsURL  string
	queue      []*delivery
	queued     chan struct{} // one token when queue may have something
	pending    int           // deliveries that are not over
	held       *delivery     // kept back until the next one has gone
	deliveries []Delivery
	changes    int        // counts what happens
	changed    *sync.Cond // something happened

	tickets map[string]bool
	sockets []*socket
}

// NewSlack starts a Slack. It needs Close.
func NewSlack(o *SlackOptions) (*Slack, error) {
	s := &Slack{spent: map[string][]time.Time{}, statuses: map[place]status{}, tickets: map[string]bool{}, queued: make(chan struct{}, 1)}
	if o != nil {
		s.o = *o
	}
	s.defaults()
	s.changed = sync.NewCond(&s.mu)
	s.rng = rand.New(rand.NewPCG(s.o.Seed, 0x51ac))
	s.eventsURL = s.o.EventsURL
	s.ctx, s.stop = context.WithCancel(context.Background())
	l, err := s.o.Listener, error(nil)
	if l == nil {
		l, err = listen(s.o.Listen)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	s.install()
	if s.o.Export != nil {
		if err := s.load(s.o.Export); err != nil {
			s.stop()
			_ = l.Close()
			return nil, err
		}
	}
	s.server = &http.Server{Handler: s.mux(), ReadHeaderTimeout: 10 * time.Second}
	s.busy.Go(func() {
		// The error is that of Close.
		_ = s.server.Serve(l)
	})
	for range max(s.o.Senders, 1) {
		s.busy.Go(s.deliver)
	}
	return s, nil
}

// listen refuses every address that others could reach.
func listen(address string) (net.Listener, error) {
	address = cmp.Or(address, "127.0.0.1:0")
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen on %q: a fake platform serves loopback only; use an address such as 127.0.0.1:8090", address)
	}
	return net.Listen("tcp", address) //nolint:noctx // a local socket: nothing to wait for
}

// defaults fills what the options leave open.
func (s *Slack) defaults() {
	o := &s.o
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.AckWithin = cmp.Or(o.AckWithin, 3*time.Second)
	o.PingEvery = cmp.Or(o.PingEvery, 5*time.Second)
	o.DrainFor = cmp.Or(o.DrainFor, 10*time.Second)
	if o.Retries == nil {
		o.Retries = []time.Duration{0, time.Minute, 5 * time.Minute}
	}
	t := &o.Team
	t.ID, t.Name, t.Domain = cmp.Or(t.ID, defaultTeam), cmp.Or(t.Name, "Simulated"), cmp.Or(t.Domain, "simulated")
	a := &o.App
	a.ID, a.BotID, a.UserID = cmp.Or(a.ID, "A0EARSHOT"), cmp.Or(a.BotID, "B0EARSHOT"), cmp.Or(a.UserID, "U0EARSHOT")
	a.Name = cmp.Or(a.Name, "earshot")
	a.BotToken = cmp.Or(a.BotToken, "xoxb-simulated")
	a.AppToken = cmp.Or(a.AppToken, "xapp-simulated")
	a.SigningSecret = cmp.Or(a.SigningSecret, "simulated-signing-secret")
	if a.Scopes == nil {
		a.Scopes = AllScopes()
	}
	a.Scopes, o.Retries, o.Limits = slices.Clone(a.Scopes), slices.Clone(o.Retries), maps.Clone(o.Limits)
}

// install makes the app a member of the workspace: its bot and its user.
func (s *Slack) install() {
	a := s.o.App
	s.users = append(s.users, &User{ID: a.UserID, Name: a.Name, RealName: a.Name, DisplayName: a.Name, bot: a.BotID})
	s.bots = append(s.bots, &Bot{ID: a.BotID, AppID: a.ID, UserID: a.UserID, Name: a.Name})
}

// URL is where the fake Slack serves, without a slash at its end. The Web API
// is at URL/api/, where an app expects https://slack.com/api/.
func (s *Slack) URL() string { return s.url }

// App is the app under test, with its tokens.
func (s *Slack) App() App {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.App
}

// Team is the workspace.
func (s *Slack) Team() Team { return s.o.Team }

// RotateSecret changes the signing secret: events from now on are signed with
// secret.
func (s *Slack) RotateSecret(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.App.SigningSecret = secret
}

// Grant replaces the scopes of the bot token.
func (s *Slack) Grant(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.App.Scopes = slices.Clone(scopes)
}

// Close stops everything and waits for it. It may be called twice.
func (s *Slack) Close() error {
	s.stop()
	s.mu.Lock()
	for _, c := range s.sockets {
		_ = c.conn.Close()
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = s.server.Close()
	}
	s.busy.Wait()
	s.mu.Lock()
	s.happened()
	s.mu.Unlock()
	return err
}

// mux is the fake Slack's front.
func (s *Slack) mux() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/api/{method}", s.serveMethod)
	m.HandleFunc("GET /link/", s.serveSocket)
	m.HandleFunc("GET /files-pri/{id}/{name...}", s.serveFile)
	m.HandleFunc("POST /simulate/{act}", s.serveAct)
	m.HandleFunc("GET /simulate/{what}", s.serveState)
	m.HandleFunc("GET /elsewhere/{id}", s.serveElsewhere)
	return m
}

// check panics when a script names what does not exist.
func check(err error) {
	if err != nil {
		panic("simulate: " + err.Error())
	}
}
