package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/visible"
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
	tools.Kind, tools.Fixed = access.Capability, &access.CapabilityScope{Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}}
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
	for _, w := range []earshot.WorkspaceID{"T1", "T2", "T5"} {
		for _, id := range []earshot.AuthorID{"agent-1", "agent-2", "a"} {
			nameAgent(t, st, w, id)
		}
	}
	service := sidecar.New(st, search.New(st, nil), g, sidecar.Options{})
	srv := httptest.NewServer(api.New(api.Options{Service: service, Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: g, Version: "test"}))
	t.Cleanup(srv.Close)
	return &world{store: st, server: srv, gate: g}
}

// nameAgent stores who an agent is in a workspace.
func nameAgent(t testing.TB, st earshot.Store, w earshot.WorkspaceID, id earshot.AuthorID) {
	t.Helper()
	note, err := visible.Agent{Identity: earshot.Identity{ID: id, Name: string(id)}, Workspace: w}.Note()
	if err == nil {
		err = st.PutNote(t.Context(), note)
	}
	if err != nil {
		t.Fatal(err)
	}
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

// chatStores are the stores that concurrent callers are tried on.
func chatStores(testing.TB) map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"memory":   func(testing.TB) string { return "memory:" },
		"SQLite":   func(t testing.TB) string { return "sqlite:" + t.TempDir() + "/chat.db" },
		"Postgres": func(t testing.TB) string { return pgtest.Spec(t) },
	}
}
