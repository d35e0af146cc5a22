package openai

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// An answer is what has come of a stream.
type answer struct {
	stream  func(llm.Event)
	model   string
	text    strings.Builder
	refused bool
	calls   []call // in the order of their indexes
	extra   fields // of the message
	finish  string
	usage   sdk.CompletionUsage
}

type call struct {
	index    int64
	id, name string
	args     strings.Builder
	extra    fields
}

// Fields are what a server adds to an answer for itself, by name: the pieces of
// texts are joined, those of lists appended, of others the last one stands.
type fields map[string]json.RawMessage

func (f *fields) add(extra map[string]respjson.Field) {
	for name, field := range extra {
		piece := json.RawMessage(field.Raw())
		if string(piece) == "null" || !json.Valid(piece) {
			continue
		}
		if *f == nil {
			*f = fields{}
		}
		(*f)[name] = join((*f)[name], piece)
	}
}

func join(before, piece json.RawMessage) json.RawMessage {
	var a, b string
	if json.Unmarshal(before, &a) == nil && json.Unmarshal(piece, &b) == nil {
		joined, _ := json.Marshal(a + b)
		return joined
	}
	var as, bs []json.RawMessage
	if json.Unmarshal(before, &as) == nil && json.Unmarshal(piece, &bs) == nil {
		joined, _ := json.Marshal(append(as, bs...))
		return joined
	}
	return piece
}

// keep are the fields of a message that its server wants back. Others (such as
// the role, or a server's notes) are of this answer alone.
var keep = []string{"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}

// add takes the next piece. Answers beside the first are not asked for.
func (a *answer) add(chunk sdk.ChatCompletionChunk) {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	if chunk.JSON.Usage.Valid() {
		a.usage = chunk.Usage
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		a.delta(choice.Delta)
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
}

func (a *answer) delta(d sdk.ChatCompletionChunkChoiceDelta) {
	a.write(d.Content)
	if d.Refusal != "" {
		a.refused = true
		a.write(d.Refusal)
	}
	a.extra.add(d.JSON.ExtraFields)
	for _, piece := range d.ToolCalls {
		i := slices.IndexFunc(a.calls, func(c call) bool { return c.index == piece.Index && (piece.ID == "" || c.id == "" || piece.ID == c.id) })
		if i < 0 {
			// Some servers give every call the index 0, and an id of its own.
			i = len(a.calls)
			a.calls = append(a.calls, call{index: piece.Index})
		}
		c := &a.calls[i]
		if c.name == "" && piece.Function.Name != "" {
			c.name = piece.Function.Name
			a.tell(llm.Event{Call: c.name})
		}
		if piece.ID != "" {
			c.id = piece.ID
		}
		c.args.WriteString(piece.Function.Arguments)
		c.extra.add(piece.JSON.ExtraFields)
	}
}

func (a *answer) write(text string) {
	if text != "" {
		a.text.WriteString(text)
		a.tell(llm.Event{Text: text})
	}
}

func (a *answer) tell(e llm.Event) {
	if a.stream != nil {
		a.stream(e)
	}
}

// response makes a response of the whole answer to r.
func (a *answer) response(r llm.Request) llm.Response {
	out := llm.Response{Provider: Provider, Model: a.model}
	kept := fields{}
	for _, name := range keep {
		if v, ok := a.extra[name]; ok {
			kept[name] = v
		}
	}
	if len(kept) > 0 {
		out.Parts = append(out.Parts, llm.Kept(Provider, object(kept)))
	}
	if a.text.Len() > 0 {
		out.Parts = append(out.Parts, llm.Text(a.text.String()))
	}
	ids := model.NewIDs(Provider, r)
	for i := range a.calls {
		c := &a.calls[i]
		if c.name == "" {
			continue
		}
		p := llm.Calling(llm.Call{ID: ids.Of(c.id), Name: c.name, Args: c.args.String()})
		if p.Call.Args == "" {
			p.Call.Args = "{}"
		}
		if len(c.extra) > 0 {
			p.Opaque = &llm.Opaque{Provider: Provider, JSON: object(c.extra)}
		}
		out.Parts = append(out.Parts, p)
	}
	switch a.finish {
	case "tool_calls", "function_call":
		out.Stop = llm.StopCalls
	case "length":
		out.Stop = llm.StopLength
	case "content_filter":
		out.Stop = llm.StopRefused
	default:
		out.Stop = llm.StopEnd
	}
	if a.refused {
		out.Stop = llm.StopRefused
	}
	cached := int(a.usage.PromptTokensDetails.CachedTokens)
	out.Usage.CacheRead = cached
	out.Usage.Input = max(0, int(a.usage.PromptTokens)-cached)
	out.Usage.Output = int(a.usage.CompletionTokens)
	return model.Finish(out)
}

// object writes fields in the order of their names.
func object(f fields) llm.JSON {
	b, _ := json.Marshal(f)
	return llm.JSON(b)
}
