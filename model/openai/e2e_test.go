package openai_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/model/openai"
)

func TestAgainstAimock(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Adapter{
		Provider: openai.Provider, Model: "gpt-test", Path: "/v1",
		New:  func(o model.Options) (llm.Model, error) { return openai.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return openai.Body(s.Model, s.Form, r) },
	})
}
