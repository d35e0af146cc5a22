package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// geminiAPI is the Gemini API's generateContent
// (https://ai.google.dev/api/generate-content).
type geminiAPI struct{}

func (geminiAPI) read(body []byte) ([]turn, error) {
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text             string `json:"text"`
			FunctionResponse *struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	}
	var r struct {
		SystemInstruction *content  `json:"systemInstruction"`
		Contents          []content `json:"contents"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var out []turn
	put := func(role string, c content) {
		var text strings.Builder
		for _, p := range c.Parts {
			text.WriteString(p.Text)
			if p.FunctionResponse != nil {
				out = append(out, turn{"tool", string(p.FunctionResponse.Response)})
			}
		}
		if text.Len() > 0 {
			out = append(out, turn{role, text.String()})
		}
	}
	if r.SystemInstruction != nil {
		put("system", *r.SystemInstruction)
	}
	for _, c := range r.Contents {
		role := "user"
		if c.Role == "model" {
			role = "assistant"
		}
		put(role, c)
	}
	return out, nil
}

func (g geminiAPI) events(r reply) []string {
	var list []string
	if r.Content != "" {
		for _, c := range r.chunks() {
			list = append(list, event("", geminiAnswer(r, []any{object{"text": c}}, "")))
		}
	}
	for _, c := range r.ToolCalls {
		list = append(list, event("", geminiAnswer(r, []any{object{"functionCall": object{"name": c.Name, "args": c.Arguments}}}, "")))
	}
	return append(list, event("", geminiAnswer(r, []any{object{"text": ""}}, geminiStop(r))))
}

func (geminiAPI) whole(r reply) any {
	var parts []any
	if r.Content != "" {
		parts = append(parts, object{"text": r.Content})
	}
	for _, c := range r.ToolCalls {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": c.Arguments}})
	}
	return geminiAnswer(r, parts, geminiStop(r))
}

func geminiAnswer(r reply, parts []any, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []any{candidate}, "modelVersion": "gemini-scripted", "responseId": "r1",
		"usageMetadata": object{"promptTokenCount": r.Usage.Prompt, "candidatesTokenCount": r.Usage.Completion, "totalTokenCount": r.Usage.Prompt + r.Usage.Completion}}
}

func geminiStop(r reply) string {
	if r.FinishReason == "length" {
		return "MAX_TOKENS"
	}
	return "STOP"
}

func (geminiAPI) failure(status int, _, text string) any {
	name := map[int]string{http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusNotFound: "NOT_FOUND", http.StatusInternalServerError: "INTERNAL"}[status]
	return object{"error": object{"code": status, "message": text, "status": name}}
}

// limit says how long to wait in the body
// (https://cloud.google.com/apis/design/errors, RetryInfo).
func (geminiAPI) limit(http.Header) any {
	return object{"error": object{"code": http.StatusTooManyRequests, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": []any{
		object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"},
	}}}
}

func (geminiAPI) streams(r *http.Request, _ []byte) bool {
	return strings.HasSuffix(r.PathValue("call"), ":streamGenerateContent")
}
