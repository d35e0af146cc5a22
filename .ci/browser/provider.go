package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// An Asked is what a model is asked.
type Asked struct {
	N        int64  // how many requests came before
	Question string // what stands after the last mention of the bot; "" once a tool has answered
	Last     string // the same, also then
}

// A Said is what a model answers: a text in parts, a call of a tool, or a refusal.
type Said struct {
	Parts  []string
	Wait   func(done <-chan struct{}) // before the last part; nil: no wait
	Tool   string
	Args   any
	Refuse string
}

// provider answers as a provider of models does, over HTTP with streaming.
func provider(model string, say func(Asked) Said) http.Handler {
	var n atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		var asked struct {
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) == 0 {
			http.Error(w, "not a request", http.StatusBadRequest)
			return
		}
		a := Asked{N: n.Add(1) - 1}
		for _, m := range asked.Messages {
			if m.Role == "user" {
				a.Last = string(m.Content)
			}
		}
		if at := strings.LastIndex(a.Last, "@earshot"); at >= 0 {
			a.Last = a.Last[at:]
		}
		if asked.Messages[len(asked.Messages)-1].Role != "tool" {
			a.Question = a.Last
		}
		stream(w, r, model, len(body)/4, a.N, say(a))
	})
	return mux
}

// stream writes an answer as server-sent events.
func stream(w http.ResponseWriter, r *http.Request, model string, prompt int, n int64, s Said) {
	if s.Refuse != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, s.Refuse)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	written := 0
	event := func(delta map[string]any, stop any) {
		b, err := json.Marshal(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": stop}},
			"usage": map[string]any{
				"prompt_tokens": prompt, "completion_tokens": written / 4, "total_tokens": prompt + written/4,
				"prompt_tokens_details": map[string]any{"cached_tokens": prompt / 2},
			},
		})
		if err != nil {
			panic(err) // it is made of strings and numbers
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	for i, part := range s.Parts {
		if i > 0 && i == len(s.Parts)-1 && s.Wait != nil {
			s.Wait(r.Context().Done())
		}
		written += len(part)
		event(map[string]any{"role": "assistant", "content": part}, nil)
	}
	stop := "stop"
	if s.Tool != "" {
		args, err := json.Marshal(s.Args)
		if err != nil {
			panic(err) // as above
		}
		written += len(args)
		event(map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": map[string]any{"name": s.Tool, "arguments": string(args)},
		}}}, nil)
		stop = "tool_calls"
	}
	event(map[string]any{}, stop)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// asking are the settings of a program that asks a model at an address.
func asking(url, model string) []string {
	return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=a-key-for-tests", "EARSHOT_MODEL=" + model}
}
