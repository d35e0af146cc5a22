package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// A content is a message in the provider's words. It is written here and not by
// the SDK, so that what the provider kept goes back as it came.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// config writes what stands beside the messages. They are put in place of those
// that the SDK was given.
func (m *Model) config(r llm.Request, contents []content) *sdk.GenerateContentConfig {
	resume := false // one try, whatever the SDK would do
	c := &sdk.GenerateContentConfig{
		MaxOutputTokens:       int32(min(r.MaxTokens, 1<<30)),
		AutomaticContinuation: &resume,
		HTTPOptions: &sdk.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
			body["contents"] = contents
			return body
		}},
	}
	if r.System != "" {
		c.SystemInstruction = &sdk.Content{Parts: []*sdk.Part{{Text: r.System}}}
	}
	if len(r.Tools) == 0 {
		return c
	}
	tool := &sdk.Tool{}
	for _, t := range r.Tools {
		f := &sdk.FunctionDeclaration{Name: t.Name, Description: t.Description}
		var schema map[string]any
		if json.Unmarshal([]byte(t.Schema), &schema) == nil && hasProperties(schema) {
			f.ParametersJsonSchema = schema // an object without properties is refused
		}
		tool.FunctionDeclarations = append(tool.FunctionDeclarations, f)
	}
	c.Tools = []*sdk.Tool{tool}
	if r.NoCalls {
		c.ToolConfig = &sdk.ToolConfig{FunctionCallingConfig: &sdk.FunctionCallingConfig{Mode: sdk.FunctionCallingConfigModeNone}}
	}
	return c
}

func hasProperties(schema map[string]any) bool {
	properties, ok := schema["properties"].(map[string]any)
	return ok && len(properties) > 0
}

// stand returns the messages that the SDK is given, which it only counts.
func stand() []*sdk.Content { return sdk.Text("-") }

// contents writes the messages.
func contents(name string, r llm.Request) ([]content, error) {
	w := &writer{name: name, ids: map[string]string{}}
	var out []content
	for _, m := range r.Messages {
		c := content{Role: sdk.RoleUser}
		if m.Role == earshot.Assistant {
			c.Role = sdk.RoleModel
		}
		w.parts = nil
		if err := w.message(m); err != nil {
			return nil, err
		}
		if c.Parts = w.parts; len(c.Parts) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

type writer struct {
	name  string
	parts []json.RawMessage
	ids   map[string]string // of calls: ours to the provider's, where it gave one
}

func (w *writer) add(p *sdk.Part) error {
	raw, err := json.Marshal(p)
	if err == nil {
		w.parts = append(w.parts, raw)
	}
	return err
}

func (w *writer) text(s string) error { return w.add(&sdk.Part{Text: s}) }

func (w *writer) message(m llm.Message) error {
	called := false
	var files []llm.Part // of results: they stand behind all of these
	for _, p := range m.Parts {
		var err error
		switch {
		case p.Opaque != nil && p.Opaque.Provider == Provider:
			err = w.kept(p)
			called = called || p.Kind == llm.KindCall
		case p.Kind == llm.KindCall:
			err = w.call(*p.Call, !called)
			called = true
		case p.Kind == llm.KindResult:
			var more []llm.Part
			more, err = w.result(*p.Result)
			files = append(files, more...)
		case p.Kind == llm.KindText:
			err = w.text(p.Text)
		case p.Media != nil:
			err = w.file(*p.Media)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range files {
		var err error
		if p.Kind == llm.KindText {
			err = w.text(p.Text)
		} else {
			err = w.file(*p.Media)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kept puts back what the provider wrote.
func (w *writer) kept(p llm.Part) error {
	w.parts = append(w.parts, json.RawMessage(p.Opaque.JSON))
	if p.Kind != llm.KindCall {
		return nil
	}
	var part struct {
		FunctionCall struct {
			ID string `json:"id"`
		} `json:"functionCall"`
	}
	if err := json.Unmarshal([]byte(p.Opaque.JSON), &part); err != nil {
		return err
	}
	w.ids[p.Call.ID] = part.FunctionCall.ID
	return nil
}

// unsigned stands for the signature of a call that another model made. The API
// refuses, from Gemini 3 on, a turn's first call without one, and takes this instead:
// https://ai.google.dev/gemini-api/docs/thought-signatures
const unsigned = "skip_thought_signature_validator"

// call writes a call of another model's.
func (w *writer) call(c llm.Call, first bool) error {
	p := &sdk.Part{FunctionCall: &sdk.FunctionCall{Name: c.Name, Args: map[string]any{}}}
	if json.Unmarshal([]byte(c.Args), &p.FunctionCall.Args) != nil {
		p.FunctionCall.Args = map[string]any{"not_an_object": strings.ToValidUTF8(c.Args, "\uFFFD")}
	}
	if first && strings.Contains(w.name, "gemini-") && !strings.Contains(w.name, "gemini-1") && !strings.Contains(w.name, "gemini-2") {
		p.ThoughtSignature = []byte(unsigned)
	}
	return w.add(p)
}

// result writes what a tool said, and returns its files with a line before
// each: a response of a function holds none for every model.
func (w *writer) result(r llm.Result) ([]llm.Part, error) {
	var text []string
	var files []llm.Part
	for _, p := range r.Parts {
		if p.Kind == llm.KindText {
			text = append(text, p.Text)
			continue
		}
		text = append(text, "["+model.Describe(*p.Media)+" follows below]")
		files = append(files, llm.Text("["+model.Describe(*p.Media)+", which "+r.Name+" returned]"), p)
	}
	key := "output"
	if r.Failed {
		key = "error"
	}
	return files, w.add(&sdk.Part{FunctionResponse: &sdk.FunctionResponse{
		ID: w.ids[r.Call], Name: r.Name, Response: map[string]any{key: strings.Join(text, "\n")},
	}})
}

func (w *writer) file(m llm.Media) error {
	mediaType, _, _ := strings.Cut(m.Type, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	if strings.HasPrefix(mediaType, "text/") || mediaType == "application/json" {
		return w.text("[" + model.Describe(m) + "]\n" + strings.ToValidUTF8(string(m.Data), "\uFFFD"))
	}
	blob := map[string]any{"inlineData": map[string]any{"mimeType": mediaType, "data": base64.StdEncoding.EncodeToString(m.Data)}}
	raw, err := json.Marshal(blob)
	w.parts = append(w.parts, raw)
	return err
}
