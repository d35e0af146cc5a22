package model

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/earshot-ai/earshot/llm"
)

// RetryOptions say how often and how patiently a model is asked again. Zero
// fields mean the defaults.
type RetryOptions struct {
	// Tries is how often a request is sent at most, the first time included.
	// Default: 4.
	Tries int
	// Base is the wait before the second try; it doubles with each further one.
	// Default: 500 ms.
	Base time.Duration
	// MaxWait bounds a single wait. Where a provider asks for more, there is no
	// further try: someone else may answer, or the turn is tried later. Default:
	// 30 s.
	MaxWait time.Duration
	// Jitter returns a number from 0 to below 1, by which a wait grows: up to
	// half of it is added, and never anything taken away. Default: random.
	Jitter func() float64
	// Logger hears of each failed try; nil discards.
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

// Retry returns a model that asks m again when it fails in a way that may pass:
// where the [llm.Error] is Retryable, after the time that the provider asks for
// or a growing one of its own, until the tries or ctx end. It does not wait for
// a time that ctx would not live to see.
//
// The last error is returned as it is. An answer that broke off while it was
// heard begins anew with an event that says Again.
func Retry(m llm.Model, o *RetryOptions) llm.Model { return &retrier{m, o.filled()} }

type retrier struct {
	model llm.Model
	o     RetryOptions
}

// Generate implements [llm.Model].
func (x *retrier) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	h := &hearing{stream: stream}
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
		if !more || !sleep(ctx, wait) {
			return answer, err
		}
	}
}

// wait returns how long to wait after a failed try, and whether there is
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

// sleep waits, and reports whether it could.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A hearing passes on what several tries say, and tells when a new one begins
// after something was heard.
type hearing struct {
	stream func(llm.Event)
	heard  bool // by an earlier try
	now    bool // by this one
}

// next returns the stream of the next try.
func (h *hearing) next() func(llm.Event) {
	if h.stream == nil {
		return nil
	}
	h.heard, h.now = h.heard || h.now, false
	return func(e llm.Event) {
		if e == (llm.Event{}) {
			return
		}
		if h.heard && !h.now && !e.Again {
			h.stream(llm.Event{Again: true})
		}
		h.now = true
		h.stream(e)
	}
}

// done ends a try that succeeded, perhaps without a word.
func (h *hearing) done() {
	if h.stream != nil && h.heard && !h.now {
		h.stream(llm.Event{Again: true})
	}
}
