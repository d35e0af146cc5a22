package gemini_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/modeltest"
)

func adapter() modeltest.Adapter {
	return modeltest.Adapter{
		Provider: gemini.Provider, Model: "m",
		New:  func(o model.Options) (llm.Model, error) { return gemini.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return gemini.Body(s.Model, r) },
	}
}

func TestPublishedStreams(t *testing.T) {
	t.Parallel()
	modeltest.Streams(t, adapter())
}

func FuzzStream(f *testing.F) { modeltest.FuzzStream(f, adapter()) }
