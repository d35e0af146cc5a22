package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/earshot-ai/earshot/llm"
)

// Fallback returns a model that asks models in order until one answers. It stops
// at a request that is invalid or too large, since the caller must change it,
// and when ctx has ended. When all fail, the error is that of the first, with
// those of the others behind it.
//
// logger gets a line for each model that failed and is followed by another; nil
// discards. Without models, Fallback panics; of a single one, it returns that
// model.
func Fallback(logger *slog.Logger, models ...llm.Model) llm.Model {
	if len(models) == 0 {
		panic("model: a fallback of no models")
	}
	if len(models) == 1 {
		return models[0]
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &fallback{models, logger}
}

type fallback struct {
	models []llm.Model
	logger *slog.Logger
}

// Generate implements [llm.Model].
func (x *fallback) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	h := &retryStream{stream: stream}
	var failed error
	for i, m := range x.models {
		answer, err := m.Generate(ctx, r, h.next())
		if err == nil {
			h.done()
			return answer, nil
		}
		if failed == nil {
			failed = err
		} else {
			failed = fmt.Errorf("%w; then: %w", failed, err)
		}
		var e *llm.Error
		if ctx.Err() != nil || errors.Is(err, llm.ErrInvalid) || errors.As(err, &e) && e.TooLarge {
			return llm.Response{}, failed
		}
		if i+1 < len(x.models) {
			x.logger.WarnContext(ctx, "model failed; the next one is asked", "err", err)
		}
	}
	return llm.Response{}, failed
}
