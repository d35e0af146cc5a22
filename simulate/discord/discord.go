// Package discord has a fake Discord, for testing a bot of any language without an
// account. "earshot simulate discord" is the same as a program.
//
// [New] starts one on loopback: the REST API under URL/api/v10/, the gateway, whose
// address the API tells, and attachments.
//
//   - A test acts as people by [Discord.Say], [Discord.Reply], [Discord.Edit] and
//     others.
//
//   - The bot under test uses the API and the gateway with the token of [Discord.App].
//
//   - [Discord.Inject] makes calls, events and connections fail: lost answers, rate
//     limits, sockets that break, sessions that cannot be resumed.
//
//   - [Discord.Settle] waits until the bot has received every event; [Discord.Calls]
//     then returns what it called and [Discord.Messages] what people see.
//
// For example:
//
//	s, err := discord.New(nil)
//	defer s.Close()
//	mara := s.AddUser(discord.User{Name: "mara"})
//	general := s.AddChannel(discord.Channel{Name: "general"})
//	s.Say(general, mara, "<@"+s.App().UserID+"> hello")
//
// The package shares no code with Earshot's own adapter for Discord, because it would
// share its mistakes: both are written from Discord's documentation. Ids are
// Discord's snowflakes, as strings.
//
// Unstable: what this package exports may change with any version.
package discord

import (
	"cmp"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// Options configure a fake Discord. The zero value has Discord's own limits and
// times.
type Options struct {
	Listen string // a loopback address with a port; "" is a free port on 127.0.0.1
	// Listener is used in place of Listen, for example for a network in memory.
	Listener net.Listener
	Now      func() time.Time // nil is time.Now
	Seed     uint64           // of all random choices, such as Fault.Chance

	App   App   // the application under test; zero fields get fixed values
	Guild Guild // the first guild; zero fields get fixed values

	// NoMessageContent, NoMembers and NoPresences say that a privileged intent is not
	// granted in the portal: a bot that asks for it is turned away with 4014. Without
	// message content the API leaves it out, too.
	NoMessageContent, NoMembers, NoPresences bool

	Unlimited bool             // no rate limits, and no headers that tell them
	Limits    map[string]Limit // limits by operation, in place of Discord's; a zero one is no limit
	Global    int              // requests a second in all; 0 is 50
	NonceFor  time.Duration    // how long a nonce makes a post the same; 0 is 3 minutes
	LinkFor   time.Duration    // how long the address of an attachment works; 0 is 24 h

	Heartbeat     time.Duration // the interval that Hello names; 0 is 41.25 s
	IdentifyEvery time.Duration // between two identifies; 0 is 5 s, negative is none
	Shards        int           // how many shards GET /gateway/bot recommends; 0 is 1
	Buffer        int           // events of a session that can be replayed; 0 is 1,000

	// Observe is called with each request to the API before it is carried out, for
	// example to validate it. path has no prefix such as /api/v10. It may be called
	// by several goroutines at once.
	Observe func(method, path string, query url.Values, body []byte, contentType string)

	Log *slog.Logger // calls and events, one line each, at Info; nil discards
}

// An App is the application under test. Its token is invented and the same in every
// run.
type App struct {
	ID, UserID, Name string
	Token            string
	// Permissions are those of the bot's own role in each server, as its invitation asks
	// for them, beside those that everybody has. AllPermissions are many.
	Permissions int64
	// InteractionsURL is set in the portal: clicks go there, and not to the gateway. Here
	// nothing is sent there.
	InteractionsURL string
}

// A Discord is a fake Discord with its servers. It is safe for concurrent use.
// Methods that take the id of a channel, user or message panic where there is none:
// the test itself is wrong then.
type Discord struct {
	o    Options
	host *fake.Host

	mu       sync.Mutex // guards what follows
	rng      *rand.Rand
	lastTime int64 // of the newest snowflake, in milliseconds
	lastIncr int64
	guilds   []*guild
	users    []*User
	channels []*channel
	byID     map[string]*channel
	webhooks []*Webhook
	files    map[string]*File
	nonces   []nonce

	calls   []*Call
	buckets map[string]*bucket
	spent   []time.Time // requests of the last second
	faults  []*fault

	sessions   []*session
	sockets    []*socket
	identified time.Time // when a bot identified last
	identifies int       // how many times it did
	events     []*Event
	late       int // events that LateEvent keeps back

	interactions []*interaction // in order
	commands     []*registered  // in order
	emojis       []*emoji       // of the application
	missing      map[string]int // calls of routes that are not here, by method and path
}

// New starts a fake Discord with one guild, which the bot is in; nil means the
// default options. The caller must call [Discord.Close]. The error is of an option,
// or of listening.
func New(o *Options) (*Discord, error) {
	s := &Discord{byID: map[string]*channel{}, files: map[string]*File{}, buckets: map[string]*bucket{}}
	if o != nil {
		s.o = *o
	}
	s.defaults()
	s.rng = rand.New(rand.NewPCG(s.o.Seed, 0xd15c))
	var err error
	if s.host, err = fake.Listen("Discord", &s.mu, s.o.Listener, s.o.Listen); err != nil {
		return nil, err
	}
	s.users = append(s.users, &User{ID: s.o.App.UserID, Name: s.o.App.Name, Bot: true})
	s.addGuild(s.o.Guild)
	s.host.Serve(s.mux())
	return s, nil
}

// defaults fills what the options leave open.
func (s *Discord) defaults() {
	o := &s.o
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Global = cmp.Or(o.Global, 50)
	o.NonceFor = cmp.Or(o.NonceFor, 3*time.Minute)
	o.LinkFor = cmp.Or(o.LinkFor, 24*time.Hour)
	o.Heartbeat = cmp.Or(o.Heartbeat, 41250*time.Millisecond)
	o.IdentifyEvery = cmp.Or(o.IdentifyEvery, 5*time.Second)
	o.Shards = max(o.Shards, 1)
	o.Buffer = cmp.Or(o.Buffer, 1000)
	o.Limits = maps.Clone(o.Limits)
	a := &o.App
	a.ID = cmp.Or(a.ID, "1100000000000000001")
	a.UserID, a.Name = cmp.Or(a.UserID, a.ID), cmp.Or(a.Name, "earshot")
	// A token has the form of Discord's, because libraries look at its parts: the
	// bot's id in base 64, a time and a signature.
	a.Token = cmp.Or(a.Token, "MTEwMDAwMDAwMDAwMDAwMDAwMQ.simul8.a-made-up-token-of-a-simulated-discord")
	o.Guild.ID, o.Guild.Name = cmp.Or(o.Guild.ID, "1100000000000000002"), cmp.Or(o.Guild.Name, "Simulated")
}

// URL returns the base URL, without a slash at its end.
func (s *Discord) URL() string { return s.host.URL }

// APIURL returns the URL that stands for https://discord.com/api/v10.
func (s *Discord) APIURL() string { return s.host.URL + "/api/v10" }

// GatewayURL returns the gateway's URL, as GET /gateway has it.
func (s *Discord) GatewayURL() string {
	return strings.Replace(s.host.URL, "http", "ws", 1) + "/socket/"
}

// App returns the application under test, with its token.
func (s *Discord) App() App {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.App
}

// Guild returns the id of the first guild.
func (s *Discord) Guild() string { return s.o.Guild.ID }

// RotateToken makes another token the valid one: calls with the old one answer 401,
// and sockets that identify with it are closed with 4004.
func (s *Discord) RotateToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.App.Token = token
}

// Close stops the servers and waits until every goroutine has ended. It may be called
// twice.
func (s *Discord) Close() error {
	return s.host.Close(func() {
		for _, c := range s.sockets {
			_ = c.conn.Close()
		}
	})
}

// mux is the fake Discord's front.
func (s *Discord) mux() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/", s.serveAPI)
	m.HandleFunc("GET /socket/", s.serveSocket)
	m.HandleFunc("GET /attachments/{channel}/{id}/{name}", s.serveFile)
	m.HandleFunc("POST /simulate/{act}", s.serveAct)
	m.HandleFunc("GET /simulate/{what}", s.serveState)
	return m
}

// check panics when a script names what does not exist.
func check(err error) {
	if err != nil {
		panic("simulate/discord: " + err.Error())
	}
}
