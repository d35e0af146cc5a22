package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// params writes a request in the provider's words.
func params(name string, r llm.Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: name, MaxTokens: int64(r.MaxTokens)}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: t.Name, Description: sdk.String(t.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(t.Schema)),
		}})
	}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	if r.Cache {
		// The tools stand before the system text: one breakpoint ends both.
		switch {
		case len(p.System) > 0:
			p.System[0].CacheControl = sdk.NewCacheControlEphemeralParam()
		case len(p.Tools) > 0:
			p.Tools[len(p.Tools)-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
	}
	if r.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	for _, m := range r.Messages {
		role := sdk.MessageParamRoleUser
		if m.Role == earshot.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		content := blocks(m.Parts)
		if len(content) == 0 {
			continue // nothing but what another provider kept
		}
		if m.Cache {
			mark(content)
		}
		p.Messages = append(p.Messages, sdk.MessageParam{Role: role, Content: content})
	}
	return p
}

// mark sets a breakpoint at the last block that can carry one: a kept block is
// sent back as it came.
func mark(content []sdk.ContentBlockParamUnion) {
	for i := len(content) - 1; i >= 0; i-- {
		if at := content[i].GetCacheControl(); at != nil {
			*at = sdk.NewCacheControlEphemeralParam()
			return
		}
	}
}

func blocks(parts []llm.Part) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, p := range parts {
		if p.Opaque != nil && p.Opaque.Provider == Provider {
			out = append(out, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(p.Opaque.JSON)))
			continue
		}
		switch p.Kind {
		case llm.KindText:
			// A text of white space alone is refused.
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, sdk.NewTextBlock(p.Text))
			}
		case llm.KindImage:
			out = append(out, sdk.ContentBlockParamUnion{OfImage: image(*p.Media)})
		case llm.KindDocument:
			out = append(out, sdk.ContentBlockParamUnion{OfDocument: document(*p.Media)})
		case llm.KindAudio:
			out = append(out, sdk.NewTextBlock(model.Unreadable(*p.Media)))
		case llm.KindCall:
			out = append(out, sdk.NewToolUseBlock(p.Call.ID, input(p.Call.Args), p.Call.Name))
		case llm.KindResult:
			out = append(out, sdk.ContentBlockParamUnion{OfToolResult: result(*p.Result)})
		}
	}
	return out
}

// input returns a call's arguments as an object: the provider takes no other,
// and the model sometimes writes none.
func input(args string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil {
		broken, _ := json.Marshal(map[string]string{"not_an_object": strings.ToValidUTF8(args, "\uFFFD")})
		return broken
	}
	return json.RawMessage(args)
}

func result(r llm.Result) *sdk.ToolResultBlockParam {
	out := &sdk.ToolResultBlockParam{ToolUseID: r.Call}
	if r.Failed {
		out.IsError = sdk.Bool(true)
	}
	text := func(s string) {
		out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: s}})
	}
	for _, p := range r.Parts {
		switch p.Kind {
		case llm.KindText:
			if strings.TrimSpace(p.Text) != "" {
				text(p.Text)
			}
		case llm.KindImage:
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image(*p.Media)})
		case llm.KindDocument:
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfDocument: document(*p.Media)})
		case llm.KindAudio:
			text(model.Unreadable(*p.Media))
		}
	}
	return out
}

func image(m llm.Media) *sdk.ImageBlockParam {
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		MediaType: sdk.Base64ImageSourceMediaType(bare(m.Type)), Data: base64.StdEncoding.EncodeToString(m.Data),
	}}}
}

func document(m llm.Media) *sdk.DocumentBlockParam {
	d := &sdk.DocumentBlockParam{}
	if m.Name != "" {
		d.Title = sdk.String(m.Name)
	}
	if bare(m.Type) == "application/pdf" {
		d.Source.OfBase64 = &sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(m.Data)}
	} else {
		d.Source.OfText = &sdk.PlainTextSourceParam{Data: strings.ToValidUTF8(string(m.Data), "\uFFFD")}
	}
	return d
}

// bare returns a media type without its parameters.
func bare(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}

func unmarshal(s string, into any) bool { return json.Unmarshal([]byte(s), into) == nil }
