package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// openaiAPI is OpenAI's chat completions
// (https://platform.openai.com/docs/api-reference/chat).
type openaiAPI struct{}

func (openaiAPI) read(body []byte) ([]turn, error) {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var out []turn
	for _, m := range r.Messages {
		if m.Role == "developer" {
			m.Role = "system"
		}
		out = append(out, turn{m.Role, textOf(m.Content)})
	}
	return out, nil
}

func (openaiAPI) events(r reply) []string {
	chunk := func(choices []any, usage any) string {
		return event("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-scripted", "choices": choices, "usage": usage})
	}
	delta := func(d object, finish any) string {
		return chunk([]any{object{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	list := []string{delta(object{"role": "assistant", "content": ""}, nil)}
	if r.Content != "" {
		for _, c := range r.chunks() {
			list = append(list, delta(object{"content": c}, nil))
		}
	}
	for i, c := range r.ToolCalls {
		args := string(c.Arguments)
		list = append(list,
			delta(object{"tool_calls": []any{object{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil),
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": args[:len(args)/2]}}}}, nil),
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": args[len(args)/2:]}}}}, nil))
	}
	return append(list, delta(object{}, openaiStop(r)), chunk([]any{}, openaiUsage(r)), "data: [DONE]")
}

func (openaiAPI) whole(r reply) any {
	message := object{"role": "assistant", "content": r.Content}
	var calls []any
	for i, c := range r.ToolCalls {
		calls = append(calls, object{"id": fmt.Sprintf("call_%d", i), "type": "function", "function": object{"name": c.Name, "arguments": string(c.Arguments)}})
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-scripted",
		"choices": []any{object{"index": 0, "message": message, "finish_reason": openaiStop(r)}}, "usage": openaiUsage(r)}
}

func openaiUsage(r reply) object {
	return object{"prompt_tokens": r.Usage.Prompt, "completion_tokens": r.Usage.Completion, "total_tokens": r.Usage.Prompt + r.Usage.Completion}
}

func openaiStop(r reply) string {
	switch {
	case r.FinishReason != "":
		return r.FinishReason
	case len(r.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (openaiAPI) failure(_ int, kind, text string) any {
	return object{"error": object{"message": text, "type": kind, "param": nil, "code": nil}}
}

func (a openaiAPI) limit(h http.Header) any {
	h.Set("Retry-After", "1")
	return a.failure(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")
}

func (openaiAPI) streams(_ *http.Request, body []byte) bool { return wantsStream(body) }
