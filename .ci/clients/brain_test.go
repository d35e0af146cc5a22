package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A brain is a model behind an OpenAI-compatible API that looks something up before it
// answers: of each dialog it calls channel_context first, then it says "answer 1", "answer
// 2" and so on. While it is held it answers nobody.
type brain struct {
	url string

	mu    sync.Mutex // guards what follows
	asked []dialog
	ended []dialog // those that the caller gave up
	said  int
	held  chan struct{} // nil: it is not held
}

// A dialog is what the model was asked: for each message its role, and text or calls.
type dialog []string

func newBrain(t *testing.T) *brain {
	t.Helper()
	b := &brain{}
	srv := httptest.NewServer(b)
	t.Cleanup(func() { b.release(); srv.CloseClientConnections(); srv.Close() })
	b.url = srv.URL + "/v1"
	return b
}

// ServeHTTP implements http.Handler.
func (b *brain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
			Calls   json.RawMessage `json:"tool_calls"`
		}
		Tools []any
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/chat/completions" || len(in.Messages) == 0 {
		http.Error(w, "no chat", http.StatusBadRequest)
		return
	}
	var d dialog
	for _, m := range in.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content) // parts
		}
		d = append(d, strings.TrimSpace(m.Role+" "+text+" "+string(m.Calls)))
	}
	b.mu.Lock()
	b.asked = append(b.asked, d)
	held := b.held
	b.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			b.mu.Lock()
			b.ended = append(b.ended, d)
			b.mu.Unlock()
			return
		}
	}
	message := map[string]any{"role": "assistant", "content": nil}
	if in.Messages[len(in.Messages)-1].Role == "tool" {
		b.mu.Lock()
		b.said++
		message["content"] = fmt.Sprintf("answer %d", b.said)
		b.mu.Unlock()
	} else {
		message["tool_calls"] = []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]string{"name": "channel_context", "arguments": `{"intent":"deploy"}`},
		}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "c", "object": "chat.completion", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message}},
		"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
}

// hold keeps the model from answering, until release.
func (b *brain) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = make(chan struct{})
}

func (b *brain) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held != nil {
		close(b.held)
		b.held = nil
	}
}

// heard waits until the model is asked something in whose last message a text stands, and
// returns the dialog.
func (b *brain) heard(t *testing.T, text string) dialog {
	t.Helper()
	return b.wait(t, &b.asked, text)
}

// dropped waits until such a dialog, which is held, is given up by who asked.
func (b *brain) dropped(t *testing.T, text string) {
	t.Helper()
	b.wait(t, &b.ended, text)
}

func (b *brain) wait(t *testing.T, in *[]dialog, text string) dialog {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		list := slices.Clone(*in)
		b.mu.Unlock()
		for _, d := range list {
			if strings.Contains(d[len(d)-1], text) {
				return d
			}
		}
		if time.Now().After(end) {
			t.Fatalf("of the model's dialogs none ends in %q: %q", text, list)
		}
	}
}
