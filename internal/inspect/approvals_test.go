package inspect_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/inspect"
)

// A call is one that somebody is asked for.
type call struct {
	by           earshot.Author
	name         string          // by which its turn is known
	agent        earshot.AgentID // who asks; "": one of its own
	conversation string
	tool, args   string
	lasts        time.Duration // 0: an hour
}

// askFor has a turn of a bot of its own ask for a call, and wait for it.
func (w world) askFor(t *testing.T, at earshot.Scope, x call) earshot.Approval {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	agent := cmp.Or(x.agent, earshot.AgentID("UASKS"+x.name))
	of := earshot.ConversationID{Agent: agent, Scope: at, Name: cmp.Or(x.conversation, "asks")}
	said := earshot.Message{ID: earshot.MessageID("asks-" + x.name), Time: march(4, 9), Author: x.by, Text: "do it, " + x.by.Name}
	out, err := w.store.Accept(ctx, at, earshot.Event{Delivery: "asks " + x.name, Received: said.Time, Message: said}, &of)
	must(err)
	l, _, err := w.store.Claim(ctx, agent, "me", said.Time, time.Hour)
	must(err)
	must(w.store.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("{}")}))
	now := earshot.TimeOf(time.Now())
	a, err := w.store.AskApproval(ctx, l, earshot.Approval{
		ID: earshot.ApprovalID("ask/" + x.name), Turn: out.Turn, Asker: x.by.ID, Call: "c1", Tool: x.tool, Args: []byte(x.args),
		Asked: now, Expires: now + earshot.Time(cmp.Or(x.lasts, time.Hour).Microseconds()),
	})
	must(err)
	_, err = w.store.AwaitApprovals(ctx, l, out.Turn)
	must(err)
	must(w.store.Release(ctx, l, 0))
	return a
}

var ann = earshot.Author{ID: "UAnn", Name: "Ann", Kind: earshot.Human}

// approvalsJSON is the page as JSON.
func (w world) approvalsJSON(t *testing.T, query string) (list []struct{ ID, State, Tool, Why string }, next string) {
	t.Helper()
	var d struct {
		Approvals []struct{ ID, State, Tool, Why string }
		Next      string
	}
	if err := json.Unmarshal([]byte(w.page(t, "/approvals.json"+query)), &d); err != nil {
		t.Fatal(err)
	}
	return d.Approvals, d.Next
}

func TestAnOperatorDecidesOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	yes := w.askFor(t, ops, call{by: ann, name: "yes", tool: "deploy", args: `{"to":"staging"}`})
	no := w.askFor(t, ops, call{by: ann, name: "no", tool: "delete", args: `{"what":"all"}`})
	viewer := []string{"Authorization", "Bearer " + w.key(t, opsOnly("reads"))}
	operator := []string{"Authorization", "Bearer " + token}
	at := func(a earshot.Approval) string { return "/approvals/" + url.PathEscape(string(a.ID)) }
	agrees := url.Values{"decision": {"agree"}, "sha256": {yes.SHA256}, "reason": {"go on"}}

	if home := w.page(t, "/"); !strings.Contains(home, "2 calls wait for a person&#39;s yes") {
		t.Error("the first page does not say that two calls wait")
	}
	page := w.page(t, "/approvals")
	for _, want := range []string{"deploy", `&#34;to&#34;: &#34;staging&#34;`, yes.SHA256, "Ann", `action="/approvals/ask%2Fyes"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if seen := w.pageFor(t, "/approvals", strings.TrimPrefix(viewer[1], "Bearer ")); strings.Contains(seen, "<form method=\"post\" action=\"/approvals") || !strings.Contains(seen, "an operator's key may do this") {
		t.Error("a viewer is offered to decide")
	}
	for name, c := range map[string]struct {
		form   url.Values
		header []string
		want   int
	}{
		"a viewer":                 {agrees, viewer, http.StatusForbidden},
		"nobody":                   {agrees, nil, http.StatusUnauthorized},
		"from another site":        {agrees, append([]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, operator...), http.StatusForbidden},
		"without what was shown":   {url.Values{"decision": {"agree"}}, operator, http.StatusBadRequest},
		"something else was shown": {url.Values{"decision": {"agree"}, "sha256": {no.SHA256}}, operator, http.StatusConflict},
		"no decision":              {url.Values{"decision": {"maybe"}}, operator, http.StatusBadRequest},
		"too long a reason":        {url.Values{"decision": {"refuse"}, "reason": {strings.Repeat("x", earshot.ApprovalWords+1)}}, operator, http.StatusBadRequest},
	} {
		if status, said := w.do(t, still(), "POST", at(yes), c.form, c.header...); status != c.want {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	status, header, _ := w.knock(t, "POST", at(yes), agrees, operator...)
	if status != http.StatusSeeOther || header.Get("Location") != "/approvals?done=ask%2Fyes" {
		t.Errorf("an operator agrees: %d, to %q", status, header.Get("Location"))
	}
	if said := w.page(t, header.Get("Location")); !strings.Contains(said, "An operator agreed") {
		t.Error("the page does not say that it was agreed to")
	}
	if status, said := w.do(t, still(), "POST", at(yes), url.Values{"decision": {"refuse"}}, operator...); status != http.StatusConflict || !strings.Contains(said, "agreed already") {
		t.Errorf("a no after the yes: %d %s", status, said)
	}
	if status, _ := w.do(t, still(), "POST", at(no), url.Values{"decision": {"refuse"}, "reason": {"not on a Friday"}}, operator...); status != http.StatusSeeOther {
		t.Errorf("an operator refuses: %d", status)
	}
	for id, want := range map[earshot.ApprovalID]earshot.ApprovalState{yes.ID: earshot.ApprovalAgreed, no.ID: earshot.ApprovalRefused} {
		if got, err := w.store.Approval(t.Context(), id); err != nil || got.State != want || !got.Operator || got.By != "" {
			t.Errorf("%s is %s by %q, %v", id, got.State, got.By, err)
		}
	}
	if list, _ := w.approvalsJSON(t, ""); len(list) != 0 {
		t.Errorf("open are %v", list)
	}
	if list, _ := w.approvalsJSON(t, "?state=refused"); len(list) != 1 || list[0].Why != "not on a Friday" {
		t.Errorf("refused are %v", list)
	}
	if said := w.page(t, turnAt(yes.Turn)); !strings.Contains(said, "What people were asked") || !strings.Contains(said, yes.SHA256) {
		t.Error("the page of the turn does not have what was asked")
	}
}

// A question of the model is answered, and not agreed to without a word.
func TestAnOperatorAnswersAQuestionOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.askFor(t, ops, call{by: ann, name: "which", tool: bot.AskTool, args: `{"question":"which one?"}`})
	if page := w.page(t, "/approvals"); !strings.Contains(page, "Your answer") {
		t.Error("the page does not ask for an answer")
	}
	form := url.Values{"decision": {"agree"}, "sha256": {a.SHA256}}
	if status, _ := w.do(t, still(), "POST", "/approvals/ask%2Fwhich", form, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
		t.Errorf("without an answer: %d", status)
	}
	form.Set("reason", "staging")
	if status, _ := w.do(t, still(), "POST", "/approvals/ask%2Fwhich", form, "Authorization", "Bearer "+token); status != http.StatusSeeOther {
		t.Errorf("with an answer: %d", status)
	}
	if got, err := w.store.Approval(t.Context(), a.ID); err != nil || got.Why != "staging" || got.State != earshot.ApprovalAgreed {
		t.Errorf("stored is %+v, %v", got, err)
	}
}

func turnAt(id earshot.TurnID) string {
	raw, _ := json.Marshal(id)
	return "/turns/" + string(raw)
}

func TestNobodyIsOfferedToAgreeTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inspect.Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } })
	w.askFor(t, ops, call{by: ann, name: "late", tool: "deploy", args: `{}`})
	if page := w.page(t, "/approvals"); strings.Contains(page, "Agree …") || !strings.Contains(page, "The time for it is over") {
		t.Error("somebody is offered to agree although the time is over")
	}
}

func TestApprovalsAreListedInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 25 {
		w.askFor(t, ops, call{by: ann, name: string(rune('a' + i)), tool: "deploy", args: `{}`})
	}
	first, next := w.approvalsJSON(t, "")
	if len(first) != 20 || !strings.HasPrefix(next, "/approvals") {
		t.Fatalf("the first page has %d, and then %q", len(first), next)
	}
	_, query, _ := strings.Cut(next, "?")
	second, end := w.approvalsJSON(t, "?"+query)
	if len(second) != 5 || end != "" || second[4].ID != "ask/a" {
		t.Errorf("the second page has %v, and then %q", second, end)
	}
	if home := w.page(t, "/"); !strings.Contains(home, "20 calls or more wait") {
		t.Error("the first page counts further than it says")
	}
}

// What an operator agrees to is what they read: nothing in it is left out, hidden or put
// into another order.
func TestWhatIsAgreedToIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := strings.Repeat("x", 50_000) + "THE END"
	a := w.askFor(t, ops, call{by: ann, name: "long", tool: "write", args: `{"text":"` + long + `"}`})
	w.askFor(t, ops, call{by: ann, name: "odd", tool: "write", args: "{\"text\":\"a\u202eb\u200bc\U000e0041d</pre><script>alert(1)</script>\"}"})
	for _, page := range []string{w.page(t, "/approvals"), w.page(t, turnAt(a.Turn)) + w.page(t, turnAt(a.Turn+1))} {
		for _, want := range []string{"THE END", `a\u202eb\u200bc\udb40\udc41d&lt;/pre&gt;&lt;script&gt;`} {
			if !strings.Contains(page, want) {
				t.Errorf("a page does not have %q", want)
			}
		}
		if strings.Contains(page, "<script>alert") {
			t.Error("arguments are markup")
		}
	}
}

func TestWhateverIsAskedStaysText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\x00b\x1b[31m\u202ec", "{{.}}", `javascript:alert(1)`, `../../logout?`} {
		w := newWorld(t, nil)
		a := w.askFor(t, ops, call{by: earshot.Author{ID: "U1", Name: s, Kind: earshot.Human}, name: s, tool: s, args: s})
		if _, err := w.store.DecideApproval(t.Context(), a.ID, earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: "U1", Why: s, Time: a.Asked + 1}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/approvals?state=all", "/approvals?state=all&done=" + url.QueryEscape(string(a.ID)), turnAt(a.Turn), "/approvals.json?state=all"} {
			status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+token)
			if page := !strings.Contains(path, ".json"); status != http.StatusOK || page && strings.ContainsAny(body, "\x00\x1b\u202e") || page && (strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x")) {
				t.Errorf("%q: GET %s: %d %s", s, path, status, body)
			}
		}
	}
}
