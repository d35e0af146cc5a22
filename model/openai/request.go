package openai

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

// The words of a form, which [llm.SentBody] keeps.
const (
	// formOwn: the provider itself is asked, which knows max_completion_tokens.
	formOwn = "max_completion_tokens"
	// formNoReasoning: the model must not reason where it has tools.
	formNoReasoning = "no_reasoning"
)

func formOf(own, noReasoning bool) string {
	var words []string
	if own {
		words = append(words, formOwn)
	}
	if noReasoning {
		words = append(words, formNoReasoning)
	}
	return strings.Join(words, " ")
}

// Body returns the body of a request to the model of a name, as [Model.Generate]
// sends it. form is what [llm.SentBody] has of an earlier request; "" is the form that
// most servers understand.
func Body(name, form string, r llm.Request) []byte { return body(name, form, r, nil) }

func body(name, form string, r llm.Request, extra *Extra) []byte {
	words := strings.Fields(form)
	own, noReasoning := slices.Contains(words, formOwn), slices.Contains(words, formNoReasoning)
	out := rawjson.New("model", name, "stream", true, "stream_options", rawjson.New("include_usage", true))
	switch {
	case extra != nil:
		metadata := rawjson.New()
		for _, name := range slices.Sorted(maps.Keys(extra.Metadata)) {
			metadata.Set(name, extra.Metadata[name])
		}
		out.Set("user", extra.User)
		out.Set("metadata", metadata)
	case own:
		out.Set("max_completion_tokens", r.MaxTokens)
	default:
		out.Set("max_tokens", r.MaxTokens)
	}
	if len(r.Tools) > 0 {
		var tools []rawjson.Value
		for _, t := range r.Tools {
			f := rawjson.New("name", t.Name, "description", t.Description, "parameters", rawjson.Value(t.Schema))
			tools = append(tools, rawjson.New("type", "function", "function", f).JSON())
		}
		out.Set("tools", rawjson.List(tools...))
		if noReasoning {
			out.Set("reasoning_effort", "none")
		}
		if r.NoCalls {
			out.Set("tool_choice", "none")
		}
	}
	var messages []rawjson.Value
	if r.System != "" {
		messages = append(messages, encodeMessage("system", r.System))
	}
	for _, m := range r.Messages {
		if m.Role == earshot.Assistant {
			messages = append(messages, encodeAssistant(m.Parts)...)
		} else {
			messages = append(messages, encodeUser(m.Parts)...)
		}
	}
	out.Set("messages", rawjson.List(messages...))
	return out.JSON()
}

// encodeMessage writes a message of a role; content is a text or a list of parts.
func encodeMessage(role string, content any) rawjson.Value {
	return rawjson.New("role", role, "content", content).JSON()
}

// encodeAssistant writes a message of the model's own; none where there is nothing in
// it but what another provider kept.
func encodeAssistant(parts []llm.Part) []rawjson.Value {
	out := rawjson.New("role", "assistant")
	extra := map[string]rawjson.Value{}
	var text strings.Builder
	var calls []rawjson.Value
	for _, p := range parts {
		ours := p.Opaque != nil && p.Opaque.Provider == Provider
		switch {
		case p.Kind == llm.KindText:
			text.WriteString(p.Text)
		case p.Kind == llm.KindCall:
			c := rawjson.New("id", p.Call.ID, "type", "function", "function", rawjson.New("name", p.Call.Name, "arguments", p.Call.Args))
			if ours {
				members, _ := rawjson.Members([]byte(p.Opaque.JSON))
				for _, m := range members {
					c.Set(m.Name, m.Value)
				}
			}
			calls = append(calls, c.JSON())
		case p.Kind == llm.KindOpaque && ours:
			members, _ := rawjson.Members([]byte(p.Opaque.JSON))
			for _, m := range members {
				extra[m.Name] = m.Value
			}
		}
	}
	if text.Len() == 0 && len(calls) == 0 {
		return nil
	}
	if text.Len() > 0 {
		out.Set("content", text.String())
	}
	if len(calls) > 0 {
		out.Set("tool_calls", rawjson.List(calls...))
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		out.Set(name, extra[name])
	}
	return []rawjson.Value{out.JSON()}
}

// encodeUser writes a message of the user's: results of calls first, each a message
// of its own, then the rest with the files of the results.
func encodeUser(parts []llm.Part) []rawjson.Value {
	var out []rawjson.Value
	var rest []rawjson.Value
	lone := "" // the text of a rest that is a single text
	add := func(p llm.Part) {
		if v, text, ok := encodeContent(p); ok {
			rest, lone = append(rest, v), text
		}
	}
	for _, p := range parts {
		if p.Kind != llm.KindResult {
			add(p)
			continue
		}
		var lines []string
		for _, q := range p.Result.Parts {
			if q.Kind == llm.KindText {
				lines = append(lines, q.Text)
				continue
			}
			lines = append(lines, "["+adapter.Describe(*q.Media)+" follows below]")
			add(llm.Text("[" + adapter.Describe(*q.Media) + ", which " + p.Result.Name + " returned]"))
			add(q)
		}
		out = append(out, rawjson.New("role", "tool", "tool_call_id", p.Result.Call, "content", strings.Join(lines, "\n")).JSON())
	}
	switch {
	case len(rest) == 0:
	case len(rest) == 1 && lone != "":
		// The plain form: some servers know no other.
		out = append(out, encodeMessage("user", lone))
	default:
		out = append(out, encodeMessage("user", rawjson.List(rest...)))
	}
	return out
}

// encodeContent writes a part of a user's message, and returns its text where it is
// one; false for a part that cannot stand there.
func encodeContent(p llm.Part) (v rawjson.Value, text string, ok bool) {
	part := func(kind string, value any) (rawjson.Value, string, bool) {
		text, _ := value.(string)
		return rawjson.New("type", kind, kind, value).JSON(), text, true
	}
	switch p.Kind {
	case llm.KindText:
		return part("text", p.Text)
	case llm.KindImage:
		return part("image_url", rawjson.New("url", dataURL(*p.Media)))
	case llm.KindAudio:
		format, ok := audioFormats[adapter.MediaType(*p.Media)]
		if !ok {
			return part("text", adapter.Unreadable(*p.Media))
		}
		return part("input_audio", rawjson.New("data", p.Media.Data, "format", format))
	case llm.KindDocument:
		if adapter.MediaType(*p.Media) != "application/pdf" {
			return part("text", "["+adapter.Describe(*p.Media)+"]\n"+adapter.Content(*p.Media))
		}
		name := p.Media.Name
		if name == "" {
			name = "document.pdf"
		}
		return part("file", rawjson.New("filename", name, "file_data", dataURL(*p.Media)))
	}
	return nil, "", false
}

// audioFormats are the types of recordings that the API takes, and its names for
// them.
var audioFormats = map[string]string{
	"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/vnd.wave": "wav",
	"audio/mpeg": "mp3", "audio/mp3": "mp3",
}

func dataURL(m llm.Media) string {
	return "data:" + adapter.MediaType(m) + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}
