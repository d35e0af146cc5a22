package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot/llm"
)

// A2A is an agent behind Agent2Agent, in version 1.0 or 0.3 over JSON-RPC. It is safe for
// concurrent use.
type A2A struct {
	o    Options
	card atomic.Pointer[Card] // as it was last fetched; nil after an error
}

// NewA2A returns the agent at a URL: its address, below which its card stands, or its card.
// Nothing is sent.
func NewA2A(o Options) (*A2A, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &A2A{o: o}, nil
}

func (a *A2A) authorize(r *http.Request) {
	if !a.o.Key.Empty() {
		r.Header.Set("Authorization", "Bearer "+a.o.Key.Reveal())
	}
}

// An a2aExchange is one request to an agent, and what came of it.
type a2aExchange struct {
	*A2A
	card     Card
	version  *a2aVersion
	theirs   bool
	request  llm.Request
	answered *answer
	answer   *a2aAnswer
	calls    int
}

// Generate implements [llm.Model]. A task that an earlier try began is taken up again
// ([llm.Turn.Task]). When ctx ends because the answer is not wanted any more
// ([llm.ErrUnwanted]), the task is canceled; else it goes on.
func (a *A2A) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if r.Turn == nil {
		return llm.Response{}, fault("it is asked by bots only", false)
	}
	card, err := a.known(ctx)
	if err != nil {
		return llm.Response{}, a.ended(ctx, err)
	}
	x := &a2aExchange{A2A: a, card: card, version: versionOf(card), theirs: a.o.Theirs, request: r, answered: answered(r)}
	x.answer = &a2aAnswer{stream: stream, turn: r.Turn, kept: keptOf(x.answered)}
	if err := x.run(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), llm.ErrUnwanted) {
			x.cancel(ctx)
		}
		return llm.Response{}, a.ended(ctx, err)
	}
	return x.answer.response()
}

// known returns the agent's card, which is fetched again after an error.
func (a *A2A) known(ctx context.Context) (Card, error) {
	if c := a.card.Load(); c != nil {
		return *c, nil
	}
	c, err := a.Card(ctx)
	if err == nil {
		a.card.Store(&c)
	}
	return c, err
}

// ended is the error of a request that came to no answer.
func (a *A2A) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return broken(ctx, err)
	}
	a.card.Store(nil)
	var ours *llm.Error
	var theirs *a2aError
	switch {
	case errors.As(err, &ours):
		return err
	case errors.As(err, &theirs):
		return fault(theirs.Error(), theirs.Code == codeInternal || theirs.Code == codeNoTask)
	}
	return broken(ctx, err)
}

// cancelTime is how long an agent may take to hear that its answer is not wanted any more.
const cancelTime = 5 * time.Second

// cancel tells the agent to stop. It may not be able to, and nothing depends on it.
func (x *a2aExchange) cancel(ctx context.Context) {
	if x.answer.task == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_ = x.call(ctx, x.version.cancel, map[string]any{"id": x.answer.task}, func(json.RawMessage) (bool, error) { return true, nil })
}
