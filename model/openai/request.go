package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// params writes a request in the provider's words; blunt says that the model
// must not reason where it has tools.
func (m *Model) params(r llm.Request, blunt bool) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model:         m.options.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if m.own {
		p.MaxCompletionTokens = sdk.Int(int64(r.MaxTokens))
	} else {
		p.MaxTokens = sdk.Int(int64(r.MaxTokens))
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionToolUnionParam{OfFunction: &sdk.ChatCompletionFunctionToolParam{
			Function: shared.FunctionDefinitionParam{
				Name: t.Name, Description: sdk.String(t.Description), Parameters: schema(t.Schema),
			},
		}})
	}
	if len(p.Tools) > 0 && blunt {
		p.ReasoningEffort = shared.ReasoningEffortNone
	}
	if r.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice.OfAuto = sdk.String("none")
	}
	if r.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(r.System))
	}
	for _, message := range r.Messages {
		if message.Role == earshot.Assistant {
			p.Messages = append(p.Messages, assistant(message.Parts)...)
		} else {
			p.Messages = append(p.Messages, user(message.Parts)...)
		}
	}
	return p
}

// schema reads a tool's schema. That it is an object's was checked with the
// request; maps are written in the order of their keys, so that a request is
// the same each time.
func schema(s llm.JSON) shared.FunctionParameters {
	var out shared.FunctionParameters
	_ = json.Unmarshal([]byte(s), &out)
	return out
}

// assistant writes a message of the model's own; none where there is nothing in
// it but what another provider kept.
func assistant(parts []llm.Part) []sdk.ChatCompletionMessageParamUnion {
	out := &sdk.ChatCompletionAssistantMessageParam{}
	extra := map[string]any{}
	var text strings.Builder
	for _, p := range parts {
		ours := p.Opaque != nil && p.Opaque.Provider == Provider
		switch p.Kind {
		case llm.KindText:
			text.WriteString(p.Text)
		case llm.KindCall:
			c := &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       p.Call.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Call.Name, Arguments: p.Call.Args},
			}
			if ours {
				c.SetExtraFields(members(p.Opaque.JSON))
			}
			out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: c})
		case llm.KindOpaque:
			if ours {
				for name, v := range members(p.Opaque.JSON) {
					extra[name] = v
				}
			}
		}
	}
	if text.Len() > 0 {
		out.Content.OfString = sdk.String(text.String())
	}
	if text.Len() == 0 && len(out.ToolCalls) == 0 {
		return nil
	}
	if len(extra) > 0 {
		out.SetExtraFields(extra)
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: out}}
}

// members returns an object's fields, each as it was written.
func members(object llm.JSON) map[string]any {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(object), &fields)
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		out[name] = v
	}
	return out
}

// user writes a message of the user's: results of calls first, each a message
// of its own, then the rest with the files of the results.
func user(parts []llm.Part) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	var rest []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		if p.Kind != llm.KindResult {
			rest = append(rest, content(p)...)
			continue
		}
		var text strings.Builder
		line := func(s string) {
			if text.Len() > 0 {
				text.WriteString("\n")
			}
			text.WriteString(s)
		}
		for _, q := range p.Result.Parts {
			if q.Kind == llm.KindText {
				line(q.Text)
				continue
			}
			line("[" + model.Describe(*q.Media) + " follows below]")
			rest = append(rest, sdk.TextContentPart("["+model.Describe(*q.Media)+", which "+p.Result.Name+" returned]"))
			rest = append(rest, content(q)...)
		}
		out = append(out, sdk.ToolMessage(text.String(), p.Result.Call))
	}
	switch {
	case len(rest) == 0:
	case len(rest) == 1 && rest[0].OfText != nil:
		// The plain form: some servers know no other.
		out = append(out, sdk.UserMessage(rest[0].OfText.Text))
	default:
		out = append(out, sdk.UserMessage(rest))
	}
	return out
}

func content(p llm.Part) []sdk.ChatCompletionContentPartUnionParam {
	text := func(s string) []sdk.ChatCompletionContentPartUnionParam {
		return []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(s)}
	}
	switch p.Kind {
	case llm.KindText:
		return text(p.Text)
	case llm.KindImage:
		return []sdk.ChatCompletionContentPartUnionParam{sdk.ImageContentPart(
			sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(*p.Media)})}
	case llm.KindAudio:
		format, ok := audio[bare(p.Media.Type)]
		if !ok {
			return text(model.Unreadable(*p.Media))
		}
		return []sdk.ChatCompletionContentPartUnionParam{sdk.InputAudioContentPart(
			sdk.ChatCompletionContentPartInputAudioInputAudioParam{Data: base64.StdEncoding.EncodeToString(p.Media.Data), Format: format})}
	case llm.KindDocument:
		if bare(p.Media.Type) != "application/pdf" {
			return text("[" + model.Describe(*p.Media) + "]\n" + strings.ToValidUTF8(string(p.Media.Data), "\uFFFD"))
		}
		name := p.Media.Name
		if name == "" {
			name = "document.pdf"
		}
		return []sdk.ChatCompletionContentPartUnionParam{sdk.FileContentPart(
			sdk.ChatCompletionContentPartFileFileParam{Filename: param.NewOpt(name), FileData: param.NewOpt(dataURL(*p.Media))})}
	}
	return nil
}

// audio are the types that the API takes, and its names for them.
var audio = map[string]string{
	"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/vnd.wave": "wav",
	"audio/mpeg": "mp3", "audio/mp3": "mp3",
}

func dataURL(m llm.Media) string {
	return "data:" + bare(m.Type) + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

// bare returns a media type without its parameters.
func bare(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}
