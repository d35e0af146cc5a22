package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/pgtest"
)

// takenOver is the longest time until another replica answers the conversations of
// a replica that is gone.
const takenOver = 10 * time.Second

// TestKillOneOfTwoReplicas runs two replicas over one store, each with four turns
// under way: first one is killed, then one hangs and wakes up after another has
// answered in its place. It runs in parallel with no other test, because its time
// limit means nothing on a machine that is busy with eight other programs.
func TestKillOneOfTwoReplicas(t *testing.T) {
	w := newKillWorld(t, program(t), killSetting{each: true, spec: pgtest.Spec})
	w.environ = append(w.environ, "EARSHOT_LEASE_SECONDS=", "EARSHOT_LOG_LEVEL=info", "OPENAI_API_KEY=k", "EARSHOT_MODEL=m")
	model := serveHeld(t)

	// The first replica is alone when it is asked, so it holds all four conversations.
	first := w.start(t, "", "OPENAI_BASE_URL="+model.url("first"))
	model.hold("first", true)
	w.askAll(t, first)
	model.await(t, "first", len(w.talks))
	second := w.start(t, "", "OPENAI_BASE_URL="+model.url("second"))
	gone := time.Now()
	first.kill()
	w.answeredBy(t, model, "second", gone)
	w.settle(t, second)

	// The second then holds them.
	model.hold("second", true)
	w.askAll(t, second)
	model.await(t, "second", 2*len(w.talks))
	third := w.start(t, "", "OPENAI_BASE_URL="+model.url("third"))
	gone = time.Now()
	second.signal(t, syscall.SIGSTOP)
	w.answeredBy(t, model, "third", gone)
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

// askAll lets everyone ask once.
func (w *killWorld) askAll(t *testing.T, p *killProcess) {
	t.Helper()
	for _, k := range w.talks {
		if err := k.sayNext(t.Context(), p); err != nil {
			t.Fatalf("%s: %v: %s", k.person, err, p.errors())
		}
	}
}

// answeredBy waits until a replica asks the model for every conversation, and
// checks that it does not take long.
func (w *killWorld) answeredBy(t *testing.T, model *heldModel, replica string, gone time.Time) {
	t.Helper()
	model.await(t, replica, len(w.talks))
	if took := model.last(replica).Sub(gone); took > takenOver {
		t.Errorf("the conversations were taken over after %s, want %s", took, takenOver)
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
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if len(ended.FindAllString(p.errors(), -1)) >= n {
			return
		}
	}
	t.Fatalf("in a minute the program has not come to the end of %d turns:\n%s", n, p.errors())
}

// A heldModel is a model that keeps replicas waiting for its answers.
type heldModel struct {
	server *httptest.Server

	mu    sync.Mutex // guards what follows
	now   *sync.Cond // signalled on every change
	held  map[string]bool
	asked map[string][]time.Time // by replica
}

// serveHeld serves a model as OpenAI's API has it.
func serveHeld(t *testing.T) *heldModel {
	t.Helper()
	m := &heldModel{held: map[string]bool{}, asked: map[string][]time.Time{}}
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
	defer time.AfterFunc(time.Minute, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		late = true
		m.now.Broadcast()
	}).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.asked[replica]) < n {
		if late {
			t.Fatalf("the %s replica has asked the model %d times in a minute, want %d", replica, len(m.asked[replica]), n)
		}
		m.now.Wait()
	}
}

// last returns the time of a replica's last question.
func (m *heldModel) last(replica string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[replica][len(m.asked[replica])-1]
}

// ServeHTTP answers at once or later.
func (m *heldModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	replica, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	m.mu.Lock()
	m.asked[replica] = append(m.asked[replica], time.Now())
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
