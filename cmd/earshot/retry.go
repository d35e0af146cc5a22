package main

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
)

type retryCmd struct {
	ID int64 `arg:"" name:"turn" help:"A turn that failed or is parked."`
}

func (c *retryCmd) Run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	t, err := l.turn(ctx, c.ID)
	if err != nil {
		return err
	}
	if err := l.store.Reopen(ctx, t.ID); errors.Is(err, earshot.ErrConflict) {
		return usagef("turn %d is %s and cannot be opened again: only a failed or parked one can, whose question is still there, while no other of its conversation is being answered", t.ID, t.State)
	} else if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"id": t.ID, "state": earshot.TurnOpen, "was": t.State})
	}
	a.printf("turn %d was %s and is open again; the bot answers it when it runs\n", t.ID, t.State)
	return nil
}
