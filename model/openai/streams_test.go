package openai_test

import (
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/model/openai"
)

func adapter() modeltest.Adapter {
	return modeltest.Adapter{
		Provider: openai.Provider, Model: "m", Path: "/v1",
		New:  func(o model.Options) (llm.Model, error) { return openai.New(o) },
		Body: func(s llm.SentBody, r llm.Request) []byte { return openai.Body(s.Model, s.Form, r) },
	}
}

func TestPublishedStreams(t *testing.T) {
	t.Parallel()
	modeltest.Streams(t, adapter())
}

func FuzzStream(f *testing.F) { modeltest.FuzzStream(f, adapter()) }
