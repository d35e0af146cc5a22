package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// assemble records the prompt that gathering has led to, so that a restart
// goes on with it. Where something that it shows was deleted meanwhile, the
// queue refuses it: gather again.
func (t *turn) assemble(ctx context.Context) error {
	turns, err := t.Store.Turns(ctx, t.lease.Conversation, 1)
	if err != nil {
		return fmt.Errorf("count turns: %w", err)
	}
	n := 0
	if len(turns) > 0 {
		n = turns[0].Number + 1
	}
	input, err := refer(t.input, n)
	if err != nil {
		return fmt.Errorf("record the input: %w", err)
	}
	p := earshot.Prompt{From: t.input.Conversation.Epoch, Epoch: t.result.Next.Epoch, Input: input, Hash: t.result.Hash}
	for _, row := range t.result.Ledger {
		if row.Verdict != earshot.Out {
			p.Shows = append(p.Shows, row.ID)
		}
	}
	if err := t.Store.Begin(ctx, t.lease, t.queued.ID, p); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// A journal that is there although nothing of it was taken up is that of
	// the same prompt.
	if len(t.steps) == 0 {
		if t.steps, err = t.Store.Steps(ctx, t.queued.ID); err != nil {
			return err
		}
	}
	t.Fault(faultAfterBegin)
	return nil
}

// isAgain reports whether the queue has refused a prompt that is out of date.
func isAgain(err error) bool { return errors.Is(err, earshot.ErrConflict) }
