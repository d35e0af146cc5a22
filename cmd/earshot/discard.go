package main

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
)

type discardCmd struct {
	ID     int64  `arg:"" name:"turn" help:"A turn that failed or is parked."`
	Reason string `placeholder:"TEXT" help:"Why, for whoever looks at the turn later."`
}

func (c *discardCmd) Run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	t, err := l.turn(ctx, c.ID)
	if err != nil {
		return err
	}
	switch err := l.store.Discard(ctx, t.ID, c.Reason); {
	case errors.Is(err, earshot.ErrConflict):
		return usagef("turn %d is %s and cannot be discarded; only a failed or parked one can", t.ID, t.State)
	case errors.Is(err, earshot.ErrInvalid):
		return usagef("--reason is too long; give at most %d bytes", earshot.DiscardBytes)
	case err != nil:
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"id": t.ID, "state": earshot.TurnDropped, "was": t.State})
	}
	if t.State == earshot.TurnDropped {
		a.printf("turn %d was discarded before; nothing has changed\n", t.ID)
		return nil
	}
	a.printf("turn %d was %s and is discarded; nobody answers it\n", t.ID, t.State)
	return nil
}
