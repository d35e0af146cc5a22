package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

// A claimJSON is the answer to whoever opens or renews a turn.
type claimJSON struct {
	Code, Reason, Detail, State, Expires, Posting, Anchor string
	Turn                                                  any
	Reply                                                 *struct {
		Text string
		IDs  []string
	}
}

// claim opens a turn for m1 with more fields, and returns the header Retry-After.
func (w *world) claim(t *testing.T, more object) (int, int, claimJSON) {
	t.Helper()
	body := object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true}
	for k, v := range more {
		body[k] = v
	}
	status, header, text := w.call(t, "C1", http.MethodPost, "/v1/context", body)
	var c claimJSON
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	retry, _ := strconv.Atoi(header.Get("Retry-After"))
	return status, retry, c
}

func (w *world) renew(t *testing.T, turn int64, body object) (int, claimJSON) {
	t.Helper()
	status, _, text := w.call(t, "C1", http.MethodPost, fmt.Sprintf("/v1/turns/%d/renew", turn), body)
	var c claimJSON
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, c
}

// deleted is message n, deleted.
func deleted(n int) earshot.Message {
	m := said(n, "Bob", "")
	m.Deleted = true
	return m
}

func asked(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "<@U0BOT> why?"))
	return w
}

func TestAQuestionThatIsBeingAnsweredCannotBeOpened(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	status, retry, second := w.claim(t, nil)
	if status != http.StatusConflict || second.Code != "answering" || second.Reason != "answering" || fmt.Sprint(second.Turn) != fmt.Sprint(c.Turn.ID) || retry < 890 || retry > 902 {
		t.Errorf("a second holder: %d, retry after %d, %+v", status, retry, second)
	}
	if status, retry, third := w.claim(t, object{"again": true}); status != http.StatusOK || retry != 0 {
		t.Errorf("one who insists: %d %+v", status, third)
	}
	if status, done := w.commit(t, "C1", c.Turn.ID, says("The disk is full.", "r1")); status != http.StatusOK {
		t.Errorf("the holder's commit: %d %+v", status, done)
	}
}

func TestAQuestionThatIsAnsweredCannotBeOpened(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	w.commit(t, "C1", c.Turn.ID, says("The disk is full.", "r1"))
	status, _, again := w.claim(t, nil)
	if status != http.StatusConflict || again.Code != "answered" || fmt.Sprint(again.Turn) != fmt.Sprint(c.Turn.ID) || again.Reply == nil ||
		again.Reply.Text != "The disk is full." || len(again.Reply.IDs) != 1 || again.Reply.IDs[0] != "r1" {
		t.Errorf("got %d %+v", status, again)
	}
	for n := 1; n < 3; n++ { // one who insists answers it once more
		status, anew := w.context(t, "C1", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true, "again": true})
		if status != http.StatusOK {
			t.Fatalf("insisting %d: %d %+v", n, status, anew)
		}
		status, done := w.commit(t, "C1", anew.Turn.ID, says(fmt.Sprint("Again ", n), fmt.Sprint("again", n)))
		if status != http.StatusOK || done.Number != n || done.Repeated {
			t.Errorf("commit %d: %d %+v", n, status, done)
		}
	}
	if _, turns := w.state(t); len(turns) != 3 {
		t.Errorf("%d turns are stored, want 3", len(turns))
	}
}

func TestAClaimIsHeldByItsHeartbeatAndFreeOnceThatStops(t *testing.T) {
	t.Parallel()
	w := asked(t)
	status, first := w.context(t, "C1", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true, "hold": 2})
	if status != http.StatusOK || len(first.Turn.Key) != 24 {
		t.Fatalf("opened: %d %+v", status, first.Turn)
	}
	for range 5 { // together longer than it was opened for
		w.clock.forward(time.Second)
		if status, at := w.renew(t, first.Turn.ID, object{}); status != http.StatusOK || at.State != "open" || at.Anchor != "m1" {
			t.Fatalf("renewed: %d %+v", status, at)
		}
		if status, retry, c := w.claim(t, nil); status != http.StatusConflict || retry < 1 || retry > 4 {
			t.Fatalf("while it is held: %d, retry after %d, %+v", status, retry, c)
		}
	}
	if status, _, got := w.call(t, "C1", http.MethodPost, fmt.Sprintf("/v1/turns/%d/renew", first.Turn.ID), nil); status != http.StatusOK {
		t.Errorf("a heartbeat without a body: %d %s", status, got)
	}
	if status, at := w.renew(t, first.Turn.ID, object{"posting": true, "hold": 1}); status != http.StatusOK || at.Posting == "" {
		t.Errorf("about to post: %d %+v", status, at)
	}
	listed := func(state string) bool {
		t.Helper()
		status, _, open := w.call(t, "C1", http.MethodGet, "/v1/turns/open", nil)
		if status != http.StatusOK {
			t.Fatalf("the list of open turns: %d %s", status, open)
		}
		return strings.Contains(open, fmt.Sprintf(`"state":%q`, state))
	}
	w.clock.forward(2 * time.Second) // the holder is not heard of again
	if !listed("expired") {
		t.Error("what its holder left is not listed")
	}
	next := w.opens(t, object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true, "hold": 60})
	if next.Turn.Key != first.Turn.Key || next.Turn.Interrupted == nil || next.Turn.Interrupted.ID != first.Turn.ID {
		t.Errorf("who takes over is told %+v", next.Turn)
	}
	if status, late := w.renew(t, first.Turn.ID, object{}); status != http.StatusConflict || late.Reason != "answering" {
		t.Errorf("the first holder comes back: %d %+v", status, late)
	}
	if !listed("open") || listed("expired") {
		t.Error("what is taken over is still listed, or who took it over is not")
	}
	if status, done := w.commit(t, "C1", next.Turn.ID, says("The disk is full.", "r1")); status != http.StatusOK {
		t.Errorf("its commit: %d %+v", status, done)
	}
}

// A reply is posted, the conversation has gone on, and the holder dies before it commits
// in the turn that its commit brought: who comes next is told that a reply may be there.
func TestATurnThatCameInPlaceOfAnotherMayBePosted(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.tell(t, said(2, "Bob", "<@U0BOT> and since when?"))
	_, one := w.context(t, "C1", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true, "hold": 1})
	if status, at := w.renew(t, one.Turn.ID, object{"posting": true}); status != http.StatusOK || at.Posting == "" {
		t.Fatalf("about to post: %d %+v", status, at)
	}
	w.commit(t, "C1", w.opened(t, "m2").Turn.ID, says("Since nine.", "r2"))
	status, late := w.commit(t, "C1", one.Turn.ID, says("The disk is full.", "r1"))
	if status != http.StatusConflict || late.Context.Turn.ID == one.Turn.ID {
		t.Fatalf("the commit: %d %+v", status, late)
	}
	w.clock.forward(2 * time.Second) // the claim has run out
	next := w.opened(t, "m1")
	if next.Turn.Interrupted == nil || next.Turn.Interrupted.ID != late.Context.Turn.ID || next.Turn.Key != one.Turn.Key {
		t.Errorf("who comes next is told %+v, want that turn %d was about to post", next.Turn, late.Context.Turn.ID)
	}
}

func TestAHolderHearsThatItsQuestionWasEditedOrDeleted(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	edited := said(1, "Bob", "<@U0BOT> why, and since when?")
	edited.Edited = edited.Time + earshot.Time(time.Minute.Microseconds())
	begun := time.Now()
	go func() {
		time.Sleep(100 * time.Millisecond)
		w.tell(t, edited)
	}()
	if status, at := w.renew(t, c.Turn.ID, object{"wait": 20}); status != http.StatusOK || at.State != "changed" {
		t.Errorf("edited: %d %+v", status, at)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it was told after %s, at the end of the wait", took)
	}
	w.tell(t, deleted(1))
	if status, at := w.renew(t, c.Turn.ID, object{}); status != http.StatusOK || at.State != "cancelled" {
		t.Errorf("deleted: %d %+v", status, at)
	}
}

func TestAClaimOutlivesAnErasureUnlessItsQuestionDoesNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, state, reason string
		renewed             int
	}{
		"of somebody who spoke before": {"/v1/authors/U-Alice?channel=C1", "open", "changed", http.StatusOK},
		"of who asked":                 {"/v1/authors/U-Bob?channel=C1", "cancelled", "deleted", http.StatusOK},
		"of the channel":               {"/v1/channels/C1", "", "", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asked(t)
			turn := w.opened(t, "m1").Turn.ID
			w.renew(t, turn, object{"posting": true})
			if status, _, text := w.call(t, "C1", http.MethodDelete, c.path, nil); status != http.StatusOK && status != http.StatusAccepted {
				t.Fatalf("erase: %d %s", status, text)
			}
			status, at := w.renew(t, turn, object{})
			if status != c.renewed || at.State != c.state {
				t.Fatalf("renewed: %d %+v", status, at)
			}
			if status == http.StatusNotFound {
				return
			}
			status, done := w.commit(t, "C1", turn, says("The disk is full.", "r1"))
			if status != http.StatusConflict || done.Reason != c.reason {
				t.Fatalf("the commit: %d %+v", status, done)
			}
			if c.reason == "deleted" {
				return
			}
			if status, _, second := w.claim(t, nil); status != http.StatusConflict || second.Code != "answering" || fmt.Sprint(second.Turn) != fmt.Sprint(done.Context.Turn.ID) {
				t.Errorf("somebody else: %d %+v, want turn %d to hold the claim", status, second, done.Context.Turn.ID)
			}
			if status, done = w.commit(t, "C1", done.Context.Turn.ID, says("The disk is full.", "r1")); status != http.StatusOK {
				t.Errorf("the commit anew: %d %+v", status, done)
			}
		})
	}
}

func TestTheStreamTellsAHolderThatItsQuestionWasDeleted(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	lines := w.stream(t, "")
	w.tell(t, deleted(1))
	for lines.Scan() {
		if lines.Text() == "event: cancelled" {
			lines.Scan()
			if data := lines.Text(); !strings.Contains(data, fmt.Sprintf(`"turn":%d`, c.Turn.ID)) || !strings.Contains(data, `"anchor":"m1"`) {
				t.Errorf("told %s", data)
			}
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

// A request whose answer was lost is sent again with the same key.
func TestALostClaimIsOpenedAgainByItsKey(t *testing.T) {
	t.Parallel()
	w := asked(t)
	open := func(as, key string) (int, contextJSON) {
		t.Helper()
		status, _, text := w.callWith(t, as, http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true}, http.Header{"Idempotency-Key": {key}})
		var c contextJSON
		if status == http.StatusOK {
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				t.Fatal(err)
			}
		}
		return status, c
	}
	status, lost := open("C1", "k1")
	if status != http.StatusOK {
		t.Fatal(status)
	}
	if status, _ := open("C1", "k2"); status != http.StatusConflict {
		t.Errorf("another key: %d", status)
	}
	if status, _ := open("T1", "k1"); status != http.StatusConflict {
		t.Errorf("another caller: %d", status)
	}
	status, again := open("C1", "k1")
	if status != http.StatusOK || again.Turn.ID == lost.Turn.ID || again.Turn.Key != lost.Turn.Key {
		t.Fatalf("the same again: %d %+v", status, again.Turn)
	}
	if status, late := w.commit(t, "C1", lost.Turn.ID, says("x")); status != http.StatusGone || late.Code != "aborted" {
		t.Errorf("the lost turn: %d %+v", status, late)
	}
	// Once its holder is about to post, somebody knows of it.
	w.renew(t, again.Turn.ID, object{"posting": true, "hold": 60})
	if status, _ := open("C1", "k1"); status != http.StatusConflict {
		t.Errorf("the same while its reply may be posted: %d", status)
	}
	if status, done := w.commit(t, "C1", again.Turn.ID, says("x")); status != http.StatusOK {
		t.Errorf("the turn: %d %+v", status, done)
	}
	if status, _ := open("C1", "k1"); status != http.StatusConflict {
		t.Errorf("the same once it is answered: %d", status)
	}
}

// A heartbeat that waits is ended by its caller as soon as the turn has ended.
func TestAHeartbeatThatItsCallerEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	st := opened(t)
	statuses := make(chan int, 10)
	service := sidecar.New(st, search.New(st, nil), gate{}, sidecar.Options{})
	h := api.New(api.Options{
		Service: service, Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: gate{"k": {ID: "key:k", Kind: access.Key}}, Version: "test",
		Answered: func(route string, status int, _ time.Duration) {
			if route == "POST /v1/turns/{id}/renew" {
				statuses <- status
			}
		},
	})
	w := &world{store: st}
	w.tell(t, said(1, "Bob", "<@U0BOT> why?"))
	c, err := service.Context(t.Context(), access.Principal{ID: "key:k", Kind: access.Key}, sidecar.ContextRequest{
		Channel: visible.Place{Channel: "C1"}, Anchor: "m1", Agent: "U0BOT", Open: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("/v1/turns/%d/renew", c.Draft.ID), strings.NewReader(`{"wait":20}`))
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer k")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := <-statuses; got != 499 {
		t.Errorf("it is counted as %d", got)
	}
}

func TestClaimsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	for name, body := range map[string]object{
		"too long": {"hold": 3601}, "negative": {"hold": -1}, "not opened": {"open": false, "again": true},
	} {
		if status, _, got := w.claim(t, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %+v", name, status, got)
		}
	}
	for name, body := range map[string]object{"hold": {"hold": 4000}, "wait": {"wait": 31}, "unknown": {"holds": 1}} {
		if status, got := w.renew(t, c.Turn.ID, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %+v", name, status, got)
		}
	}
	if status, got := w.renew(t, 4711, object{}); status != http.StatusNotFound {
		t.Errorf("no turn: %d %+v", status, got)
	}
}
