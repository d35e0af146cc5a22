package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func adapter() modeltest.Adapter {
	return modeltest.Adapter{
		Provider: anthropic.Provider, Model: "m",
		New:  func(o model.Options) (llm.Model, error) { return anthropic.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return anthropic.Body(s.Model, r) },
	}
}

func TestPublishedStreams(t *testing.T) {
	t.Parallel()
	modeltest.Streams(t, adapter())
}

func FuzzStream(f *testing.F) { modeltest.FuzzStream(f, adapter()) }
