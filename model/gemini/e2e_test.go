package gemini_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func TestAgainstAimock(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Adapter{
		Provider: gemini.Provider, Model: "gemini-2.5-test", Path: "",
		New:  func(o model.Options) (llm.Model, error) { return gemini.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return gemini.Body(s.Model, r) },
	})
}
