package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

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
		`{"role":"user","content":"x","author":{"id":"agent-1"}}`, `{"role":"assistant","content":"x","author":{"id":"U1"}}`, `{"role":"user","metadata":{}}`, `{"role":"user","content":"x","metadata":{"A":1}}`, `{"role":"user","content":["x"]}`, `{"role":"user","content":"x","author":"U1"}`,
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
