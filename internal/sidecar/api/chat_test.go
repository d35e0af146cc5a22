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
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

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
	unknown := func(as string) string {
		_, _, raw := w.call(t, as, http.MethodGet, conversations+"/conv_unknown", nil)
		return raw
	}
	absent := visible.ConversationText(earshot.ConversationID{Agent: "agent-1", Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}, Name: "nowhere"})
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
			if status != http.StatusNotFound || raw != unknown(c.as) {
				t.Errorf("%s %s as %s: %d %s, want %s", r.method, r.path, c.as, status, raw, unknown(c.as))
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
		if status != http.StatusNotFound || raw != unknown(c.as) {
			t.Errorf("create %v as %s: %d %s, want %s", c.body, c.as, status, raw, unknown(c.as))
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

func TestAChannelThatIsAskedForTooOftenHoldsItsConversationsBack(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	busyOne, other := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1"}}), w.create(t, "T1", fields{"metadata": fields{"channel_id": "C2"}})
	busy := func(s earshot.Scope) (time.Duration, bool) { return 1500 * time.Millisecond, s.Channel != "C1" }
	searcher := search.New(w.store, nil)
	maker := contexts.New(w.store, searcher, contexts.Options{AllowChannel: busy})
	srv := httptest.NewServer(api.New(api.Options{Service: sidecar.New(w.store, searcher, w.gate, sidecar.Options{Maker: maker}), Reader: explain.New(w.store, searcher, explain.Options{Maker: maker}), Gate: w.gate, Version: "test"}))
	t.Cleanup(srv.Close)
	w.server = srv
	status, header, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+busyOne, nil)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "2" || !strings.Contains(raw, `"code":"too_many_requests"`) || !strings.Contains(raw, `"success":false`) {
		t.Errorf("%d %v %s", status, header, raw)
	}
	w.chat(t, "T1", http.MethodGet, conversations+"/"+other, nil, http.StatusOK)
	w.chat(t, "C2", http.MethodGet, conversations+"/"+busyOne, nil, http.StatusNotFound) // which does not tell how busy it is
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
	if n != 6 {
		t.Errorf("%d routes, want 6", n)
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

// erased erases, to the end: one that takes longer than a second goes on by itself in a
// daemon, which there is none of here.
func (w *world) erased(t *testing.T, path string) {
	t.Helper()
	status, _, raw := w.call(t, "T1", http.MethodDelete, path, nil)
	var begun struct{ ID int64 }
	if err := json.Unmarshal([]byte(raw), &begun); err != nil || status >= 300 {
		t.Fatalf("erase %s: %d %s", path, status, raw)
	}
	if status == http.StatusAccepted {
		if _, err := erasure.Run(t.Context(), w.store, earshot.ErasureID(begun.ID), nil); err != nil {
			t.Fatal(err)
		}
	}
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

			w.erased(t, "/v1/channels/C2")
			if status, _, raw := w.call(t, "T1", http.MethodGet, conversations+"/"+inC2, nil); status != http.StatusNotFound {
				t.Errorf("the conversation of an erased channel: %d %s", status, raw)
			}
			w.erased(t, "/v1/authors/U7?platform=slack")
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

			w.erased(t, "/v1/authors/U7?platform=api")
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
