package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// A heldJSON is a turn that a caller has opened, with what it has asked.
type heldJSON struct {
	State, Code string
	Turn        int64
	Approvals   []approvalJSON
}

func (w *world) held(t *testing.T, as, path string, body any) (int, heldJSON) {
	t.Helper()
	status, _, text := w.call(t, as, http.MethodPost, path, body)
	var h heldJSON
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, h
}

func turnPath(id int64, rest string) string { return fmt.Sprintf("/v1/turns/%d/%s", id, rest) }

// reopened is what opening a turn answers, with what was decided before.
type reopened struct {
	Code string
	Turn struct {
		ID        int64
		Approvals []approvalJSON
	}
}

// reopen opens m1 again.
func (w *world) reopen(t *testing.T, as string) (int, reopened) {
	t.Helper()
	status, _, text := w.call(t, as, http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true})
	var r reopened
	if status >= 400 { // then turn is a number
		var p struct{ Code string }
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%d %s: %v", status, text, err)
		}
		r.Code = p.Code
	} else if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, r
}

// A bot of any make asks, gives its turn back, and whoever opens the question after the yes
// goes on with it.
func TestATurnOverHTTPWaitsForAPersonsYes(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	ask := `{"call": "c1", "tool": "deploy", "arguments": {"to": "staging"}, "expires_in_seconds": 600}`
	status, a := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), ask)
	if status != http.StatusOK || a.State != "open" || a.Args != `{"to": "staging"}` || a.Asker != "U-Bob" || a.Turn != c.Turn.ID || a.Call != "c1" || a.Tool != "deploy" {
		t.Fatalf("asked: %d %+v", status, a)
	}
	if status, again := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), ask); status != http.StatusOK || again != a {
		t.Errorf("asked again: %d %+v", status, again)
	}
	if status, other := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{"to":"prod"}`}); status != http.StatusConflict || other.Code != "other_call" {
		t.Errorf("asked again with other arguments: %d %+v", status, other)
	}
	for range 2 {
		if status, h := w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil); status != http.StatusOK || h.State != "waiting" || len(h.Approvals) != 1 || h.Approvals[0].ID != a.ID {
			t.Errorf("waits: %d %+v", status, h)
		}
	}
	status, retry, taken := w.claim(t, nil)
	if status != http.StatusConflict || taken.Code != "answering" || retry < 500 || retry > 602 {
		t.Errorf("opened while people are asked: %d, retry after %d, %+v", status, retry, taken)
	}
	if status, got := w.approval(t, "T1", "POST", approvalAt(a.ID), object{"decision": "agree", "by": "U-Bob", "sha256": a.SHA256}); status != http.StatusOK || got.State != "agreed" {
		t.Fatalf("decided with another key: %d %+v", status, got)
	}
	if status, h := w.held(t, "C1", turnPath(c.Turn.ID, "wait"), object{"seconds": 1}); status != http.StatusOK || h.State != "decided" {
		t.Errorf("all is decided: %d %+v", status, h)
	}
	status, next := w.reopen(t, "T1")
	if status != http.StatusOK || next.Turn.ID == c.Turn.ID || len(next.Turn.Approvals) != 1 || next.Turn.Approvals[0].State != "agreed" || next.Turn.Approvals[0].Args != a.Args {
		t.Fatalf("opened again: %d %+v", status, next)
	}
	if status, second := w.reopen(t, "C1"); status != http.StatusConflict || second.Code != "answering" {
		t.Errorf("another one opens it too: %d %+v", status, second)
	}
	if status, got := w.approval(t, "C1", "POST", approvalAt(a.ID), object{"result": "deployed"}); status != http.StatusOK || got.Result != "deployed" || got.State != "agreed" {
		t.Errorf("noted: %d %+v", status, got)
	}
	if status, done := w.commit(t, "C1", next.Turn.ID, says("It is deployed.", "r1")); status != http.StatusOK {
		t.Errorf("committed: %d %+v", status, done)
	}
	_, _, text := w.call(t, "C1", "GET", fmt.Sprint("/v1/approvals?turn=", next.Turn.ID), nil)
	if !strings.Contains(text, a.ID) || !strings.Contains(text, `"deployed"`) {
		t.Errorf("of the turn that was committed: %s", text)
	}
	if status, _ := w.commit(t, "C1", c.Turn.ID, says("Late.", "r2")); status == http.StatusOK {
		t.Error("the turn that waited was committed as well")
	}
}

// Who kept what they had goes on with the turn that waited.
func TestATurnThatWaitedIsRenewedAndCommitted(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	_, a := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{"to":"staging"}`})
	w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil)
	w.approval(t, "C1", "POST", approvalAt(a.ID), object{"decision": "refuse", "reason": "not now"})
	status, h := w.held(t, "C1", turnPath(c.Turn.ID, "renew"), object{"hold": 60})
	if status != http.StatusOK || h.State != "open" || len(h.Approvals) != 1 || h.Approvals[0].State != "refused" || h.Approvals[0].Why != "not now" {
		t.Errorf("renewed: %d %+v", status, h)
	}
	if status, second := w.reopen(t, "C1"); status != http.StatusConflict || second.Code != "answering" {
		t.Errorf("it is held again, and opened: %d %+v", status, second)
	}
	if status, got := w.approval(t, "C1", "POST", approvalAt(a.ID), object{"result": "x"}); status != http.StatusConflict || got.Code != "not_agreed" {
		t.Errorf("the result of what nobody agreed to: %d %+v", status, got)
	}
	if status, done := w.commit(t, "C1", c.Turn.ID, says("I did nothing.", "r1")); status != http.StatusOK {
		t.Errorf("committed: %d %+v", status, done)
	}
}

// A decision while the turn is still held takes nothing from its holder.
func TestADecisionFreesNoTurnThatIsHeld(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	_, a := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{}`})
	w.approval(t, "C1", "POST", approvalAt(a.ID), object{"decision": "agree"})
	if status, second := w.reopen(t, "C1"); status != http.StatusConflict || second.Code != "answering" {
		t.Errorf("opened: %d %+v", status, second)
	}
	if status, h := w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil); status != http.StatusOK || h.State != "open" || len(h.Approvals) != 1 {
		t.Errorf("nothing is open to wait for: %d %+v", status, h)
	}
}

// Nobody decides, and the question is free when the time is over.
func TestATurnWaitsNoLongerThanItAsks(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{}`, "expires_in_seconds": 60})
	_, last := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c2", "tool": "deploy", "arguments": `{}`, "expires_in_seconds": 7200})
	w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil)
	w.clock.forward(time.Hour)
	if status, h := w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil); status != http.StatusOK || h.State != "waiting" || h.Approvals[1].State != "expired" || h.Approvals[0].State != "open" {
		t.Errorf("one of two has expired: %d %+v", status, h)
	}
	if status, second := w.reopen(t, "C1"); status != http.StatusConflict {
		t.Errorf("opened: %d %+v", status, second)
	}
	w.clock.forward(2 * time.Hour)
	status, next := w.reopen(t, "C1")
	if status != http.StatusOK || len(next.Turn.Approvals) != 2 || next.Turn.Approvals[0].State != "expired" || next.Turn.Approvals[1].State != "expired" {
		t.Fatalf("opened when the time is over: %d %+v", status, next)
	}
	if status, got := w.approval(t, "C1", "POST", approvalAt(last.ID), object{"decision": "agree"}); status != http.StatusConflict || got.Code != "expired" {
		t.Errorf("agreed too late: %d %+v", status, got)
	}
}

// Whoever opens a question whose holder has died learns what was decided.
func TestWhatWasDecidedOutlivesWhoAsked(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	_, a := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{}`})
	w.approval(t, "C1", "POST", approvalAt(a.ID), object{"decision": "agree"})
	w.renew(t, c.Turn.ID, object{"hold": 60, "posting": true})
	w.clock.forward(time.Hour)
	status, _, text := w.call(t, "C1", http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true})
	if status != http.StatusOK || !strings.Contains(text, `"interrupted":{"id":`+fmt.Sprint(c.Turn.ID)) || !strings.Contains(text, `"state":"agreed"`) {
		t.Errorf("opened: %d %s", status, text)
	}
}

// Of several that open a question at once after the yes, one gets it.
func TestOfSeveralThatGoOnAfterAYesOneDoes(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := asked(t)
		c := w.opened(t, "m1")
		_, a := w.approval(t, "C1", "POST", turnPath(c.Turn.ID, "approvals"), object{"call": "c1", "tool": "deploy", "arguments": `{}`})
		w.held(t, "C1", turnPath(c.Turn.ID, "wait"), nil)
		w.approval(t, "C1", "POST", approvalAt(a.ID), object{"decision": "agree"})
		var group sync.WaitGroup
		got := make([]int, 6)
		for i := range got {
			group.Go(func() { got[i], _ = w.reopen(t, "C1") })
		}
		group.Wait()
		won := 0
		for _, status := range got {
			if status == http.StatusOK {
				won++
			} else if status != http.StatusConflict {
				t.Errorf("answered %d", status)
			}
		}
		if won != 1 {
			t.Errorf("%d opened it", won)
		}
	}
}

func TestWhatIsAskedOverHTTPIsBounded(t *testing.T) {
	t.Parallel()
	w := asked(t)
	c := w.opened(t, "m1")
	path := turnPath(c.Turn.ID, "approvals")
	good := func(change object) object {
		b := object{"call": "c1", "tool": "deploy", "arguments": `{}`}
		for k, v := range change {
			b[k] = v
		}
		return b
	}
	for name, x := range map[string]struct {
		as, path string
		body     any
		status   int
	}{
		"a key that only reads": {"read", path, good(nil), 403}, "a capability": {"tools", path, good(nil), 403}, "elsewhere": {"T2", path, good(nil), 404},
		"a turn that is not there": {"C1", turnPath(999, "approvals"), good(nil), 404},
		"no call":                  {"C1", path, good(object{"call": ""}), 400}, "no tool": {"C1", path, good(object{"tool": ""}), 400},
		"no arguments": {"C1", path, object{"call": "c1", "tool": "x"}, 400}, "empty ones": {"C1", path, good(object{"arguments": ""}), 400},
		"a list":          {"C1", path, good(object{"arguments": []int{1}}), 400},
		"too long ones":   {"C1", path, good(object{"arguments": strings.Repeat("x", earshot.ApprovalArgs+1)}), 400},
		"a long call":     {"C1", path, good(object{"call": strings.Repeat("x", 600)}), 400},
		"a negative time": {"C1", path, good(object{"expires_in_seconds": -1}), 400}, "a long time": {"C1", path, good(object{"expires_in_seconds": 604801}), 400},
		"a wait by who reads": {"read", turnPath(c.Turn.ID, "wait"), nil, 403}, "a wait elsewhere": {"T2", turnPath(c.Turn.ID, "wait"), nil, 404},
		"a long wait": {"C1", turnPath(c.Turn.ID, "wait"), object{"seconds": 31}, 400},
	} {
		if status, _, text := w.call(t, x.as, "POST", x.path, x.body); status != x.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for i := range 100 {
		if status, _, text := w.call(t, "C1", "POST", path, good(object{"call": fmt.Sprint("c", i)})); status != http.StatusOK {
			t.Fatalf("approval %d: %d %s", i, status, text)
		}
	}
	if status, got := w.approval(t, "C1", "POST", path, good(object{"call": "one more"})); status != http.StatusConflict || got.Code != "too_many" {
		t.Errorf("one more: %d %+v", status, got)
	}
	w.call(t, "C1", "POST", turnPath(c.Turn.ID, "abort"), nil)
	if status, got := w.approval(t, "C1", "POST", path, good(object{"call": "late"})); status != http.StatusConflict && status != http.StatusGone {
		t.Errorf("of a turn that has ended: %d %+v", status, got)
	}
}
