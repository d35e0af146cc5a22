package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func TestRequestsAreThoseThatWereRecorded(t *testing.T) {
	t.Parallel()
	modeltest.CheckRecordedRequests(t, modeltest.Adapter{
		Provider: anthropic.Provider, Model: "claude-test",
		New: func(o model.Options) (llm.Model, error) { return anthropic.New(o) },
	}, said("ok", "end_turn"), map[string]llm.Request{
		"what the provider kept": {Tools: []llm.Tool{lookUp}, MaxTokens: 100, Messages: []llm.Message{
			user(false, llm.Text("q")),
			{Role: "assistant", Cache: true, Parts: []llm.Part{
				llm.Text("I look."),
				llm.OpaquePart("anthropic", `{"type":"thinking","thinking":"is 1 + 1 = 2?","signature":"EqQBCgIYAhIM+/==","future":{"b":1.0,"a":[12345678901234567890]}}`),
				llm.OpaquePart("anthropic", `{"type":"redacted_thinking","data":"c2VjcmV0"}`),
			}},
			user(false, llm.Text("q")),
			{Role: "assistant", Cache: true, Parts: []llm.Part{
				{Kind: llm.KindText, Text: "cited", Opaque: &llm.Opaque{Provider: "anthropic", JSON: `{"type":"text","text":"cited","citations":[{"type":"char_location","cited_text":"x"}]}`}},
				llm.Calling(llm.Call{ID: "toolu_1", Name: "look_up", Args: `{"q": 12345678901234567890}`}),
			}},
			user(true, llm.Results(llm.Result{Call: "toolu_1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}})...),
		}},
		"a mark where only kept blocks are": {MaxTokens: 100, Messages: []llm.Message{
			user(false, llm.Text("q")),
			{Role: "assistant", Cache: true, Parts: []llm.Part{llm.OpaquePart("anthropic", `{"type":"redacted_thinking","data":"c2VjcmV0"}`)}},
			user(true, llm.Text("q")),
		}},
	})
}
