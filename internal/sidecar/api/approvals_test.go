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
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// An approvalJSON is an approval as the API has it, or a problem with one.
type approvalJSON struct {
	ID, State, Args, SHA256, By, Why, Decided, Result, Tool, Call, Asker string
	Operator                                                             bool
	Turn                                                                 int64
	Code, Detail                                                         string
	Approval                                                             *approvalJSON
}

// approval asks a route of approvals.
func (w *world) approval(t *testing.T, as, method, path string, body any) (int, approvalJSON) {
	t.Helper()
	status, _, text := w.call(t, as, method, path, body)
	var a approvalJSON
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, a
}

// asks has a turn of a bot beside the sidecar ask Ann for each call, for an hour.
func (w *world) asks(t testing.TB, name string, calls ...string) []earshot.Approval {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}
	agent := earshot.AgentID("U0" + name)
	of := earshot.ConversationID{Agent: agent, Scope: at, Name: name}
	said := earshot.Message{ID: earshot.MessageID(name), Time: 1_772_442_150_000_000, Author: earshot.Author{ID: "UAnn", Name: "Ann", Kind: earshot.Human}, Text: "deploy"}
	out, err := w.store.Accept(ctx, at, earshot.Event{Delivery: name, Received: 1, Message: said}, &of)
	must(err)
	l, _, err := w.store.Claim(ctx, agent, "me", said.Time, time.Hour)
	must(err)
	must(w.store.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("{}")}))
	now := earshot.TimeOf(time.Now())
	var list []earshot.Approval
	for _, call := range calls {
		a, err := w.store.AskApproval(ctx, l, earshot.Approval{
			ID: earshot.ApprovalID("ask/" + name + " " + call), Turn: out.Turn, Asker: "UAnn", Call: call, Tool: "deploy", Args: []byte(`{"what": "` + call + `"}`),
			Asked: now, Expires: now + earshot.Time(time.Hour/time.Microsecond),
		})
		must(err)
		list = append(list, a)
	}
	_, err = w.store.AwaitApprovals(ctx, l, out.Turn)
	must(err)
	must(w.store.Release(ctx, l, 0))
	return list
}

// at is the path of an approval.
func approvalAt(id string) string {
	return "/v1/approvals/" + strings.NewReplacer("/", "%2F", " ", "%20").Replace(id)
}

func TestAnApprovalIsDecidedOnceOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.asks(t, "m1", "one", "two")
	path := approvalAt(string(list[0].ID))
	if status, got := w.approval(t, "C1", "GET", path, nil); status != http.StatusOK || got.State != "open" || got.Args != `{"what": "one"}` || got.SHA256 != list[0].SHA256 || got.Asker != "UAnn" || got.Call != "one" {
		t.Errorf("read: %d %+v", status, got)
	}
	for name, c := range map[string]struct {
		as, body, code string
		status         int
	}{
		"by a key that only reads": {"read", `{"decision":"agree"}`, "read_only", 403},
		"by a capability":          {"tools", `{"decision":"agree"}`, "tools_only", 403},
		"from elsewhere":           {"T2", `{"decision":"agree"}`, "not_found", 404},
		"without a decision":       {"C1", `{}`, "invalid", 400},
		"with another word":        {"C1", `{"decision":"agreed"}`, "invalid", 400},
		"with what is not known":   {"C1", `{"decision":"agree","operator":true}`, "invalid", 400},
		"for other arguments":      {"C1", `{"decision":"agree","sha256":"` + strings.Repeat("0", 64) + `"}`, "other_arguments", 409},
		"with too long a reason":   {"C1", `{"decision":"refuse","reason":"` + strings.Repeat("x", earshot.ApprovalWords+1) + `"}`, "invalid", 400},
		"by who may not":           {"C1", `{"decision":"agree","by":"UBen"}`, "not_asked", 403},
		"by the agent":             {"C1", `{"decision":"agree","by":"U0m1"}`, "not_asked", 403},
	} {
		status, got := w.approval(t, c.as, "POST", path, c.body)
		if status != c.status || got.Code != c.code {
			t.Errorf("%s: %d %+v", name, status, got)
		}
		if status == http.StatusConflict && (got.Approval == nil || got.Approval.State != "open") {
			t.Errorf("%s: brings %+v", name, got.Approval)
		}
	}
	if _, got := w.approval(t, "C1", "GET", path, nil); got.State != "open" {
		t.Fatalf("what was refused decided: %+v", got)
	}
	yes := object{"decision": "agree", "by": "UAnn", "reason": "go on", "sha256": list[0].SHA256}
	for range 2 {
		if status, got := w.approval(t, "C1", "POST", path, yes); status != http.StatusOK || got.State != "agreed" || got.By != "UAnn" || got.Operator || got.Why != "go on" || got.Decided == "" {
			t.Errorf("a yes: %d %+v", status, got)
		}
	}
	for _, other := range []object{{"decision": "refuse", "by": "UAnn"}, {"decision": "agree"}} {
		if status, got := w.approval(t, "C1", "POST", path, other); status != http.StatusConflict || got.Code != "decided" || got.Approval == nil || got.Approval.State != "agreed" || got.Approval.By != "UAnn" {
			t.Errorf("another decision, %v: %d %+v", other, status, got)
		}
	}
	if q, err := w.store.QueuedTurn(t.Context(), list[0].Turn); err != nil || q.State != earshot.TurnWaiting {
		t.Errorf("one of two is open, and the turn is %s, %v", q.State, err)
	}
	if status, got := w.approval(t, "C1", "POST", approvalAt(string(list[1].ID)), object{"decision": "refuse", "reason": "not on a Friday"}); status != http.StatusOK || got.State != "refused" || !got.Operator || got.By != "" {
		t.Errorf("a no of an operator: %d %+v", status, got)
	}
	if q, err := w.store.QueuedTurn(t.Context(), list[0].Turn); err != nil || q.State != earshot.TurnOpen {
		t.Errorf("all is decided, and the turn is %s, %v", q.State, err)
	}
}

func TestOfTwoWhoDecideOverTheAPIAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range 10 {
		a := w.asks(t, fmt.Sprint("m", round), "one")[0]
		var group sync.WaitGroup
		said := make([]int, 8)
		for i := range said {
			group.Go(func() {
				body := object{"decision": []string{"agree", "refuse"}[i%2]}
				said[i], _, _ = w.call(t, "C1", "POST", approvalAt(string(a.ID)), body)
			})
		}
		group.Wait()
		stored, err := w.store.Approval(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, status := range said {
			want := http.StatusConflict
			if (stored.State == earshot.ApprovalAgreed) == (i%2 == 0) {
				want = http.StatusOK
			}
			if status != want {
				t.Errorf("decision %d, where it is %s: %d", i, stored.State, status)
			}
		}
	}
}

func TestNobodyDecidesTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.asks(t, "m1", "one")[0]
	w.clock.forward(2 * time.Hour)
	for range 2 {
		if status, got := w.approval(t, "C1", "POST", approvalAt(string(a.ID)), object{"decision": "agree"}); status != http.StatusConflict || got.Code != "expired" || got.Approval.State != "expired" {
			t.Errorf("too late: %d %+v", status, got)
		}
	}
	if q, err := w.store.QueuedTurn(t.Context(), a.Turn); err != nil || q.State != earshot.TurnOpen {
		t.Errorf("the time is over, and the turn is %s, %v", q.State, err)
	}
}

// Whom an issuer knows decides as themselves.
func TestAUsersTokenDecidesAsItsSubject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, who := range []earshot.AuthorID{"UAnn", "UBen"} {
		w.gate[string(who)] = access.Principal{ID: "user:" + string(who), Kind: access.User, Subject: string(who), Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}}
	}
	a := w.asks(t, "m1", "one")[0]
	if status, got := w.approval(t, "UBen", "POST", approvalAt(string(a.ID)), object{"decision": "agree"}); status != http.StatusForbidden || got.Code != "not_asked" {
		t.Errorf("Ben, whom nobody asks: %d %+v", status, got)
	}
	if status, got := w.approval(t, "UBen", "POST", approvalAt(string(a.ID)), object{"decision": "agree", "by": "UAnn"}); status != http.StatusForbidden || got.Code != "foreign_person" {
		t.Errorf("Ben for Ann: %d %+v", status, got)
	}
	if status, got := w.approval(t, "UAnn", "POST", approvalAt(string(a.ID)), object{"decision": "agree"}); status != http.StatusOK || got.By != "UAnn" || got.Operator {
		t.Errorf("Ann: %d %+v", status, got)
	}
}

func TestApprovalsAreListedInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.asks(t, fmt.Sprint("m", i), "one", "two")
	}
	first := approvalAt("ask/m0 one")
	w.approval(t, "C1", "POST", first, object{"decision": "agree"})
	pages := func(as, query string) (ids []string) {
		t.Helper()
		for cursor := ""; ; {
			status, _, text := w.call(t, as, "GET", "/v1/approvals?"+query+cursor, nil)
			var page struct {
				Approvals []approvalJSON
				Next      string
			}
			if err := json.Unmarshal([]byte(text), &page); err != nil || status != http.StatusOK {
				t.Fatalf("%d %s: %v", status, text, err)
			}
			for _, a := range page.Approvals {
				ids = append(ids, strings.TrimPrefix(a.ID, "ask/"))
			}
			if page.Next == "" {
				return ids
			}
			cursor = "&cursor=" + page.Next
		}
	}
	all := "[m2 two m2 one m1 two m1 one m0 two m0 one]"
	for query, want := range map[string]string{
		"limit=1": all, "limit=2": all, "limit=200": all, "channel=C1&limit=4": all,
		"state=open&limit=2": "[m2 two m2 one m1 two m1 one m0 two]", "state=agreed": "[m0 one]", "state=refused,expired": "[]", "turn=1": "[m0 two m0 one]",
	} {
		if got := fmt.Sprint(pages("all", query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := pages("T2", "limit=1"); len(got) != 0 {
		t.Errorf("T2 sees %v", got)
	}
	// A cursor is no way to ask for what is foreign.
	status, foreign := w.approval(t, "T2", "GET", "/v1/approvals?cursor=YXBwcm92YWwgYXNrL20wIG9uZQ", nil)
	s, unknown := w.approval(t, "T2", "GET", "/v1/approvals?cursor=YXBwcm92YWwgYXNrL3h4IHh4eA", nil)
	if status != 400 || s != status || foreign != unknown {
		t.Errorf("a foreign cursor: %d %+v; an unknown one: %d %+v", status, foreign, s, unknown)
	}
}
