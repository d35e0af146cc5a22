package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/internal/api"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

const conversations = "/api/chat/conversations"

// newChat returns a world over a store with callers for the conversation API: keys
// (all, T1, T2, C1, C2, two channels, two workspaces, read, foreign-read), users (alice, bob) and a
// capability (tools).
func newChat(t testing.TB, spec string) *world {
	t.Helper()
	st, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	key := func(workspaces, channels string) access.Principal {
		p := access.Principal{ID: "key:" + workspaces + channels, Name: "test", Kind: access.Key}
		for w := range strings.FieldsSeq(workspaces) {
			p.Reach.Workspaces = append(p.Reach.Workspaces, earshot.WorkspaceID(w))
		}
		for c := range strings.FieldsSeq(channels) {
			p.Reach.Channels = append(p.Reach.Channels, earshot.ChannelID(c))
		}
		return p
	}
	user := func(name string) access.Principal {
		p := key("T1", "")
		p.ID, p.Kind, p.Subject = "user:"+name, access.User, name
		return p
	}
	g := gate{
		"all": key("", ""), "T1": key("T1", ""), "T2": key("T2", ""), "C1": key("T1", "C1"), "C2": key("T1", "C2"), "two channels": key("T1", "C1 C2"),
		"two workspaces": key("T1 T2", ""), "read": key("T1", ""), "foreign-read": key("T2", ""), "tools": key("T1", "C1"), "alice": user("alice"), "bob": user("bob"),
	}
	for _, name := range []string{"read", "foreign-read"} {
		p := g[name]
		p.ReadOnly = true
		g[name] = p
	}
	tools := g["tools"]
	tools.Kind, tools.Fixed = access.Capability, &access.Fixed{Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}}
	g["tools"] = tools
	for _, c := range []earshot.Channel{
		{Platform: "slack", Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel},
		{Platform: "slack", Workspace: "T1", ID: "C2", Name: "deploys", Kind: earshot.KindChannel},
		{Platform: "slack", Workspace: "T1", ID: "D1", Kind: earshot.KindDM},
		{Platform: "slack", Workspace: "T2", ID: "C3", Name: "other", Kind: earshot.KindChannel},
	} {
		if err := st.PutChannel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	service := sidecar.New(st, search.New(st, nil), g, sidecar.Options{})
	srv := httptest.NewServer(api.New(api.Options{Service: service, Gate: g, Version: "test"}))
	t.Cleanup(srv.Close)
	return &world{store: st, server: srv, gate: g}
}

// A chatAnswer is any answer of the conversation API.
type chatAnswer struct {
	Success *bool
	Error   string
	Code    string
	Data    struct {
		Conversation struct {
			ID, Title string
			Client    string  `json:"client_type"`
			Agent     string  `json:"agent_id"`
			Owner     *string `json:"owner_id"`
			Metadata  map[string]json.RawMessage
			Tags      []string
			Created   time.Time `json:"created_at"`
			Updated   time.Time `json:"updated_at"`
			Platform  string
			Workspace string `json:"workspace_id"`
			Channel   string `json:"channel_id"`
			Thread    string `json:"thread_id"`
		}
		Created  *bool
		Message  chatMessage
		Messages []chatMessage
		HasMore  bool   `json:"has_more"`
		Next     string `json:"next_cursor"`
	}
}

type chatMessage struct {
	ID      string `json:"message_id"`
	Role    string
	Content string
	Author  struct{ ID, Name, Kind string }
	Created time.Time  `json:"created_at"`
	Edited  *time.Time `json:"edited_at"`
}

// chat makes a request and checks that its answer is an envelope of this status.
func (w *world) chat(t testing.TB, as, method, path string, body any, want int) chatAnswer {
	t.Helper()
	status, header, raw := w.call(t, as, method, path, body)
	var a chatAnswer
	d := json.NewDecoder(strings.NewReader(raw))
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%s %s as %s: %d, no JSON: %v: %q", method, path, as, status, err, raw)
	}
	if status != want {
		t.Fatalf("%s %s as %s: got %d, want %d: %s", method, path, as, status, want, raw)
	}
	if good := status < 300; a.Success == nil || *a.Success != good || !good && (a.Error == "" || a.Code == "") || good && a.Error != "" {
		t.Errorf("%s %s as %s: no envelope for %d: %s", method, path, as, status, raw)
	}
	if got := header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: Content-Type %q", method, path, got)
	}
	return a
}

type fields = map[string]any

// newBody is a body that creates a conversation, with more fields.
func newBody(more fields) fields {
	b := fields{"title": "Imports", "client_type": "slack", "agent_id": "agent-1"}
	for k, v := range more {
		b[k] = v
	}
	return b
}

// create creates a conversation and returns its id.
func (w *world) create(t testing.TB, as string, more fields) string {
	t.Helper()
	return w.chat(t, as, http.MethodPost, conversations, newBody(more), http.StatusCreated).Data.Conversation.ID
}

func TestAConversationIsCreatedOnceForItsKey(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	body := newBody(fields{
		"owner_id": "U1", "idempotency_key": "slack:T1:C1:1773154325.646159", "tags": []string{"imports", "prod"},
		"metadata": fields{"channel_id": "C1", "thread_ts": "1773154325.646159", "last_processed_ts": "1773154325.646159"},
	})
	first := w.chat(t, "T1", http.MethodPost, conversations, body, http.StatusCreated).Data
	c := first.Conversation
	if first.Created == nil || !*first.Created || !strings.HasPrefix(c.ID, "conv_") || c.Title != "Imports" || c.Client != "slack" || c.Agent != "agent-1" ||
		c.Owner == nil || *c.Owner != "U1" || !slices.Equal(c.Tags, []string{"imports", "prod"}) || c.Created.IsZero() || c.Updated.IsZero() ||
		c.Platform != "slack" || c.Workspace != "T1" || c.Channel != "C1" || c.Thread != "1773154325.646159" {
		t.Errorf("created: %+v", c)
	}
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+c.ID+"/metadata", fields{"metadata": fields{"step": 2}}, http.StatusOK)
	again := w.chat(t, "T1", http.MethodPost, conversations, newBody(fields{"title": "Another", "idempotency_key": "slack:T1:C1:1773154325.646159"}), http.StatusOK).Data
	if again.Created == nil || *again.Created || again.Conversation.ID != c.ID || again.Conversation.Title != "Imports" || string(again.Conversation.Metadata["step"]) != "2" ||
		string(again.Conversation.Metadata["last_processed_ts"]) != `"1773154325.646159"` {
		t.Errorf("the same key: %+v", again)
	}
	got := w.chat(t, "T1", http.MethodGet, conversations+"/"+c.ID, nil, http.StatusOK).Data
	if diff := cmp.Diff(got.Conversation, again.Conversation); diff != "" {
		t.Errorf("what is read is not what was answered (-read +answered):\n%s", diff)
	}
	// The key belongs to the agent and the workspace.
	other := w.chat(t, "T1", http.MethodPost, conversations, newBody(fields{"agent_id": "agent-2", "idempotency_key": body["idempotency_key"]}), http.StatusCreated).Data
	there := w.chat(t, "T2", http.MethodPost, conversations, newBody(fields{"idempotency_key": body["idempotency_key"]}), http.StatusCreated).Data
	if other.Conversation.ID == c.ID || there.Conversation.ID == c.ID || there.Conversation.Workspace != "T2" {
		t.Errorf("another agent got %s, another workspace %s", other.Conversation.ID, there.Conversation.ID)
	}
}

func TestAHundredParallelCreationsCreateOne(t *testing.T) {
	t.Parallel()
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			var mu sync.Mutex
			ids, created := map[string]int{}, 0
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					status, _, raw := w.call(t, "T1", http.MethodPost, conversations, newBody(fields{"idempotency_key": "once", "metadata": fields{"by": "all"}, "title": fmt.Sprint("Number ", i)}))
					var a chatAnswer
					if err := json.Unmarshal([]byte(raw), &a); err != nil || a.Data.Created == nil || status != map[bool]int{true: 201, false: 200}[*a.Data.Created] || string(a.Data.Conversation.Metadata["by"]) != `"all"` {
						t.Errorf("%d %s", status, raw)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					ids[a.Data.Conversation.ID+" "+a.Data.Conversation.Title]++
					if *a.Data.Created {
						created++
					}
				})
			}
			wg.Wait()
			if len(ids) != 1 || created != 1 {
				t.Errorf("got %d conversations, %d of them created: %v", len(ids), created, ids)
			}
		})
	}
}

// chatStores are the stores that concurrent callers are tried on.
func chatStores(testing.TB) map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"memory":   func(testing.TB) string { return "memory:" },
		"SQLite":   func(t testing.TB) string { return "sqlite:" + t.TempDir() + "/chat.db" },
		"Postgres": func(t testing.TB) string { return pgtest.Spec(t) },
	}
}

// TestNoMetadataIsLost has 1,000 callers patch 20 conversations at once: everyone
// one key, and everyone of a conversation the cursor.
func TestNoMetadataIsLost(t *testing.T) {
	t.Parallel()
	const talks, patches = 20, 50
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			w.server.Config.SetKeepAlivesEnabled(true)
			ids := make([]string, talks)
			for i := range ids {
				ids[i] = w.create(t, "T1", fields{"metadata": fields{"first": true}})
			}
			room := make(chan struct{}, 64) // sockets
			var wg sync.WaitGroup
			for i := range talks * patches {
				wg.Go(func() {
					room <- struct{}{}
					defer func() { <-room }()
					at, n := ids[i%talks], i/talks
					patch := fields{fmt.Sprintf("key_%d", n): n, "last_processed_ts": fmt.Sprintf("1773154325.%06d", n)}
					if status, _, raw := w.call(t, "T1", http.MethodPatch, conversations+"/"+at+"/metadata", fields{"metadata": patch}); status != http.StatusOK {
						t.Errorf("patch %d: %d %s", i, status, raw)
					}
				})
			}
			wg.Wait()
			lost := 0
			for _, id := range ids {
				got := w.chat(t, "T1", http.MethodGet, conversations+"/"+id, nil, http.StatusOK).Data.Conversation.Metadata
				for n := range patches {
					if string(got[fmt.Sprintf("key_%d", n)]) != fmt.Sprint(n) {
						lost++
					}
				}
				if string(got["first"]) != "true" || string(got["last_processed_ts"]) != fmt.Sprintf(`"1773154325.%06d"`, patches-1) {
					t.Errorf("first %s, last_processed_ts %s", got["first"], got["last_processed_ts"])
				}
			}
			if lost > 0 {
				t.Errorf("%d of %d keys are lost", lost, talks*patches)
			}
		})
	}
}

func TestWhereAConversationStands(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	for _, c := range []struct {
		name     string
		as       string
		metadata fields
		status   int
		code     string
		where    string // platform/workspace/channel/thread, of which a made thread is …
	}{
		{"a key of one channel says it all", "C1", fields{}, 201, "", "slack/T1/C1/…"},
		{"a key of one channel, which is named too", "C1", fields{"channel_id": "C1", "workspace_id": "T1"}, 201, "", "slack/T1/C1/…"},
		{"a key of one channel and another one in the metadata", "C1", fields{"channel_id": "C2"}, 404, "not_found", ""},
		{"a key of one channel and another workspace in the metadata", "C1", fields{"workspace_id": "T2"}, 404, "not_found", ""},
		{"a key of one channel and one that does not exist", "C1", fields{"channel_id": "C77"}, 404, "not_found", ""},
		{"a key of two channels, and neither named", "two channels", fields{}, 400, "channel_needed", ""},
		{"a key of two channels, and one named", "two channels", fields{"channel_id": "C2"}, 201, "", "slack/T1/C2/…"},
		{"a key of a workspace, and a channel named", "T1", fields{"channel_id": "C2", "thread_ts": "1.2"}, 201, "", "slack/T1/C2/1.2"},
		{"the thread by its other name", "T1", fields{"channel_id": "C2", "thread_id": "m-7"}, 201, "", "slack/T1/C2/m-7"},
		{"two threads", "T1", fields{"channel_id": "C2", "thread_id": "m-7", "thread_ts": "1.2"}, 400, "invalid", ""},
		{"a channel of another workspace is one that is not there", "T1", fields{"channel_id": "C3", "workspace_id": "T2"}, 404, "not_found", ""},
		{"a channel that is not stored yet", "T1", fields{"channel_id": "C9", "thread_ts": "1.2"}, 201, "", "slack/T1/C9/1.2"},
		{"a key of a workspace, and nothing named", "T1", fields{}, 201, "", "api/T1//"},
		{"a key of two workspaces, and nothing named", "two workspaces", fields{}, 400, "workspace_needed", ""},
		{"a key of two workspaces, and one named", "two workspaces", fields{"workspace_id": "T2"}, 201, "", "api/T2//"},
		{"a key of two workspaces, and a channel of one", "two workspaces", fields{"channel_id": "C3"}, 201, "", "slack/T2/C3/…"},
		{"a key of two workspaces, and an unknown channel", "two workspaces", fields{"channel_id": "C9"}, 400, "workspace_needed", ""},
		{"a key of everything, and nothing named", "all", fields{}, 201, "", "api///"},
		{"a key of everything, and a workspace", "all", fields{"workspace_id": "T5"}, 201, "", "api/T5//"},
		{"a direct message without a thread", "T1", fields{"channel_id": "D1"}, 201, "", "slack/T1/D1/"},
		{"a direct message's thread", "T1", fields{"channel_id": "D1", "thread_ts": "1.2"}, 201, "", "slack/T1/D1/1.2"},
		{"a channel that is no string", "T1", fields{"channel_id": 7}, 400, "reserved_key", ""},
		{"a thread with a space", "T1", fields{"channel_id": "C1", "thread_ts": "1 2"}, 400, "invalid", ""},
		{"a thread without a channel is a note", "T1", fields{"thread_ts": "1.2"}, 201, "", "api/T1//"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := w.chat(t, c.as, http.MethodPost, conversations, newBody(fields{"metadata": c.metadata}), c.status)
			if a.Code != c.code {
				t.Errorf("got the code %q (%s), want %q", a.Code, a.Error, c.code)
			}
			got := a.Data.Conversation
			thread := got.Thread
			if strings.HasPrefix(thread, "t_") {
				thread = "…"
			}
			if at := strings.Join([]string{got.Platform, got.Workspace, got.Channel, thread}, "/"); c.status == 201 && at != c.where {
				t.Errorf("it stands at %s, want %s", at, c.where)
			}
		})
	}
}

func TestWhatIsForeignIsUnknown(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	inC2 := w.create(t, "C2", fields{"idempotency_key": "K", "metadata": fields{"note": "of deploys"}})
	inT2 := w.create(t, "T2", fields{"idempotency_key": "K2"})
	alices := w.create(t, "alice", fields{"idempotency_key": "A"})
	hers := w.create(t, "T1", fields{"owner_id": "alice", "metadata": fields{"channel_id": "C1", "thread_ts": "1.2"}})
	_, _, unknown := w.call(t, "T1", http.MethodGet, conversations+"/conv_unknown", nil)
	absent := sidecar.ConversationText(earshot.ConversationID{Agent: "agent-1", Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}, Name: "nowhere"})
	for _, c := range []struct{ as, id string }{
		{"C1", inC2}, {"T2", inC2}, {"T1", inT2}, {"C1", absent}, {"C1", inC2 + "A"}, {"C1", "conv_"}, {"C1", "x"}, {"C1", strings.ToUpper(inC2)}, {"C1", "conv_%00"},
		{"bob", alices}, {"T2", alices}, {"bob", hers}, {"foreign-read", inC2}, {"C1", "conv_" + strings.Repeat("A", 5000)},
	} {
		for _, r := range []struct{ method, path, body string }{
			{http.MethodGet, "", ""}, {http.MethodGet, "/messages", ""},
			{http.MethodPatch, "/metadata", `{"metadata":{"a":"b"}}`}, {http.MethodPost, "/messages", `{"role":"user","content":"x"}`},
		} {
			var body any
			if r.body != "" {
				body = r.body
			}
			status, _, raw := w.call(t, c.as, r.method, conversations+"/"+c.id+r.path, body)
			if status != http.StatusNotFound || raw != unknown {
				t.Errorf("%s %s as %s: %d %s, want %s", r.method, r.path, c.as, status, raw, unknown)
			}
		}
	}
	// A key that another conversation has.
	for _, c := range []struct {
		as   string
		body fields
	}{
		{"C1", fields{"idempotency_key": "K"}}, {"bob", fields{"idempotency_key": "A"}},
		{"C1", fields{"metadata": fields{"channel_id": "C2"}}}, {"T2", fields{"metadata": fields{"workspace_id": "T1"}}},
		{"bob", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1.2"}}},
		{"bob", fields{"idempotency_key": "new", "metadata": fields{"channel_id": "C1", "thread_ts": "1.2"}}},
	} {
		status, _, raw := w.call(t, c.as, http.MethodPost, conversations, newBody(c.body))
		if status != http.StatusNotFound || raw != unknown {
			t.Errorf("create %v as %s: %d %s, want %s", c.body, c.as, status, raw, unknown)
		}
	}
	if got := w.chat(t, "T1", http.MethodGet, conversations+"/"+inC2, nil, http.StatusOK).Data.Conversation; len(got.Metadata) != 1 || string(got.Metadata["note"]) != `"of deploys"` {
		t.Errorf("others have changed it: %v", got.Metadata)
	}
	// Nor does another user find the messages of one's own conversation by its channel.
	w.chat(t, "alice", http.MethodPost, conversations+"/"+alices+"/messages", fields{"role": "user", "content": "a secret of mine"}, http.StatusCreated)
	if _, _, raw := w.call(t, "bob", http.MethodGet, "/v1/channels", nil); strings.Contains(raw, `"c_`) {
		t.Errorf("another user sees the channel of one's own conversation: %s", raw)
	}
	if _, _, raw := w.call(t, "alice", http.MethodGet, "/v1/channels", nil); !strings.Contains(raw, `"c_`) {
		t.Errorf("the owner does not see it: %s", raw)
	}
}

func TestOwnersOfConversations(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	if a := w.chat(t, "alice", http.MethodPost, conversations, newBody(fields{"owner_id": "bob"}), http.StatusForbidden); a.Code != "foreign_owner" {
		t.Errorf("a user made another one's conversation: %+v", a)
	}
	mine := w.chat(t, "alice", http.MethodPost, conversations, newBody(fields{"owner_id": "alice"}), http.StatusCreated).Data.Conversation
	unsaid := w.chat(t, "alice", http.MethodPost, conversations, newBody(nil), http.StatusCreated).Data.Conversation
	if mine.Owner == nil || *mine.Owner != "alice" || unsaid.Owner == nil || *unsaid.Owner != "alice" {
		t.Errorf("owners: %v and %v, want alice", mine.Owner, unsaid.Owner)
	}
	nobodys := w.chat(t, "T1", http.MethodPost, conversations, newBody(nil), http.StatusCreated).Data.Conversation
	if nobodys.Owner != nil {
		t.Errorf("a key's conversation belongs to %s", *nobodys.Owner)
	}
	for as, ids := range map[string][]string{"alice": {mine.ID, nobodys.ID}, "T1": {mine.ID, nobodys.ID}, "bob": {nobodys.ID}} {
		for _, id := range ids {
			w.chat(t, as, http.MethodGet, conversations+"/"+id, nil, http.StatusOK)
		}
	}
	said := w.chat(t, "alice", http.MethodPost, conversations+"/"+mine.ID+"/messages", fields{"role": "user", "content": "hello"}, http.StatusCreated).Data.Message
	if said.Author.ID != "alice" {
		t.Errorf("a user's message is by %+v", said.Author)
	}
	if a := w.chat(t, "alice", http.MethodPost, conversations+"/"+mine.ID+"/messages", fields{"role": "user", "content": "x", "author": fields{"id": "bob"}}, http.StatusForbidden); a.Code != "foreign_author" {
		t.Errorf("a user speaks as another: %+v", a)
	}
}

func TestReadersAndToolsWriteNothing(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	id := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "a": 1}})
	for _, r := range []struct{ method, path, body string }{
		{http.MethodPost, conversations, `{"title":"t","client_type":"c","agent_id":"a"}`},
		{http.MethodPatch, conversations + "/" + id + "/metadata", `{"metadata":{"a":2}}`},
		{http.MethodPost, conversations + "/" + id + "/messages", `{"role":"user","content":"x"}`},
	} {
		if a := w.chat(t, "read", r.method, r.path, r.body, http.StatusForbidden); a.Code != "read_only" {
			t.Errorf("%s %s: %+v", r.method, r.path, a)
		}
		w.chat(t, "tools", r.method, r.path, r.body, http.StatusForbidden)
	}
	got := w.chat(t, "read", http.MethodGet, conversations+"/"+id, nil, http.StatusOK).Data.Conversation
	if string(got.Metadata["a"]) != "1" {
		t.Errorf("a reader has changed it: %s", got.Metadata["a"])
	}
	w.chat(t, "read", http.MethodGet, conversations+"/"+id+"/messages", nil, http.StatusOK)
	w.chat(t, "tools", http.MethodGet, conversations+"/"+id, nil, http.StatusForbidden)
}

func TestMetadataIsMerged(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	first := w.chat(t, "T1", http.MethodPost, conversations, newBody(fields{"owner_id": "U1", "tags": []string{"x"}, "metadata": fields{"kept": "old", "gone": "old", "channel_id": "C1"}}), http.StatusCreated).Data.Conversation
	at := conversations + "/" + first.ID + "/metadata"
	a := w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{"gone":null,"never":null,"text":"new","one":1,"yes":true,"no":false,"half":1.50,"big":9007199254740993,"tiny":-1e-7,"zero":-0,"quoted":"1","prefix":"json:1","empty":"","nul":"a\u0000b","emoji":"\ud83d\ude00"}}`, http.StatusOK)
	if a.Data.Created != nil {
		t.Error("a merge says created")
	}
	want := map[string]string{
		"kept": `"old"`, "channel_id": `"C1"`, "text": `"new"`, "one": "1", "yes": "true", "no": "false", "half": "1.50", "big": "9007199254740993", "tiny": "-1e-7", "zero": "-0",
		"quoted": `"1"`, "prefix": `"json:1"`, "empty": `""`, "nul": `"a␀b"`, "emoji": `"😀"`,
	}
	check := func(what string, c chatAnswer) {
		t.Helper()
		got := map[string]string{}
		for k, v := range c.Data.Conversation.Metadata {
			got[k] = string(v)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", what, diff)
		}
	}
	check("the answer", a)
	check("what is read", w.chat(t, "T1", http.MethodGet, conversations+"/"+first.ID, nil, http.StatusOK))
	// Nothing else changes.
	got := a.Data.Conversation
	got.Metadata, got.Updated = first.Metadata, first.Updated
	if diff := cmp.Diff(got, first); diff != "" {
		t.Errorf("a merge changed more than metadata (-after +before):\n%s", diff)
	}
	check("an empty patch", w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{}}`, http.StatusOK))
	want["workspace_id"] = `"T1"`
	check("where it stands, once more", w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{"channel_id":"C1","workspace_id":"T1"}}`, http.StatusOK))
}

func TestMetadataThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	id := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1.2", "last_processed_ts": "1773154325.000200", "kept": 1}})
	at := conversations + "/" + id + "/metadata"
	many, long := fields{}, strings.Repeat("x", 16<<10)
	for i := range 65 {
		many[fmt.Sprintf("k%d", i)] = i
	}
	for _, body := range []any{
		`[]`, `"x"`, `1`, `null`, `{}`, ``, `{`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":"x"}`, `{"metadata":1}`, `{"metadata":{"a":[]}}`, `{"metadata":{"a":{}}}`,
		`{"metadata":{"a":1,"a":2}}`, `{"metadata":{"a":1},"metadata":{}}`, `{"metadata":{},"title":"x"}`, `{"Metadata":{}}`, `{"metadata":{}} {}`, `{"metadata":{"a":1e999}}`, `{"metadata":{"a":01}}`, `{"metadata":{"a":NaN}}`,
		`{"metadata":{"a":` + strings.Repeat("1", 65) + `}}`, `{"metadata":{"a.b":1}}`, `{"metadata":{"A":1}}`, `{"metadata":{"":1}}`, `{"metadata":{"1a":1}}`, `{"metadata":{"$set":1}}`, `{"metadata":{"__proto__":1}}`,
		`{"metadata":{"` + strings.Repeat("a", 65) + `":1}}`, `{"metadata":{"a\u0000":1}}`, `{"metadata":{"last_processed_ts":null}}`, `{"metadata":{"last_processed_ts":1773154325.0003}}`, `{"metadata":{"last_processed_ts":"yesterday"}}`,
		`{"metadata":{"channel_id":"C2"}}`, `{"metadata":{"channel_id":null}}`, `{"metadata":{"workspace_id":"T2"}}`, `{"metadata":{"thread_ts":"1.3"}}`, `{"metadata":{"thread_id":null,"thread_ts":null}}`, `{"metadata":{"platform":"discord"}}`,
		`{"metadata":{"thread_owner":"U1"}}`, `{"metadata":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 71),
		fields{"metadata": many}, fields{"metadata": fields{"a": long}},
	} {
		if s, ok := body.(string); ok && s == "" {
			body = " "
		}
		w.chat(t, "T1", http.MethodPatch, at, body, http.StatusBadRequest)
		if status, _, raw := w.call(t, "T1", http.MethodPost, conversations, strings.Replace(fmt.Sprint(body), `{"metadata":`, `{"title":"t","client_type":"c","agent_id":"a","metadata":`, 1)); status >= 500 {
			t.Errorf("create with %v: %d %s", body, status, raw)
		}
	}
	got := w.chat(t, "T1", http.MethodGet, conversations+"/"+id, nil, http.StatusOK).Data.Conversation.Metadata
	if len(got) != 4 || string(got["kept"]) != "1" {
		t.Errorf("a patch that was refused left something: %v", got)
	}
	// Older, newer and equal cursors.
	for ts, want := range map[string]string{"1773154325.000100": "1773154325.000200", "1773154325.000200": "1773154325.000200"} {
		if got := w.chat(t, "T1", http.MethodPatch, at, fields{"metadata": fields{"last_processed_ts": ts}}, http.StatusOK).Data.Conversation.Metadata["last_processed_ts"]; string(got) != `"`+want+`"` {
			t.Errorf("after %s the cursor is %s, want %s", ts, got, want)
		}
	}
	if got := w.chat(t, "T1", http.MethodPatch, at, fields{"metadata": fields{"last_processed_ts": "1773154326.000000"}}, http.StatusOK).Data.Conversation.Metadata["last_processed_ts"]; string(got) != `"1773154326.000000"` {
		t.Errorf("the cursor did not move: %s", got)
	}
	// 64 keys and 16 KiB fit.
	full, sixteen := fields{}, w.create(t, "T1", nil)
	for i := range 64 {
		full[fmt.Sprintf("k%d", i)] = "v"
	}
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": full}, http.StatusOK)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": fields{"one_more": "v"}}, http.StatusBadRequest)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": fields{"one_more": "v", "k0": nil}}, http.StatusOK)
	big := w.create(t, "T1", nil)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+big+"/metadata", fields{"metadata": fields{"a": long[1:]}}, http.StatusOK)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+big+"/metadata", fields{"metadata": fields{"b": ""}}, http.StatusBadRequest)
}

func TestBodiesThatCreateNothing(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	for _, body := range []any{
		`[]`, `"x"`, `null`, `{}`, `{`, `{"title":"t","client_type":"c"}`, `{"title":"t","agent_id":"a"}`, `{"client_type":"c","agent_id":"a"}`, `{"title":null,"client_type":"c","agent_id":"a"}`,
		newBody(fields{"agent_id": ""}), newBody(fields{"client_type": ""}), newBody(fields{"agent_id": 7}), newBody(fields{"title": []string{}}), newBody(fields{"colour": "red"}), newBody(fields{"metadata": []string{}}),
		newBody(fields{"tags": "x"}), newBody(fields{"tags": []string{""}}), newBody(fields{"tags": slices.Repeat([]string{"x"}, 33)}), newBody(fields{"tags": []string{strings.Repeat("x", 101)}}),
		newBody(fields{"title": strings.Repeat("x", 1001)}), newBody(fields{"client_type": strings.Repeat("x", 101)}), newBody(fields{"owner_id": strings.Repeat("x", 513)}),
		newBody(fields{"idempotency_key": strings.Repeat("x", 513)}), newBody(fields{"agent_id": strings.Repeat("x", 129)}), newBody(fields{"agent_id": "a b"}), newBody(fields{"agent_id": "a\nb"}),
	} {
		a := w.chat(t, "T1", http.MethodPost, conversations, body, http.StatusBadRequest)
		if strings.Contains(a.Error, "Go ") || strings.Contains(a.Error, "api.") {
			t.Errorf("the error tells of the program: %s", a.Error)
		}
	}
	if status, _, raw := w.call(t, "T1", http.MethodPost, conversations, `{"title":"`+strings.Repeat("x", 1<<20)+`"}`); status != http.StatusRequestEntityTooLarge || !strings.Contains(raw, `"success":false`) {
		t.Errorf("a body of more than 1 MiB: %d %s", status, raw)
	}
	w.chat(t, "T1", http.MethodPost, conversations, newBody(fields{"title": "", "metadata": nil, "tags": nil, "owner_id": nil, "idempotency_key": nil}), http.StatusCreated)
}

func TestErrorsBelowTheConversationAPIAreEnvelopes(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	id := w.create(t, "T1", nil)
	for _, c := range []struct {
		as, method, path string
		body             any
		status           int
		code             string
	}{
		{"", http.MethodGet, conversations + "/" + id, nil, 401, "unauthenticated"},
		{"nobody", http.MethodPost, conversations, newBody(nil), 401, "unauthenticated"},
		{"T1", http.MethodGet, "/api/chat", nil, 404, "not_found"},
		{"T1", http.MethodGet, "/api/chat/nothing", nil, 404, "not_found"},
		{"T1", http.MethodDelete, conversations + "/" + id, nil, 405, "method_not_allowed"},
		{"T1", http.MethodPut, conversations, nil, 405, "method_not_allowed"},
		{"T1", http.MethodGet, conversations + "/" + id + "?colour=red", nil, 400, "invalid"},
	} {
		if a := w.chat(t, c.as, c.method, c.path, c.body, c.status); a.Code != c.code {
			t.Errorf("%s %s: the code is %q, want %q", c.method, c.path, a.Code, c.code)
		}
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=-1", "limit=x", "limit=1.5", "limit=99999999999999999999", "cursor=x", "cursor=!!", "limit=50&page=2"} {
		w.chat(t, "T1", http.MethodGet, conversations+"/"+id+"/messages?"+query, nil, http.StatusBadRequest)
	}
}

func TestMessagesOfAConversation(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	for name, metadata := range map[string]fields{"an agent's own": {}, "a channel's": {"channel_id": "C1"}, "a thread's": {"channel_id": "C1", "thread_ts": "1773154325.646159"}, "one in a direct message": {"channel_id": "D1"}, "one in a new channel": {"channel_id": "C42"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := conversations + "/" + w.create(t, "T1", fields{"owner_id": "U7", "metadata": metadata}) + "/messages"
			for i := range 120 {
				role := []string{"user", "assistant"}[i%2]
				w.chat(t, "T1", http.MethodPost, at, fields{"message_id": fmt.Sprintf("m%03d", i) + name[:1] + name[len(name)-3:len(name)-2], "role": role, "content": fmt.Sprint("message ", i), "created_at": time.Date(2026, 3, 2, 9, 0, i, 0, time.UTC)}, http.StatusCreated)
			}
			var got []string
			for cursor, pages := "", 0; ; pages++ {
				path := at + "?limit=50"
				if cursor != "" {
					path += "&cursor=" + cursor
				}
				page := w.chat(t, "T1", http.MethodGet, path, nil, http.StatusOK).Data
				var these []string
				for _, m := range page.Messages {
					these = append(these, m.Content)
					if want := map[string]string{"user": "U7", "assistant": "agent-1"}[m.Role]; m.Author.ID != want {
						t.Errorf("%s is by %q", m.Role, m.Author.ID)
					}
				}
				got = append(these, got...)
				if page.HasMore != (page.Next != "") || page.HasMore != (pages < 2) || len(these) != []int{50, 50, 20}[pages] {
					t.Fatalf("page %d has %d, has_more %v", pages, len(these), page.HasMore)
				}
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			for i, m := range got {
				if m != fmt.Sprint("message ", i) {
					t.Fatalf("at %d stands %q", i, m)
				}
			}
			if first := w.chat(t, "T1", http.MethodGet, at, nil, http.StatusOK).Data.Messages; len(first) != 50 || first[49].Content != "message 119" {
				t.Errorf("without a limit there are %d, the last %+v", len(first), first[len(first)-1])
			}
			if all := w.chat(t, "T1", http.MethodGet, at+"?limit=100", nil, http.StatusOK).Data; len(all.Messages) != 100 || !all.HasMore {
				t.Errorf("a page of 100 has %d", len(all.Messages))
			}
			if one := w.chat(t, "T1", http.MethodGet, at+"?limit=1", nil, http.StatusOK).Data; len(one.Messages) != 1 || one.Messages[0].Content != "message 119" {
				t.Errorf("a page of one: %+v", one)
			}
		})
	}
}

func TestAMessageIsRecordedOnceForItsID(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	id := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1773154325.646159"}})
	at := conversations + "/" + id + "/messages"
	body := fields{"message_id": "1773154400.000100", "role": "user", "content": "are they done?", "author": fields{"id": "U1", "name": "Helen"}}
	first := w.chat(t, "T1", http.MethodPost, at, body, http.StatusCreated).Data
	if m := first.Message; first.Created == nil || !*first.Created || m.ID != "1773154400.000100" || m.Role != "user" || m.Content != "are they done?" || m.Author.ID != "U1" || m.Author.Name != "Helen" || m.Edited != nil ||
		!m.Created.Equal(time.UnixMicro(1773154400000100)) {
		t.Errorf("recorded: %+v", first)
	}
	again := w.chat(t, "T1", http.MethodPost, at, body, http.StatusOK).Data
	if diff := cmp.Diff(again.Message, first.Message); diff != "" || *again.Created {
		t.Errorf("the same once more: created %v\n%s", *again.Created, diff)
	}
	body["content"] = "are they done yet?"
	edited := w.chat(t, "T1", http.MethodPost, at, body, http.StatusOK).Data.Message
	if edited.Content != "are they done yet?" || edited.Edited == nil || !edited.Created.Equal(first.Message.Created) {
		t.Errorf("another text: %+v", edited)
	}
	body["content"] = "are they done?" // and back
	back := w.chat(t, "T1", http.MethodPost, at, body, http.StatusOK).Data.Message
	if back.Content != "are they done?" || !back.Edited.After(*edited.Edited) {
		t.Errorf("the first text again: %+v", back)
	}
	made := w.chat(t, "T1", http.MethodPost, at, fields{"role": "assistant", "text": "All four."}, http.StatusCreated).Data.Message
	if made.ID == "" || made.Author.Kind != "bot" || made.Author.ID != "agent-1" {
		t.Errorf("without an id: %+v", made)
	}
	list := w.chat(t, "T1", http.MethodGet, at, nil, http.StatusOK).Data.Messages
	if len(list) != 2 || list[0].ID != "1773154400.000100" || list[1].ID != made.ID {
		t.Errorf("the conversation has %+v", list)
	}
	// It is a message of the channel, in its thread.
	scope := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}
	m, err := w.store.Message(t.Context(), scope, "1773154400.000100")
	if err != nil || m.Thread != "1773154325.646159" || m.Text != "are they done?" || m.Author.Kind != earshot.Human {
		t.Errorf("stored: %+v, %v", m, err)
	}
	if all, err := w.store.Revisions(t.Context(), scope, m.ID); err != nil || len(all) != 3 {
		t.Errorf("%d revisions, want 3: %v", len(all), err)
	}
	// What is another's, deleted or of another place is not overwritten.
	other := earshot.Message{ID: "1773154500.000100", Time: 1773154500000100, Author: earshot.Author{ID: "U2", Name: "Bob", Kind: earshot.Human}, Text: "no", Thread: "1773154325.646159"}
	top := earshot.Message{ID: "1773154600.000100", Time: 1773154600000100, Author: earshot.Author{ID: "U1", Name: "Helen", Kind: earshot.Human}, Text: "elsewhere"}
	dead := earshot.Message{ID: "1773154700.000100", Time: 1773154700000100, Deleted: true}
	if _, err := w.store.Record(t.Context(), scope, other, top, dead); err != nil {
		t.Fatal(err)
	}
	for messageID, code := range map[string]string{string(other.ID): "id_taken", string(top.ID): "id_taken", string(dead.ID): "deleted", made.ID: "id_taken"} {
		body["message_id"] = messageID
		if a := w.chat(t, "T1", http.MethodPost, at, body, http.StatusConflict); a.Code != code {
			t.Errorf("%s: the code is %q, want %q", messageID, a.Code, code)
		}
	}
	if m, err := w.store.Message(t.Context(), scope, other.ID); err != nil || m.Text != "no" {
		t.Errorf("another's message was overwritten: %+v, %v", m, err)
	}
	for _, bad := range []any{
		`[]`, `null`, `{}`, `{"role":"user"}`, `{"role":"user","content":""}`, `{"content":"x"}`, `{"role":"system","content":"x"}`, `{"role":"User","content":"x"}`, `{"role":"user","content":"x","text":"y"}`,
		`{"role":"user","content":"x","message_id":"a b"}`, `{"role":"user","content":"x","message_id":"a\nb"}`, `{"role":"user","content":"x","message_id":"` + strings.Repeat("x", 513) + `"}`,
		`{"role":"user","content":"x","created_at":"yesterday"}`, `{"role":"user","content":"x","created_at":"9999-01-01T00:00:00Z"}`, `{"role":"user","content":"x","created_at":"1969-01-01T00:00:00Z"}`,
		`{"role":"user","content":"x","author":{"id":"agent-1"}}`, `{"role":"assistant","content":"x","author":{"id":"U1"}}`, `{"role":"user","content":"x","metadata":{"a":1}}`, `{"role":"user","content":["x"]}`, `{"role":"user","content":"x","author":"U1"}`,
	} {
		w.chat(t, "T1", http.MethodPost, at, bad, http.StatusBadRequest)
	}
}

// TestOneMessageOfManyPosts has many callers post the same id at once.
func TestOneMessageOfManyPosts(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	at := conversations + "/" + w.create(t, "T1", nil) + "/messages"
	var wg sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for i := range 40 {
		wg.Go(func() {
			status, _, raw := w.call(t, "T1", http.MethodPost, at, fields{"message_id": "m1", "role": "user", "content": fmt.Sprint("text ", i%2)})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case status == http.StatusCreated:
				created++
			case status != http.StatusOK:
				t.Errorf("%d %s", status, raw)
			}
		})
	}
	wg.Wait()
	if list := w.chat(t, "T1", http.MethodGet, at, nil, http.StatusOK).Data.Messages; len(list) != 1 || created != 1 {
		t.Errorf("%d messages, %d created", len(list), created)
	}
}

func TestNaughtyStringsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newChat(t, "sqlite:"+t.TempDir()+"/chat.db")
	for _, s := range []string{
		"", " ", "\u0000", "\t\r\n", "'; DROP TABLE conversation; --", "%s%d%n", "<script>alert(1)</script>", "${jndi:ldap://x}", "{{7*7}}", "../../etc/passwd", "json:", `json:"x"`, "json:null", "json:[1]", "json:{", "\"\\",
		"\u202eRTL", "\u200b\ufeff", "Ω≈ç√", "田中さん", "👩‍👩‍👧‍👦", "\ud7ff\ue000\uffff", "NaN", "null", "true", "1e5", "İıßΣς", strings.Repeat("a", 100), "conv_", "\u2028\u2029", "'\"`", "\x7f\u0085",
	} {
		want := strings.ReplaceAll(s, "\x00", "␀")
		tags := []string{"x" + s[:min(len(s), 90)]}
		if strings.ToValidUTF8(tags[0], "") != tags[0] {
			tags = []string{"x"}
		}
		body := newBody(fields{"title": s, "tags": tags, "client_type": "x" + s, "idempotency_key": s, "owner_id": s, "metadata": fields{"a": s}})
		if len(s) == 100 {
			body["client_type"] = s
		}
		c := w.chat(t, "T1", http.MethodPost, conversations, body, http.StatusCreated).Data.Conversation
		var got string
		if err := json.Unmarshal(c.Metadata["a"], &got); err != nil || got != want || c.Title != want || c.Tags[0] != strings.ReplaceAll(tags[0], "\x00", "␀") {
			t.Errorf("%q came back as %q, %q, %q: %v", s, got, c.Title, c.Tags, err)
		}
		again := w.chat(t, "T1", http.MethodGet, conversations+"/"+c.ID, nil, http.StatusOK).Data.Conversation
		if diff := cmp.Diff(again, c); diff != "" {
			t.Errorf("%q: what is read is not what was answered:\n%s", s, diff)
		}
		if s != "" {
			same := w.chat(t, "T1", http.MethodPost, conversations, body, http.StatusOK).Data.Conversation
			if same.ID != c.ID {
				t.Errorf("the key %q is not found again", s)
			}
			if want != "" && strings.TrimSpace(s) != "" {
				m := w.chat(t, "T1", http.MethodPost, conversations+"/"+c.ID+"/messages", fields{"role": "user", "content": s, "author": fields{"id": "U1", "name": s}}, http.StatusCreated).Data.Message
				if m.Content != want {
					t.Errorf("the message %q came back as %q", s, m.Content)
				}
			}
		}
		w.call(t, "T1", http.MethodPatch, conversations+"/"+c.ID+"/metadata", fields{"metadata": fields{s: 1}}) // a key like that is refused or kept
	}
}

func TestAChannelThatIsAskedForTooOftenHoldsItsConversationsBack(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	busyOne, other := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1"}}), w.create(t, "T1", fields{"metadata": fields{"channel_id": "C2"}})
	busy := func(s earshot.Scope) (time.Duration, bool) { return 1500 * time.Millisecond, s.Channel != "C1" }
	srv := httptest.NewServer(api.New(api.Options{Service: sidecar.New(w.store, search.New(w.store, nil), w.gate, sidecar.Options{AllowChannel: busy}), Gate: w.gate, Version: "test"}))
	t.Cleanup(srv.Close)
	w.server = srv
	status, header, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+busyOne, nil)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "2" || !strings.Contains(raw, `"code":"too_many_requests"`) || !strings.Contains(raw, `"success":false`) {
		t.Errorf("%d %v %s", status, header, raw)
	}
	w.chat(t, "T1", http.MethodGet, conversations+"/"+other, nil, http.StatusOK)
	w.chat(t, "C2", http.MethodGet, conversations+"/"+busyOne, nil, http.StatusNotFound) // which does not tell how busy it is
}

// TestAContextOfAConversation does what a bot does next: it asks for the context of
// a message that it has posted to its conversation.
func TestAContextOfAConversation(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	for name, metadata := range map[string]fields{"its own": nil, "a thread's": {"channel_id": "C1", "thread_ts": "1773154325.646159"}, "a channel's": {"channel_id": "C1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := w.create(t, "T1", fields{"metadata": metadata})
			post := func(role, content string) string {
				return w.chat(t, "T1", http.MethodPost, conversations+"/"+id+"/messages", fields{"role": role, "content": content, "author": map[string]fields{"user": {"id": "U1", "name": "Helen"}}[role]}, http.StatusCreated).Data.Message.ID
			}
			post("user", "the importers are down "+name)
			post("assistant", "I have paused them.")
			anchor := post("user", "are they running again?")
			status, _, raw := w.call(t, "T1", http.MethodPost, "/v1/context", fields{"conversation": id, "anchor": anchor})
			if status != http.StatusOK || !strings.Contains(raw, "the importers are down "+name) || !strings.Contains(raw, "I have paused them.") || !strings.Contains(raw, "are they running again?") {
				t.Errorf("%d %s", status, raw)
			}
			if status, _, raw := w.call(t, "T2", http.MethodPost, "/v1/context", fields{"conversation": id, "anchor": anchor}); status != http.StatusNotFound {
				t.Errorf("for another workspace: %d %s", status, raw)
			}
		})
	}
	alices := w.create(t, "alice", nil)
	anchor := w.chat(t, "alice", http.MethodPost, conversations+"/"+alices+"/messages", fields{"role": "user", "content": "a secret"}, http.StatusCreated).Data.Message.ID
	for as, want := range map[string]int{"alice": http.StatusOK, "T1": http.StatusOK, "bob": http.StatusNotFound} {
		if status, _, raw := w.call(t, as, http.MethodPost, "/v1/context", fields{"conversation": alices, "anchor": anchor}); status != want {
			t.Errorf("as %s: %d %s, want %d", as, status, raw, want)
		}
	}
}

func TestTheDocumentSaysThatErrorsOfConversationsAreEnvelopes(t *testing.T) {
	t.Parallel()
	raw, err := api.Document("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if !strings.HasPrefix(path, "/api/chat") {
				continue
			}
			n++
			if got := op.Responses["default"].Content["application/json"].Schema.Ref; !strings.Contains(strings.ToLower(got), "envelope") {
				t.Errorf("%s %s: errors are %q: %+v", method, path, got, op.Responses)
			}
			if _, creates := op.Responses["201"]; creates != (method == "post") {
				t.Errorf("%s %s: 201 is documented: %v", method, path, creates)
			}
			if _, ok := op.Responses["200"]; !ok {
				t.Errorf("%s %s: 200 is not documented", method, path)
			}
		}
	}
	if n != 5 {
		t.Errorf("%d routes, want 5", n)
	}
}

// FuzzConversationBodies sends any body to each route that takes one: the answer is
// an envelope, never an error of ours, and what is stored can be read.
func FuzzConversationBodies(f *testing.F) {
	for _, s := range []string{
		`{"title":"t","client_type":"c","agent_id":"a","metadata":{"a":1.50},"tags":["x"],"idempotency_key":"k"}`, `{"metadata":{"a":null,"b":"json:","c":1e-7}}`, `{"role":"user","content":"x","message_id":"m","author":{"id":"U1"}}`,
		`{"metadata":{"channel_id":"C1","thread_ts":"1.2"},"title":"","client_type":"slack","agent_id":"x"}`, `[]`, `null`, `{"metadata":[]}`, `{"metadata":{"last_processed_ts":"1.2"}}`, "\xff", `{"title":"\ud800"}`, `{"metadata":{"a":"\ud800\u0000"}}`,
	} {
		f.Add(s)
	}
	w := newChat(f, "memory:")
	id := w.create(f, "T1", fields{"metadata": fields{"channel_id": "C1"}})
	f.Fuzz(func(t *testing.T, body string) {
		for _, r := range []struct{ method, path string }{
			{http.MethodPost, conversations}, {http.MethodPatch, conversations + "/" + id + "/metadata"}, {http.MethodPost, conversations + "/" + id + "/messages"},
		} {
			status, _, raw := w.call(t, "T1", r.method, r.path, body)
			var a chatAnswer
			if err := json.Unmarshal([]byte(raw), &a); err != nil || status >= 500 || a.Success == nil || *a.Success != (status < 300) {
				t.Fatalf("%s %s %q: %d %q %v", r.method, r.path, body, status, raw, err)
			}
			if got := a.Data.Conversation.ID; got != "" {
				w.chat(t, "T1", http.MethodGet, conversations+"/"+got, nil, http.StatusOK)
			}
		}
	})
}

// FuzzConversationIDs asks for any id: it is unknown, in the same words.
func FuzzConversationIDs(f *testing.F) {
	w := newChat(f, "memory:")
	mine, foreign := w.create(f, "C1", nil), w.create(f, "C2", nil)
	_, _, unknown := w.call(f, "C1", http.MethodGet, conversations+"/conv_x", nil)
	for _, s := range []string{"conv_", "x", "%2e%2e", foreign, mine + "A", "conv_AAAAAA", "conv_BVUwQk9UBXNsYWNrAlQxAkMxA3RvcA"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" || id == mine || id == "." || id == ".." || strings.Contains(id, "/") {
			return
		}
		for _, cursor := range []string{"", "/messages?cursor=" + url.QueryEscape(id)} {
			status, _, raw := w.call(t, "C1", http.MethodGet, conversations+"/"+url.PathEscape(id)+cursor, nil)
			if bad := cursor != "" && status == http.StatusBadRequest; !bad && (status != http.StatusNotFound || raw != unknown) {
				t.Fatalf("%q: %d %s", id, status, raw)
			}
		}
	})
}

// TestErasuresReachConversations erases a channel and a person, and looks for what
// conversations held of them.
func TestErasuresReachConversations(t *testing.T) {
	t.Parallel()
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			if err := w.store.PutAuthors(t.Context(), "slack", "T1", earshot.Author{ID: "U7", Name: "Mallory", Kind: earshot.Human}); err != nil {
				t.Fatal(err)
			}
			of := func(channel, thread string) string {
				return w.create(t, "T1", fields{
					"title": "Talk with Mallory", "owner_id": "U7", "tags": []string{"mallory", "prod"},
					"metadata": fields{"channel_id": channel, "thread_ts": thread, "asked_by": "Mallory", "step": 1},
				})
			}
			inC1, silent, inC2 := of("C1", "1.1"), of("C1", "1.2"), of("C2", "1.3")
			own := w.create(t, "T1", fields{"title": "Of my own", "owner_id": "U7"})
			for i, id := range []string{inC1, inC2, own} {
				at := conversations + "/" + id + "/messages"
				w.chat(t, "T1", http.MethodPost, at, fields{"message_id": fmt.Sprint("m", i), "role": "user", "content": "canary-of-mallory", "author": fields{"id": "U7"}}, http.StatusCreated)
				w.chat(t, "T1", http.MethodPost, at, fields{"message_id": fmt.Sprint("n", i), "role": "user", "content": "what Alice said", "author": fields{"id": "U8", "name": "Alice"}}, http.StatusCreated)
			}

			if status, _, raw := w.call(t, "T1", http.MethodDelete, "/v1/channels/C2", nil); status >= 300 {
				t.Fatalf("erase C2: %d %s", status, raw)
			}
			if status, _, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+inC2, nil); status != http.StatusNotFound {
				t.Errorf("the conversation of an erased channel: %d %s", status, raw)
			}
			if status, _, raw := w.call(t, "T1", http.MethodDelete, "/v1/authors/U7?platform=slack", nil); status >= 300 {
				t.Fatalf("erase the person on Slack: %d %s", status, raw)
			}
			for what, id := range map[string]string{"where they spoke": inC1, "where they did not speak": silent} {
				_, _, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+id, nil)
				if strings.Contains(raw, "Mallory") || strings.Contains(raw, "U7") || strings.Contains(raw, "mallory") || !strings.Contains(raw, `"prod"`) || !strings.Contains(raw, `"step":1`) {
					t.Errorf("the conversation %s: %s", what, raw)
				}
			}
			_, _, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+inC1+"/messages", nil)
			if strings.Contains(raw, "canary") || strings.Contains(raw, "U7") || !strings.Contains(raw, "what Alice said") {
				t.Errorf("its messages: %s", raw)
			}
			// The message does not come back.
			w.chat(t, "T1", http.MethodPost, conversations+"/"+inC1+"/messages", fields{"message_id": "m0", "role": "user", "content": "canary-of-mallory", "author": fields{"id": "U7"}}, http.StatusConflict)

			if status, _, raw := w.call(t, "T1", http.MethodDelete, "/v1/authors/U7?platform=api", nil); status >= 300 {
				t.Fatalf("erase the person in conversations of their own: %d %s", status, raw)
			}
			status, _, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+own+"/messages", nil)
			if strings.Contains(raw, "canary") {
				t.Errorf("the messages of their own conversation: %d %s", status, raw)
			}
			if _, _, raw = w.call(t, "T1", http.MethodGet, conversations+"/"+own, nil); strings.Contains(raw, "U7") {
				t.Errorf("their own conversation: %s", raw)
			}
		})
	}
}
