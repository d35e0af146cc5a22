package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropicAPI is the Messages API
// (https://docs.anthropic.com/en/api/messages, …/messages-streaming).
type anthropicAPI struct{}

// A block is a part of a message's content.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // of a tool_result
}

func (anthropicAPI) read(body []byte) ([]turn, error) {
	var r struct {
		MaxTokens int             `json:"max_tokens"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if r.MaxTokens < 1 {
		return nil, fmt.Errorf("max_tokens: field required")
	}
	var out []turn
	if len(r.System) > 0 {
		out = append(out, turn{"system", textOf(r.System)})
	}
	for _, m := range r.Messages {
		for _, b := range blocksOf(m.Content) {
			if b.Type == "tool_result" {
				out = append(out, turn{"tool", textOf(b.Content)})
			}
		}
		if text := textOf(m.Content); text != "" {
			out = append(out, turn{m.Role, text})
		}
	}
	return out, nil
}

// blocksOf reads content, which is a string or a list of blocks.
func blocksOf(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	_ = json.Unmarshal(raw, &list) // content of another form has no blocks
	return list
}

// textOf joins the text blocks of content.
func textOf(raw json.RawMessage) string {
	var b strings.Builder
	for _, x := range blocksOf(raw) {
		if x.Type == "text" {
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

func (anthropicAPI) events(r reply) []string {
	start := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": r.Usage.Prompt, "output_tokens": 1}}
	list := []string{event("message_start", object{"type": "message_start", "message": start})}
	at := 0
	put := func(begin object, deltas ...object) {
		list = append(list, event("content_block_start", object{"type": "content_block_start", "index": at, "content_block": begin}))
		for _, d := range deltas {
			list = append(list, event("content_block_delta", object{"type": "content_block_delta", "index": at, "delta": d}))
		}
		list = append(list, event("content_block_stop", object{"type": "content_block_stop", "index": at}))
		at++
	}
	if r.Content != "" {
		var deltas []object
		for _, c := range r.chunks() {
			deltas = append(deltas, object{"type": "text_delta", "text": c})
		}
		put(object{"type": "text", "text": ""}, deltas...)
	}
	for i, c := range r.ToolCalls {
		args := string(c.Arguments)
		put(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": args[:len(args)/2]}, object{"type": "input_json_delta", "partial_json": args[len(args)/2:]})
	}
	return append(list,
		event("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": anthropicStop(r), "stop_sequence": nil},
			"usage": object{"output_tokens": r.Usage.Completion}}),
		event("message_stop", object{"type": "message_stop"}))
}

func (anthropicAPI) whole(r reply) any {
	var content []any
	if r.Content != "" {
		content = append(content, object{"type": "text", "text": r.Content})
	}
	for i, c := range r.ToolCalls {
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.Name, "input": c.Arguments})
	}
	return object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-scripted", "content": content,
		"stop_reason": anthropicStop(r), "stop_sequence": nil, "usage": object{"input_tokens": r.Usage.Prompt, "output_tokens": r.Usage.Completion}}
}

func anthropicStop(r reply) string {
	switch {
	case r.FinishReason == "length":
		return "max_tokens"
	case len(r.ToolCalls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropicAPI) failure(_ int, kind, text string) any {
	return object{"type": "error", "error": object{"type": kind, "message": text}}
}

func (a anthropicAPI) limit(h http.Header) any {
	h.Set("Retry-After", "1")
	return a.failure(http.StatusTooManyRequests, "rate_limit_error", "slow down")
}

func (anthropicAPI) streams(_ *http.Request, body []byte) bool { return wantsStream(body) }

// wantsStream reads the field stream of a request.
func wantsStream(body []byte) bool {
	var r struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(body, &r) == nil && r.Stream
}
