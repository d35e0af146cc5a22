package gemini_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func TestRequestsAreThoseThatWereRecorded(t *testing.T) {
	t.Parallel()
	own := func(p llm.Part, json llm.JSON) llm.Part {
		p.Opaque = &llm.Opaque{Provider: "gemini", JSON: json}
		return p
	}
	modeltest.CheckRecordedRequests(t, modeltest.Adapter{
		Provider: gemini.Provider, Model: "gemini-3-test",
		New: func(o model.Options) (llm.Model, error) { return gemini.New(o) },
	}, modeltest.Events(chunk(`{"text":"ok"}`, "STOP")), map[string]llm.Request{
		"what the provider kept": {Tools: []llm.Tool{lookUp}, MaxTokens: 100, Messages: []llm.Message{
			user(llm.Text("q")),
			{Role: "assistant", Parts: []llm.Part{
				own(llm.Text("signed"), `{"text":"signed","thoughtSignature":"EqQBCgIYAhIM+/8="}`),
				own(llm.Calling(llm.Call{ID: "earshot_gemini_1", Name: "look_up", Args: `{"q":1}`}), `{"functionCall":{"args":{"q":12345678901234567890},"name":"look_up"},"thoughtSignature":"EqQB"}`),
				own(llm.Calling(llm.Call{ID: "own", Name: "look_up", Args: `{}`}), `{"functionCall":{"id":"own","name":"look_up"}}`),
				{Kind: llm.KindOpaque, Opaque: &llm.Opaque{Provider: "gemini", JSON: `{"thoughtSignature":"bGFzdA==","future":{"b":1.0,"a":[1]}}`}},
			}},
			user(llm.Results(
				llm.Result{Call: "earshot_gemini_1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}},
				llm.Result{Call: "own", Name: "look_up", Parts: []llm.Part{llm.Text("no")}, Failed: true})...),
		}},
	})
}
