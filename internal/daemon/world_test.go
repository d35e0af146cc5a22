package daemon_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// A botWorld is the daemon under test, whatever the platform, and the requests to the
// model behind it.
type botWorld struct {
	t       *testing.T
	wire    *wire
	db      string
	environ []string
	file    string // of the configuration; "" for none

	options daemon.Options // what it is started with, besides the configuration
	daemon  *daemon.Daemon
	ended   chan bot.Report
	stop    func()
	lasts   time.Duration // how long the daemon may run; 0 means enough
}

// newBotWorld makes what is around a daemon; run starts it.
func newBotWorld(t *testing.T, server string) botWorld {
	t.Helper()
	p := endToEnd{server: server, provider: "anthropic", url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY"}
	x := botWorld{t: t, wire: p.wire(t), db: filepath.Join(t.TempDir(), "bot.db"), ended: make(chan bot.Report, 10_000)}
	// Of a platform that is slower than the deadline, TestASlowPlatformShowsTheNewest says
	// what is shown. Here a busy machine must not pass for a slow platform.
	x.environ = append(p.environ(x.wire, x.db), "EARSHOT_HISTORY_SECONDS=60")
	return x
}

// run runs the daemon until the test or stop ends it.
func (x *botWorld) run() {
	x.t.Helper()
	c, err := config.Load(x.file, x.environ)
	if err != nil {
		x.t.Fatal(err)
	}
	p, _ := assemble.ByName(c.Policy)
	ctx, stop := context.WithTimeout(context.Background(), cmp.Or(x.lasts, enough))
	var log *slog.Logger
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	o := x.options
	o.Config, o.Policy, o.Done = c, p, func(r bot.Report) { x.ended <- r }
	if o.Log == nil {
		o.Log = log
	}
	d, err := daemon.Open(ctx, o)
	if err != nil {
		stop()
		x.t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	x.daemon = d
	once := false
	x.stop = func() {
		if once {
			return
		}
		once = true
		stop()
		if err := errors.Join(<-ran, d.Close()); err != nil {
			x.t.Error(err)
		}
	}
	x.t.Cleanup(x.stop)
}

// ends waits for the next turn to end, and checks its state.
func (x *botWorld) ends(want earshot.TurnState) bot.Report {
	x.t.Helper()
	select {
	case r := <-x.ended:
		if r.Turn.State != want {
			x.t.Fatalf("the turn is %s (%s), want %s", r.Turn.State, r.Turn.Why, want)
		}
		return r
	case <-time.After(enough):
		x.t.Fatal("no turn has ended")
	}
	return bot.Report{}
}

// eventually waits until a condition holds.
func (x *botWorld) eventually(what string, is func() bool) {
	x.t.Helper()
	for end := time.Now().Add(enough); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("after %s it does not hold that %s", enough, what)
		}
	}
}

// prompts returns the last user message of each request to the model.
func (x *botWorld) prompts() []string {
	x.t.Helper()
	var out []string
	for _, r := range x.wire.recorded(x.t) {
		last := ""
		for _, m := range r.Body.Messages {
			if m.Role == "user" {
				last = content(m.Content)
			}
		}
		out = append(out, last)
	}
	return out
}

// prompt returns the last of the prompts.
func (x *botWorld) prompt() string {
	x.t.Helper()
	list := x.prompts()
	if len(list) == 0 {
		x.t.Fatal("the model was not asked")
	}
	return list[len(list)-1]
}

// content reads a message's text, which is a string or a list of parts.
func content(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what has another form has no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// want compares a prompt.
func (x *botWorld) want(what, got, want string) {
	x.t.Helper()
	if diff := gocmp.Diff(got, want); diff != "" {
		x.t.Errorf("%s: -got +want\n%s", what, diff)
	}
}

// lastRequest returns the last request to the model.
func (x *botWorld) lastRequest() request {
	x.t.Helper()
	list := x.wire.recorded(x.t)
	if len(list) == 0 {
		x.t.Fatal("the model was not asked")
	}
	return list[len(list)-1]
}

// afterWindow returns what the model reads behind the window: what the question replies
// to, and the question. The first message holds the window, and the first of them.
func (r request) afterWindow() string {
	var b strings.Builder
	for _, m := range r.Body.Messages {
		text := content(m.Content)
		if m.Role == "user" && strings.HasPrefix(text, "[recent channel context]") {
			list := strings.Split(text, "\n\n")
			text = strings.Join(list[slices.IndexFunc(list, func(p string) bool { return !ofWindow.MatchString(p) }):], "\n\n")
		}
		if m.Role != "system" {
			b.WriteString(m.Role + ": " + text + "\n")
		}
	}
	return b.String()
}

var (
	ofWindow = regexp.MustCompile(`^(\[recent|thread \(|standalone \()`) // a paragraph
	clock    = regexp.MustCompile(`\b[0-9]{2}:[0-9]{2}\b`)
	days     = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [0-9]+ [A-Z][a-z]{2}( [0-9]{4})?\b`)
)

// withoutTimes replaces the times and days of a prompt, which are those of the test.
func (x *botWorld) withoutTimes(prompt string) string {
	return days.ReplaceAllString(clock.ReplaceAllString(prompt, "HH:MM"), "Day")
}

// get requests a page of the daemon's HTTP front, or where it has none, of its probes.
func (x *botWorld) get(path, accept string) (status int, body string) {
	x.t.Helper()
	at := cmp.Or(x.daemon.Address, x.daemon.Health)
	r, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return w.StatusCode, string(raw)
}
