package daemon

import (
	"context"
	"fmt"
	"iter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
)

// Requests yields the request of each answer of a turn, as the provider was sent it.
func Requests(ctx context.Context, st bot.Store, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
	return bot.Requests(ctx, st, q, requestBody)
}

// requestBody writes the body of a request as the adapter of a provider sends it.
func requestBody(provider string, s llm.Sent, r llm.Request) ([]byte, error) {
	switch provider {
	case config.Anthropic:
		return anthropic.Body(s.Model, r), nil
	case config.Gemini:
		return gemini.Body(s.Model, r), nil
	case config.OpenAI:
		return openai.Body(s.Model, s.Form, r), nil
	}
	return nil, fmt.Errorf("this program writes no requests to %s", provider)
}
