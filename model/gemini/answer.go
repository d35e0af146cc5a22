package gemini

import (
	"encoding/json"
	"fmt"

	sdk "google.golang.org/genai"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// An answer is what has come of a stream.
type answer struct {
	stream  func(llm.Event)
	ids     *model.IDs
	model   string
	parts   []llm.Part
	finish  sdk.FinishReason
	blocked bool // the prompt was
	usage   earshot.Usage
}

// add takes the next piece.
func (a *answer) add(chunk *sdk.GenerateContentResponse) error {
	if chunk.ModelVersion != "" {
		a.model = chunk.ModelVersion
	}
	if f := chunk.PromptFeedback; f != nil && f.BlockReason != "" {
		a.blocked = true
	}
	if u := chunk.UsageMetadata; u != nil {
		cached := int(u.CachedContentTokenCount)
		a.usage = earshot.Usage{
			Input:     max(0, int(u.PromptTokenCount)-cached) + int(u.ToolUsePromptTokenCount),
			Output:    int(u.CandidatesTokenCount) + int(u.ThoughtsTokenCount),
			CacheRead: cached,
		}
	}
	for _, c := range chunk.Candidates {
		if c.Index != 0 {
			continue
		}
		if c.Content != nil {
			for _, p := range c.Content.Parts {
				if err := a.part(p); err != nil {
					return err
				}
			}
		}
		if c.FinishReason != "" && c.FinishReason != sdk.FinishReasonUnspecified {
			a.finish = c.FinishReason
		}
	}
	return nil
}

// part takes a part. One with a signature stays a part of its own, in its own
// form; a text without one goes on with the text before it.
func (a *answer) part(p *sdk.Part) error {
	if p == nil {
		return nil
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("keep a part: %w", err)
	}
	own := &llm.Opaque{Provider: Provider, JSON: llm.JSON(raw)}
	switch {
	case p.FunctionCall != nil:
		args, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			return fmt.Errorf("read a call's arguments: %w", err)
		}
		if p.FunctionCall.Args == nil {
			args = []byte("{}")
		}
		call := llm.Calling(llm.Call{ID: a.ids.Of(p.FunctionCall.ID), Name: p.FunctionCall.Name, Args: string(args)})
		call.Opaque = own
		a.parts = append(a.parts, call)
		a.tell(llm.Event{Call: p.FunctionCall.Name})
	case p.Text != "" && !p.Thought:
		last := len(a.parts) - 1
		if len(p.ThoughtSignature) > 0 {
			text := llm.Text(p.Text)
			text.Opaque = own
			a.parts = append(a.parts, text)
		} else if last >= 0 && a.parts[last].Kind == llm.KindText && a.parts[last].Opaque == nil {
			a.parts[last].Text += p.Text
		} else {
			a.parts = append(a.parts, llm.Text(p.Text))
		}
		a.tell(llm.Event{Text: p.Text})
	case len(p.ThoughtSignature) > 0 || string(raw) != `{}` && !p.Thought:
		a.parts = append(a.parts, llm.Part{Kind: llm.KindOpaque, Opaque: own})
	}
	return nil
}

func (a *answer) tell(e llm.Event) {
	if a.stream != nil {
		a.stream(e)
	}
}

// declined are the ends by which the provider holds an answer back. Others that
// are not known here end one that is there.
var declined = map[sdk.FinishReason]bool{
	sdk.FinishReasonSafety: true, sdk.FinishReasonRecitation: true, sdk.FinishReasonLanguage: true,
	sdk.FinishReasonBlocklist: true, sdk.FinishReasonProhibitedContent: true, sdk.FinishReasonSPII: true,
}

func (a *answer) response() llm.Response {
	out := llm.Response{Provider: Provider, Model: a.model, Parts: a.parts, Usage: a.usage}
	out.Stop = llm.StopEnd
	switch {
	case a.finish == sdk.FinishReasonMaxTokens:
		out.Stop = llm.StopLength
	case a.blocked, declined[a.finish], a.finish != sdk.FinishReasonStop && len(a.parts) == 0:
		out.Stop = llm.StopRefused
	}
	return model.Finish(out)
}
