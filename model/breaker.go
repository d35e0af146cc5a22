package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/llm"
)

// ErrOpen is in the chain of the error of a model whose provider is not asked
// for a while, because it has failed again and again. The [llm.Error] around it
// is Retryable, and its RetryAfter is the rest of the while.
var ErrOpen = errors.New("the provider is not asked for a while after its failures")

// BreakerOptions say when a provider is left alone. Zero fields mean the
// defaults.
type BreakerOptions struct {
	// Failures is how many in a row open the breaker. Default: 5.
	Failures int
	// Pause is how long it stays open; then one request may try. Default: 30 s.
	Pause time.Duration
}

// A Breaker counts the failures of one provider. It is safe for concurrent use.
//
// Only a failure of the provider counts: one that is Retryable, but not a rate
// limit (429), which is about the caller and has its own time to wait. An
// answer, and also a refused or too large request, shows that the provider is
// there.
type Breaker struct {
	provider string
	o        BreakerOptions

	mu       sync.Mutex // guards what follows
	failures int
	open     time.Time // until when; zero: closed
	probing  bool      // one request tries whether the provider is back
}

// NewBreaker returns the breaker of a provider. It begins closed.
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

// Open reports whether requests are refused now, and for how long still.
func (b *Breaker) Open() (rest time.Duration, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.IsZero() {
		return 0, false
	}
	rest = time.Until(b.open)
	if rest > 0 {
		return rest, true
	}
	return 0, b.probing
}

// enter lets a request pass, or says for how long none may.
func (b *Breaker) enter() (probe bool, rest time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.IsZero() {
		return false, 0, true
	}
	rest = time.Until(b.open)
	if rest > 0 {
		return false, rest, false
	}
	if b.probing {
		return false, time.Second, false
	}
	b.probing = true
	return true, 0, true
}

// leave counts how a request ended. One that its caller gave up says nothing.
func (b *Breaker) leave(probe, known, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch {
	case !known:
	case !failed:
		b.failures, b.open = 0, time.Time{}
	default:
		b.failures++
		if probe || b.failures >= b.o.Failures {
			b.open = time.Now().Add(b.o.Pause)
		}
	}
}

// Break returns a model that does not ask m while b is open.
func Break(m llm.Model, b *Breaker) llm.Model { return &broken{m, b} }

type broken struct {
	model   llm.Model
	breaker *Breaker
}

// Generate implements [llm.Model].
func (x *broken) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (answer llm.Response, err error) {
	probe, rest, ok := x.breaker.enter()
	if !ok {
		return llm.Response{}, &llm.Error{Provider: x.breaker.provider, Retryable: true, RetryAfter: rest, Err: ErrOpen}
	}
	known := false
	defer func() { // a panic frees the probe too
		var e *llm.Error
		failed := errors.As(err, &e) && e.Retryable && e.Status != 429
		x.breaker.leave(probe, known, failed)
	}()
	answer, err = x.model.Generate(ctx, r, stream)
	known = err == nil || ctx.Err() == nil
	return answer, err
}
