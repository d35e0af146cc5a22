package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/internal/model"
	"github.com/earshot-ai/earshot/internal/model/anthropic"
	"github.com/earshot-ai/earshot/internal/model/modeltest"
	"github.com/earshot-ai/earshot/llm"
)

func TestAgainstAimock(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Adapter{
		Provider: anthropic.Provider, Model: "claude-test", Path: "",
		New: func(o model.Options) (llm.Model, error) { return anthropic.New(o) },
	})
}
