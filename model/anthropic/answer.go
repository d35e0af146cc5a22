package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

// An answer is what has come of a stream so far.
type answer struct {
	stream func(llm.Event)
	model  string
	blocks []*block
	stop   string
	ended  bool // by the provider
	usage  usage
}

// A usage is the provider's count. Its figures are totals: a later one takes the
// place of an earlier one, where it is there.
type usage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
}

func (u *usage) update(by usage) {
	for _, x := range []struct{ to, from **int }{
		{&u.Input, &by.Input}, {&u.Output, &by.Output}, {&u.CacheRead, &by.CacheRead}, {&u.CacheWrite, &by.CacheWrite},
	} {
		if *x.from != nil {
			*x.to = *x.from
		}
	}
}

// An event is one of the stream's, with the fields of all types.
type event struct {
	Type    string
	Message struct {
		Model string
		Usage usage
	}
	Index int
	Block json.RawMessage `json:"content_block"`
	Delta delta
	Usage usage
}

// A delta is what a block or the message grows by.
type delta struct {
	Type       string
	Text       string
	JSON       string `json:"partial_json"`
	Thinking   string
	Signature  string
	Citation   json.RawMessage
	StopReason string `json:"stop_reason"`
}

// add takes the next event. An event of a type that is not known here is left
// out, as the API's versioning asks for.
func (a *answer) add(from sse.Event) *adapter.Fault {
	var e event
	if err := adapter.Decode(from.Data, &e); err != nil {
		return &adapter.Fault{Err: err}
	}
	if e.Type == "" {
		e.Type = from.Name
	}
	switch e.Type {
	case "error":
		f := faultIn(from.Data, true)
		if f.Code == "" && f.Message == "" {
			f.Err = fmt.Errorf("an error of an unknown form")
		}
		return &f
	case "message_start":
		if e.Message.Model != "" {
			a.model = e.Message.Model
		}
		a.usage.update(e.Message.Usage)
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(a.blocks) {
			return &adapter.Fault{Err: fmt.Errorf("block %d goes on before it has begun", e.Index)}
		}
		b := a.blocks[e.Index]
		b.grow(e.Delta)
		if b.Type == "text" && e.Delta.Type == "text_delta" {
			adapter.SendEvent(a.stream, llm.Event{Text: e.Delta.Text})
		}
	case "message_delta":
		a.stop = e.Delta.StopReason
		a.usage.update(e.Usage)
	case "message_stop":
		a.ended = true
	}
	return nil
}

// start begins a block. Blocks begin in the order of their indexes.
func (a *answer) start(e event) *adapter.Fault {
	if e.Index != len(a.blocks) {
		return &adapter.Fault{Err: fmt.Errorf("block %d begins where block %d is due", e.Index, len(a.blocks))}
	}
	b := &block{raw: e.Block}
	if err := adapter.Decode(e.Block, b); err != nil {
		return &adapter.Fault{Err: fmt.Errorf("block %d: %w", e.Index, err)}
	}
	a.blocks = append(a.blocks, b)
	switch b.Type {
	case "tool_use":
		adapter.SendEvent(a.stream, llm.Event{Call: b.Name})
	case "text":
		adapter.SendEvent(a.stream, llm.Event{Text: b.Text})
	}
	return nil
}

// A block is one of the answer's: as it began, and what it has grown by.
type block struct {
	raw       json.RawMessage
	Type      string
	ID        string
	Name      string
	Text      string
	Thinking  string
	Signature string
	Input     json.RawMessage
	Citations []json.RawMessage

	text, thinking, signature, input strings.Builder
	citations                        []json.RawMessage
}

func (b *block) grow(d delta) {
	switch d.Type {
	case "text_delta":
		b.text.WriteString(d.Text)
	case "thinking_delta":
		b.thinking.WriteString(d.Thinking)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.input.WriteString(d.JSON)
	case "citations_delta":
		if len(d.Citation) > 0 {
			b.citations = append(b.citations, d.Citation)
		}
	}
}

// whole returns the block as the provider would have written it at once. Fields
// by which it has not grown, and those that are not known here, stay as they
// came.
func (b *block) whole() llm.JSON {
	raw := []byte(b.raw)
	set := func(name, began string, grown *strings.Builder) {
		if grown.Len() > 0 {
			raw = rawjson.Replace(raw, name, rawjson.Of(began+grown.String()))
		}
	}
	set("text", b.Text, &b.text)
	set("thinking", b.Thinking, &b.thinking)
	set("signature", b.Signature, &b.signature)
	if input := b.arguments(); b.input.Len() > 0 && json.Valid([]byte(input)) {
		raw = rawjson.Replace(raw, "input", rawjson.Value(input))
	}
	if len(b.citations) > 0 {
		var list []rawjson.Value
		for _, c := range append(b.Citations, b.citations...) {
			list = append(list, rawjson.Value(c))
		}
		raw = rawjson.Replace(raw, "citations", rawjson.List(list...))
	}
	return llm.JSON(raw)
}

// arguments returns the input of a call: it begins empty and comes in pieces, or
// comes at once.
func (b *block) arguments() string {
	if began := strings.TrimSpace(string(b.Input)); b.input.Len() == 0 || began != "{}" && began != "" && began != "null" {
		return began + b.input.String()
	}
	return b.input.String()
}

// part returns the block as a part of a response; false where there is nothing
// in it.
func (b *block) part(ids *adapter.IDs) (llm.Part, bool) {
	switch b.Type {
	case "text":
		p := llm.Text(b.Text + b.text.String())
		if len(b.Citations)+len(b.citations) > 0 {
			p.Opaque = &llm.Opaque{Provider: Provider, JSON: b.whole()}
		}
		return p, p.Text != ""
	case "tool_use":
		return llm.Calling(llm.Call{ID: ids.Of(b.ID), Name: b.Name, Args: adapter.Arguments(b.arguments())}), true
	}
	raw := b.whole()
	return llm.OpaquePart(Provider, raw), raw.Valid()
}

// response returns the whole answer to request.
func (a *answer) response(request llm.Request) llm.Response {
	ids := adapter.NewIDs(Provider, request)
	r := llm.Response{Model: a.model, Usage: a.usage.total()}
	for _, b := range a.blocks {
		if p, ok := b.part(ids); ok {
			r.Parts = append(r.Parts, p)
		}
	}
	switch a.stop {
	case "tool_use":
		r.Stop = llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = llm.StopLength
	case "refusal":
		r.Stop = llm.StopRefused
	default:
		r.Stop = llm.StopEnd
	}
	return adapter.Finish(r)
}

func (u usage) total() earshot.Usage {
	at := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	return earshot.Usage{Input: at(u.Input), Output: at(u.Output), CacheRead: at(u.CacheRead), CacheWrite: at(u.CacheWrite)}
}
