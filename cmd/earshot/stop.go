package main

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
)

type stopCmd struct {
	ID int64 `arg:"" name:"turn" help:"A turn that has not ended: earshot turns --open lists them."`
}

func (c *stopCmd) Run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	t, err := l.turn(ctx, c.ID)
	if err != nil {
		return err
	}
	t, err = l.store.StopTurn(ctx, t.ID, "")
	switch {
	case errors.Is(err, earshot.ErrConflict):
		return usagef("turn %d is %s and cannot be stopped; only one that has not ended can", t.ID, t.State)
	case err != nil:
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"id": t.ID, "state": t.State, "stopped": t.Stopped.String()})
	}
	a.printf("turn %d is to end; the bot that answers it ends it within seconds, and one that is away when it runs again\n", t.ID)
	return nil
}
