package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

// Body returns the body of a request to the model of a name, as [Model.Generate]
// sends it.
func Body(name string, r llm.Request) []byte {
	out := rawjson.New("model", name, "max_tokens", r.MaxTokens, "stream", true)
	var tools []*rawjson.Object
	for _, t := range r.Tools {
		tools = append(tools, rawjson.New("name", t.Name, "description", t.Description, "input_schema", rawjson.Value(t.Schema)))
	}
	var system *rawjson.Object
	if r.System != "" {
		system = encodeText(r.System)
	}
	if r.Cache {
		// The tools stand before the system text: one breakpoint ends both.
		switch {
		case system != nil:
			markCacheEnd(system)
		case len(tools) > 0:
			markCacheEnd(tools[len(tools)-1])
		}
	}
	if len(tools) > 0 {
		out.Set("tools", encodeList(tools))
		if r.NoCalls {
			out.Set("tool_choice", rawjson.New("type", "none"))
		}
	}
	if system != nil {
		out.Set("system", rawjson.List(system.JSON()))
	}
	var messages []rawjson.Value
	for _, m := range r.Messages {
		content := encodeBlocks(m.Parts, m.Cache)
		if len(content) == 0 {
			continue // nothing but what another provider kept
		}
		role := "user"
		if m.Role == earshot.Assistant {
			role = "assistant"
		}
		messages = append(messages, rawjson.New("role", role, "content", rawjson.List(content...)).JSON())
	}
	out.Set("messages", rawjson.List(messages...))
	return out.JSON()
}

// markCacheEnd makes a block the end of what is worth caching.
func markCacheEnd(block *rawjson.Object) {
	block.Set("cache_control", rawjson.New("type", "ephemeral"))
}

func encodeList(objects []*rawjson.Object) rawjson.Value {
	values := make([]rawjson.Value, len(objects))
	for i, o := range objects {
		values[i] = o.JSON()
	}
	return rawjson.List(values...)
}

// encodeBlocks writes the parts of a message. cache marks the last block that can
// carry a mark: a kept block is sent back as it came.
func encodeBlocks(parts []llm.Part, cache bool) []rawjson.Value {
	var out []rawjson.Value
	last := -1 // of out, which can be marked
	var lastBlock *rawjson.Object
	for _, p := range parts {
		if p.Opaque != nil && p.Opaque.Provider == Provider {
			out = append(out, rawjson.Value(p.Opaque.JSON))
		} else if b := encodePart(p); b != nil {
			last, lastBlock = len(out), b
			out = append(out, b.JSON())
		}
	}
	if cache && lastBlock != nil {
		markCacheEnd(lastBlock)
		out[last] = lastBlock.JSON()
	}
	return out
}

// encodePart returns a part in the provider's words; nil for one that the provider does not take.
func encodePart(p llm.Part) *rawjson.Object {
	switch p.Kind {
	case llm.KindCall:
		return rawjson.New("type", "tool_use", "id", p.Call.ID, "name", p.Call.Name, "input", encodeArgs(p.Call.Args))
	case llm.KindResult:
		return encodeResult(*p.Result)
	}
	return encodeContent(p)
}

// encodeContent writes a part that may stand in a message and in a result; nil for
// another one, and for a text of white space alone, which is refused.
func encodeContent(p llm.Part) *rawjson.Object {
	switch p.Kind {
	case llm.KindText:
		if strings.TrimSpace(p.Text) != "" {
			return encodeText(p.Text)
		}
	case llm.KindImage:
		return rawjson.New("type", "image", "source", base64Source(*p.Media))
	case llm.KindDocument:
		return encodeDocument(*p.Media)
	case llm.KindAudio:
		return encodeText(adapter.Unreadable(*p.Media))
	}
	return nil
}

func encodeText(s string) *rawjson.Object { return rawjson.New("type", "text", "text", s) }

// encodeArgs returns a call's arguments as an object: the provider takes no other,
// and the model sometimes writes none.
func encodeArgs(args string) rawjson.Value {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil {
		return rawjson.New("not_an_object", args).JSON()
	}
	return rawjson.Value(args)
}

func encodeResult(r llm.Result) *rawjson.Object {
	out := rawjson.New("type", "tool_result", "tool_use_id", r.Call)
	if r.Failed {
		out.Set("is_error", true)
	}
	var parts []*rawjson.Object
	for _, p := range r.Parts {
		if b := encodeContent(p); b != nil {
			parts = append(parts, b)
		}
	}
	if len(parts) > 0 {
		out.Set("content", encodeList(parts))
	}
	return out
}

func base64Source(m llm.Media) *rawjson.Object {
	return rawjson.New("type", "base64", "media_type", adapter.MediaType(m), "data", m.Data)
}

func encodeDocument(m llm.Media) *rawjson.Object {
	out := rawjson.New("type", "document")
	if adapter.MediaType(m) == "application/pdf" {
		out.Set("source", base64Source(m))
	} else {
		out.Set("source", rawjson.New("type", "text", "media_type", "text/plain", "data", adapter.Content(m)))
	}
	if m.Name != "" {
		out.Set("title", m.Name)
	}
	return out
}
