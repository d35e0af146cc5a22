package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

// TestAUsersConversationsAreTheirOwn has Alice converse in a channel that Bob reads
// too, and alone. Bob reads the channel's messages and nothing of hers: no turn, no
// title, no usage, no event, and every answer is that of what does not exist.
func TestAUsersConversationsAreTheirOwn(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	ctx := t.Context()
	const secret = "canary-of-alice"
	if err := w.store.PutAuthors(ctx, "slack", "T1", earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}); err != nil {
		t.Fatal(err)
	}
	shared := w.create(t, "alice", fields{"agent_id": "U0BOT", "title": secret, "tags": []string{secret}, "metadata": fields{"channel_id": "C1", "thread_ts": "100.000001", "note": secret}})
	own := w.create(t, "alice", fields{"agent_id": "U0BOT", "title": secret})
	bobs := w.create(t, "bob", fields{"agent_id": "U0BOT", "metadata": fields{"channel_id": "C1", "thread_ts": "200.000001"}})

	// turn answers a new message of a conversation, and leaves the next one open.
	turn := func(as, conversation, text string) (done, open string) {
		t.Helper()
		for i := range 2 {
			id := w.chat(t, as, http.MethodPost, conversations+"/"+conversation+"/messages", fields{"role": "user", "content": text}, http.StatusCreated).Data.Message.ID
			status, _, raw := w.call(t, as, http.MethodPost, "/v1/context", fields{"conversation": conversation, "anchor": id, "open": true, "instructions": text})
			at := strings.Index(raw, `"turn":{"id":`)
			if status != http.StatusOK || at < 0 {
				t.Fatalf("open a turn: %d %s", status, raw)
			}
			n := strings.TrimLeft(raw[at+len(`"turn":{"id":`):], `"`)
			n = n[:strings.IndexAny(n, `",}`)]
			if i == 1 {
				return done, n
			}
			if status, _, raw := w.call(t, as, http.MethodPost, "/v1/turns/"+n+"/commit", fields{"reply": fields{"text": text}, "usage": fields{"input": 4711}}); status != http.StatusOK {
				t.Fatalf("commit: %d %s", status, raw)
			}
			done = n
		}
		return done, open
	}
	sharedTurn, sharedOpen := turn("alice", shared, "in the channel")
	ownTurn, ownOpen := turn("alice", own, secret)
	bobsTurn, _ := turn("bob", bobs, "bob asks")

	_, _, unknown := w.call(t, "bob", http.MethodGet, "/v1/turns/404404", nil)
	for _, id := range []string{sharedTurn, sharedOpen, ownTurn, ownOpen} {
		for _, r := range [][3]string{{http.MethodGet, "?prompt=true"}, {http.MethodPost, "/commit", `{"reply":{"text":"x"}}`}, {http.MethodPost, "/abort"}} {
			var body any
			if r[2] != "" {
				body = r[2]
			}
			if status, _, raw := w.call(t, "bob", r[0], "/v1/turns/"+id+r[1], body); status != http.StatusNotFound || raw != unknown {
				t.Errorf("bob: %s turn %s%s: %d %s, want %s", r[0], id, r[1], status, raw, unknown)
			}
		}
		for _, as := range []string{"alice", "T1"} {
			if status, _, raw := w.call(t, as, http.MethodGet, "/v1/turns/"+id, nil); status != http.StatusOK {
				t.Errorf("%s: turn %s: %d %s", as, id, status, raw)
			}
		}
	}
	for _, path := range []string{"/v1/turns", "/v1/turns?channel=C1", "/v1/usage", "/v1/usage?channel=C1", "/v1/channels"} {
		_, _, raw := w.call(t, "bob", http.MethodGet, path, nil)
		for _, hidden := range []string{secret, shared, own, `"id":` + sharedTurn + `,`, `"id":` + ownTurn + `,`, `"turns":2`} {
			if strings.Contains(raw, hidden) {
				t.Errorf("bob: %s has %s: %s", path, hidden, raw)
			}
		}
		if strings.HasPrefix(path, "/v1/turns") && !strings.Contains(raw, `"id":`+bobsTurn+`,`) {
			t.Errorf("bob: %s lacks his own turn: %s", path, raw)
		}
	}
	if _, _, raw := w.call(t, "alice", http.MethodGet, "/v1/usage?channel=C1", nil); !strings.Contains(raw, `"turns":1`) || !strings.Contains(raw, "4711") {
		t.Errorf("alice's usage: %s", raw)
	}
	if _, _, raw := w.call(t, "T1", http.MethodGet, "/v1/usage?channel=C1", nil); !strings.Contains(raw, `"turns":2`) {
		t.Errorf("a key's usage: %s", raw)
	}

	// The messages are the channel's; the conversation that they are in is hers.
	_, _, raw := w.call(t, "bob", http.MethodGet, "/v1/channels/C1/messages", nil)
	if !strings.Contains(raw, "in the channel") || strings.Contains(raw, secret) {
		t.Errorf("the channel's messages: %s", raw)
	}
	thread, err := w.store.Newest(ctx, earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}, earshot.ThreadOf("100.000001"), earshot.Position{}, 1)
	if err != nil || len(thread) != 1 {
		t.Fatal(thread, err)
	}
	anchor := string(thread[0].ID)
	_, _, absent := w.call(t, "bob", http.MethodPost, "/v1/context", fields{"channel": "C1", "anchor": "nowhere", "agent": "U0BOT"})
	for _, open := range []bool{false, true} {
		body := fields{"channel": "C1", "anchor": anchor, "agent": "U0BOT", "open": open, "again": open}
		if status, _, raw := w.call(t, "bob", http.MethodPost, "/v1/context", body); status != http.StatusNotFound || raw != absent {
			t.Errorf("bob continues her conversation: %d %s", status, raw)
		}
		if status, _, raw := w.call(t, "alice", http.MethodPost, "/v1/context", body); status != http.StatusOK {
			t.Errorf("alice continues hers: %d %s", status, raw)
		}
	}

	// What package mcp reads.
	service := sidecar.New(w.store, search.New(w.store, nil), w.gate, sidecar.Options{})
	reader := explain.New(w.store, search.New(w.store, nil), explain.Options{})
	at := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}
	turns := func(as string) (ids []string) {
		list, err := reader.RecentTurns(ctx, w.gate[as], at, 50)
		if err != nil {
			t.Error(err)
		}
		for _, q := range list {
			ids = append(ids, fmt.Sprint(q.ID))
		}
		return ids
	}
	if got, want := turns("bob"), []string{bobsTurn}; !slices.Equal(got, want) {
		t.Errorf("bob's turns of the channel: %v, want %v", got, want)
	}
	if got := turns("T1"); len(got) != 2 {
		t.Errorf("a key's turns of the channel: %v", got)
	}
	for as, want := range map[string]bool{"bob": false, "alice": true, "T1": true} {
		var id earshot.TurnID
		_, _ = fmt.Sscan(sharedTurn, &id)
		_, err := reader.Turn(ctx, w.gate[as], id)
		if (err == nil) != want {
			t.Errorf("%s: explain the turn: %v", as, err)
		}
		c, err := reader.Preview(ctx, w.gate[as], explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: earshot.MessageID(anchor), Agent: "U0BOT"})
		if err != nil || c.Goes != want {
			t.Errorf("%s: the session goes on: %v %v", as, c.Goes, err)
		}
		set, err := service.ToolsAt(ctx, w.gate[as], at)
		if err != nil {
			t.Fatal(err)
		}
		a, err := set.Call(ctx, "conversation_search", `{"query":"in the channel"}`)
		if found := strings.Contains(a.JSON, "in the channel"); err != nil || found != want {
			t.Errorf("%s: search earlier turns: %+v %v", as, a, err)
		}
	}

	// He erases nobody from conversations that he does not see, and learns no counts of them.
	for _, more := range []string{"", "&dry_run=true", "&forget=true"} {
		if status, _, raw := w.call(t, "bob", http.MethodDelete, "/v1/authors/alice?platform=api"+more, nil); status != http.StatusForbidden || !strings.Contains(raw, "foreign_person") {
			t.Errorf("bob erases alice%s: %d %s", more, status, raw)
		}
	}
	if _, _, raw := w.call(t, "alice", http.MethodGet, conversations+"/"+own+"/messages", nil); strings.Count(raw, secret) < 2 {
		t.Errorf("alice's messages: %s", raw)
	}

	// Erasures of a channel of hers are hers.
	begun, err := w.store.BeginErasure(ctx, earshot.ErasureOf{Platform: access.OwnPlatform, Workspace: "T1", Channel: ownChannel(t, own)})
	if err != nil {
		t.Fatal(err)
	}
	for as, want := range map[string]bool{"bob": false, "alice": true, "T1": true} {
		if status, _, raw := w.call(t, as, http.MethodGet, fmt.Sprint("/v1/erasures/", begun.ID), nil); (status < 300) != want {
			t.Errorf("%s: the erasure: %d %s", as, status, raw)
		}
	}
}

// ownChannel is the channel of a conversation.
func ownChannel(t *testing.T, id string) earshot.ChannelID {
	t.Helper()
	c, ok := visible.ParseConversation(id)
	if !ok {
		t.Fatalf("%s is no conversation", id)
	}
	return c.Scope.Channel
}
