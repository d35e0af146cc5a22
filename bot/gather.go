package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// gather reads what the turn can use: what was recorded for it before a
// restart, if it still stands, else what the store knows now.
func (t *turn) gather(ctx context.Context) error {
	t.steps, t.files = nil, newTurnFiles()
	if !t.halved && !t.anew && t.queued.Hash != "" {
		ok, err := t.resume(ctx)
		if err != nil {
			return err
		}
		if ok {
			t.Fault(faultAfterGather)
			return nil
		}
	}
	if t.counter == nil {
		t.counter = t.Count()
	}
	t.history(ctx)
	if err := t.slot.take(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	req := gather.Request{
		Channel: t.place.Channel, Anchor: t.queued.Anchor, Identity: t.Identity, Policy: t.Policy, Budget: t.budget,
		Counter: t.counter, Instructions: t.Instructions, Conversation: t.lease.Conversation, DefaultZone: t.Zone,
		Finder: &finder{turn: t},
	}
	in, res, err := gather.Turn(ctx, t.Store, req)
	if err == nil {
		in, res, err = t.attach(ctx, req, in, res)
	}
	var bad *assemble.InputError
	switch {
	case errors.Is(err, assemble.ErrBudgetTooSmall):
		return &giveUp{err.Error(), sayTooLarge}
	case errors.As(err, &bad):
		if m, e := t.Store.Message(ctx, t.lease.Conversation.Scope, t.queued.Anchor); e == nil && m.Deleted {
			return errWithdrawn
		}
		return &giveUp{"the context cannot be made: " + err.Error(), sayFailed}
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("gather: %w", err)
	}
	t.input, t.result = in, res
	t.Fault(faultAfterGather)
	return nil
}

// resume takes up the prompt and the journal that were recorded before. It
// reports false where they no longer stand.
func (t *turn) resume(ctx context.Context) (bool, error) {
	q, err := t.Store.QueuedTurn(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	if q.Input == nil {
		return false, nil
	}
	in, err := Input(ctx, t.Store, q)
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != q.Hash {
		return false, nil
	}
	steps, err := t.Store.Steps(ctx, q.ID)
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		if s.Erased {
			return false, nil
		}
	}
	t.input, t.result, t.steps = in, res, steps
	return true, nil
}
