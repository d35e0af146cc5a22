package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
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
	"github.com/earshot-ai/earshot/store"
)

// A territory is one channel with everything in it that a route can name. Each of
// its texts and names holds its canary, and no other territory's does.
type territory struct {
	workspace, channel string
	ids                map[string]string // by kind: message, reply, turn, open, conversation, agent, author, erasure, approval
}

// canary stands in every text and name of a territory.
func (x territory) canary() string { return "canary" + x.workspace + x.channel + "end" }

// TestNothingForeignIsReadByAnyRoute asks every route of the document, as every
// kind of caller, for what is the caller's, for what is somebody else's, and for
// what does not exist. Nothing foreign is read or changed, what is foreign answers
// with the bytes of what does not exist, and what is the caller's is there.
func TestNothingForeignIsReadByAnyRoute(t *testing.T) {
	t.Parallel()
	operations := documented(t)
	m := newMatrix(t)
	asked, reads := 0, 0
	for _, op := range operations {
		fill, ok := requests[op.id]
		if !ok {
			t.Errorf("%s %s (%s) has no line in the table of requests: add one", op.method, op.path, op.id)
			continue
		}
		for _, who := range slices.Sorted(maps.Keys(m.callers)) {
			t.Run(op.id+"/"+who, func(t *testing.T) {
				a, r := m.ask(t, op, fill, who)
				asked += a
				reads += r
			})
		}
	}
	for id := range requests {
		if !slices.ContainsFunc(operations, func(op operation) bool { return op.id == id }) {
			t.Errorf("the table of requests has %s, which is no route", id)
		}
	}
	t.Logf("%d routes × %d callers: %d requests, %d of them for something of the caller's", len(operations), len(m.callers), asked, reads)
}

// An operation is a route as the document has it.
type operation struct {
	id, method, path string
}

// documented returns the routes of the document, in its order.
func documented(t *testing.T) []operation {
	t.Helper()
	raw, err := api.Document("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var out []operation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			out = append(out, operation{doc.Paths[path][method].OperationID, strings.ToUpper(method), path})
		}
	}
	if len(out) < 25 {
		t.Fatalf("the document has only %d routes", len(out))
	}
	return out
}

// A request is how a route is asked for a territory.
type request struct {
	path, body string
	names      bool // it names what it stores, so that an id of somebody else's is only a new one here
	workspace  bool // it needs a key for whole workspaces
	wide       bool // it names a workspace only, and so is nobody else's in the caller's workspace
	one        bool // it needs a key for one channel
}

// allowed reports whether a caller may ask this of a channel that it sees.
func (r request) allowed(c caller) bool {
	single := len(c.reach.Workspaces) == 1 && len(c.reach.Channels) == 1
	return c.whole && (!r.workspace || len(c.reach.Channels) == 0) && (!r.one || single)
}

// requests has for each route, by its operation's id, how it is asked.
var requests = map[string]func(t territory) request{
	"list-channels": get("/v1/channels"),
	"list-tools":    get("/v1/tools"),
	"get-channel":   func(t territory) request { return request{path: "/v1/channels/" + t.channel + t.query()} },
	"list-messages": func(t territory) request { return request{path: "/v1/channels/" + t.channel + "/messages" + t.query()} },
	"get-message": func(t territory) request {
		return request{path: "/v1/channels/" + t.channel + "/messages/" + t.ids["message"] + t.query("revisions", "true")}
	},
	"get-thread": func(t territory) request {
		return request{names: true, path: "/v1/channels/" + t.channel + "/threads/" + t.ids["root"] + t.query()}
	},
	"search-channel": func(t territory) request {
		return request{path: "/v1/channels/" + t.channel + "/search" + t.query("q", t.canary())}
	},
	"get-me":      get("/v1/me"),
	"list-agents": get("/v1/agents"),
	"put-agent": func(t territory) request {
		return request{names: true, wide: true, path: "/v1/agents/U9", body: t.fill(`{"name":"nine","workspace":"WORKSPACE"}`)}
	},
	"put-channel": func(t territory) request {
		return request{names: true, path: "/v1/channels/" + t.channel, body: t.fill(`{"name":"renamed","workspace":"WORKSPACE","platform":"slack"}`)}
	},
	"put-channels": func(t territory) request {
		return request{names: true, path: "/v1/channels", body: t.fill(`{"channels":[{"id":"CHANNEL","name":"renamed","workspace":"WORKSPACE","platform":"slack"}]}`)}
	},
	"post-history": func(t territory) request {
		return request{names: true, path: "/v1/history", body: t.fill(`{"channel":{"id":"CHANNEL","workspace":"WORKSPACE","platform":"slack"},"from":"2026-03-01T10:00:00Z","to":"2026-03-02T10:00:01Z","messages":[{"id":"MESSAGE","time":"2026-03-02T10:00:00Z","author":{"id":"U1","name":"Eve"},"text":"hello"}]}`)}
	},
	"post-coverage": func(t territory) request {
		return request{names: true, path: "/v1/coverage", body: t.fill(`{"channel":{"id":"CHANNEL","workspace":"WORKSPACE","platform":"slack"},"coverage":[{"to":"2026-03-02T10:00:00Z","state":"missing","why":"nobody listened"}]}`)}
	},
	"get-coverage": func(t territory) request {
		return request{path: "/v1/channels/" + t.channel + "/coverage" + t.query("thread", t.ids["message"])}
	},
	"put-authors": func(t territory) request {
		return request{names: true, wide: true, workspace: true, path: "/v1/authors", body: t.fill(`{"workspace":"WORKSPACE","platform":"slack","authors":[{"id":"AUTHOR","name":"renamed"}]}`)}
	},
	"post-events": func(t territory) request {
		return request{names: true, path: "/v1/events", body: t.fill(`{"events":[{"type":"message","channel":{"id":"CHANNEL","workspace":"WORKSPACE","platform":"slack"},"message":{"id":"MESSAGE","time":"2026-03-02T10:00:00Z","author":{"id":"U1","name":"Eve"},"text":"hello"}}]}`)}
	},
	"list-turns":     func(t territory) request { return request{path: "/v1/turns" + t.query("channel", t.channel)} },
	"stream-turns":   func(t territory) request { return request{path: "/v1/turns/events" + t.query("channel", t.channel)} },
	"usage":          func(t territory) request { return request{path: "/v1/usage" + t.query("channel", t.channel)} },
	"get-turn":       func(t territory) request { return request{path: "/v1/turns/" + t.ids["turn"] + "?prompt=true"} },
	"list-approvals": func(t territory) request { return request{path: "/v1/approvals" + t.query("channel", t.channel)} },
	"get-approval":   func(t territory) request { return request{path: "/v1/approvals/" + t.ids["approval"]} },
	"decide-approval": func(t territory) request {
		return request{path: "/v1/approvals/" + t.ids["approval"], body: `{"decision":"refuse","reason":"not now"}`}
	},
	"list-feedback": func(t territory) request { return request{path: "/v1/feedback" + t.query("channel", t.channel)} },
	"put-feedback": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["turn"] + "/feedback", body: `{"author":"UEve","good":false,"reason":"no"}`}
	},
	"remove-feedback": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["turn"] + "/feedback?author=" + t.ids["author"]}
	},
	"get-erasure":   func(t territory) request { return request{path: "/v1/erasures/" + t.ids["erasure"]} },
	"erase-channel": func(t territory) request { return request{path: "/v1/channels/" + t.channel + t.query()} },
	"erase-author": func(t territory) request {
		return request{path: "/v1/authors/" + t.ids["author"] + t.query("channel", t.channel)}
	},
	"delete-message": func(t territory) request {
		return request{path: "/v1/channels/" + t.channel + "/messages/" + t.ids["message"] + t.query()}
	},
	"make-context": func(t territory) request {
		return request{path: "/v1/context", body: t.fill(`{"channel":{"id":"CHANNEL","workspace":"WORKSPACE"},"anchor":"MESSAGE","agent":"U0BOT"}`)}
	},
	"make-capability": func(t territory) request {
		return request{path: "/v1/capabilities", body: t.fill(`{"channel":{"id":"CHANNEL","workspace":"WORKSPACE"},"anchor":"MESSAGE","agent":"U0BOT"}`)}
	},
	"call-tool": func(t territory) request {
		return request{one: true, path: "/v1/tools/channel_messages", body: t.fill(`{"message_ids":["MESSAGE"]}`)}
	},
	"get-file": func(t territory) request { return request{path: "/v1/files/F1" + t.query("channel", t.channel)} },
	"put-file": func(t territory) request {
		return request{path: "/v1/files/F1" + t.query("channel", t.channel, "message", t.ids["message"]), body: `what it says`}
	},
	"assemble": func(territory) request {
		return request{path: "/v1/assemble", body: `{"identity":{"id":"U0BOT","name":"earshot"},"channel":{},"anchor":"1","messages":[{"id":"1","time":"2026-03-02T10:00:00Z","author":{},"text":"hi"}]}`}
	},
	"commit-turn": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["open"] + "/commit", body: `{"reply":{"text":"because"}}`}
	},
	"renew-turn": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["open"] + "/renew", body: `{"hold":900}`}
	},
	"ask-approval": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["open"] + "/approvals", body: `{"call":"c1","tool":"deploy","arguments":"{}"}`}
	},
	"wait-turn": func(t territory) request {
		return request{path: "/v1/turns/" + t.ids["open"] + "/wait", body: `{"seconds":1}`}
	},
	"list-open-turns": get("/v1/turns/open"),
	"abort-turn":      func(t territory) request { return request{path: "/v1/turns/" + t.ids["open"] + "/abort"} },
	"create-conversation": func(t territory) request {
		return request{path: "/api/chat/conversations", names: true,
			body: t.fill(`{"title":"x","client_type":"test","agent_id":"U0BOT","idempotency_key":"key-KEY","metadata":{"channel_id":"CHANNEL","workspace_id":"WORKSPACE"}}`)}
	},
	"list-conversations": func(t territory) request {
		return request{path: "/api/chat/conversations?agent_id=U0BOT&channel_id=" + t.channel + "&workspace_id=" + t.workspace}
	},
	"get-conversation": func(t territory) request { return request{path: "/api/chat/conversations/" + t.ids["conversation"]} },
	"list-conversation-messages": func(t territory) request {
		return request{path: "/api/chat/conversations/" + t.ids["conversation"] + "/messages"}
	},
	"post-conversation-message": func(t territory) request {
		return request{path: "/api/chat/conversations/" + t.ids["conversation"] + "/messages", body: `{"role":"user","content":"and now?"}`}
	},
	"merge-conversation-metadata": func(t territory) request {
		return request{path: "/api/chat/conversations/" + t.ids["conversation"] + "/metadata", body: `{"metadata":{"seen":true}}`}
	},
}

func get(path string) func(territory) request {
	return func(territory) request { return request{path: path} }
}

// query names the workspace, and what else there is, in pairs.
func (x territory) query(pairs ...string) string {
	q := url.Values{"workspace": {x.workspace}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "?" + q.Encode()
}

// fill writes a body.
func (x territory) fill(body string) string {
	return strings.NewReplacer("CHANNEL", x.channel, "WORKSPACE", x.workspace, "MESSAGE", x.ids["message"], "AUTHOR", x.ids["author"], "KEY", x.ids["key"]).Replace(body)
}

// nowhere is what does not exist.
var nowhere = territory{"T404", "C404", map[string]string{
	"message": "404.000001", "root": "404.000001", "turn": "404404", "open": "404405", "erasure": "404406", "approval": "ask-404", "author": "U-404", "key": "404",
	"conversation": visible.ConversationText(earshot.ConversationID{Agent: "U0BOT", Scope: earshot.Scope{Platform: "slack", Workspace: "T404", Channel: "C404"}, Name: "404.000001"}),
}}

// at returns the ids of t in the channel of another territory.
func (x territory) at(other territory) territory {
	return territory{other.workspace, other.channel, x.ids}
}

// A caller is a principal with its bearer.
type caller struct {
	bearer string
	reach  access.Reach
	known  bool // it is let in at all
	whole  bool // it may do everything with what it sees
}

// sees reports whether a caller may see a territory.
func (c caller) sees(t territory) bool {
	return c.known && c.reach.Has(earshot.Scope{Workspace: earshot.WorkspaceID(t.workspace), Channel: earshot.ChannelID(t.channel)})
}

// A matrix is a sidecar with five territories, and the callers.
type matrix struct {
	root        *testing.T // of the whole matrix, which outlives its parts
	callers     map[string]caller
	territories []territory
	store       earshot.Store
	service     *sidecar.Service
	handler     http.Handler
}

// newMatrix sows the territories: C1 in four workspaces, with the same ids of
// messages, and C2 in the first.
func newMatrix(t *testing.T) *matrix {
	t.Helper()
	return newMatrixOf(t, [2]string{"T1", "C1"}, [2]string{"T1", "C2"}, [2]string{"T2", "C1"}, [2]string{"T3", "C1"}, [2]string{"T4", "C1"})
}

// newMatrixOf sows these territories, in this order.
func newMatrixOf(t *testing.T, places ...[2]string) *matrix {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return newMatrixOver(t, st, places...)
}

// newMatrixOver sows these territories in a store.
func newMatrixOver(t *testing.T, st earshot.Store, places ...[2]string) *matrix {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	door, err := access.Open(st, access.Options{})
	must(err)
	people := gate{}
	g := gates{people, door}
	service := sidecar.New(st, search.New(st, nil), g, sidecar.Options{})
	m := &matrix{root: t, callers: map[string]caller{}, store: st, service: service, handler: api.New(api.Options{Service: service, Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: g, Version: "test"})}
	for _, place := range places {
		m.territories = append(m.territories, m.sow(t, place[0], place[1]))
	}
	key := func(name string, spec access.KeySpec) { m.callers[name] = m.key(t, name, spec) }
	key("all", access.KeySpec{})
	key("workspace", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}})
	key("channel", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}})
	key("channels", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1", "T2"}, Channels: []earshot.ChannelID{"C1"}})
	key("other", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T4"}})
	key("read", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}, ReadOnly: true})
	one := access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}}
	capability, err := door.Mint(ctx, access.Principal{ID: "key:made", Kind: access.Local, Reach: one}, access.CapabilityScope{Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}})
	must(err)
	m.callers["capability"] = caller{capability, one, true, false}
	people["person"] = access.Principal{ID: "user:https://issuer someone", Kind: access.User, Subject: "someone", Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}}
	m.callers["person"] = caller{"person", people["person"].Reach, true, false}
	m.callers["nobody"] = caller{}
	m.callers["stranger"] = caller{bearer: "ek_aaaaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}
	return m
}

// key makes a key and returns who comes with it.
func (m *matrix) key(t *testing.T, name string, spec access.KeySpec) caller {
	t.Helper()
	spec.Name = name
	made, _, err := access.CreateKey(t.Context(), m.store, spec)
	if err != nil {
		t.Fatal(err)
	}
	return caller{made.Reveal(), access.Reach{Workspaces: spec.Workspaces, Channels: spec.Channels}, true, !spec.ReadOnly}
}

// gates recognises people by a table, and everybody else by a real gate.
type gates struct {
	people gate
	*access.Gate
}

func (g gates) Authenticate(ctx context.Context, bearer string) (access.Principal, error) {
	if p, ok := g.people[bearer]; ok {
		return p, nil
	}
	return g.Gate.Authenticate(ctx, bearer)
}

func (gates) Allow(access.Principal, earshot.Scope) (time.Duration, bool) { return 0, true }

func (gates) Allowance(access.Principal) (access.Allowance, bool) { return access.Allowance{}, false }

// sow stores a territory.
func (m *matrix) sow(t *testing.T, workspace, channel string) territory {
	t.Helper()
	ctx, st, service, all := t.Context(), m.store, m.service, access.Principal{ID: "key:all", Kind: access.Key}
	x := territory{workspace, channel, map[string]string{"key": workspace + channel}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := earshot.Channel{Platform: "slack", Workspace: earshot.WorkspaceID(x.workspace), ID: earshot.ChannelID(x.channel), Name: x.canary(), Topic: x.canary(), Kind: earshot.KindChannel}
	must(st.PutChannel(ctx, c))
	x.ids["author"] = "U-" + x.workspace + x.channel
	author := earshot.Author{ID: earshot.AuthorID(x.ids["author"]), Name: x.canary(), Kind: earshot.Human}
	must(st.PutAuthors(ctx, "slack", c.Workspace, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}, author))
	said := func(n int, id string) earshot.Message {
		return earshot.Message{ID: earshot.MessageID(id), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*60e6), Author: author, Text: "<@U0BOT> " + x.canary(), Thread: "100.000001"}
	}
	x.ids["root"] = "100.000001"
	x.ids["message"] = "300." + x.workspace + x.channel
	shares := said(3, x.ids["message"])
	shares.Files = []earshot.File{{ID: "F1", Name: x.canary() + ".txt", Type: "text/plain"}}
	_, err := st.Record(ctx, c.Scope(), said(0, "100.000001"), said(1, "200.000001"), shares)
	must(err)
	must(st.PutBlob(ctx, c.Scope(), shares.ID, "F1", earshot.Blob{SHA256: "sum of " + x.canary(), Type: "text/plain", Name: x.canary() + ".txt", Data: []byte(x.canary())}))

	conversation := earshot.ConversationID{Agent: "U0BOT", Scope: c.Scope(), Name: "100.000001"}
	a, err := st.Accept(ctx, c.Scope(), earshot.Event{Delivery: "d", Received: 1, Message: said(2, "250.000001")}, &conversation)
	must(err)
	x.ids["turn"] = fmt.Sprint(a.Turn)
	must(st.PutFeedback(ctx, earshot.Feedback{Turn: a.Turn, Author: author.ID, Good: true, Reason: x.canary(), Time: 1_772_442_160_000_000}))
	e, err := st.BeginErasure(ctx, earshot.ErasureOf{Platform: "slack", Workspace: c.Workspace, Channel: c.ID, User: earshot.AuthorID("U-gone-" + x.canary())})
	must(err)
	x.ids["erasure"] = fmt.Sprint(e.ID)

	opened, err := service.Context(ctx, all, sidecar.ContextRequest{
		Channel: visible.Place{Channel: c.ID, Workspace: c.Workspace}, Anchor: earshot.MessageID(x.ids["message"]), Agent: "U0BOT", Open: true,
	})
	must(err)
	x.ids["open"] = fmt.Sprint(opened.Draft.ID)
	made, _, err := st.CreateConversation(ctx, earshot.Conversation{
		ID:       earshot.ConversationID{Agent: "U0BOT", Scope: c.Scope(), Name: "chat-" + x.canary()},
		Metadata: map[string]string{"note": x.canary(), "channel_id": x.channel, "workspace_id": x.workspace},
		About:    earshot.About{Title: x.canary(), Client: "test", Owner: x.canary(), Tags: []string{x.canary()}},
	}, "key-"+x.ids["key"])
	must(err)
	x.ids["conversation"] = visible.ConversationText(made.ID)
	x.ids["approval"] = m.askFor(t, x, author)
	return x
}

// askFor has a turn of a bot ask for a call, and wait for it.
func (m *matrix) askFor(t *testing.T, x territory, by earshot.Author) string {
	t.Helper()
	ctx, st := t.Context(), m.store
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := earshot.Scope{Platform: "slack", Workspace: earshot.WorkspaceID(x.workspace), Channel: earshot.ChannelID(x.channel)}
	agent := earshot.AgentID("UOTHER" + x.workspace + x.channel)
	of := earshot.ConversationID{Agent: agent, Scope: at, Name: "asks"}
	said := earshot.Message{ID: "275.000001", Time: 1_772_442_150_000_000, Author: by, Text: "<@UOTHER> " + x.canary()}
	a, err := st.Accept(ctx, at, earshot.Event{Delivery: "asks", Received: 1, Message: said}, &of)
	must(err)
	l, _, err := st.Claim(ctx, agent, "me", said.Time, time.Hour)
	must(err)
	must(st.Begin(ctx, l, a.Turn, earshot.Prompt{Hash: "h", Input: []byte("{}")}))
	now := earshot.TimeOf(time.Now())
	asked, err := st.AskApproval(ctx, l, earshot.Approval{
		ID: earshot.ApprovalID("ask-" + x.workspace + x.channel), Turn: a.Turn, Asker: by.ID, Call: "c1", Tool: x.canary(), Args: []byte(`{"what":"` + x.canary() + `"}`),
		Asked: now, Expires: now + earshot.Time(time.Hour/time.Microsecond),
	})
	must(err)
	_, err = st.AwaitApprovals(ctx, l, a.Turn)
	must(err)
	must(st.Release(ctx, l, 0))
	x.ids["asked"] = fmt.Sprint(a.Turn)
	return string(asked.ID)
}

// state writes everything that is stored of a territory.
func (m *matrix) state(t *testing.T, x territory) string {
	t.Helper()
	ctx := t.Context()
	sc := earshot.Scope{Platform: "slack", Workspace: earshot.WorkspaceID(x.workspace), Channel: earshot.ChannelID(x.channel)}
	var b strings.Builder
	c, err := m.store.Channel(ctx, sc)
	fmt.Fprintln(&b, c, err)
	list, err := m.store.Since(ctx, sc, 0, 0)
	for _, msg := range list {
		fmt.Fprintf(&b, "%+v\n", msg)
	}
	fmt.Fprintln(&b, err)
	coverage, err := m.store.Coverage(ctx, sc)
	fmt.Fprintln(&b, coverage, err)
	turns, err := m.store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &sc})
	fmt.Fprintf(&b, "%+v %v\n", turns, err)
	id, _ := visible.ParseConversation(x.ids["conversation"])
	conversation, err := m.store.Conversation(ctx, id)
	fmt.Fprintf(&b, "%+v %v\n", conversation, err)
	open, err := strconv.ParseInt(x.ids["open"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.store.Draft(ctx, earshot.TurnID(open))
	fmt.Fprintln(&b, d.State, err)
	approvals, err := m.store.Approvals(ctx, earshot.ApprovalQuery{Scope: &sc})
	fmt.Fprintf(&b, "%+v %v\n", approvals, err)
	feedback, err := m.store.Feedback(ctx, earshot.FeedbackQuery{Scope: &sc})
	fmt.Fprintf(&b, "%+v %v\n", feedback, err)
	file, err := m.store.FileBlob(ctx, sc, "F1")
	fmt.Fprintf(&b, "%+v %v\n", file, err)
	return b.String()
}

// An answer is what a route answers, without what differs by itself.
type answer struct {
	status int
	header string
	body   string
}

// moment is the time of an erasure, which differs by itself.
var moment = regexp.MustCompile(`"2026-\d\d-\d\dT[^"]*"`)

// A leaving caller goes once a stream has begun.
type leaving struct {
	*httptest.ResponseRecorder
	leave func()
}

// Flush implements [http.Flusher].
func (l leaving) Flush() {
	l.ResponseRecorder.Flush()
	l.leave()
}

func (m *matrix) send(t *testing.T, op operation, c caller, r request) answer {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req := httptest.NewRequestWithContext(ctx, op.method, r.path, strings.NewReader(r.body))
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	req.Host = "localhost"
	w := httptest.NewRecorder()
	// A stream begins with what it has to say first; then the caller leaves.
	m.handler.ServeHTTP(leaving{w, leave}, req)
	h := w.Result().Header
	h.Del("X-Request-Id")
	var header strings.Builder
	_ = h.Write(&header)
	return answer{w.Code, header.String(), moment.ReplaceAllString(w.Body.String(), "TIME")}
}

// ask asks one route as one caller for everything, and returns how many requests it
// made, and how many of them were for something of the caller's.
func (m *matrix) ask(t *testing.T, op operation, fill func(territory) request, who string) (asked, own int) {
	send := func(x territory) answer {
		t.Helper()
		c := m.callers[who]
		before := map[string]string{}
		for _, y := range m.territories {
			if !c.sees(y) && op.method != http.MethodGet {
				before[y.canary()] = m.state(t, y)
			}
		}
		a := m.send(t, op, c, fill(x))
		asked++
		for _, y := range m.territories {
			if c.sees(y) {
				continue
			}
			if strings.Contains(a.body, y.canary()) || strings.Contains(a.header, y.canary()) {
				t.Errorf("%s read %s: %+v", who, y.canary(), a)
			}
			if op.method == http.MethodGet {
				continue
			}
			if now := m.state(t, y); now != before[y.canary()] {
				t.Errorf("%s changed %s with %+v, answered %+v\nbefore %s\nafter  %s", who, y.canary(), fill(x), a, before[y.canary()], now)
			}
		}
		switch {
		case !c.known && a.status != http.StatusUnauthorized:
			t.Errorf("%s was let in: %+v", who, a)
		case a.status >= 500:
			t.Errorf("%s broke it with %+v: %+v", who, fill(x), a)
		case a.status < 300 && op.method != http.MethodGet:
			*m = *newMatrix(m.root) // what was changed is sown anew
		}
		return a
	}
	same := func(what string, foreign, unknown answer) {
		t.Helper()
		if foreign != unknown {
			t.Errorf("%s: foreign and unknown differ\nforeign %+v\nunknown %+v", what, foreign, unknown)
		}
	}
	c := m.callers[who]
	home := slices.IndexFunc(m.territories, c.sees)
	for i := range m.territories {
		if c.sees(m.territories[i]) {
			own++
			if a := send(m.territories[i]); (a.status < 300) != fill(m.territories[i]).allowed(c) && c.whole {
				t.Errorf("%s gets, or does not get, what is its own with %+v: %+v", who, fill(m.territories[i]), a)
			}
			continue
		}
		if !fill(nowhere).wide || !c.reach.HasWorkspace(earshot.WorkspaceID(m.territories[i].workspace)) {
			same("elsewhere", send(m.territories[i]), send(nowhere))
		}
		if home >= 0 && !fill(nowhere).names {
			same("at home", send(m.territories[i].at(m.territories[home])), send(nowhere.at(m.territories[home])))
		}
	}
	return asked, own
}
