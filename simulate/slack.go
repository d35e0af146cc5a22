// Package simulate has a fake Slack, for testing a bot of any language without an
// account. "earshot simulate" is the same as a program.
//
// [NewSlack] starts one on loopback: the Web API under URL/api/, events by signed
// HTTP or Socket Mode, and files.
//
//   - A test acts as people by [Slack.Say], [Slack.Edit], [Slack.Delete], [Slack.Click] and
//     others.
//
//   - The app under test uses the API, with the tokens of [Slack.App].
//
//   - [Slack.Inject] makes calls and events fail: lost answers, rate limits, events
//     that come twice, late or never.
//
//   - [Slack.Settle] waits until every event was acknowledged; [Slack.Calls] then
//     returns what the app called and [Slack.Messages] what people see.
//
// For example:
//
//	s, err := simulate.NewSlack(nil)
//	defer s.Close()
//	mara := s.AddUser(simulate.User{Name: "mara"})
//	general := s.AddChannel(simulate.Channel{Name: "general", Members: []string{mara, s.App().UserID}})
//	s.Deliver("http://127.0.0.1:8080/slack/events")
//	s.Say(general, mara, "<@"+s.App().UserID+"> hello")
//
// The package shares no code with Earshot's own adapter for Slack, because it would
// share its mistakes: both are written from Slack's documentation. ts, ids and texts
// are Slack's, as strings: a ts is the id of a message within its channel, such as
// "1700000005.000100".
//
// Unstable: what this package exports may change with any version.
package simulate

import (
	"cmp"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// SlackOptions configure a fake Slack. The zero value has the rate limits of an
// internal app and Slack's own times.
type SlackOptions struct {
	Listen string // a loopback address with a port; "" is a free port on 127.0.0.1
	// Listener is used in place of Listen, for example for a network in memory.
	Listener net.Listener
	Now      func() time.Time // nil is time.Now
	Seed     uint64           // of all random choices, such as Fault.Chance

	Team   Team  // zero fields are taken from Export, else get fixed values
	Export fs.FS // the history at the start: an export in Slack's layout
	App    App   // the app under test; zero fields get fixed values

	Tier   Tier           // how often the app may call
	Limits map[string]int // calls a minute by method, in place of the tier's; 0 is no limit

	// Behaviour for which Slack's documents and clients differ.
	RootOnFirstPageOnly bool // conversations.replies repeats the root on every page otherwise
	HistoryForward      bool // conversations.history with oldest but no latest starts at oldest
	RepliedEvents       bool // a reply also causes message_replied of its root, without its subtype

	EventsURL string // where events go; Deliver changes it
	// InteractionsURL is where clicks and forms go; Interact changes it.
	InteractionsURL string
	SocketMode      bool            // events and interactions go by Socket Mode, and not to URLs
	AckWithin       time.Duration   // time for the answer to an event; 0 is 3 s
	Retries         []time.Duration // waits before an event is sent again; nil is 0, 1 and 5 minutes
	Senders         int             // events that are sent at the same time at most; 0 is 1, which keeps their order
	PingEvery       time.Duration   // between pings on a socket; 0 is 5 s
	DrainFor        time.Duration   // from a disconnect message to the end of its socket; 0 is 10 s

	Log *slog.Logger // calls and events, one line each, at Info; nil discards
}

// A Team is a workspace.
type Team struct{ ID, Name, Domain string }

const defaultTeam = "T0SIMULATE"

// An App is the app under test. Its secrets are invented and the same in every run.
type App struct {
	ID, BotID, UserID, Name string

	BotToken, AppToken, SigningSecret string

	// With RefreshToken the bot's tokens rotate: oauth.v2.access exchanges it.
	ClientID, ClientSecret, RefreshToken string

	Scopes    []string // nil is AllScopes
	AgentView bool     // the app's manifest has agent_view: app_home_opened and app_context_changed are sent
}

// AllScopes returns every bot scope that a method of the fake Slack needs.
func AllScopes() []string {
	return []string{
		"app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read", "commands", "chat:write",
		"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
		"mpim:write", "reactions:read", "reactions:write", "team:read", "usergroups:read", "users:read",
	}
}

// A Slack is one fake workspace with its servers. It is safe for concurrent use.
// Methods that take the id of a channel, user or message panic where there is none:
// the test itself is wrong then.
type Slack struct {
	o    SlackOptions
	host *fake.Host

	mu          sync.Mutex // guards what follows
	rng         *rand.Rand
	lastID      int64
	users       []*User
	bots        []*Bot
	groups      []*UserGroup
	channels    []*channel
	files       []*File
	uploads     map[string]*upload // by id
	ephemerals  []Ephemeral
	statuses    map[place]status
	homes       map[string]object   // views of the tab Home, by user
	prompts     map[string][]string // by channel
	titles      map[place]string
	removed     bool              // the app was uninstalled, or not installed yet
	hub         *Slack            // has the sockets of all workspaces of a [SlackApp]; nil: its own
	front       string            // the address of the workspace at its [SlackApp]; "" where it has none
	endedTokens map[string]string // tokens that are refused, with the code
	olderTokens map[string]bool   // which work beside the newest until they end
	nextRefresh string            // of the last exchange; once it is used, the one before ends

	calls  []*Call
	spent  map[string][]time.Time // moments of calls in the last minute, by limit
	faults []*fault

	triggers        map[string]*trigger
	forms           []*Form // that people have before them
	interactionsURL string

	eventsURL  string
	queue      []*delivery
	queued     chan struct{} // one token when queue may have something
	pending    int           // deliveries that are not over
	swapped    *delivery     // by SwapEvent: sent after the next one
	deliveries []Delivery

	tickets map[string]bool
	sockets []*socket
}

// NewSlack starts a fake Slack; nil means the default options. The caller must call
// [Slack.Close]. The error is of an option, or of listening.
func NewSlack(o *SlackOptions) (*Slack, error) {
	s := &Slack{spent: map[string][]time.Time{}, statuses: map[place]status{}, homes: map[string]object{}, prompts: map[string][]string{}, titles: map[place]string{}, endedTokens: map[string]string{}, olderTokens: map[string]bool{}, tickets: map[string]bool{}, triggers: map[string]*trigger{}, uploads: map[string]*upload{}, queued: make(chan struct{}, 1)}
	if o != nil {
		s.o = *o
	}
	s.defaults()
	s.rng = rand.New(rand.NewPCG(s.o.Seed, 0x51ac))
	s.eventsURL, s.interactionsURL = s.o.EventsURL, s.o.InteractionsURL
	var err error
	if s.host, err = fake.Listen("Slack", &s.mu, s.o.Listener, s.o.Listen); err != nil {
		return nil, err
	}
	s.install()
	if s.o.Export != nil {
		if err := s.load(s.o.Export); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	s.host.Serve(s.mux())
	for range max(s.o.Senders, 1) {
		s.host.Busy.Go(s.deliver)
	}
	return s, nil
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

// URL returns the base URL, without a slash at its end. An app uses URL/api/ in place
// of https://slack.com/api/.
func (s *Slack) URL() string { return s.host.URL }

// App returns the app under test, with its tokens.
func (s *Slack) App() App {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.App
}

// Team returns the workspace.
func (s *Slack) Team() Team { return s.o.Team }

// RotateSecret changes the signing secret of the events that are sent from now on.
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

// Close stops the servers and waits until every goroutine has ended. It may be called
// twice.
func (s *Slack) Close() error {
	return s.host.Close(func() {
		for _, c := range s.sockets {
			_ = c.conn.Close()
		}
	})
}

// mux is the fake Slack's front.
func (s *Slack) mux() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/api/{method}", s.serveMethod)
	m.HandleFunc("GET /link/", s.serveSocket)
	m.HandleFunc("GET /files-pri/{id}/{name...}", s.serveFile)
	m.HandleFunc("POST /upload/v1/{id}", s.serveUpload)
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
