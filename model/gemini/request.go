package gemini

import (
	"encoding/base64"
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
	out := rawjson.New("contents", encodeContents(name, r.Messages))
	out.Set("generationConfig", rawjson.New("maxOutputTokens", min(r.MaxTokens, 1<<30)))
	if r.System != "" {
		out.Set("systemInstruction", encodeContent("user", []rawjson.Value{encodeText(r.System)}))
	}
	if len(r.Tools) == 0 {
		return out.JSON()
	}
	var functions []rawjson.Value
	for _, t := range r.Tools {
		f := rawjson.New("name", t.Name, "description", t.Description)
		if hasProperties(t.Schema) {
			f.Set("parametersJsonSchema", rawjson.Value(t.Schema)) // an object without properties is refused
		}
		functions = append(functions, f.JSON())
	}
	out.Set("tools", rawjson.List(rawjson.New("functionDeclarations", rawjson.List(functions...)).JSON()))
	if r.NoCalls {
		out.Set("toolConfig", rawjson.New("functionCallingConfig", rawjson.New("mode", "NONE")))
	}
	return out.JSON()
}

func hasProperties(schema llm.JSON) bool {
	var s struct {
		Properties map[string]json.RawMessage
	}
	return adapter.Decode([]byte(schema), &s) == nil && len(s.Properties) > 0
}

// encodeContent writes a message of a role.
func encodeContent(role string, parts []rawjson.Value) *rawjson.Object {
	return rawjson.New("role", role, "parts", rawjson.List(parts...))
}

func encodeContents(name string, messages []llm.Message) rawjson.Value {
	w := &writer{signs: needsSignature(name), ids: map[string]string{}}
	var out []rawjson.Value
	for _, m := range messages {
		role := "user"
		if m.Role == earshot.Assistant {
			role = "model"
		}
		if parts := w.parts(m); len(parts) > 0 {
			out = append(out, encodeContent(role, parts).JSON())
		}
	}
	return rawjson.List(out...)
}

// needsSignature reports whether a model refuses the first call of a turn without a
// signature: those from Gemini 3 on do
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
func needsSignature(name string) bool {
	return strings.Contains(name, "gemini-") && !strings.Contains(name, "gemini-1") && !strings.Contains(name, "gemini-2")
}

// unsigned stands for the signature of a call that another model made. The page
// above names it for that purpose; the API wants it in base64, as any signature.
const unsigned = "skip_thought_signature_validator"

// A writer writes the parts of messages.
type writer struct {
	signs bool
	ids   map[string]string // of calls: ours to the provider's, where it gave one
}

// parts writes the parts of a message; the files of results stand behind all
// others.
func (w *writer) parts(m llm.Message) []rawjson.Value {
	var out, files []rawjson.Value
	called := false
	for _, p := range m.Parts {
		switch {
		case p.Opaque != nil && p.Opaque.Provider == Provider:
			if p.Kind == llm.KindCall {
				w.remember(p)
				called = true
			}
			out = append(out, rawjson.Value(p.Opaque.JSON))
		case p.Kind == llm.KindCall:
			out = append(out, w.call(*p.Call, !called))
			called = true
		case p.Kind == llm.KindResult:
			response, more := w.result(*p.Result)
			out = append(out, response)
			files = append(files, more...)
		case p.Kind == llm.KindText:
			out = append(out, encodeText(p.Text))
		case p.Media != nil:
			out = append(out, encodeFile(*p.Media))
		}
	}
	return append(out, files...)
}

// remember notes the id that the provider gave a call, for the call's result.
func (w *writer) remember(call llm.Part) {
	var part struct {
		FunctionCall struct{ ID string }
	}
	_ = adapter.Decode([]byte(call.Opaque.JSON), &part)
	w.ids[call.Call.ID] = part.FunctionCall.ID
}

// call writes a call that another model made. Arguments that are no object are
// put into one: the API takes no other.
func (w *writer) call(c llm.Call, first bool) rawjson.Value {
	f := rawjson.New("name", c.Name)
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Args), &args) != nil {
		f.Set("args", rawjson.New("not_an_object", c.Args))
	} else if len(args) > 0 {
		f.Set("args", rawjson.Value(c.Args))
	}
	p := rawjson.New("functionCall", f)
	if first && w.signs {
		p.Set("thoughtSignature", base64.StdEncoding.EncodeToString([]byte(unsigned)))
	}
	return p.JSON()
}

// result writes what a tool returned, and its files with a line before each:
// not every model takes files in the response of a function.
func (w *writer) result(r llm.Result) (response rawjson.Value, files []rawjson.Value) {
	var lines []string
	for _, p := range r.Parts {
		if p.Kind == llm.KindText {
			lines = append(lines, p.Text)
			continue
		}
		name := adapter.Describe(*p.Media)
		lines = append(lines, "["+name+" follows below]")
		files = append(files, encodeText("["+name+", which "+r.Name+" returned]"), encodeFile(*p.Media))
	}
	key := "output"
	if r.Failed {
		key = "error"
	}
	f := rawjson.New("name", r.Name, "response", rawjson.New(key, strings.Join(lines, "\n")))
	if id := w.ids[r.Call]; id != "" {
		f.Set("id", id)
	}
	return rawjson.New("functionResponse", f).JSON(), files
}

func encodeText(s string) rawjson.Value { return rawjson.New("text", s).JSON() }

// encodeFile writes a file: of a text its content with a line before it.
func encodeFile(m llm.Media) rawjson.Value {
	kind := adapter.MediaType(m)
	if strings.HasPrefix(kind, "text/") || kind == "application/json" {
		return encodeText("[" + adapter.Describe(m) + "]\n" + adapter.Content(m))
	}
	return rawjson.New("inlineData", rawjson.New("mimeType", kind, "data", m.Data)).JSON()
}
