package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/tools"
)

// addTools adds the routes of the tools of one channel, and capabilities.
func (s *server) addTools(a huma.API) {
	type list struct {
		Body struct {
			Tools []toolInfo `json:"tools"`
		}
	}
	addRoute(s, a, huma.Operation{OperationID: "list-tools", Method: http.MethodGet, Path: "/v1/tools", Summary: "The tools, described for a model", Description: "Name, description and the JSON Schema of the arguments, as models take them. No tool names a channel."},
		func(context.Context, access.Principal, *struct{}) (*list, error) {
			out := &list{}
			out.Body.Tools = toolInfos()
			return out, nil
		})
	addRaw(s, a, huma.Operation{
		OperationID: "call-tool", Method: http.MethodPost, Path: "/v1/tools/{name}", Summary: "Call a tool of the one channel that the caller is for",
		Description: "The body is the tool's arguments as the model wrote them. A call that the tool refuses is answered with failed, and with an answer that tells the model what to do instead.",
	}, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "arguments, as the tool's input_schema has them"}, s.callTool)
	addStrict(s, a, huma.Operation{
		OperationID: "make-capability", Method: http.MethodPost, Path: "/v1/capabilities", Summary: "A token for the tools of one channel",
		Description: "The token may be handed to whoever runs a model's tools: it reads one channel, up to the anchor, and nothing else. It ends with the key that it was made with.",
	}, s.makeCapability)
}

type toolInput struct {
	Name string `path:"name" maxLength:"64"`
	StrictInput
}

// A toolAnswer is what a tool answered.
type toolAnswer struct {
	Answer   answerJSON          `json:"answer"`
	Failed   bool                `json:"failed" doc:"the call was refused; the answer says why"`
	Messages []earshot.MessageID `json:"messages" doc:"ids of the messages whose text is in the answer"`
	Media    []mediaJSON         `json:"media,omitempty" doc:"the content of a file that the model has asked for; give it with the answer"`
}

// A mediaJSON is a file with its content.
type mediaJSON struct {
	ID   earshot.ArtifactID `json:"id"`
	Name string             `json:"name"`
	Type string             `json:"type" doc:"its media type"`
	Data []byte             `json:"data" contentEncoding:"base64"`
}

// An answerJSON is a tool's answer.
type answerJSON struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (answerJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "give it to the model as it is"}
}

func (s *server) callTool(ctx context.Context, p access.Principal, in *toolInput) (*struct{ Body toolAnswer }, error) {
	if tooDeep(in.RawBody) {
		return nil, deepBody(ctx)
	}
	a, err := s.Service.Tool(ctx, p, in.Name, string(in.RawBody))
	if err != nil {
		return nil, err
	}
	out := &struct{ Body toolAnswer }{toolAnswer{Answer: answerJSON{jsontext.Value(a.JSON)}, Failed: a.Failed, Messages: []earshot.MessageID{}}}
	for _, m := range a.Media {
		out.Body.Media = append(out.Body.Media, mediaJSON{m.ID, m.Name, m.Type, m.Data})
	}
	for _, m := range a.Shows {
		out.Body.Messages = append(out.Body.Messages, m.ID)
	}
	return out, nil
}

// A capabilityBody is the body of POST /v1/capabilities.
type capabilityBody struct {
	ChannelNamed
	Anchor  string `json:"anchor,omitzero" maxLength:"512" doc:"nothing that was said after it is shown; default: no bound"`
	Agent   string `json:"agent,omitzero" maxLength:"512" doc:"whose earlier turns are searched; default: the only agent that is known here"`
	Minutes *int   `json:"minutes,omitzero" minimum:"1" maximum:"60" doc:"how long it is valid; default: 60"`
}

// A capabilityAnswer is the answer to capabilityBody.
type capabilityAnswer struct {
	Capability string `json:"capability" doc:"a bearer token for POST /v1/tools/{name}"`
	Expires    string `json:"expires" format:"date-time"`
}

func (s *server) makeCapability(ctx context.Context, p access.Principal, b *capabilityBody) (*struct{ Body capabilityAnswer }, error) {
	at, err := b.place()
	if err != nil {
		return nil, err
	}
	r := sidecar.CapabilityRequest{Channel: at, Anchor: earshot.MessageID(b.Anchor), Agent: earshot.AuthorID(b.Agent)}
	if b.Minutes != nil {
		r.Lasts = time.Duration(*b.Minutes) * time.Minute
		if *b.Minutes < 1 || *b.Minutes > 60 {
			r.Lasts = -1
		}
	}
	token, expires, err := s.Service.Capability(ctx, p, r)
	if err != nil {
		return nil, err
	}
	return &struct{ Body capabilityAnswer }{capabilityAnswer{token, expires.String()}}, nil
}

// A toolInfo describes a tool to a model.
type toolInfo struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	InputSchema schemaJSON `json:"input_schema"`
}

// A schemaJSON is a JSON Schema.
type schemaJSON struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (schemaJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "the JSON Schema of the tool's arguments"}
}

func toolInfos() []toolInfo {
	var out []toolInfo
	for _, t := range tools.Tools() {
		out = append(out, toolInfo{t.Name, t.Description, schemaJSON{jsontext.Value(t.Schema)}})
	}
	return out
}
