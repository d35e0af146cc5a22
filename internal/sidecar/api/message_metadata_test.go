package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

const noted = `{"list":[1.50,null,{"a":"é"}],"n":9007199254740993,"quoted":"1","ticket":"CANARY-7"}`

// TestAMessageKeepsMetadataOfItsCaller tells and reads them at each door.
func TestAMessageKeepsMetadataOfItsCaller(t *testing.T) {
	t.Parallel()
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			get := func(path string) string {
				t.Helper()
				status, _, raw := w.call(t, "T1", http.MethodGet, path, nil)
				if status != http.StatusOK {
					t.Fatalf("GET %s: %d %s", path, status, raw)
				}
				return raw
			}
			at := conversations + "/" + w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1773154325.000100"}}) + "/messages"
			root := `{"events":[{"type":"message","channel":"C1","message":{"id":"1773154325.000100","time":"1773154325.000100","author":{"id":"U1","name":"Helen"},"text":"the import stands","metadata":` + noted + `}}]}`
			if status, _, raw := w.call(t, "T1", http.MethodPost, "/v1/events", root); status != http.StatusOK || !strings.Contains(raw, `"change":"new"`) {
				t.Fatalf("told: %d %s", status, raw)
			}
			w.chat(t, "T1", http.MethodPost, at, `{"message_id":"1773154326.000100","role":"user","content":"and now?","metadata":{ "ticket" : "CANARY-8", "gone": null }}`, http.StatusCreated)
			for _, path := range []string{
				"/v1/channels/C1/messages", "/v1/channels/C1/messages/1773154325.000100", "/v1/channels/C1/threads/1773154325.000100", "/v1/channels/C1/search?q=import", at,
			} {
				if raw := get(path); !strings.Contains(raw, `"metadata":`+noted) {
					t.Errorf("%s: %s", path, raw)
				}
			}
			if raw := get(at); !strings.Contains(raw, `"metadata":{"ticket":"CANARY-8"}`) || strings.Count(raw, `"metadata"`) != 2 {
				t.Errorf("the conversation's messages: %s", raw)
			}
			past := `{"channel":"C1","messages":[{"id":"1773154000.000100","time":"1773154000.000100","author":{"id":"U1"},"text":"earlier","metadata":{"ticket":"T-6"}}]}`
			if status, _, raw := w.call(t, "T1", http.MethodPost, "/v1/history", past); status != http.StatusOK {
				t.Fatalf("history: %d %s", status, raw)
			}
			if raw := get("/v1/channels/C1/messages/1773154000.000100"); !strings.Contains(raw, `"metadata":{"ticket":"T-6"}`) {
				t.Errorf("told as history: %s", raw)
			}
		})
	}
}

// TestMetadataOfAMessageAreReplacedWithoutAnEdit posts the same message with others.
func TestMetadataOfAMessageAreReplacedWithoutAnEdit(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	at := conversations + "/" + w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1"}}) + "/messages"
	post := func(body string, want int) (metadata string, edited bool, content string) {
		t.Helper()
		_ = w.chat(t, "T1", http.MethodPost, at, body, want)
		_, _, raw := w.call(t, "T1", http.MethodGet, at, nil)
		var a struct {
			Data struct {
				Messages []struct {
					Content  string
					Edited   string `json:"edited_at"`
					Metadata json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(raw), &a); err != nil || len(a.Data.Messages) != 1 {
			t.Fatalf("%v: %s", err, raw)
		}
		m := a.Data.Messages[0]
		return string(m.Metadata), m.Edited != "", m.Content
	}
	for _, step := range []struct {
		body, metadata string
		edited         bool
		content        string
	}{
		{`{"message_id":"m1","role":"user","content":"x","metadata":{"a":1,"b":2}}`, `{"a":1,"b":2}`, false, "x"},
		{`{"message_id":"m1","role":"user","content":"x","metadata":{"a":2}}`, `{"a":2}`, false, "x"},
		{`{"message_id":"m1","role":"user","content":"x"}`, `{"a":2}`, false, "x"},
		{`{"message_id":"m1","role":"user","content":"x","metadata":null}`, `{"a":2}`, false, "x"},
		{`{"message_id":"m1","role":"user","metadata":{"a":3}}`, `{"a":3}`, false, "x"}, // without content the text stays
		{`{"message_id":"m1","role":"user","content":"y"}`, `{"a":3}`, true, "y"},
		{`{"message_id":"m1","role":"user","content":"z","metadata":{"a":4}}`, `{"a":4}`, true, "z"},
		{`{"message_id":"m1","role":"user","content":"z","metadata":{}}`, ``, true, "z"},
	} {
		want := http.StatusOK
		if step.content == "x" && step.metadata == `{"a":1,"b":2}` {
			want = http.StatusCreated
		}
		metadata, edited, content := post(step.body, want)
		if metadata != step.metadata || edited != step.edited || content != step.content {
			t.Errorf("after %s: metadata %s, edited %v, content %q", step.body, metadata, edited, content)
		}
	}
}

// TestMetadataOfAMessageThatAreRefused has each bound, and what just fits.
func TestMetadataOfAMessageThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	at := conversations + "/" + w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1"}}) + "/messages"
	many := fields{}
	for i := range 64 {
		many[fmt.Sprint("k", i)] = "v"
	}
	more := maps.Clone(many)
	more["one"] = "more"
	tell := func(metadata any) (int, string) {
		raw, err := json.Marshal(metadata)
		if s, ok := metadata.(string); ok {
			raw, err = []byte(s), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		status, _, chat := w.call(t, "T1", http.MethodPost, at, `{"message_id":"m1","role":"user","content":"x","metadata":`+string(raw)+`}`)
		told, _, event := w.call(t, "T1", http.MethodPost, "/v1/events", `{"events":[{"type":"message","channel":"C1","message":{"id":"m2","time":"1.2","author":{"id":"U1"},"text":"x","metadata":`+string(raw)+`}}]}`)
		if (status >= 400) != (told >= 400) {
			t.Errorf("%.60s: a conversation says %d %s, events say %d %s", raw, status, chat, told, event)
		}
		return told, event
	}
	for path, list := range map[string][]any{
		"events[0].message.metadata":   {`[]`, `"x"`, `1`, `{"A":1}`, `{"":1}`, `{"a.b":1}`, `{"a":1,"a":2}`, more, fields{"a": strings.Repeat("v", 16<<10)}},
		"events[0].message.metadata.a": {`{"a":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}`, `{"a":1e999}`, `{"a":{"b":1,"b":2}}`, `{"a":[` + strings.Repeat("1", 65) + `]}`},
	} {
		for _, metadata := range list {
			if status, raw := tell(metadata); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || !strings.Contains(raw, path) {
				t.Errorf("%.60v: %d %s, want the path %s", metadata, status, raw, path)
			}
		}
	}
	if n := len(w.chat(t, "T1", http.MethodGet, at, nil, http.StatusOK).Data.Messages); n != 0 {
		t.Errorf("%d messages were stored with metadata that were refused", n)
	}
	for _, fits := range []any{many, fields{"a": strings.Repeat("v", 16<<10-1)}, fields{"last_processed_ts": "no key is reserved", "channel_id": 1}} {
		if status, raw := tell(fits); status >= 300 {
			t.Errorf("%.60v: %d %s", fits, status, raw)
		}
	}
}

// TestMetadataOfMessagesGetIntoNoPrompt asks every policy, and the model's own tools.
func TestMetadataOfMessagesGetIntoNoPrompt(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	conversation := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1773154325.000100"}})
	at := conversations + "/" + conversation + "/messages"
	for _, body := range []string{
		`{"message_id":"1773154325.000100","role":"user","content":"the import stands","metadata":` + noted + `}`,
		`{"message_id":"1773154326.000100","role":"user","metadata":{"ticket":"CANARY only"}}`,
		`{"message_id":"1773154327.000100","role":"user","content":"<@agent-1> is it done?","metadata":{"ticket":"CANARY-9"}}`,
	} {
		w.chat(t, "T1", http.MethodPost, at, body, http.StatusCreated)
	}
	if list := w.chat(t, "T1", http.MethodGet, at, nil, http.StatusOK).Data.Messages; len(list) != 3 || list[1].Content != "" || list[1].ID != "1773154326.000100" {
		t.Errorf("one without content is among them: %+v", list)
	}
	noCanary := func(what, raw string) {
		t.Helper()
		if strings.Contains(raw, "CANARY") || strings.Contains(raw, "ticket") {
			t.Errorf("%s has metadata: %s", what, raw)
		}
	}
	for _, p := range assemble.Policies() {
		for range 2 { // the second is a later turn
			status, _, raw := w.call(t, "T1", http.MethodPost, "/v1/context", fields{"conversation": conversation, "anchor": "1773154327.000100", "policy": p.Name})
			if status != http.StatusOK || !strings.Contains(raw, "is it done?") {
				t.Errorf("%s: %d %s", p.Name, status, raw)
			}
			noCanary("the context of "+p.Name, raw)
		}
	}
	for tool, args := range map[string]string{
		"channel_messages": `{"message_ids":["1773154325.000100","1773154326.000100","1773154327.000100"]}`,
		"channel_context":  `{"intent":"the import, the ticket, CANARY"}`,
	} {
		status, _, raw := w.call(t, "tools", http.MethodPost, "/v1/tools/"+tool, args)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", tool, status, raw)
		}
		if tool == "channel_messages" {
			noCanary(tool, raw)
		} else if strings.Contains(raw, "CANARY-") || strings.Contains(raw, "CANARY only") {
			t.Errorf("%s has metadata: %s", tool, raw)
		}
	}
	if _, _, raw := w.call(t, "T1", http.MethodGet, "/v1/channels/C1/search?q=CANARY", nil); strings.Contains(raw, `"id"`) {
		t.Errorf("search finds metadata: %s", raw)
	}
	m, err := w.store.Message(t.Context(), earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}, "1773154327.000100")
	if err != nil || m.Metadata["ticket"] != "CANARY-9" {
		t.Errorf("stored: %+v, %v", m, err)
	}
}
