package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// Prompt makes the prompt with which the agent's model answers a message of a
// conversation: earlier turns as turns of user and assistant, the question last.
// llm.FromResult makes a request of it. It is the policy transcript of
// docs/policies.md with the History's options, and depends on nothing but them,
// the store and the question.
//
// The newest turns come first into the budget; the Result's Notes and Ledger say
// what was left out, and why. What is missing in the store is said to the model.
// Where there are too many turns, the older half becomes a summary; see
// [Summariser].
//
// The error is [earshot.ErrNotFound] if the message is not stored in this
// conversation; [assemble.ErrBudgetTooSmall] if the question and the instructions
// alone are over [Options].Limit; else the store's. An agent that must answer
// even then can answer from the question alone.
func (h *History) Prompt(ctx context.Context, c Conversation, question earshot.MessageID) (assemble.Result, error) {
	c, err := c.check()
	if err != nil {
		return assemble.Result{}, err
	}
	asked, err := h.message(ctx, c, question)
	if err != nil {
		return assemble.Result{}, fmt.Errorf("prompt: %w", err)
	}
	in, err := h.load(ctx, c, asked)
	if err != nil {
		return assemble.Result{}, fmt.Errorf("prompt: %w", err)
	}
	if in, err = h.summarise(ctx, c, in); err != nil {
		return assemble.Result{}, fmt.Errorf("prompt: %w", err)
	}
	result, err := assemble.Turn(in)
	if err != nil {
		return assemble.Result{}, fmt.Errorf("prompt: %w", err)
	}
	return result, nil
}

// load reads what the prompt can be made of: the newest turns whatever they cost,
// since the threshold of the summary counts turns, not tokens.
func (h *History) load(ctx context.Context, c Conversation, question earshot.Message) (assemble.Input, error) {
	const anyCost = 1 << 40
	request := gather.Request{
		Channel: c.Channel, Anchor: question.ID, Identity: h.self, Counter: h.o.Counter, Instructions: h.o.Instructions,
		Policy: h.policy(anyCost), Budget: assemble.Budget{Tokens: anyCost, Limit: anyCost}, Zone: "UTC",
		Conversation: h.id(c),
	}
	if h.memory == nil {
		recent, err := h.store.Newest(ctx, c.Channel.Scope(), earshot.Whole(), question.Position(), maxMaterial)
		if err != nil {
			return assemble.Input{}, err
		}
		request.State = &assemble.ConversationState{Turns: h.answers(recent)}
	}
	in, err := gather.Input(ctx, h.reads, request)
	if err != nil {
		return in, err
	}
	in.Policy, in.Budget = h.policy(h.o.Budget), assemble.Budget{Tokens: h.o.Budget, Session: assemble.DefaultBudget().Session, Limit: h.o.Limit}
	if s := in.Conversation.Summary; s != nil && s.Text == "" {
		in.Conversation.Summary = nil // it was dropped
	}
	if c.Thread != "" { // before a root stands nothing of its thread
		var root earshot.Position // zero: it is not stored
		for i := range in.Messages {
			if in.Messages[i].ID == c.Thread {
				root = in.Messages[i].Position()
			}
		}
		in.Messages = slices.DeleteFunc(in.Messages, func(m earshot.Message) bool {
			return !c.holds(&m) && (root.IsZero() || m.Position().Compare(root) < 0)
		})
	}
	return in, nil
}

// policy returns the policy transcript with the History's options.
func (h *History) policy(tokens int) assemble.Policy {
	p, _ := assemble.ByName(policyName)
	for i := range p.First {
		if s := &p.First[i]; s.Section == assemble.Transcript {
			s.Messages, s.Tokens, s.Minutes, s.AddressedOnly = h.o.Turns, tokens, h.o.Minutes, !h.o.Everything
		}
	}
	return p
}
