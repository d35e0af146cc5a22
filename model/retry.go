package model

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/llm"
)

// RetryOptions say how often a request is sent, and how long [Retry] waits in
// between. Zero fields mean the defaults.
type RetryOptions struct {
	// Tries is how often a request is sent at most, including the first time.
	// Default: 4.
	Tries int
	// Base is the wait before the second try; it doubles with each further one.
	// Default: 500 ms.
	Base time.Duration
	// MaxWait bounds a single wait. Where a provider asks for a longer one, Retry
	// returns the error at once: another model may answer, or the caller tries
	// later. Default: 30 s.
	MaxWait time.Duration
	// Jitter returns a number from 0 to below 1. That share of half the wait is
	// added to it; a wait never becomes shorter. Default: random.
	Jitter func() float64
	// Logger gets a line for each failed try; nil discards.
	Logger *slog.Logger
}

func (o *RetryOptions) filled() RetryOptions {
	var f RetryOptions
	if o != nil {
		f = *o
	}
	if f.Tries <= 0 {
		f.Tries = 4
	}
	if f.Base <= 0 {
		f.Base = 500 * time.Millisecond
	}
	if f.MaxWait <= 0 {
		f.MaxWait = 30 * time.Second
	}
	if f.Jitter == nil {
		f.Jitter = rand.Float64
	}
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	return f
}

// Retry returns a model that asks m again when the [llm.Error] is Retryable and
// not [ErrOpen]. It waits as long as the provider asks for, or a time that
// doubles with each try, whichever is longer. It gives up when the tries are
// used, when ctx ends, or when ctx would end before the wait does.
//
// The last error is returned unchanged. Where an answer broke off after a part of
// it was streamed, the next try begins with an event that says Again.
func Retry(m llm.Model, o *RetryOptions) llm.Model { return &retrier{m, o.filled()} }

type retrier struct {
	model llm.Model
	o     RetryOptions
}

// Generate implements [llm.Model].
func (x *retrier) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	h := &retryStream{stream: stream}
	for try := 1; ; try++ {
		answer, err := x.model.Generate(ctx, r, h.next())
		if err == nil {
			h.done()
			return answer, nil
		}
		if ctx.Err() != nil {
			return answer, err
		}
		var e *llm.Error
		if !errors.As(err, &e) || !e.Retryable || errors.Is(err, ErrOpen) {
			return answer, err
		}
		wait, more := x.wait(ctx, try, e.RetryAfter)
		x.o.Logger.WarnContext(ctx, "model failed", "provider", e.Provider, "model", e.Model, "status", e.Status, "try", try, "again", more, "wait", wait, "err", err)
		if !more || pause.For(ctx, wait) != nil {
			return answer, err
		}
	}
}

// wait returns how long to wait after a failed try, and whether there is to be
// another one.
func (x *retrier) wait(ctx context.Context, try int, asked time.Duration) (time.Duration, bool) {
	if try >= x.o.Tries || asked > x.o.MaxWait {
		return 0, false
	}
	wait := x.o.MaxWait
	if shift := try - 1; shift < 20 {
		wait = min(wait, x.o.Base<<shift)
	}
	wait = max(wait, asked)
	wait += time.Duration(x.o.Jitter() * float64(wait) / 2)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return wait, false
	}
	return wait, true
}

// A retryStream passes on the streams of several tries, and sends Again before the
// first event of a try where an earlier one has streamed something.
type retryStream struct {
	stream   func(llm.Event)
	earlier  bool // an earlier try has streamed
	streamed bool // this one has
}

// next returns the stream of the next try.
func (a *retryStream) next() func(llm.Event) {
	if a.stream == nil {
		return nil
	}
	a.earlier, a.streamed = a.earlier || a.streamed, false
	return func(e llm.Event) {
		if e == (llm.Event{}) {
			return
		}
		if a.earlier && !a.streamed && !e.Again {
			a.stream(llm.Event{Again: true})
		}
		a.streamed = true
		a.stream(e)
	}
}

// done ends a try that succeeded. One that streamed nothing makes void what
// earlier ones have.
func (a *retryStream) done() {
	if a.stream != nil && a.earlier && !a.streamed {
		a.stream(llm.Event{Again: true})
	}
}
