package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/earshot-ai/earshot/llm"
)

// Fallback returns a model that asks the next of models when one fails. A
// request that is not valid, one that is too large and one whose ctx has ended
// are not passed on: the first two are the caller's to change. When all fail,
// the error is that of the first, with those of the others behind it.
//
// logger hears of each model that is passed over; nil discards. There must be
// at least one model; of a single one, Fallback returns it.
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
	h := &hearing{stream: stream}
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
			failed = fmt.Errorf("%w; and instead of it: %w", failed, err)
		}
		var e *llm.Error
		if ctx.Err() != nil || errors.Is(err, llm.ErrInvalid) || errors.As(err, &e) && e.TooLarge {
			return llm.Response{}, failed
		}
		if i+1 < len(x.models) {
			x.logger.WarnContext(ctx, "another model is asked", "err", err)
		}
	}
	return llm.Response{}, failed
}
