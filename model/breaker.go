package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/llm"
)

// ErrOpen is in the chain of the error of a model whose breaker is open. The
// [llm.Error] around it is Retryable, and its RetryAfter is the time until the
// provider is asked again.
var ErrOpen = errors.New("the provider failed repeatedly and is not asked for now")

// BreakerOptions say when a breaker opens, and for how long. Zero fields mean
// the defaults.
type BreakerOptions struct {
	// Failures is the number of failures in a row that open the breaker.
	// Default: 5.
	Failures int
	// Pause is how long the breaker stays open. After it, one trial request is
	// let through. Default: 30 s.
	Pause time.Duration
}

// A Breaker is the circuit breaker of one provider. It is safe for concurrent
// use.
//
// It counts failures of the provider: errors that are Retryable, except rate
// limits (429), which concern the caller and have their own time to wait. A
// successful answer closes the breaker, and so does a refused or too large
// request, since it shows that the provider answers. A request that its caller
// gave up counts as neither.
type Breaker struct {
	provider string
	o        BreakerOptions

	mu        sync.Mutex // guards what follows
	failures  int
	openUntil time.Time // zero: closed
	trying    bool      // a trial request is under way
}

// NewBreaker returns a closed breaker for a provider. The name appears in the
// errors.
func NewBreaker(provider string, o *BreakerOptions) *Breaker {
	b := &Breaker{provider: provider}
	if o != nil {
		b.o = *o
	}
	if b.o.Failures <= 0 {
		b.o.Failures = 5
	}
	if b.o.Pause <= 0 {
		b.o.Pause = 30 * time.Second
	}
	return b
}

// enter reports whether a request may be sent, and whether it is the trial
// request; else wait is how long none may.
func (b *Breaker) enter() (trial bool, wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return false, 0, true
	}
	if wait = time.Until(b.openUntil); wait > 0 {
		return false, wait, false
	}
	if b.trying {
		return false, time.Second, false
	}
	b.trying = true
	return true, 0, true
}

// leave records how a request ended. known is false for a request that its
// caller gave up, which is not counted.
func (b *Breaker) leave(trial, known, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	switch {
	case !known:
	case !failed:
		b.failures, b.openUntil = 0, time.Time{}
	default:
		b.failures++
		if trial || b.failures >= b.o.Failures {
			b.openUntil = time.Now().Add(b.o.Pause)
		}
	}
}

// Break returns a model that asks m only while b lets requests through. Else its
// error is [ErrOpen] at once.
func Break(m llm.Model, b *Breaker) llm.Model { return &guardedModel{m, b} }

type guardedModel struct {
	model   llm.Model
	breaker *Breaker
}

// Generate implements [llm.Model].
func (x *guardedModel) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (answer llm.Response, err error) {
	trial, wait, ok := x.breaker.enter()
	if !ok {
		return llm.Response{}, &llm.Error{Provider: x.breaker.provider, Retryable: true, RetryAfter: wait, Err: ErrOpen}
	}
	known := false
	defer func() { // deferred, so that a panic ends the trial too
		var e *llm.Error
		failed := errors.As(err, &e) && e.Retryable && e.Status != 429
		x.breaker.leave(trial, known, failed)
	}()
	answer, err = x.model.Generate(ctx, r, stream)
	known = err == nil || ctx.Err() == nil
	return answer, err
}
