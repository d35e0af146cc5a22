package openai_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/model/openai"
)

func TestRequestsAreThoseThatWereRecorded(t *testing.T) {
	t.Parallel()
	signed := llm.Calling(llm.Call{ID: "c1", Name: "look_up", Args: `{"q": 12345678901234567890}`})
	signed.Opaque = &llm.Opaque{Provider: "openai", JSON: `{"extra_content":{"google":{"thought_signature":"EqQB+/=="}}}`}
	modeltest.CheckRecordedRequests(t, modeltest.Adapter{
		Provider: openai.Provider, Model: "m", Path: "/v1",
		New: func(o model.Options) (llm.Model, error) { return openai.New(o) },
	}, ok, map[string]llm.Request{
		"what the server kept": {Tools: []llm.Tool{lookUp}, MaxTokens: 100, Messages: []llm.Message{
			user(llm.Text("q")),
			{Role: "assistant", Parts: []llm.Part{
				llm.OpaquePart("openai", `{"reasoning_content":"is 1 + 1 = 2?","reasoning_details":[{"type":"reasoning.encrypted","data":"+/==","n":12345678901234567890}]}`),
				llm.Text("I look."), signed,
			}},
			user(llm.Results(llm.Result{Call: "c1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}})...),
			{Role: "assistant", Parts: []llm.Part{llm.OpaquePart("another", `{"reasoning":"nothing else"}`)}},
			user(llm.Text("q")),
		}},
	})
}
