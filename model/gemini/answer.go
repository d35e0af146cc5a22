package gemini

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

// An answer is what has come of a stream so far.
type answer struct {
	stream  func(llm.Event)
	ids     *adapter.IDs
	model   string
	parts   []llm.Part
	finish  string
	blocked bool // the prompt was
	usage   earshot.Usage
}

// A chunk is an event of the stream: a piece of an answer, or an error.
type chunk struct {
	Error        json.RawMessage
	ModelVersion string
	Feedback     struct {
		BlockReason string
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Tools      int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Candidates []struct {
		Index        int
		Content      struct{ Parts []json.RawMessage }
		FinishReason string
	}
}

// add takes the data of the next event.
func (a *answer) add(data []byte) *adapter.Fault {
	var c chunk
	if err := adapter.Decode(data, &c); err != nil {
		return &adapter.Fault{Err: err}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		f := errorIn(data)
		if f.Message == "" {
			f.Err = errors.New("an error of an unknown form")
		}
		return &f
	}
	if c.ModelVersion != "" {
		a.model = c.ModelVersion
	}
	a.blocked = a.blocked || c.Feedback.BlockReason != ""
	if u := c.Usage; u != nil {
		a.usage = earshot.Usage{
			Input:     max(0, u.Prompt-u.Cached) + u.Tools,
			Output:    u.Candidates + u.Thoughts,
			CacheRead: u.Cached,
		}
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue // answers beside the first are not asked for
		}
		for _, raw := range candidate.Content.Parts {
			a.part(raw)
		}
		if f := candidate.FinishReason; f != "" && f != "FINISH_REASON_UNSPECIFIED" {
			a.finish = f
		}
	}
	return nil
}

// part takes a part. One with a signature stays a part of its own, in its own
// form; a text without one continues the text before it. Thoughts without a
// signature are left out.
func (a *answer) part(raw json.RawMessage) {
	var p struct {
		Text             string
		Thought          bool
		ThoughtSignature string
		FunctionCall     *struct {
			ID   string
			Name string
			Args json.RawMessage
		}
	}
	if adapter.Decode(raw, &p) != nil {
		return
	}
	own := &llm.Opaque{Provider: Provider, JSON: llm.JSON(raw)}
	switch {
	case p.FunctionCall != nil:
		call := llm.Calling(llm.Call{ID: a.ids.Of(p.FunctionCall.ID), Name: p.FunctionCall.Name, Args: adapter.Arguments(string(p.FunctionCall.Args))})
		call.Opaque = own
		a.parts = append(a.parts, call)
		adapter.SendEvent(a.stream, llm.Event{Call: p.FunctionCall.Name})
	case p.Text != "" && !p.Thought:
		last := len(a.parts) - 1
		if p.ThoughtSignature != "" {
			text := llm.Text(p.Text)
			text.Opaque = own
			a.parts = append(a.parts, text)
		} else if last >= 0 && a.parts[last].Kind == llm.KindText && a.parts[last].Opaque == nil {
			a.parts[last].Text += p.Text
		} else {
			a.parts = append(a.parts, llm.Text(p.Text))
		}
		adapter.SendEvent(a.stream, llm.Event{Text: p.Text})
	case p.ThoughtSignature != "" || !p.Thought && holdsMore(raw):
		a.parts = append(a.parts, llm.Part{Kind: llm.KindOpaque, Opaque: own})
	}
}

// holdsMore reports whether a part holds anything but a text, such as code that
// the provider ran.
func holdsMore(part []byte) bool {
	members, _ := rawjson.Members(part)
	return slices.ContainsFunc(members, func(m rawjson.Member) bool {
		return m.Name != "text" && m.Name != "thought" && m.Name != "thoughtSignature" && string(m.Value) != "null"
	})
}

// declined are the ends by which the provider holds an answer back. Others that
// are not known here end an answer that is there.
var declined = []string{"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}

// response returns the whole answer.
func (a *answer) response() llm.Response {
	out := llm.Response{Model: a.model, Parts: a.parts, Usage: a.usage, Stop: llm.StopEnd}
	switch {
	case a.finish == "MAX_TOKENS":
		out.Stop = llm.StopLength
	case a.blocked, slices.Contains(declined, a.finish), a.finish != "STOP" && len(a.parts) == 0:
		out.Stop = llm.StopRefused
	}
	return adapter.Finish(out)
}
