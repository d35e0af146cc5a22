package agent

import (
	"context"

	"github.com/earshot-ai/earshot/llm"
)

// AGUI is an agent behind AG-UI, the Agent User Interaction Protocol, in version 1.0
// (https://docs.ag-ui.com/spec/1.0). It is safe for concurrent use.
type AGUI struct{ o Options }

// NewAGUI returns the agent at a URL, to which a RunAgentInput is posted. Nothing is sent.
func NewAGUI(o Options) (*AGUI, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &AGUI{o}, nil
}

// Generate implements [llm.Model]. Where a run has ended with several interrupts, the person is
// asked one after the other, and the agent once all are answered: a run goes on with all of them
// or not at all.
func (g *AGUI) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if r.Turn == nil {
		return llm.Response{}, fault("it is asked by bots only", false)
	}
	waits := waitingOf(answered(r))
	if waits != nil && len(waits.Open) > 0 {
		return usageEvent{}.asking("", waits.ask(r.Turn.Key)), nil
	}
	a := newAGUIAnswer(r.Turn.Key, stream)
	if err := g.o.exchange(ctx, underKey(r.Turn.Key, "text/event-stream"), g.input(r, waits), a.read); err != nil {
		return llm.Response{}, err
	}
	return a.response()
}
