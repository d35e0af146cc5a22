package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/llm"
)

// An asking is a turn to make.
type asking struct {
	in      earshot.ChannelID
	by      string
	text    string
	state   earshot.TurnState
	model   string // "": no model was asked
	tokens  int
	post    earshot.PostState // "": nothing was posted
	why     string
	reply   string
	further []earshot.Post
}

// firstAsked is when turn 0 of these tests was opened; turn n was n hours later.
var firstAsked = time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)

func placeOf(c earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: c}
}

// ask makes a turn, opened n hours after the first.
func (w world) ask(t testing.TB, n int, x asking) earshot.TurnID {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, sc := t.Context(), placeOf(x.in)
	opened := earshot.TimeOf(firstAsked.Add(time.Duration(n) * time.Hour))
	id := earshot.ConversationID{Agent: "earshot", Scope: sc, Name: fmt.Sprint("c", n)}
	m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("q", n)), Time: opened, Author: earshot.Author{ID: earshot.AuthorID(strings.ToLower(x.by)), Name: x.by, Kind: earshot.Human}, Text: x.text}
	out, err := w.store.Accept(ctx, sc, earshot.Event{Delivery: fmt.Sprint("d", n), Received: opened, Message: m}, &id)
	must(err)
	if x.state == earshot.TurnOpen {
		return out.Turn
	}
	l, _, err := w.store.Claim(ctx, "earshot", "me", opened, time.Hour)
	must(err)
	must(w.store.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("input")}))
	if x.model != "" {
		data, err := json.Marshal(llm.Response{Model: x.model, Usage: earshot.Usage{Input: x.tokens}})
		must(err)
		must(w.store.AddStep(ctx, l, out.Turn, earshot.Step{Kind: "answer", Data: data}))
	}
	if x.post != "" {
		p := earshot.Post{Turn: out.Turn, Key: fmt.Sprint("r", n), Text: x.reply, State: x.post, Tries: 1}
		if x.post == earshot.PostSent {
			p.Message = earshot.MessageID(fmt.Sprint("a", n))
		}
		must(w.store.PutPost(ctx, l, p))
	}
	for i, p := range x.further {
		p.Turn, p.Chunk, p.Key = out.Turn, i+1, fmt.Sprint(p.Key, n)
		must(w.store.PutPost(ctx, l, p))
	}
	var done *earshot.Turn
	if x.state == earshot.TurnDone {
		done = &earshot.Turn{Answer: earshot.Answer{Anchor: m.ID}, Policy: "standard"}
	}
	if x.state.Final() {
		must(w.store.Finish(ctx, l, out.Turn, x.state, x.why, done))
		must(w.store.Release(ctx, l, 0))
	}
	return out.Turn
}

// history is a world with a turn in each state of interest.
func history(t *testing.T, change func(*inspect.Options)) world {
	t.Helper()
	w := newWorld(t, func(o *inspect.Options) {
		o.Cost = func(model string, u earshot.Usage) (float64, bool) { return float64(u.Input) / 1e4, model == "large" }
		if change != nil {
			change(o)
		}
	})
	for i, x := range []asking{
		1: {in: "ops", by: "Sam", text: "are the runners back?", state: earshot.TurnDone, model: "large", tokens: 900, post: earshot.PostSent, reply: "all of them"},
		2: {in: "hr", by: "Ada", text: "who is on leave?", state: earshot.TurnDone, model: "small", tokens: 500, post: earshot.PostSent, reply: "nobody"},
		3: {in: "ops", by: "Ada", text: "why did the deploy fail?", state: earshot.TurnFailed, model: "large", tokens: 5000, why: "openai large: status 401: no such key"},
		4: {in: "ops", by: "Sam", text: "<b>what</b> broke?", state: earshot.TurnParked, model: "small", post: earshot.PostAmbiguous, reply: "the <i>disk</i> is full", why: "nobody knows whether post 0 arrived",
			further: []earshot.Post{{Key: "n", State: earshot.PostSent, Message: "notice", Text: "could not find out whether it arrived"}}},
		5: {in: "hr", by: "Sam", text: "and now?", state: earshot.TurnParked, post: earshot.PostAmbiguous, reply: "a secret of hr", why: "who knows"},
		6: {in: "ops", by: "Ada", text: "ping", state: earshot.TurnDropped, why: "the question is too old"},
		7: {in: "ops", by: "Ada", text: "last one", state: earshot.TurnOpen},
	} {
		if i == 0 {
			continue
		}
		if id := w.ask(t, i, x); id != earshot.TurnID(i) {
			t.Fatalf("turn %d has id %d", i, id)
		}
	}
	return w
}

// listed returns the turns of a page's JSON, and the address of the next page.
func (w world) listed(t *testing.T, path string, header ...string) (ids []int, next string) {
	t.Helper()
	status, body := w.do(t, http.DefaultClient, "GET", path, nil, header...)
	var d struct {
		Turns []struct{ ID int }
		Next  string
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	ids = []int{}
	for _, x := range d.Turns {
		ids = append(ids, x.ID)
	}
	return ids, d.Next
}

func open(o *inspect.Options) { o.Open = true }

func TestFiltersOfTurnsSelectWhatTheySay(t *testing.T) {
	t.Parallel()
	w := history(t, open)
	for query, want := range map[string][]int{
		"":                                  {7, 6, 5, 4, 3, 2, 1},
		"channel=hr":                        {5, 2},
		"channel=%23ops&outcome=waiting":    {4, 3},
		"person=ada":                        {7, 6, 3, 2},
		"person=%40Sam":                     {5, 4, 1},
		"outcome=done":                      {2, 1},
		"outcome=parked":                    {5, 4},
		"outcome=failed":                    {3},
		"outcome=dropped":                   {6},
		"outcome=unfinished":                {7},
		"outcome=open":                      {7},
		"model=large":                       {3, 1},
		"model=small":                       {4, 2},
		"min_cost=0.1":                      {3},
		"from=2026-03-02":                   {7, 6, 5, 4, 3, 2},
		"to=2026-03-01":                     {1},
		"from=2026-03-02T02:00:00Z":         {7, 6, 5, 4},
		"to=2026-03-02T02:00:00Z&person=":   {3, 2, 1},
		"before=3":                          {2, 1},
		"person=sam&model=large&before=4":   {1},
		"platform=local&channel=hr&person=": {5, 2},
		"person=nobody":                     {},
	} {
		if got, next := w.listed(t, "/turns.json?"+query); !slices.Equal(got, want) || next != "" {
			t.Errorf("%q: got %v, want %v; next %q", query, got, want, next)
		}
	}
	for query, status := range map[string]int{
		"outcome=lost": 400, "min_cost=dear": 400, "min_cost=-1": 400, "min_cost=NaN": 400, "from=yesterday": 400, "to=2026-13-01": 400, "before=x": 400, "before=-1": 400, "channel=elsewhere": 404,
	} {
		for _, path := range []string{"/turns?", "/turns.json?"} {
			if got, body := w.do(t, http.DefaultClient, "GET", path+query, nil); got != status || !strings.Contains(body, " ") {
				t.Errorf("%s%s: got %d, want %d", path, query, got, status)
			}
		}
		if got, body := w.do(t, http.DefaultClient, "GET", "/turns?"+query, nil, "HX-Request", "true"); got != http.StatusOK || !strings.Contains(body, `id="turns"`) || !strings.Contains(body, `role="alert"`) {
			t.Errorf("the list alone, with %s: got %d %s", query, got, body)
		}
	}
}

func TestARowOfTurnsSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	w := history(t, open)
	_, body := w.do(t, http.DefaultClient, "GET", "/turns.json?channel=ops&before=4", nil)
	var d struct{ Turns []map[string]any }
	if err := json.Unmarshal([]byte(body), &d); err != nil || len(d.Turns) != 2 {
		t.Fatalf("%v: %s", err, body)
	}
	for _, x := range d.Turns {
		delete(x, "took_us") // by the store's clock
	}
	want := map[string]any{
		"id": 3., "state": "failed", "why": "openai large: status 401: no such key", "link": "/turns/3", "platform": "local", "workspace": "local", "channel": "ops",
		"channel_name": "#ops", "anchor": "q3", "by": "Ada", "question": "why did the deploy fail?", "opened": "2026-03-02T01:00:00Z",
		"models": []any{"large"}, "tokens": 5000., "cost": .5, "priced": true,
	}
	if diff := cmp.Diff(d.Turns[0], want); diff != "" {
		t.Errorf("turn 3 (-got +want): %s", diff)
	}
	if d.Turns[1]["policy"] != "standard" {
		t.Errorf("turn 1: %v", d.Turns[1])
	}
	_, html := w.do(t, http.DefaultClient, "GET", "/turns", nil)
	for _, want := range []string{`href="/turns/3"`, "why did the deploy fail?", "status 401", ">failed<", "0.5000", "#hr", "&lt;b&gt;what&lt;/b&gt;", `data-live="turn"`} {
		if want == ">failed<" {
			want = "failed</span>"
		}
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(html, "<b>what") || strings.Contains(html, "style=") || strings.Contains(html, "onclick") {
		t.Error("the page has markup of a message, or something inline")
	}
}

func TestPagesOfTurnsFollowOneAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, open)
	for n := range 120 {
		w.ask(t, n, asking{in: "ops", by: "Sam", text: fmt.Sprint("question ", n), state: earshot.TurnOpen})
	}
	var all []int
	next, pages := "/turns.json?person=Sam&model=", 0
	for ; next != ""; pages++ {
		var list []int
		list, next = w.listed(t, next)
		all = append(all, list...)
		if next != "" && !strings.HasSuffix(next, "&person=Sam") {
			t.Errorf("the next page is %s", next)
		}
	}
	if _, html := w.do(t, http.DefaultClient, "GET", "/turns?person=Sam", nil); !strings.Contains(html, `href="/turns?before=71&amp;person=Sam"`) {
		t.Error("the page has no link to the next one")
	}
	if pages != 3 || len(all) != 120 || !slices.IsSortedFunc(all, func(a, b int) int { return b - a }) || all[0] != 120 || all[119] != 1 {
		t.Errorf("%d pages: %v", pages, all)
	}
}

func TestParkedShowsWhatAnOperatorNeeds(t *testing.T) {
	t.Parallel()
	w := history(t, open)
	for query, want := range map[string][]int{"": {5, 4, 3}, "channel=ops": {4, 3}, "outcome=parked": {5, 4}, "outcome=failed": {3}, "outcome=waiting&before=5": {4, 3}} {
		if got, _ := w.listed(t, "/parked.json?"+query); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	if status, _ := w.do(t, http.DefaultClient, "GET", "/parked?outcome=done", nil); status != http.StatusBadRequest {
		t.Errorf("parked turns that are done: %d", status)
	}
	_, html := w.do(t, http.DefaultClient, "GET", "/parked?channel=ops", nil)
	for _, want := range []string{
		"&lt;b&gt;what&lt;/b&gt; broke?", "the &lt;i&gt;disk&lt;/i&gt; is full", "ambiguous</span>", "whether it arrived is not known", "could not find out whether", "Notice in the channel",
		"nobody knows whether post 0 arrived", "people see it twice", "status 401: no such key", "mend it first", `action="/turns/4/retry"`, `action="/turns/4/discard"`, `action="/turns/3/retry"`, "at=q4",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(html, "secret of hr") || strings.Contains(html, "style=") {
		t.Error("the page shows another channel, or has something inline")
	}
	if _, err := w.store.Record(t.Context(), placeOf("ops"), earshot.Message{ID: "q4", Deleted: true}); err != nil {
		t.Fatal(err)
	}
	_, html = w.do(t, http.DefaultClient, "GET", "/parked?outcome=parked&channel=ops", nil)
	if !strings.Contains(html, "can only be discarded") || strings.Contains(html, "/retry") || !strings.Contains(html, "/turns/4/discard") || strings.Contains(html, "broke?") {
		t.Errorf("after its question was deleted: %s", html)
	}
}

func TestAnOperatorRetriesAndDiscards(t *testing.T) {
	t.Parallel()
	w := history(t, nil)
	b := browser(t)
	if status, _ := w.do(t, b, "GET", "/?token="+token, nil); status != http.StatusOK {
		t.Fatal(status)
	}
	state := func(id earshot.TurnID) string {
		q, err := w.store.QueuedTurn(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return string(q.State)
	}
	status, body := w.do(t, b, "POST", "/turns/4/discard", url.Values{"reason": {" it is there "}})
	if status != http.StatusOK || state(4) != "dropped" || !strings.Contains(body, "It is dropped (discarded by an operator: it is there; it was parked") || strings.Contains(body, `action="/turns/4`) {
		t.Errorf("discard: %d %s %s", status, state(4), body)
	}
	if status, body := w.do(t, b, "POST", "/turns/3/retry", url.Values{}); status != http.StatusOK || state(3) != "open" || !strings.Contains(body, "It is open now") {
		t.Errorf("retry: %d %s %s", status, state(3), body)
	}
	for path, want := range map[string]int{
		"/turns/3/retry": 409, "/turns/3/discard": 409, "/turns/4/retry": 409, "/turns/4/discard": 200, "/turns/1/discard": 409, "/turns/99/retry": 404, "/turns/x/discard": 400,
	} {
		if status, body := w.do(t, b, "POST", path, url.Values{}); status != want || status >= 400 && !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: got %d, want %d: %s", path, status, want, body)
		}
	}
	if got, _ := w.listed(t, "/parked.json", "Authorization", "Bearer "+token); !slices.Equal(got, []int{5}) {
		t.Errorf("what waits: %v", got)
	}
	if status, _ := w.do(t, b, "GET", "/turns/5/discard", nil); status == http.StatusOK || state(5) != "parked" {
		t.Errorf("by GET: %d, %s", status, state(5))
	}
}

func TestOthersThanAnOperatorChangeNoTurn(t *testing.T) {
	t.Parallel()
	w := history(t, nil)
	ops := access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}}
	viewer := ops
	viewer.Name, viewer.ReadOnly = "viewer", true
	operator, reader := w.key(t, ops), w.key(t, viewer)
	for _, c := range []struct {
		name   string
		path   string
		header []string
		want   int
	}{
		{"a viewer", "/turns/4/discard", []string{"Authorization", "Bearer " + reader}, http.StatusForbidden},
		{"a viewer, of a foreign turn", "/turns/5/discard", []string{"Authorization", "Bearer " + reader}, http.StatusForbidden},
		{"a stranger", "/turns/4/discard", nil, http.StatusUnauthorized},
		{"an operator, of a foreign turn", "/turns/5/discard", []string{"Authorization", "Bearer " + operator}, http.StatusNotFound},
		{"an operator, of no turn", "/turns/99/discard", []string{"Authorization", "Bearer " + operator}, http.StatusNotFound},
		{"another site", "/turns/4/discard", []string{"Authorization", "Bearer " + operator, "Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"another site by its origin", "/turns/4/discard", []string{"Authorization", "Bearer " + operator, "Origin", "https://evil.example"}, http.StatusForbidden},
	} {
		for _, path := range []string{c.path, strings.Replace(c.path, "discard", "retry", 1)} {
			if status, body := w.do(t, http.DefaultClient, "POST", path, url.Values{}, c.header...); status != c.want || strings.Contains(body, "secret of hr") {
				t.Errorf("%s, %s: got %d, want %d: %s", c.name, path, status, c.want, body)
			}
		}
	}
	_, foreign := w.do(t, http.DefaultClient, "POST", "/turns/5/retry", url.Values{}, "Authorization", "Bearer "+operator)
	_, unknown := w.do(t, http.DefaultClient, "POST", "/turns/99/retry", url.Values{}, "Authorization", "Bearer "+operator)
	if foreign != strings.ReplaceAll(unknown, "/turns/99", "/turns/5") {
		t.Errorf("a foreign turn: %s\nno turn: %s", foreign, unknown)
	}
	for id, want := range map[earshot.TurnID]earshot.TurnState{4: earshot.TurnParked, 5: earshot.TurnParked} {
		if q, err := w.store.QueuedTurn(t.Context(), id); err != nil || q.State != want {
			t.Errorf("turn %d is %s: %v", id, q.State, err)
		}
	}
	_, html := w.do(t, http.DefaultClient, "GET", "/parked", nil, "Authorization", "Bearer "+reader)
	if strings.Contains(html, "<form method=\"post\" action=\"/turns") || !strings.Contains(html, "may only read") || strings.Contains(html, "secret of hr") {
		t.Errorf("the page of a viewer: %s", html)
	}
	for _, path := range []string{"/turns.json", "/parked.json"} {
		got, _ := w.listed(t, path, "Authorization", "Bearer "+reader)
		if slices.Contains(got, 5) || slices.Contains(got, 2) || !slices.Contains(got, 4) {
			t.Errorf("%s of a key for ops: %v", path, got)
		}
	}
	if status, _ := w.do(t, http.DefaultClient, "GET", "/parked?done=5", nil, "Authorization", "Bearer "+reader); status != http.StatusNotFound {
		t.Errorf("what became of a foreign turn: %d", status)
	}
}
