package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

// An answer is what has come of a stream so far.
type answer struct {
	stream  func(llm.Event)
	model   string
	text    strings.Builder
	refused bool
	calls   []*call // in the order in which they began
	extra   fields  // of the message
	finish  string
	usage   usage
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type call struct {
	index    int
	id, name string
	args     strings.Builder
	extra    fields
}

// A chunk is an event of the stream: a piece of an answer, or an error.
type chunk struct {
	Model   string
	Error   json.RawMessage
	Usage   *usage
	Choices []struct {
		Index  int
		Delta  json.RawMessage
		Finish string `json:"finish_reason"`
	}
}

// A delta is what a message grows by.
type delta struct {
	Content   string
	Refusal   string
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// A callDelta is what a call grows by.
type callDelta struct {
	Index    int
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage
	}
}

// arguments returns the next piece of the arguments' text. Some servers write
// the whole object instead.
func (d callDelta) arguments() string {
	var text string
	if raw := d.Function.Arguments; json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// add takes the next event.
func (a *answer) add(e sse.Event) *adapter.Fault {
	var c chunk
	if err := adapter.Decode(e.Data, &c); err != nil {
		return &adapter.Fault{Err: err}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || e.Name == "error" {
		f := faultIn(e.Data, true)
		if f.Message == "" && f.Code == "" {
			f.Err = errors.New("an error of an unknown form")
		}
		return &f
	}
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil {
		a.usage = *c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // answers beside the first are not asked for
		}
		a.grow(choice.Delta)
		if choice.Finish != "" {
			a.finish = choice.Finish
		}
	}
	return nil
}

func (a *answer) grow(raw json.RawMessage) {
	var d delta
	if len(raw) == 0 || adapter.Decode(raw, &d) != nil {
		return
	}
	a.write(d.Content)
	if d.Refusal != "" {
		a.refused = true
		a.write(d.Refusal)
	}
	a.extra.add(raw, "content", "function_call", "refusal", "role", "tool_calls")
	for _, raw := range d.ToolCalls {
		var piece callDelta
		if adapter.Decode(raw, &piece) == nil {
			a.growCall(piece, raw)
		}
	}
}

func (a *answer) growCall(piece callDelta, raw json.RawMessage) {
	i := slices.IndexFunc(a.calls, func(c *call) bool {
		return c.index == piece.Index && (piece.ID == "" || c.id == "" || piece.ID == c.id)
	})
	if i < 0 {
		// Some servers give every call the index 0, and an id of its own.
		i = len(a.calls)
		a.calls = append(a.calls, &call{index: piece.Index})
	}
	c := a.calls[i]
	if c.name == "" && piece.Function.Name != "" {
		c.name = piece.Function.Name
		adapter.SendEvent(a.stream, llm.Event{Call: c.name})
	}
	if piece.ID != "" {
		c.id = piece.ID
	}
	c.args.WriteString(piece.arguments())
	c.extra.add(raw, "index", "id", "function", "type")
}

func (a *answer) write(text string) {
	a.text.WriteString(text)
	adapter.SendEvent(a.stream, llm.Event{Text: text})
}

// Fields are what a server adds to an answer for itself, by name.
type fields map[string]*field

// A field grows in pieces: texts are joined, lists appended, and of anything
// else the last piece stands. A field of one piece stays as it came.
type field struct {
	kind   byte // of the JSON: " for a text, [ for a list, 0 for anything else
	pieces int
	last   json.RawMessage
	text   strings.Builder
	list   []rawjson.Value
}

// add adds the members of an object, without those that the API knows.
func (f *fields) add(object json.RawMessage, known ...string) {
	members, _ := rawjson.Members(object)
	for _, m := range members {
		if slices.Contains(known, m.Name) || string(m.Value) == "null" {
			continue
		}
		if *f == nil {
			*f = fields{}
		}
		if (*f)[m.Name] == nil {
			(*f)[m.Name] = &field{}
		}
		(*f)[m.Name].add(json.RawMessage(bytes.Clone(m.Value)))
	}
}

func (f *field) add(piece json.RawMessage) {
	var text string
	var list []json.RawMessage
	kind := byte(0)
	switch {
	case json.Unmarshal(piece, &text) == nil:
		kind = '"'
	case json.Unmarshal(piece, &list) == nil:
		kind = '['
	}
	if kind == 0 || kind != f.kind {
		*f = field{kind: kind}
	}
	f.pieces++
	f.last = piece
	f.text.WriteString(text)
	for _, v := range list {
		f.list = append(f.list, rawjson.Value(v))
	}
}

func (f *field) value() rawjson.Value {
	switch {
	case f.pieces > 1 && f.kind == '"':
		return rawjson.Of(f.text.String())
	case f.pieces > 1 && f.kind == '[':
		return rawjson.List(f.list...)
	}
	return rawjson.Value(f.last)
}

// object writes fields in the order of their names, of all or of the given ones.
func (f fields) object(only ...string) (llm.JSON, bool) {
	out := rawjson.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if len(only) == 0 || slices.Contains(only, name) {
			out.Set(name, f[name].value())
		}
	}
	return llm.JSON(out.JSON()), !out.Empty()
}

// keep are the fields of a message that its server wants back. Others, such as a
// server's notes, belong to this answer alone.
var keep = []string{"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}

// response returns the whole answer to r.
func (a *answer) response(r llm.Request) llm.Response {
	out := llm.Response{Model: a.model}
	if kept, ok := a.extra.object(keep...); ok {
		out.Parts = append(out.Parts, llm.OpaquePart(Provider, kept))
	}
	if a.text.Len() > 0 {
		out.Parts = append(out.Parts, llm.Text(a.text.String()))
	}
	ids := adapter.NewIDs(Provider, r)
	for _, c := range a.calls {
		p := llm.Calling(llm.Call{ID: ids.Of(c.id), Name: c.name, Args: c.args.String()})
		if p.Call.Args == "" {
			p.Call.Args = "{}"
		}
		if kept, ok := c.extra.object(); ok {
			p.Opaque = &llm.Opaque{Provider: Provider, JSON: kept}
		}
		out.Parts = append(out.Parts, p)
	}
	switch {
	case a.refused, a.finish == "content_filter":
		out.Stop = llm.StopRefused
	case a.finish == "tool_calls", a.finish == "function_call":
		out.Stop = llm.StopCalls
	case a.finish == "length":
		out.Stop = llm.StopLength
	default:
		out.Stop = llm.StopEnd
	}
	cached := a.usage.Details.Cached
	out.Usage.CacheRead = cached
	out.Usage.Input = max(0, a.usage.Prompt-cached)
	out.Usage.Output = a.usage.Completion
	return adapter.Finish(out)
}
