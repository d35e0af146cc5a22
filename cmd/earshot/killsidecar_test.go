package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// TestKillSidecar kills a sidecar at random moments while bots tell it messages, open
// turns and commit them, each request repeated until it is answered. What was
// acknowledged is there, and no turn was committed twice.
func TestKillSidecar(t *testing.T) {
	t.Parallel()
	binary := program(t)
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-kill.seed=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 2))
	db := filepath.Join(t.TempDir(), "kill.db")
	var key, problems bytes.Buffer
	if code := run(t.Context(), []string{"earshot", "key", "create", "--db", db, "--name", "bot", "--workspace", "T1"}, nil, strings.NewReader(""), &key, &problems); code != 0 {
		t.Fatalf("key create: %s", &problems)
	}
	w := &sidecarKill{key: strings.TrimSpace(key.String()), over: make(chan struct{})}
	first, bots := make(chan struct{}), sync.WaitGroup{}
	talks := []*sidecarTalk{{channel: "C1"}, {channel: "C2"}, {channel: "C3"}, {channel: "C4"}}
	for _, talk := range talks {
		bots.Go(func() { <-first; talk.run(t, w) })
	}
	for cycle := range *killCycles/2 + 1 {
		p := startSidecar(t, binary, db)
		w.url.Store(p.url)
		if cycle == 0 {
			close(first)
		}
		heard := w.answers.Load()
		for w.answers.Load() < heard+4 { // something is under way in each process
			if t.Failed() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(chance.IntN(150_000)) * time.Microsecond) // the random moment of the kill
		if cycle == *killCycles/2 {
			close(w.over) // the last process answers everybody
			bots.Wait()
		}
		p.kill()
	}
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	turns := 0
	for _, talk := range talks {
		talk.check(t, st)
		turns += len(talk.committed)
	}
	t.Logf("%d turns, %d requests that were repeated", turns, w.repeated.Load())
	if turns < 20 {
		t.Errorf("only %d turns were committed", turns)
	}
}

// A sidecarKill is a sidecar that is killed again and again, as its callers see it.
type sidecarKill struct {
	key      string
	url      atomic.Value // of the process that runs now
	answers  atomic.Int64
	repeated atomic.Int64
	over     chan struct{} // closed when nothing new is to be begun
}

// call repeats a request until it is answered, and reads the answer.
func (w *sidecarKill) call(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	once := fmt.Sprint(rand.Uint64())
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, method, w.url.Load().(string)+path, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+w.key)
		r.Header.Set("Content-Type", "application/json")
		if path == "/v1/context" {
			r.Header.Set("Idempotency-Key", once) // a lost answer's turn is opened again
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			w.repeated.Add(1)
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			w.repeated.Add(1)
			continue
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
		}
		w.answers.Add(1)
		return json.Unmarshal(text, into)
	}
	return fmt.Errorf("%s %s is not answered", method, path)
}

// A sidecarTalk is a bot in one thread of a channel of its own.
type sidecarTalk struct {
	channel   string
	committed []earshot.TurnID
	numbers   []int
}

// id returns the id of the question of a turn, or of its reply.
func (k *sidecarTalk) id(kind string, n int) string { return fmt.Sprintf("%s%04d", kind, n) }

// run asks and answers until no new turn is to be begun.
func (k *sidecarTalk) run(t *testing.T, w *sidecarKill) {
	var ignored map[string]any
	if err := w.call(t.Context(), http.MethodPut, "/v1/agents/BOT", map[string]any{"name": "helper"}, &ignored); err != nil {
		t.Error(err)
		return
	}
	for n := range 10_000 {
		select {
		case <-w.over:
			return
		default:
		}
		if err := k.turn(t.Context(), w, n); err != nil {
			t.Errorf("%s, turn %d: %v", k.channel, n, err)
			return
		}
	}
}

// turn tells a question, opens its turn and commits the reply.
func (k *sidecarTalk) turn(ctx context.Context, w *sidecarKill, n int) error {
	at := time.Date(2026, 3, 2, 9, 0, 2*n, 0, time.UTC)
	question := map[string]any{"id": k.id("q", n), "time": at, "author": map[string]any{"id": "ann"}, "text": fmt.Sprintf("<@BOT> question %d", n)}
	if n > 0 {
		question["thread"] = k.id("q", 0)
	}
	var ignored map[string]any
	told := map[string]any{"events": []any{map[string]any{"type": "message", "channel": map[string]any{"id": k.channel}, "message": question}}}
	if err := w.call(ctx, http.MethodPost, "/v1/events", told, &ignored); err != nil {
		return err
	}
	var opened struct {
		Turn struct {
			ID int64 `json:"id"`
		} `json:"turn"`
	}
	if err := w.call(ctx, http.MethodPost, "/v1/context", map[string]any{"channel": k.channel, "agent": "BOT", "anchor": k.id("q", n), "open": true}, &opened); err != nil {
		return err
	}
	var done struct {
		Turn   earshot.TurnID `json:"turn"`
		Number int            `json:"number"`
	}
	reply := map[string]any{"reply": map[string]any{"text": fmt.Sprintf("answer %d", n), "ids": []string{k.id("r", n)}, "time": at.Add(time.Second)}}
	if err := w.call(ctx, http.MethodPost, fmt.Sprintf("/v1/turns/%d/commit", opened.Turn.ID), reply, &done); err != nil {
		return err
	}
	k.committed, k.numbers = append(k.committed, done.Turn), append(k.numbers, done.Number)
	return nil
}

// check compares what was acknowledged with what is stored.
func (k *sidecarTalk) check(t *testing.T, st earshot.Store) {
	t.Helper()
	scope := earshot.Scope{Platform: "api", Workspace: "T1", Channel: earshot.ChannelID(k.channel)}
	id := earshot.ConversationID{Agent: "BOT", Scope: scope, Name: k.id("q", 0)}
	turns, err := st.Turns(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) != len(k.committed) {
		t.Errorf("%s: %d turns are stored, want %d", k.channel, len(turns), len(k.committed))
	}
	for n, number := range k.numbers {
		if number != n {
			t.Errorf("%s: the %d. turn has the number %d", k.channel, n, number)
		}
		got, err := st.ByID(t.Context(), scope, earshot.MessageID(k.id("q", n)), earshot.MessageID(k.id("r", n)))
		if err != nil || len(got) != 2 {
			t.Errorf("%s, turn %d: %d of question and reply are stored, %v", k.channel, n, len(got), err)
		}
		q, err := st.QueuedTurn(t.Context(), k.committed[n])
		if err != nil || q.State != earshot.TurnDone {
			t.Errorf("%s, turn %d is %s, %v", k.channel, n, q.State, err)
		}
	}
	if s := slices.Sorted(slices.Values(k.committed)); len(slices.Compact(s)) != len(k.committed) {
		t.Errorf("%s: a turn stands for two: %v", k.channel, k.committed)
	}
}

// A sidecarProcess is a sidecar that runs on its own.
type sidecarProcess struct {
	cmd *exec.Cmd
	url string
}

// startSidecar starts one, and waits until it listens.
func startSidecar(t testing.TB, binary, db string) *sidecarProcess {
	t.Helper()
	p := &sidecarProcess{cmd: exec.Command(binary, "sidecar", "--json", "--db", db, "--listen", "127.0.0.1:0")}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	var about struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&about); err != nil {
		t.Fatal(err)
	}
	p.url = about.URL
	return p
}

func (p *sidecarProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
