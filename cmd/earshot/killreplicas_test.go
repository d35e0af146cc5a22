package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/pgtest"
)

// TestKillOneOfTwoReplicas runs two replicas over one store, each with four turns
// under way: first one is killed, then one hangs and wakes up after another has
// answered in its place. Each replica's clock is off, and jumps while it answers. That this takes ten seconds at most is a promise about leases,
// which TestAnotherReplicaTakesOverWithinTenSeconds holds.
func TestKillOneOfTwoReplicas(t *testing.T) {
	t.Parallel()
	w := newKillWorld(t, program(t), killSetting{each: true, spec: pgtest.Spec})
	w.lease = defaultLease
	w.environ = append(w.environ, "EARSHOT_LOG_LEVEL=info", "OPENAI_API_KEY=k", "EARSHOT_MODEL=m")
	model := serveHeld(t)

	// The first replica is alone when it is asked, so it holds all four conversations.
	clocks := clockFiles(t.TempDir())
	first := w.start(t, "", "OPENAI_BASE_URL="+model.url("first"), clocks.set(t, "first", time.Hour))
	model.hold("first", true)
	w.askAll(t, first)
	model.await(t, "first", len(w.talks))
	second := w.start(t, "", "OPENAI_BASE_URL="+model.url("second"), clocks.set(t, "second", -time.Hour))
	clocks.set(t, "first", 3*time.Hour)
	first.kill()
	model.await(t, "second", len(w.talks))
	w.settle(t, second)

	// The second then holds them.
	model.hold("second", true)
	w.askAll(t, second)
	model.await(t, "second", 2*len(w.talks))
	third := w.start(t, "", "OPENAI_BASE_URL="+model.url("third"), clocks.set(t, "third", time.Hour))
	clocks.set(t, "second", time.Hour)
	second.signal(t, syscall.SIGSTOP)
	clocks.set(t, "third", -2*time.Hour)
	model.await(t, "third", len(w.talks))
	w.settle(t, third)

	// Now it wakes up and gets the model's answers. It has answered four turns
	// before, and lost the lease of four.
	second.signal(t, syscall.SIGCONT)
	model.hold("second", false)
	second.ends(t, 2*len(w.talks))
	for _, p := range []*killProcess{second, third} {
		p.signal(t, os.Interrupt)
		<-p.gone
	}
	w.environ = append(w.environ, "OPENAI_BASE_URL="+model.url("fourth"))
	w.check(t)
}

// clockFiles is a folder with a file for each replica, which says by how much its clock is
// off.
type clockFiles string

// set sets a replica's clock, and returns the setting with which the replica uses it.
func (f clockFiles) set(t *testing.T, replica string, off time.Duration) (environ string) {
	t.Helper()
	path := filepath.Join(string(f), replica)
	if err := os.WriteFile(path, []byte(off.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "EARSHOT_CLOCK=" + path
}

// askAll lets everyone ask once.
func (w *killWorld) askAll(t *testing.T, p *killProcess) {
	t.Helper()
	for _, k := range w.talks {
		if err := k.sayNext(t.Context(), p); err != nil {
			t.Fatalf("%s: %v: %s", k.person, err, p.errors())
		}
	}
}

func (p *killProcess) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// ended matches the log line of a replica that has ended a turn, or that found it
// ended by another.
var ended = regexp.MustCompile(`msg=turn |msg="the lease was taken over"`)

// ends waits until the program has logged the end of n turns.
func (p *killProcess) ends(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if len(ended.FindAllString(p.errors(), -1)) >= n {
			return
		}
	}
	t.Fatalf("in %s the program has not come to the end of %d turns:\n%s", hang, n, p.errors())
}

// A heldModel is a model that keeps replicas waiting for its answers.
type heldModel struct {
	server *httptest.Server

	mu    sync.Mutex // guards what follows
	now   *sync.Cond // signalled on every change
	held  map[string]bool
	asked map[string]int // by replica
}

// serveHeld serves a model as OpenAI's API has it.
func serveHeld(t *testing.T) *heldModel {
	t.Helper()
	m := &heldModel{held: map[string]bool{}, asked: map[string]int{}}
	m.now = sync.NewCond(&m.mu)
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		for _, replica := range []string{"first", "second"} {
			m.hold(replica, false)
		}
		m.server.Close()
	})
	return m
}

func (m *heldModel) url(replica string) string { return m.server.URL + "/" + replica }

// hold sets whether a replica's questions wait.
func (m *heldModel) hold(replica string, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[replica] = held
	m.now.Broadcast()
}

// await waits until a replica has asked n times.
func (m *heldModel) await(t *testing.T, replica string, n int) {
	t.Helper()
	late := false
	defer time.AfterFunc(hang, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		late = true
		m.now.Broadcast()
	}).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.asked[replica] < n {
		if late {
			t.Fatalf("the %s replica has asked the model %d times in %s, want %d", replica, m.asked[replica], hang, n)
		}
		m.now.Wait()
	}
}

// ServeHTTP answers at once or later.
func (m *heldModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	replica, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	m.mu.Lock()
	m.asked[replica]++
	m.now.Broadcast()
	for m.held[replica] {
		m.now.Wait()
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	said, err := json.Marshal("So says the " + replica + " replica.")
	if err != nil {
		panic(err)
	}
	for _, event := range []string{
		`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":` + string(said) + `},"finish_reason":null}]}`,
		`{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":9}}`,
		`[DONE]`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}
