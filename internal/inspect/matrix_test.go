package inspect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A territory is one channel with everything in it that an address can name. Each of
// its texts and names holds its canary, and no other territory's does.
type territory struct {
	scope        earshot.Scope
	canary       string
	message      earshot.MessageID // a question that was answered
	file         earshot.ArtifactID
	shared       earshot.MessageID // the message that has the file
	turn, parked earshot.TurnID
	asked        earshot.ApprovalID
	waiting      earshot.TurnID // which asked
}

// query is the place of a territory as parameters, followed by others.
func (x territory) query(pairs ...string) string {
	q := url.Values{"platform": {string(x.scope.Platform)}, "workspace": {string(x.scope.Workspace)}, "channel": {string(x.scope.Channel)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

func (x territory) at(path string, pairs ...string) string { return path + "?" + x.query(pairs...) }

func (x territory) under(format string) string { return fmt.Sprintf(format, x.turn) }

// unknown is a territory like this one, of which nothing exists.
func (x territory) unknown() territory {
	x.scope.Channel, x.message, x.shared, x.file, x.turn, x.parked, x.canary = "zzunknown", "zzmessage", "zzshared", "zzfile", 987654, 987653, "zzcanary"
	x.asked, x.waiting = "zzasked", 987652
	return x
}

// blind takes out of an answer what the request said.
func (x territory) blind(s string) string {
	for _, id := range []string{string(x.message), string(x.shared), string(x.file), string(x.asked), url.QueryEscape(string(x.asked)), "turns/" + strconv.Itoa(int(x.waiting)), "turns/" + strconv.Itoa(int(x.turn)), "turns/" + strconv.Itoa(int(x.parked)), "done=" + strconv.Itoa(int(x.parked)), "channel=" + string(x.scope.Channel), x.canary} {
		if id != "" {
			s = strings.ReplaceAll(s, id, "~")
		}
	}
	return s
}

// asked has for each pattern of the inspector how it is asked for a territory; nil for
// what shows nothing of any. lists has those that name no territory and show what the
// visitor sees.
var (
	asked = map[string]func(x territory) []string{
		"GET /static/": nil, "GET /login": nil, "POST /login": nil, "POST /logout": nil, "GET /": nil,
		"GET /events":       func(x territory) []string { return []string{x.at("/events")} },
		"GET /chat":         chatPaths("/chat"),
		"GET /chat.json":    chatPaths("/chat.json"),
		"GET /conversation": func(x territory) []string { return []string{x.at("/conversation", "agent", "UBOT", "name", "root")} },
		"GET /conversation.json": func(x territory) []string {
			return []string{x.at("/conversation.json", "agent", "UBOT", "name", "root")}
		},
		"GET /conversation/{picture}": func(x territory) []string {
			return []string{x.at("/conversation/tokens.svg", "agent", "UBOT", "name", "root")}
		},
		"GET /turns/{id}": func(x territory) []string {
			return []string{x.under("/turns/%d"), x.under("/turns/%d.json"), x.under("/turns/%d?replay=1"), fmt.Sprintf("/turns/%d", x.waiting), fmt.Sprintf("/turns/%d.json", x.waiting)}
		},
		"GET /turns/{id}/{picture}": func(x territory) []string {
			return []string{x.under("/turns/%d/budget.svg"), x.under("/turns/%d/what-if.json?budget=500")}
		},
		"GET /turns/{id}/what-if":           func(x territory) []string { return []string{x.under("/turns/%d/what-if?budget=500")} },
		"GET /turns/{id}/what-if.json":      func(x territory) []string { return []string{x.under("/turns/%d/what-if.json?budget=500")} },
		"GET /turns/{id}/what-if/{picture}": func(x territory) []string { return []string{x.under("/turns/%d/what-if/now.svg?budget=500")} },
		"GET /turns/{turn}/case.txt": func(x territory) []string {
			return []string{x.under("/turns/%d/case.txt"), x.under("/turns/%d/case.txt?redact=1")}
		},
		"GET /turns/{turn}/steps/{step}/request":      func(x territory) []string { return []string{x.under("/turns/%d/steps/1/request")} },
		"GET /turns/{turn}/steps/{step}/request.json": func(x territory) []string { return []string{x.under("/turns/%d/steps/1/request.json")} },
		"GET /context":           func(x territory) []string { return []string{x.at("/context", "message", string(x.message))} },
		"GET /context.json":      func(x territory) []string { return []string{x.at("/context.json", "message", string(x.message))} },
		"GET /context/{picture}": func(x territory) []string { return []string{x.at("/context/budget.svg", "message", string(x.message))} },
		"GET /context/what-if": func(x territory) []string {
			return []string{x.at("/context/what-if", "message", string(x.message), "budget", "500")}
		},
		"GET /context/what-if.json": func(x territory) []string {
			return []string{x.at("/context/what-if.json", "message", string(x.message), "budget", "500")}
		},
		"GET /context/what-if/{picture}": func(x territory) []string {
			return []string{x.at("/context/what-if/now.svg", "message", string(x.message))}
		},
		"GET /search":              searchPaths("/search"),
		"GET /search.json":         searchPaths("/search.json"),
		"GET /coverage":            func(x territory) []string { return []string{x.at("/coverage")} },
		"GET /coverage.json":       func(x territory) []string { return []string{x.at("/coverage.json")} },
		"GET /coverage/{picture}":  func(x territory) []string { return []string{x.at("/coverage/coverage.svg")} },
		"GET /costs":               costPaths("/costs"),
		"GET /costs.json":          costPaths("/costs.json"),
		"GET /costs/{picture}":     costPaths("/costs/tokens.svg"),
		"GET /turns":               listPaths("/turns"),
		"GET /turns.json":          listPaths("/turns.json"),
		"GET /parked":              parkedPaths("/parked"),
		"GET /parked.json":         parkedPaths("/parked.json"),
		"GET /approvals":           approvalPaths("/approvals"),
		"GET /approvals.json":      approvalPaths("/approvals.json"),
		"POST /approvals/{id}":     func(x territory) []string { return []string{"/approvals/" + url.PathEscape(string(x.asked))} },
		"GET /conversations":       listPaths("/conversations"),
		"GET /conversations.json":  listPaths("/conversations.json"),
		"POST /turns/{id}/retry":   func(x territory) []string { return []string{fmt.Sprintf("/turns/%d/retry", x.parked)} },
		"POST /turns/{id}/discard": func(x territory) []string { return []string{fmt.Sprintf("/turns/%d/discard", x.parked)} },
		"POST /turns/{id}/stop":    func(x territory) []string { return []string{fmt.Sprintf("/turns/%d/stop", x.waiting)} },
		"POST /chat/say":           func(territory) []string { return []string{"/chat/say"} },
		"POST /chat/edit":          func(territory) []string { return []string{"/chat/edit"} },
		"POST /chat/delete":        func(territory) []string { return []string{"/chat/delete"} },
		"POST /chat/choose":        func(territory) []string { return []string{"/chat/choose"} },
	}
	lists = map[string][]string{
		"GET /{$}": {"/"}, "GET /index.json": {"/index.json"}, "GET /index/{picture}": {"/index/x.svg"},
		"GET /health": {"/health"}, "GET /health.json": {"/health.json"}, "GET /health/{picture}": {"/health/x.svg"},
		"GET /chat/{picture}": {"/chat/x.svg"}, "GET /search/{picture}": {"/search/x.svg"}, "GET /conversations/{picture}": {"/conversations/x.svg"},
		"GET /chat": {"/chat"}, "GET /chat.json": {"/chat.json"}, "GET /turns": {"/turns"}, "GET /turns.json": {"/turns.json", "/turns.json?outcome=done", "/turns.json?feedback=bad"},
		"GET /approvals": {"/approvals", "/approvals?state=all"}, "GET /approvals.json": {"/approvals.json", "/approvals.json?state=all"},
		"GET /parked": {"/parked"}, "GET /parked.json": {"/parked.json"}, "GET /search": {"/search?q=canary"}, "GET /search.json": {"/search.json?q=canary"},
		"GET /coverage": {"/coverage"}, "GET /coverage.json": {"/coverage.json"}, "GET /coverage/{picture}": {"/coverage/coverage.svg"},
		"GET /conversations": {"/conversations"}, "GET /conversations.json": {"/conversations.json"},
		"GET /costs":           {"/costs?from=2026-03-01&to=2026-03-09", "/costs?by=channel&from=2026-03-01&to=2026-03-09"},
		"GET /costs.json":      {"/costs.json?by=model&from=2026-03-01&to=2026-03-09", "/costs.json?by=person&from=2026-03-01&to=2026-03-09"},
		"GET /costs/{picture}": {"/costs/tokens.svg?by=channel&from=2026-03-01&to=2026-03-09"},
	}
)

func chatPaths(path string) func(x territory) []string {
	return func(x territory) []string {
		return []string{x.at(path), x.at(path, "at", string(x.message)), x.at(path, "thread", string(x.message)), x.at(path, "all", "1")}
	}
}

func searchPaths(path string) func(x territory) []string {
	return func(x territory) []string {
		return []string{x.at(path, "q", "canary"), x.at(path, "q", "canary", "person", "nobody")}
	}
}

func costPaths(path string) func(x territory) []string {
	return func(x territory) []string {
		return []string{x.at(path, "from", "2026-03-01", "to", "2026-03-09", "by", "person")}
	}
}

func listPaths(path string) func(x territory) []string {
	return func(x territory) []string { return []string{x.at(path)} }
}

func parkedPaths(path string) func(x territory) []string {
	return func(x territory) []string {
		return []string{x.at(path), path + "?done=" + strconv.Itoa(int(x.parked))}
	}
}

func approvalPaths(path string) func(x territory) []string {
	return func(x territory) []string {
		return []string{x.at(path), x.at(path, "state", "all"), path + "?done=" + url.QueryEscape(string(x.asked)), path + "?before=" + url.QueryEscape(string(x.asked))}
	}
}

// form is what a change of a territory sends.
func (x territory) form() url.Values {
	return url.Values{"back": {x.query()}, "as": {"Eve"}, "text": {"hello"}, "message": {string(x.shared)}, "name": {"eyes"}, "decision": {"refuse"}}
}

// A matrix is territories, and an inspector over them that many visit.
type matrix struct {
	chatWorld
	territories []territory
	callers     map[string]visitor
}

// A visitor is a caller of a matrix.
type visitor struct {
	bearer string
	known  bool
	sees   func(s earshot.Scope) bool
}

// people recognises users by a table, and everybody else by a real gate.
type people struct {
	users map[string]access.Principal
	*access.Gate
}

func (g people) Authenticate(ctx context.Context, bearer string) (access.Principal, error) {
	if p, ok := g.users[bearer]; ok {
		return p, nil
	}
	return g.Gate.Authenticate(ctx, bearer)
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return newMatrixOver(t, st, st)
}

// newMatrixOver is newMatrix over a store, which the bot calls own.
func newMatrixOver(t *testing.T, st, own earshot.Store) *matrix {
	t.Helper()
	m := &matrix{callers: map[string]visitor{}}
	users := map[string]access.Principal{"user": {ID: "user:https://issuer someone", Kind: access.User, Subject: "someone", Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}}}
	m.chatWorld = newChatOver(t, st, own, llm.Offline{}, func(o *inspect.Options) {
		o.Gate = people{users, o.Gate.(*access.Gate)} //nolint:forcetypeassert // newWorldOver's
		// Strangers ask for every page from one address: so much time passes between two
		// requests that none is slowed.
		began, asked := time.Now(), atomic.Int64{}
		o.Now = func() time.Time { return began.Add(time.Duration(asked.Add(1)) * 3 * time.Second) }
		o.Requests = func(_ context.Context, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
			return func(yield func(bot.SentRequest, error) bool) {
				body := []byte(`{"said":"` + canaryOf(q.Conversation.Scope) + `"}`)
				yield(bot.SentRequest{N: 1, Provider: "openai", Sent: &llm.SentBody{Model: canaryOf(q.Conversation.Scope), Bytes: len(body)}, Body: body}, nil)
			}
		}
		o.Health = func(context.Context) (inspect.Health, error) { return m.health(), nil }
		o.Start = &inspect.Start{Channel: earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "hr", Name: canaryOf(placeOf("hr"))}, Message: "message-hr", Why: canaryOf(placeOf("hr"))}
	})
	for _, s := range []earshot.Scope{placeOf("ops"), placeOf("hr"), slackChannel.Scope(), {Platform: earshot.Slack, Workspace: "T2", Channel: "C1"}} {
		m.territories = append(m.territories, m.sow(t, s))
	}
	key := func(name string, spec access.KeySpec) {
		spec.Name = name
		r := access.Reach{Workspaces: spec.Workspaces, Channels: spec.Channels}
		m.callers[name] = visitor{m.key(t, spec), true, r.Has}
	}
	key("channel", access.KeySpec{Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}})
	key("viewer", access.KeySpec{Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true})
	key("workspace", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}})
	key("id", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1", "T2"}, Channels: []earshot.ChannelID{"C9"}})
	key("revoked", access.KeySpec{})
	if err := access.RevokeKey(t.Context(), m.store, "revoked"); err != nil {
		t.Fatal(err)
	}
	nothing := func(earshot.Scope) bool { return false }
	capability, err := m.gate.Mint(t.Context(), access.Principal{ID: "key:made", Kind: access.Local, Reach: access.Reach{}}, access.CapabilityScope{Scope: placeOf("ops")})
	if err != nil {
		t.Fatal(err)
	}
	m.callers["user"] = visitor{"user", true, access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}.Has}
	m.callers["token"] = visitor{token, true, func(earshot.Scope) bool { return true }}
	m.callers["capability"] = visitor{bearer: capability, sees: nothing}
	m.callers["stranger"] = visitor{bearer: "ek_aaaaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", sees: nothing}
	m.callers["nobody"] = visitor{sees: nothing}
	m.callers["revoked"] = visitor{bearer: m.callers["revoked"].bearer, sees: nothing}
	return m
}

func canaryOf(s earshot.Scope) string { return fmt.Sprintf("canary%s%send", s.Workspace, s.Channel) }

// health is a process that has something to say of every territory.
func (m *matrix) health() inspect.Health {
	h := well()
	h.Models, h.Replicas[0].Model, h.Replicas[0].Policy = nil, canaryOf(placeOf("hr")), canaryOf(placeOf("hr"))
	for _, x := range m.territories {
		h.Gaps = append(h.Gaps, inspect.Gap{Channel: earshot.Channel{Platform: x.scope.Platform, Workspace: x.scope.Workspace, ID: x.scope.Channel, Name: x.canary}, Pieces: 1})
		h.Models = append(h.Models, inspect.ModelCalls{Provider: "p", Model: x.canary, Calls: 777001, InARow: 9, Failed: 9, Why: x.canary})
		h.APICalls = append(h.APICalls, inspect.APICalls{Platform: earshot.Slack, Method: x.canary, Calls: 777002, Limited: 777003})
	}
	h.Turns = inspect.Waiting{States: map[earshot.TurnState]int{earshot.TurnParked: 777004}, Oldest: &earshot.QueuedTurn{ID: 777005, Opened: 1}}
	return h
}

// sow stores a territory.
func (m *matrix) sow(t *testing.T, s earshot.Scope) territory {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	x := territory{scope: s, canary: canaryOf(s), message: earshot.MessageID("message-" + string(s.Workspace) + string(s.Channel)), file: "nofile", shared: "noshared"}
	if s == placeOf("hr") {
		x.message = "message-hr"
	}
	must(m.store.PutChannel(ctx, earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Name: x.canary, Topic: x.canary, Kind: earshot.KindChannel}))
	by := earshot.Author{ID: earshot.AuthorID("U" + x.canary), Name: x.canary, Kind: earshot.Human}
	must(m.store.PutAuthors(ctx, s.Platform, s.Workspace, by))
	_, err := m.store.Record(ctx, s,
		earshot.Message{ID: "root", Time: march(2, 9), Author: by, Text: x.canary + " at the root"},
		earshot.Message{ID: x.message, Time: march(2, 10), Author: by, Text: "<@UBOT> " + x.canary + "?", Thread: "root"})
	must(err)
	must(m.store.PutCoverage(ctx, s, earshot.Coverage{To: march(1, 0), State: earshot.Missing, Why: x.canary}))
	if m.chat.Has(s) {
		heard, err := m.chat.Say(ctx, local.NewMessage{Channel: string(s.Channel), As: x.canary, Text: x.canary, Files: []local.Upload{{Name: x.canary + ".html", Data: []byte("<p>" + x.canary)}}})
		must(err)
		x.shared, x.file = heard.Message.ID, heard.Message.Files[0].ID
	}
	all := access.Principal{ID: "key:all", Kind: access.Key}
	service := sidecar.New(m.store, search.New(m.store, nil), m.gate, sidecar.Options{})
	_, err = service.PutAgent(ctx, all, visible.Agent{Identity: earshot.Identity{ID: "UBOT", Name: "earshot"}, Platform: s.Platform, Workspace: s.Workspace})
	must(err)
	c, err := service.Context(ctx, all, sidecar.ContextRequest{Channel: visible.Place{Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel}, Anchor: x.message, Agent: "UBOT", Open: true})
	must(err)
	_, err = service.Commit(ctx, all, c.Draft.ID, sidecar.Reply{Text: x.canary, Messages: []earshot.Message{{ID: "r-" + x.message, Text: x.canary, Time: march(2, 11)}}})
	must(err)
	x.turn, x.parked = c.Draft.ID, m.park(t, x, by)
	must(m.store.PutFeedback(ctx, earshot.Feedback{Turn: x.turn, Author: by.ID, Reason: x.canary, Time: march(2, 12)}))
	a := m.askFor(t, x.scope, call{by: by, agent: "UOTHER", conversation: "parked", name: string(s.Workspace + "-" + earshot.WorkspaceID(s.Channel)), tool: x.canary, args: `{"what":"` + x.canary + `"}`})
	x.asked, x.waiting = a.ID, a.Turn
	return x
}

// park makes a turn that waits for an operator.
func (m *matrix) park(t *testing.T, x territory, by earshot.Author) earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	of := earshot.ConversationID{Agent: "UOTHER", Scope: x.scope, Name: "parked"}
	said := earshot.Message{ID: "parked-" + x.message, Time: march(3, 9), Author: by, Text: x.canary}
	out, err := m.store.Accept(ctx, x.scope, earshot.Event{Delivery: x.canary, Received: said.Time, Message: said}, &of)
	must(err)
	l, _, err := m.store.Claim(ctx, "UOTHER", "me", said.Time, time.Hour)
	must(err)
	must(m.store.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("{}")}))
	data, err := json.Marshal(llm.Response{Model: x.canary, Usage: earshot.Usage{Input: 100}})
	must(err)
	must(m.store.AddStep(ctx, l, out.Turn, earshot.Step{Kind: "answer", Data: data, Time: said.Time}))
	must(m.store.PutPost(ctx, l, earshot.Post{Turn: out.Turn, Key: x.canary, Text: x.canary, State: earshot.PostAmbiguous, Tries: 1}))
	must(m.store.Finish(ctx, l, out.Turn, earshot.TurnParked, x.canary, nil))
	must(m.store.Release(ctx, l, 0))
	return out.Turn
}

// ask sends a request of a caller and returns the status, and headers and body as text.
func (m *matrix) ask(t *testing.T, c visitor, method, path string, form url.Values) (int, string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), hang)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, m.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, "a stream"
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Header.Del("Date")
	res.Header.Del("Content-Length") // the address in a page may be of another length
	return res.StatusCode, fmt.Sprint(res.Header) + "\n" + string(body)
}

// foreign returns the canary of a territory in a text that the caller does not see.
func (m *matrix) foreign(c visitor, text string) string {
	for _, x := range m.territories {
		if !c.sees(x.scope) && strings.Contains(text, x.canary) {
			return x.canary
		}
	}
	return ""
}

// TestNothingForeignIsShownByAnyView asks every route of the mux, as every kind of
// visitor, for what each channel has. Nothing of a channel that the visitor does not
// see is in any byte of an answer, and what is foreign answers as what does not exist.
func TestNothingForeignIsShownByAnyView(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	patterns := inspect.Patterns()
	for _, p := range patterns {
		if _, ok := asked[p]; !ok && lists[p] == nil {
			t.Errorf("%s is not in the tables of this test: say how it is asked", p)
		}
	}
	for _, p := range slices.Concat(slices.Collect(maps.Keys(asked)), slices.Collect(maps.Keys(lists))) {
		if !slices.Contains(patterns, p) {
			t.Errorf("the tables have %s, which is no route", p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.callers)) {
		t.Run(name, func(t *testing.T) {
			for _, p := range patterns {
				m.lists(t, m.callers[name], lists[p])
				if asked[p] != nil {
					method, _, _ := strings.Cut(p, " ")
					m.territory(t, m.callers[name], method, asked[p])
				}
			}
		})
	}
}

// lists asks what names no territory.
func (m *matrix) lists(t *testing.T, c visitor, paths []string) {
	t.Helper()
	for _, path := range paths {
		status, said := m.ask(t, c, "GET", path, nil)
		if x := m.foreign(c, said); x != "" {
			t.Errorf("GET %s tells of %s:\n%s", path, x, said)
		}
		if !c.sees(placeOf("none")) && strings.Contains(said, "77700") {
			t.Errorf("GET %s tells what happens in all channels:\n%s", path, said)
		}
		if want := http.StatusOK; c.known && status != want && !strings.HasSuffix(path, "/x.svg") && !strings.Contains(path, "/costs/") {
			t.Errorf("GET %s: got %d\n%s", path, status, said)
		}
		if !c.known && status != http.StatusUnauthorized {
			t.Errorf("GET %s of somebody who is not known: got %d", path, status)
		}
	}
}

// territory asks a route for each territory.
func (m *matrix) territory(t *testing.T, c visitor, method string, paths func(x territory) []string) {
	t.Helper()
	for _, x := range m.territories {
		no := x.unknown()
		for i, path := range paths(x) {
			var form, without url.Values
			if method == http.MethodPost {
				form, without = x.form(), no.form()
				if c.sees(x.scope) {
					continue // what it changes is tested where it is
				}
			}
			status, said := m.ask(t, c, method, path, form)
			if found := m.foreign(c, said); found != "" {
				t.Errorf("%s %s tells of %s:\n%s", method, path, found, said)
			}
			switch {
			case !c.known && status != http.StatusUnauthorized:
				t.Errorf("%s %s of somebody who is not known: got %d", method, path, status)
			case !c.known:
			case c.sees(x.scope):
				if status != http.StatusOK && !missing(path) {
					t.Errorf("%s %s: got %d\n%s", method, path, status, said)
				}
			default:
				s, unknown := m.ask(t, c, method, paths(no)[i], without)
				if status != s || x.blind(said) != no.blind(unknown) {
					t.Errorf("%s %s: got %d\n%s\nand for what does not exist %d\n%s", method, path, status, x.blind(said), s, no.blind(unknown))
				}
			}
		}
	}
}

// missing reports whether a path names what its territory does not have, such as
// pictures of too little.
func missing(path string) bool {
	return strings.Contains(path, ".svg") || strings.HasSuffix(path, "/what-if.json?budget=500")
}
