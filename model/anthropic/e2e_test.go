package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func TestAgainstAimock(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Adapter{
		Provider: anthropic.Provider, Model: "claude-test", Path: "",
		New:  func(o model.Options) (llm.Model, error) { return anthropic.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return anthropic.Body(s.Model, r) },
	})
}
