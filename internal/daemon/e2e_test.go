package daemon_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/platform/local"
)

// script holds the model's answers besides the suite's fixtures. The answer after
// the tool call requires the right message in the tool's result.
const script = `{"fixtures": [
	{"match": {"userMessage": "which port", "toolResultContains": "port 4242"}, "response": {"content": "Staging is on port 4242."}},
	{"match": {"userMessage": "which port", "hasToolResult": false},
	 "response": {"toolCalls": [{"name": "channel_context", "arguments": {"intent": "port of staging"}}]}},
	{"match": {"userMessage": "are you whole", "sequenceIndex": 0}, "response": {"content": "This answer comes whole, though not at once."},
	 "truncateAfterChunks": 3},
	{"match": {"userMessage": "are you whole"}, "response": {"content": "This answer comes whole, though not at once."}},
	{"match": {"userMessage": "what is forbidden"}, "response": {"error": {"message": "no such thing", "type": "invalid_request_error"}, "status": 400}}
]}`

const (
	hello   = "Hello from the other side, in a sentence that needs several pieces."
	apology = "Sorry, I could not answer this: something went wrong on my side. The people who run me can see what."
)

// enough is when something hangs: no speed of a machine needs so long.
const enough = 5 * time.Minute

// TestMain runs the tests, or a daemon where the environment says so: a test that
// kills a daemon needs it in a process of its own. More tests run at a time than
// there are cores, because most of them wait for a lease or a retry.
func TestMain(m *testing.M) {
	if said := os.Getenv("EARSHOT_TEST_SAY"); said != "" {
		fmt.Fprintln(os.Stderr, "it was not killed:", ask(said))
		os.Exit(1)
	}
	if os.Getenv("EARSHOT_TEST_SERVE") != "" {
		fmt.Fprintln(os.Stderr, "it was not killed:", serve())
		os.Exit(1)
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = flag.Set("test.parallel", "6") // the value is a number
	}
	os.Exit(m.Run())
}

// ask runs a daemon with this process's environment, asks it something and waits for
// the answer.
func ask(said string) error {
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	c, err := config.Load("", os.Environ())
	if err != nil {
		return err
	}
	d, err := daemon.Open(ctx, daemon.Options{Config: c})
	if err != nil {
		return err
	}
	_, err = d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "ann", Text: "staging listens on port 4242"})
	if err != nil {
		return errors.Join(err, d.Close())
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	heard, err := d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "bob", Text: said})
	if err == nil {
		err = d.Wait(ctx, heard.Turn)
	}
	stop()
	return errors.Join(err, <-ran, d.Close())
}

// TestEndToEnd runs the daemon against a model server, through the API of each
// provider: the server in Go, and aimock where Node is installed.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	t.Run("scripted", func(t *testing.T) { endToEndWith(t, modeltest.StartScripted) })
	t.Run("aimock", func(t *testing.T) { endToEndWith(t, modeltest.Aimock) })
}

func endToEndWith(t *testing.T, start func(t *testing.T, scripts ...string) string) {
	t.Parallel()
	server := start(t, script)
	for _, p := range []endToEnd{
		{server: server, provider: "anthropic", url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY"},
		{server: server, provider: "gemini", url: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY"},
		{server: server, provider: "openai", url: "OPENAI_BASE_URL", path: "/v1", key: "OPENAI_API_KEY"},
	} {
		t.Run(p.provider, func(t *testing.T) {
			t.Parallel()
			t.Run("a question gets one reply", p.question)
			t.Run("a tool shows this channel only", p.tool)
			t.Run("a fault is retried and not seen", p.faults)
			t.Run("a permanent failure gets one apology", p.failure)
			t.Run("a restart does not ask again", p.restart)
			t.Run("a request is shown as it was sent", p.requests)
		})
	}
}

// An endToEnd is how one provider is reached.
type endToEnd struct {
	server, provider, url, path, key string
}

// environ returns the settings of an operator.
func (p endToEnd) environ(w *wire, db string) []string {
	return []string{p.url + "=" + w.url, p.key + "=" + modeltest.Key, "EARSHOT_DB=sqlite:" + db}
}

// A running daemon and the person who talks to it.
type running struct {
	*daemon.Daemon
	ctx  context.Context
	stop func() // may be called twice
}

// start runs a daemon for the time of a test.
func (p endToEnd) start(t *testing.T, w *wire, db string) running {
	t.Helper()
	d := startWith(t, p.environ(w, db))
	if got := d.Models[0].Provider; got != p.provider {
		t.Errorf("the model is of %s, want %s", got, p.provider)
	}
	return d
}

// startWith runs a daemon with an environment, until it is stopped or the test ends.
func startWith(t *testing.T, environ []string) running {
	t.Helper()
	c, err := config.Load("", environ)
	if err != nil {
		t.Fatal(err)
	}
	// Not t.Context(): it ends before the cleanup that awaits the daemon.
	ctx, stop := context.WithTimeout(context.Background(), enough)
	d, err := daemon.Open(ctx, daemon.Options{Config: c})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := errors.Join(<-ran, d.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return running{d, ctx, end}
}

// say says something as a person, and returns the turn that answers it, 0 for
// none.
func (d running) say(t *testing.T, channel, as, text string) earshot.TurnID {
	t.Helper()
	heard, err := d.Chat.Say(d.ctx, local.NewMessage{Channel: channel, As: as, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return heard.Turn
}

// ends waits until a turn has ended, and returns it.
func (d running) ends(t *testing.T, id earshot.TurnID) earshot.QueuedTurn {
	t.Helper()
	if err := d.Wait(d.ctx, id); err != nil {
		t.Fatal(err)
	}
	q, err := d.Store.QueuedTurn(d.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// replies checks all messages of the bot in the channel general.
func (d running) replies(t *testing.T, want ...string) {
	t.Helper()
	c, err := d.Chat.Channel(d.ctx, "general")
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.Store.Newest(d.ctx, c.Scope(), earshot.Whole(), earshot.Position{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		if m.Author.ID == d.Identity.ID {
			got = append(got, m.Text)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the bot's messages: -got +want\n%s", diff)
	}
}

func (p endToEnd) question(t *testing.T) {
	t.Parallel()
	w := p.wire(t)
	d := p.start(t, w, filepath.Join(t.TempDir(), "e.db"))
	d.say(t, "general", "ann", "the kettle is blue")
	q := d.ends(t, d.say(t, "general", "bob", "@earshot say hello"))
	if q.State != earshot.TurnDone {
		t.Errorf("the turn is %s (%s), want done", q.State, q.Why)
	}
	d.replies(t, hello)
	w.only(t, 1, "say hello", "the kettle is blue")
}

func (p endToEnd) tool(t *testing.T) {
	t.Parallel()
	w := p.wire(t)
	d := p.start(t, w, filepath.Join(t.TempDir(), "e.db"))
	if _, err := d.Chat.Channel(d.ctx, "secret"); err != nil {
		t.Fatal(err)
	}
	d.say(t, "secret", "ann", "staging also listens on port 9999, tell nobody")
	d.say(t, "general", "ann", "staging listens on port 4242")
	q := d.ends(t, d.say(t, "general", "bob", "@earshot which port has staging?"))
	if q.State != earshot.TurnDone {
		t.Errorf("the turn is %s (%s), want done", q.State, q.Why)
	}
	d.replies(t, "Staging is on port 4242.")
	list := w.only(t, 2, "which port")
	if got := list[0].text("tool"); got != "" {
		t.Errorf("the first request has the result %s", got)
	}
	if got := list[1].text("tool"); !strings.Contains(got, "staging listens on port 4242") {
		t.Errorf("the result %s does not tell of this channel's message", got)
	}
	for i, r := range list {
		for _, m := range r.Body.Messages {
			if strings.Contains(string(m.Content), "9999") {
				t.Errorf("request %d tells of another channel: %s", i, m.Content)
			}
		}
	}
}

func (p endToEnd) faults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault, said, want string
		wait                    time.Duration // at least, before the second request
	}{
		{"a rate limit, for the time that it asks for", "x-aimock-chaos-ratelimit: 1", "say hello", hello, time.Second},
		{"the server fails", "x-aimock-chaos-drop: 1", "say hello", hello, 0},
		{"the stream is cut", "", "are you whole", "This answer comes whole, though not at once.", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := p.wire(t, c.fault)
			d := p.start(t, w, filepath.Join(t.TempDir(), "e.db"))
			q := d.ends(t, d.say(t, "general", "bob", "@earshot "+c.said))
			if q.State != earshot.TurnDone || q.Tries != 1 {
				t.Errorf("the turn is %s (%s) after %d claims, want it done after one", q.State, q.Why, q.Tries)
			}
			d.replies(t, c.want)
			w.only(t, 2, c.said)
			if asked := w.asked(); asked[1].Sub(asked[0]) < c.wait {
				t.Errorf("it asked again after %v, want %v", asked[1].Sub(asked[0]), c.wait)
			}
		})
	}
}

func (p endToEnd) failure(t *testing.T) {
	t.Parallel()
	w := p.wire(t)
	d := p.start(t, w, filepath.Join(t.TempDir(), "e.db"))
	q := d.ends(t, d.say(t, "general", "bob", "@earshot what is forbidden"))
	if q.State != earshot.TurnFailed || !strings.Contains(q.Why, "400") || !strings.Contains(q.Why, p.provider) {
		t.Errorf("the turn is %s (%s), want it failed with the status and the provider", q.State, q.Why)
	}
	if strings.Contains(q.Why, modeltest.Key) {
		t.Errorf("the cause tells the key: %s", q.Why)
	}
	d.replies(t, apology)
	w.only(t, 1, "what is forbidden")
}

func (p endToEnd) restart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, point, said, want string
		requests                int // of the one that is killed, which is one, and of the next
	}{
		{"an answer is in the journal", "after_step", "say hello", hello, 1},
		{"a call of a tool is in the journal", "after_step", "which port", "Staging is on port 4242.", 2},
		{"the post is about to be sent", "before_post", "say hello", hello, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := p.wire(t)
			db := filepath.Join(t.TempDir(), "e.db")
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			// Its lease is awaited below; shorter, it might be lost on a busy machine.
			cmd.Env = append(p.environ(w, db), "EARSHOT_LEASE_SECONDS=4", "EARSHOT_FAULT="+c.point, "EARSHOT_TEST_SAY=@earshot "+c.said)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 137 {
				t.Fatalf("it ended with status %d, %v, want it killed at %s: %s", code, err, c.point, out)
			}
			w.only(t, 1, c.said)
			d := p.start(t, w, db)
			list, err := d.Store.QueuedTurns(d.ctx, earshot.TurnQuery{})
			if err != nil || len(list) != 1 {
				t.Fatalf("there are %d turns, %v; want one", len(list), err)
			}
			if q := d.ends(t, list[0].ID); q.State != earshot.TurnDone {
				t.Errorf("the turn is %s (%s), want done", q.State, q.Why)
			}
			d.replies(t, c.want)
			for i, r := range w.only(t, c.requests, c.said) {
				if told := r.text("tool") != ""; told != (i > 0) {
					t.Errorf("request %d has a tool's result: %v", i, told)
				}
			}
		})
	}
}
