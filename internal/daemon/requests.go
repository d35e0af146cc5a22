package daemon

import (
	"context"
	"fmt"
	"iter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
)

// Requests yields the request of each answer of a turn, as the provider was sent it.
func Requests(ctx context.Context, st bot.Store, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
	return bot.Requests(ctx, st, q, requestBody)
}

// requestBody writes the body of a request as the adapter of a provider sends it.
func requestBody(provider string, s llm.Sent, r llm.Request) ([]byte, error) {
	p, ok := providers.Of(provider)
	if !ok {
		return nil, fmt.Errorf("this program writes no requests to %s", provider)
	}
	return p.Body(s, r), nil
}
