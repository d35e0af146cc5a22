package daemon

import (
	"encoding/json"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/earshot-ai/earshot/internal/daemon/otlp"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/gemini"
)

// The names of OpenTelemetry's conventions for generative AI, as of version 1.41. They are
// still in development there: where they move, they are changed here and nowhere else.
const (
	attrOperation     = "gen_ai.operation.name"
	attrAgent         = "gen_ai.agent.id"
	attrConversation  = "gen_ai.conversation.id"
	attrProvider      = "gen_ai.provider.name"
	attrRequestModel  = "gen_ai.request.model"
	attrMaxTokens     = "gen_ai.request.max_tokens" //nolint:gosec // no credential
	attrResponseModel = "gen_ai.response.model"
	attrFinish        = "gen_ai.response.finish_reasons"
	attrInput         = "gen_ai.usage.input_tokens"
	attrOutput        = "gen_ai.usage.output_tokens"
	attrCacheRead     = "gen_ai.usage.cache_read.input_tokens"
	attrCacheWrite    = "gen_ai.usage.cache_creation.input_tokens"
	attrTool          = "gen_ai.tool.name"
	attrCallID        = "gen_ai.tool.call.id"
	attrError         = "error.type"
	attrCost          = "earshot.cost" // in the currency of model.prices; there is no convention

	// With otel.content only.
	attrArguments = "gen_ai.tool.call.arguments"
	attrSystem    = "gen_ai.system_instructions"
	attrMessages  = "gen_ai.input.messages"
	attrAnswer    = "gen_ai.output.messages"

	opTurn = "invoke_agent"
	opChat = "chat"
	opTool = "execute_tool"
)

// providerName is what the conventions call a provider.
func providerName(name string) string {
	if name == gemini.Provider {
		return "gcp.gemini"
	}
	return name
}

// finishReason is what the conventions call a stop.
func finishReason(s llm.Stop) string {
	switch s {
	case llm.StopEnd:
		return "stop"
	case llm.StopCalls:
		return "tool_call"
	case llm.StopRefused:
		return "content_filter"
	}
	return string(s)
}

// maxContent is how long a list of messages may be, in bytes. A longer one is left out.
const maxContent = 1 << 20

// A genAIMessage is a message in the form of the conventions.
type genAIMessage struct {
	Role   string      `json:"role"`
	Parts  []genAIPart `json:"parts"`
	Finish string      `json:"finish_reason,omitempty"`
}

type genAIPart struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
	MimeType  string `json:"mime_type,omitempty"`
}

// messageFacts are what a model was asked, and what it said. Of files there is the type
// alone.
func messageFacts(r llm.Request, a llm.Response) []*commonpb.KeyValue {
	var asked []genAIMessage
	for _, m := range r.Messages {
		asked = append(asked, genAIMessage{Role: string(m.Role), Parts: genAIParts(m.Parts)})
	}
	var facts []*commonpb.KeyValue
	add := func(key string, v any) {
		if text, err := json.Marshal(v); err == nil && len(text) <= maxContent {
			facts = append(facts, otlp.String(key, string(text)))
		}
	}
	add(attrSystem, []genAIPart{{Type: "text", Content: r.System}})
	add(attrMessages, asked)
	if len(a.Parts) > 0 {
		add(attrAnswer, []genAIMessage{{Role: "assistant", Parts: genAIParts(a.Parts), Finish: finishReason(a.Stop)}})
	}
	return facts
}

func genAIParts(parts []llm.Part) []genAIPart {
	list := []genAIPart{}
	for _, p := range parts {
		switch p.Kind {
		case llm.KindText:
			list = append(list, genAIPart{Type: "text", Content: p.Text})
		case llm.KindCall:
			list = append(list, genAIPart{Type: "tool_call", ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args})
		case llm.KindResult:
			list = append(list, genAIPart{Type: "tool_call_response", ID: p.Result.Call, Response: textOf(p.Result.Parts)})
		case llm.KindImage, llm.KindDocument, llm.KindAudio:
			list = append(list, genAIPart{Type: string(p.Kind), MimeType: p.Media.Type})
		}
	}
	return list
}

func textOf(parts []llm.Part) string { return llm.Response{Parts: parts}.Text() }
