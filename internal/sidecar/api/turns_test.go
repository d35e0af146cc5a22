package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// asked opens a turn for a message of ops, as a bot beside the sidecar does.
func (w *world) asked(t testing.TB, m earshot.Message) earshot.TurnID {
	t.Helper()
	id := earshot.ConversationID{Agent: "U0BOT", Scope: ops.Scope(), Name: "m0"}
	a, err := w.store.Accept(t.Context(), ops.Scope(), earshot.Event{Delivery: "d-" + string(m.ID), Received: m.Time, Message: m}, &id)
	if err != nil || a.Turn == 0 {
		t.Fatalf("no turn for %s: %+v %v", m.ID, a, err)
	}
	return a.Turn
}

// answered carries the oldest open turn through.
func (w *world) answered(t testing.TB, reply earshot.MessageID, u earshot.Usage) earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	l, turns, err := w.store.Claim(ctx, "U0BOT", "test", earshot.Time(1_772_442_000_000_000), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	q := turns[0]
	if err := w.store.Begin(ctx, l, q.ID, earshot.Prompt{Input: []byte("{}"), Hash: "h"}); err != nil {
		t.Fatal(err)
	}
	turn := earshot.Turn{
		Answer: earshot.Answer{Anchor: q.Anchor, Replies: []earshot.MessageID{reply}}, Policy: "standard", Hash: "h", Usage: u,
		Ledger: earshot.Ledger{{ID: q.Anchor, Section: "anchor", Verdict: earshot.Full, Reason: "anchor", Tokens: 3}},
	}
	if err := w.store.Finish(ctx, l, q.ID, earshot.TurnDone, "", &turn); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Release(ctx, l, 0); err != nil {
		t.Fatal(err)
	}
	return q.ID
}

func TestTurnsAreListedAndExplainedWithinReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"))
	w.asked(t, said(1, "Bob", "<@U0BOT> why?"))
	w.answered(t, "r1", earshot.Usage{Input: 100, Output: 7})
	w.asked(t, said(2, "Bob", "<@U0BOT> since when?"))

	var page struct {
		Turns []struct {
			ID     int64
			State  string
			Anchor string
		}
		Next string
	}
	ask := func(as, path string, v any) int {
		t.Helper()
		status, _, body := w.call(t, as, http.MethodGet, path, nil)
		if err := json.Unmarshal([]byte(body), v); err != nil {
			t.Fatalf("%s: %d %s: %v", path, status, body, err)
		}
		return status
	}
	if ask("C1", "/v1/turns?limit=1", &page); len(page.Turns) != 1 || page.Turns[0].Anchor != "m2" || page.Turns[0].State != "open" || page.Next == "" {
		t.Fatalf("the first page: %+v", page)
	}
	next := page.Next
	page.Next = ""
	if ask("C1", "/v1/turns?limit=1&cursor="+next, &page); len(page.Turns) != 1 || page.Turns[0].State != "done" || page.Next != "" {
		t.Fatalf("the second page: %+v", page)
	}
	var whole struct {
		Replies  []string `json:"reply_ids"`
		Ledger   []struct{ ID, Section string }
		Usage    struct{ Input, Output int }
		Question struct{ Text string }
		Code     string
	}
	ask("C1", "/v1/turns/1", &whole)
	if len(whole.Replies) != 1 || whole.Replies[0] != "r1" || len(whole.Ledger) != 1 || whole.Usage.Input != 100 || whole.Question.Text != "<@U0BOT> why?" {
		t.Errorf("the turn: %+v", whole)
	}
	var usage struct {
		Usage []struct {
			Agent, Policy string
			Turns, Input  int
		}
		Total struct{ Turns, Output int }
	}
	ask("T1", "/v1/usage", &usage)
	if len(usage.Usage) != 1 || usage.Usage[0].Turns != 1 || usage.Usage[0].Input != 100 || usage.Total.Output != 7 {
		t.Errorf("usage: %+v", usage)
	}
	if ask("T1", "/v1/usage?from=2999-01-01T00:00:00Z", &usage); usage.Total.Turns != 0 {
		t.Errorf("usage of the future: %+v", usage)
	}

	if ask("T2", "/v1/turns", &page); len(page.Turns) != 0 {
		t.Errorf("T2 sees %+v", page)
	}
	_, _, foreign := w.call(t, "T2", http.MethodGet, "/v1/turns/1", nil)
	_, _, unknown := w.call(t, "T2", http.MethodGet, "/v1/turns/99", nil)
	if foreign != unknown || !strings.Contains(foreign, "not_found") {
		t.Errorf("foreign %s\nunknown %s", foreign, unknown)
	}
	if status := ask("C1", "/v1/turns?cursor=abc", &whole); status != http.StatusBadRequest || whole.Code != "invalid" {
		t.Errorf("a cursor that is none: %d %+v", status, whole)
	}
}

// stream follows the turns of C1, after the event last if there is one.
func (w *world) stream(t *testing.T, last string) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/v1/turns/events?channel=C1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer C1")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d %s", res.StatusCode, kind)
	}
	return bufio.NewScanner(res.Body)
}

func TestAStreamTellsHowTurnsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"))
	event := func(lines *bufio.Scanner) (id, data string) {
		t.Helper()
		for lines.Scan() {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "id: "):
				id = line[4:]
			case strings.HasPrefix(line, "data: "):
				data = line[6:]
			case line == "" && data != "":
				return id, data
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return "", ""
	}
	live := w.stream(t, "")
	w.asked(t, said(1, "Bob", "<@U0BOT> why?"))
	first, data := event(live)
	if !strings.Contains(data, `"state":"open"`) || !strings.Contains(data, `"anchor":"m1"`) {
		t.Fatalf("the first event: %s", data)
	}
	w.answered(t, "r1", earshot.Usage{})
	if _, data = event(live); !strings.Contains(data, `"state":"done"`) {
		t.Fatalf("the second event: %s", data)
	}
	if _, data = event(w.stream(t, first)); !strings.Contains(data, `"state":"done"`) {
		t.Fatalf("what came after the first event: %s", data)
	}
}

func TestOneCallerHasAtMostEightStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 9 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/v1/turns/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer T1")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		if want := map[bool]int{true: http.StatusTooManyRequests, false: http.StatusOK}[i == 8]; res.StatusCode != want {
			t.Fatalf("stream %d: %d", i, res.StatusCode)
		}
	}
}
