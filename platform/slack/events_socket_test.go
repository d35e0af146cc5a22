package slack_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
)

// TestMain lets more tests run at a time than there are cores: many of them wait
// for a time-out or a retry and use no CPU meanwhile.
func TestMain(m *testing.M) {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = flag.Set("test.parallel", "4") // the value is a number
	}
	goleak.VerifyTestMain(m)
}

// gaps records the times in which no socket was up.
type gaps struct {
	mu   sync.Mutex
	list [][2]time.Time
	came chan struct{}
}

func newGaps() *gaps { return &gaps{came: make(chan struct{}, 100)} }

func (g *gaps) missed(from, to time.Time) {
	g.mu.Lock()
	g.list = append(g.list, [2]time.Time{from, to})
	g.mu.Unlock()
	g.came <- struct{}{}
}

func (g *gaps) set(_ *simulate.SlackOptions, o *slack.Options) { o.Missed = g.missed }

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(hang):
		t.Fatalf("waited in vain for %s", what)
	}
}

// listening runs Listen until the test ends, and returns once a socket is up.
func listening(x *inbox, g *gaps, handle slack.Handler) (stop func() error) {
	x.Helper()
	ctx, cancel := context.WithCancel(x.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.platform.Listen(ctx, handle) }()
	within(x.T, "the first socket", g.came)
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(hang):
			return errors.New("Listen goes on after its context has ended")
		}
	})
	x.Cleanup(func() { _ = stop() })
	return stop
}

// until waits for something that the fake Slack alone knows.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestASocketBringsWhatIsSaid(t *testing.T) {
	t.Parallel()
	g := newGaps()
	x := listenTo(t, bySocket, g.set)
	stop := listening(x, g, x.bot.Handle)
	until(t, "both sockets", func() bool { return x.slack.Connections() == 2 })
	var want []string
	for i := range 20 {
		want = append(want, x.slack.Say(x.general, x.mara, fmt.Sprintf("<@%s> %d", x.me, i)))
	}
	x.settle()
	if got := x.turns(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("turns: got %v, want %v", got, want)
	}
	for _, d := range x.slack.Deliveries() {
		if d.Tries != 1 {
			t.Errorf("%s came %d times", d.EventID, d.Tries)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("Listen ended with %v", err)
	}
	until(t, "the sockets' end", func() bool { return x.slack.Connections() == 0 })
}

func TestWhatIsNotDurableIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	g := newGaps()
	x := listenTo(t, bySocket, g.set, func(so *simulate.SlackOptions, _ *slack.Options) { so.AckWithin = time.Second })
	var once sync.Once
	listening(x, g, func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		var err error
		once.Do(func() { err = errors.New("the disk is full") })
		if err != nil {
			return bot.Outcome{}, err
		}
		return x.bot.Handle(ctx, e)
	})
	ts := x.slack.Say(x.general, x.mara, "hello")
	x.settle()
	x.message(x.general, ts)
	if d := x.slack.Deliveries(); d[0].Tries != 2 {
		t.Errorf("it was sent %d times, want 2", d[0].Tries)
	}
}

// While Slack renews connections one after the other, nothing is lost and
// nothing comes twice.
func TestSocketsAreReplacedBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	g := newGaps()
	x := listenTo(t, bySocket, g.set, func(so *simulate.SlackOptions, o *slack.Options) {
		o.Sockets, so.DrainFor = 1, time.Second // in which another must be open, on a busy machine too
	})
	listening(x, g, x.bot.Handle)
	var said []string
	for i := range 4 {
		x.slack.Disconnect([]string{"warning", "refresh_requested"}[i%2])
		for j := range 5 {
			said = append(said, x.slack.Say(x.general, x.mara, fmt.Sprintf("%d.%d", i, j)))
		}
		until(t, "the old socket's end", func() bool {
			return strings.Count(x.log.String(), "a socket ended") == i+1 && x.slack.Connections() == 1
		})
	}
	x.settle()
	for _, ts := range said {
		x.message(x.general, ts)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.list) != 1 {
		t.Errorf("%d times without a socket, want the start's only: %v\n%s", len(g.list), g.list, x.log)
	}
}

func TestATimeWithoutASocketIsTold(t *testing.T) {
	t.Parallel()
	g := newGaps()
	x := listenTo(t, bySocket, g.set)
	listening(x, g, x.bot.Handle)
	// Both have heard the hello: one that is cut before it would end the gap.
	until(t, "both sockets", func() bool { return strings.Count(x.log.String(), "a socket is up") == 2 })
	before := time.Now()
	x.slack.Inject(simulate.Fault{Kind: simulate.ServerError, On: "apps.connections.open", Times: 4})
	x.slack.Cut()
	within(t, "the gap's end", g.came)
	g.mu.Lock()
	gap := g.list[len(g.list)-1]
	g.mu.Unlock()
	if gap[0].Before(before) || !gap[1].After(gap[0]) {
		t.Errorf("got a gap from %s to %s, cut at %s", gap[0], gap[1], before)
	}
	ts := x.slack.Say(x.general, x.mara, "again")
	x.settle()
	x.message(x.general, ts)
}

func TestListeningEndsWhereItMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arrange func(*simulate.SlackOptions, *slack.Options)
		act     func(*inbox)
		want    string
	}{
		"without an app token": {act: func(x *inbox) {}, arrange: func(_ *simulate.SlackOptions, o *slack.Options) { o.AppToken = secret.Secret{} }, want: "SLACK_APP_TOKEN"},
		"after it was removed": {act: func(x *inbox) { x.slack.Uninstall() }, want: "install it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t, bySocket)
			p := x.platform
			o := slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), AppToken: secret.New(x.slack.App().AppToken), Store: x.store}
			if tt.arrange != nil {
				tt.arrange(nil, &o)
				var err error
				if p, err = slack.Open(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan error, 1)
			go func() { ended <- p.Listen(t.Context(), x.bot.Handle) }()
			if tt.arrange == nil {
				until(t, "both sockets", func() bool { return x.slack.Connections() == 2 })
			}
			tt.act(x)
			select {
			case err := <-ended:
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want it to say %q", err, tt.want)
				}
			case <-time.After(hang):
				t.Fatal("Listen goes on")
			}
		})
	}
}

// The URL of a socket holds a ticket that opens it.
func TestATicketIsShownNowhere(t *testing.T) {
	t.Parallel()
	const ticket = "canary-ticket-9d8f7a"
	for name, form := range map[string]string{
		"a connection that says something else": "ws://HOST/link/?ticket=" + ticket + "&app_id=A1",
		"one that is refused":                   "ws://HOST/" + ticket + "/x",
		"a port that nobody listens at":         "ws://127.0.0.1:1/?ticket=" + ticket,
		"what is no socket":                     "http://" + ticket + "/?ticket=" + ticket,
		"what is no URL":                        "::" + ticket,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again := make(chan struct{}, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "apps.connections.open"):
					again <- struct{}{}
					fmt.Fprintf(w, `{"ok":true,"url":%q}`, strings.Replace(form, "HOST", r.Host, 1))
				case strings.HasPrefix(r.URL.Path, "/api/"):
					fmt.Fprint(w, `{"ok":true,"user":"earshot","user_id":"U0","team_id":"T1","bot_id":"B0","bot":{"app_id":"A0"}}`)
				case r.URL.Query().Get("ticket") != "":
					if conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil); err == nil {
						_ = conn.WriteJSON(map[string]string{"type": ticket})
						conn.Close()
					}
				default:
					http.Error(w, "no", http.StatusForbidden)
				}
			}))
			defer server.Close()
			x := listenTo(t)
			p := opening(t, x, server.URL+"/api/")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Listen(ctx, x.bot.Handle) }()
			within(t, "the first try", again)
			within(t, "the second", again)
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Listen ended with %v", err)
			}
			log := x.log.String()
			hides(t, log, ticket, x.slack.App().AppToken, x.slack.App().BotToken)
			if !strings.Contains(log, "a socket cannot be opened") {
				t.Errorf("the refusal is not logged:\n%s", log)
			}
		})
	}
}

// One channel's events are taken in the order in which they came, whatever
// other channels do meanwhile.
func TestASlowChannelHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	g := newGaps()
	x := listenTo(t, bySocket, g.set, func(so *simulate.SlackOptions, o *slack.Options) {
		o.Sockets, so.Retries, so.AckWithin = 1, []time.Duration{}, 100*time.Millisecond
	})
	slow, taken := make(chan struct{}), make(chan earshot.ChannelID, 100)
	listening(x, g, func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		if string(e.Channel.ID) == x.general {
			<-slow
		}
		taken <- e.Channel.ID
		return x.bot.Handle(ctx, e)
	})
	defer close(slow)
	x.slack.Say(x.general, x.mara, "slow")
	// Of twenty channels most share no lane with it.
	for range 20 {
		c := x.slack.AddChannel(simulate.Channel{Name: "other", Members: []string{x.me, x.mara}})
		x.slack.Say(c, x.mara, "quick")
	}
	select {
	case c := <-taken:
		if string(c) == x.general {
			t.Error("the slow one came first")
		}
	case <-time.After(hang):
		t.Fatal("nothing was taken")
	}
}
