package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
)

// TestEveryBodyIsFuzzed holds that each route with a body has a fuzz target: those
// that are named here.
func TestEveryBodyIsFuzzed(t *testing.T) {
	t.Parallel()
	fuzzed := map[string]string{
		"post-events": "FuzzEvents, FuzzSlackEvents, FuzzWhatIsAcceptedIsStored", "put-agent": "FuzzPutAgent", "put-channel": "FuzzPutChannel, FuzzWhatIsAcceptedIsStored", "put-authors": "FuzzPutAuthors",
		"put-channels": "FuzzPutChannels", "post-history": "FuzzHistory", "post-coverage": "FuzzCoverage",
		"make-context": "FuzzBodiesOfTurns", "commit-turn": "FuzzBodiesOfTurns", "renew-turn": "FuzzBodiesOfTurns", "assemble": "FuzzBodiesOfTurns", "decide-approval": "FuzzBodiesOfTurns", "ask-approval": "FuzzBodiesOfTurns", "wait-turn": "FuzzBodiesOfTurns", "put-feedback": "FuzzBodiesOfTurns", "make-capability": "FuzzBodiesOfTurns", "call-tool": "FuzzBodiesOfTurns",
		"create-conversation": "FuzzConversationBodies, FuzzWhatIsAcceptedIsStored", "post-conversation-message": "FuzzConversationBodies, FuzzWhatIsAcceptedIsStored", "merge-conversation-metadata": "FuzzConversationBodies", "put-file": "FuzzPutFile",
	}
	for _, r := range routes(t) {
		if r.body && fuzzed[r.id] == "" {
			t.Errorf("%s %s (%s) takes a body that nothing fuzzes: add it to a target, and here", r.method, r.path, r.id)
		}
	}
}

// FuzzWhatIsAcceptedIsStored sends any body to routes that store texts. What is
// accepted is read back as it was said, and of another channel, whose texts have a
// word of their own, nothing comes back.
func FuzzWhatIsAcceptedIsStored(f *testing.F) {
	for i, seed := range []string{
		`{"name":"deploys","topic":"what \"goes\" out","kind":"channel","workspace":"T1","platform":"slack"}`,
		`{"events":[{"type":"message","channel":{"id":"C1","workspace":"T1","platform":"slack"},"message":{"id":"m1","time":"2026-03-02T10:00:00Z","author":{"id":"U1","name":"Eve"},"text":"hello\n<@U2> \ud83d\ude00"}}]}`,
		`{"title":"a title","client_type":"c","agent_id":"a","tags":["x"],"metadata":{"a":"b","n":1.50}}`,
		`{"role":"user","content":"are they running?","author":{"id":"U1","name":"Helen"}}`,
		`{"name":"\u0000\ud800","topic":"\u202e","workspace":"T1","platform":"slack"}`,
	} {
		f.Add(i%4, seed)
	}
	w := newWorld(f)
	for _, c := range []earshot.Channel{
		{Platform: "slack", Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}, {Platform: "slack", Workspace: "T2", ID: "C1", Name: "foreignword", Topic: "foreignword", Kind: earshot.KindChannel},
	} {
		if err := w.store.PutChannel(f.Context(), c); err != nil {
			f.Fatal(err)
		}
	}
	nameAgent(f, w.store, "T1", "a")
	status, _, raw := w.call(f, "T1", http.MethodPost, "/api/chat/conversations", `{"title":"t","client_type":"c","agent_id":"a","metadata":{"channel_id":"C1"}}`)
	var made createdJSON
	if err := json.Unmarshal([]byte(raw), &made); err != nil || status != http.StatusCreated || made.Data.Conversation.ID == "" {
		f.Fatal(status, raw, err)
	}
	of := "/api/chat/conversations/" + made.Data.Conversation.ID
	f.Fuzz(func(t *testing.T, n int, body string) {
		switch n & 3 {
		case 0:
			if said, ok := w.accepted(t, http.MethodPut, "/v1/channels/C1", body); ok {
				_, _, got := w.call(t, "T1", http.MethodGet, "/v1/channels/C1?workspace=T1&platform=slack", nil)
				if said["platform"] != "slack" {
					return // it is of another platform
				}
				same(t, said, got, "name", "topic")
			}
		case 1:
			said, ok := w.accepted(t, http.MethodPost, "/v1/events", body)
			events, _ := said["events"].([]any)
			if !ok || len(events) != 1 {
				return
			}
			event, _ := events[0].(map[string]any)
			message, _ := event["message"].(map[string]any)
			var told struct {
				Events []toldJSON `json:"events"`
			}
			if err := json.Unmarshal([]byte(said["answer"].(string)), &told); err != nil || len(told.Events) != 1 {
				t.Fatal(said["answer"], err)
			}
			if e := told.Events[0]; e.Change == "new" && e.Message != "." && e.Message != ".." && e.Channel != "." && e.Channel != ".." {
				q := url.Values{"workspace": {e.Workspace}, "platform": {e.Platform}}
				status, _, got := w.call(t, "T1", http.MethodGet, "/v1/channels/"+url.PathEscape(e.Channel)+"/messages/"+url.PathEscape(e.Message)+"?"+q.Encode(), nil)
				if status != http.StatusOK {
					t.Fatalf("%q is new, and then: %d %s", body, status, got)
				}
				same(t, message, got, "text")
			}
		case 2:
			if said, ok := w.accepted(t, http.MethodPost, "/api/chat/conversations", body); ok && said["idempotency_key"] == nil && said["metadata"] == nil {
				var c createdJSON
				if err := json.Unmarshal([]byte(said["answer"].(string)), &c); err != nil {
					t.Fatal(err)
				}
				_, _, got := w.call(t, "T1", http.MethodGet, "/api/chat/conversations/"+url.PathEscape(c.Data.Conversation.ID), nil)
				same(t, said, got, "title", "client_type", "agent_id", "owner_id")
			}
		case 3:
			if said, ok := w.accepted(t, http.MethodPost, of+"/messages", body); ok && said["message_id"] == nil {
				same(t, said, said["answer"].(string), "content", "role")
			}
		}
	})
}

// toldJSON is what is told of an event.
type toldJSON struct {
	Change    string `json:"change"`
	Platform  string `json:"platform"`
	Workspace string `json:"workspace"`
	Channel   string `json:"channel"`
	Message   string `json:"message"`
}

// createdJSON is what is read of an answer that has a conversation.
type createdJSON struct {
	Data struct {
		Conversation struct {
			ID string `json:"id"`
		} `json:"conversation"`
	} `json:"data"`
}

// accepted sends a body, and returns what it said if it was accepted. The answer
// stands beside it, as answer.
func (w *world) accepted(t *testing.T, method, path, body string) (said map[string]any, ok bool) {
	t.Helper()
	status, _, got := w.call(t, "T1", method, path, body)
	if status >= 500 || !jsontext.Value(got).IsValid() || strings.Contains(got, "foreignword") && !strings.Contains(body, "foreignword") {
		t.Fatalf("%s %q: %d %s", path, body, status, got)
	}
	if status >= 300 {
		return nil, false
	}
	if err := json.Unmarshal([]byte(body), &said, jsontext.AllowInvalidUTF8(true)); err != nil || said == nil {
		t.Fatalf("%s took %q: %v", path, body, err)
	}
	said["answer"] = got
	return said, true
}

// same fails the test where an answer has not the fields as they were said.
func same(t *testing.T, said map[string]any, answer string, fields ...string) {
	t.Helper()
	for _, field := range fields {
		text, ok := said[field].(string)
		if !ok || text == "" {
			continue
		}
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\u2400")
		quoted, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"` + field + `":` + string(quoted); !strings.Contains(answer, want) {
			t.Fatalf("%s is not in %s", want, answer)
		}
	}
}
