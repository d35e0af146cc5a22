package main

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/visible"
)

type turnCmd struct {
	ID     int64  `arg:"" name:"turn" help:"The turn's id."`
	Ledger string `enum:"in,all" default:"in" help:"Which messages the ledger lists: in (shown) or all."`
	Config string `short:"c" placeholder:"FILE" help:"A configuration file, for its prices (default: $$EARSHOT_CONFIG, else none)." type:"path"`

	Request bool `xor:"form" help:"Print the requests that the model's provider was sent, made again and compared with the hash of what was sent."`
	Case    bool `xor:"form" help:"Print the turn as a text case, for a bug report; earshot assemble --transcript reads it."`
	Redact  bool `help:"With --case: without what anybody wrote, and without names."`
}

// A wholeTurn is a turn as its reader tells it, with what a terminal adds.
type wholeTurn struct {
	explain.Turn
	row    queuedJSON
	people turnPeople
	page   string // its address on the inspector
	served bool   // a daemon that runs serves the page
}

func (c *turnCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Redact && !c.Case:
		return usagef("--redact is about --case; give both")
	case c.Case && a.json:
		return usagef("--case and --json are two forms of output; use one of them")
	}
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	w, err := l.whole(ctx, c.ID)
	if err != nil {
		return err
	}
	prices, _, err := l.prices(ctx, cfg)
	if err != nil {
		return err
	}
	switch {
	case c.Case:
		return w.writeCase(a, c.Redact)
	case c.Request:
		return w.writeRequests(ctx, a, l.store)
	case a.json:
		return w.writeJSON(a, prices)
	}
	w.show(a, prices, c.Ledger == "all")
	return nil
}

// maxTurnApprovals is of how many calls the approvals of a turn are shown.
const maxTurnApprovals = 100

// whole reads a turn, or returns an error that says how to find it.
func (l turnStore) whole(ctx context.Context, id int64) (wholeTurn, error) {
	var w wholeTurn
	var err error
	w.Turn, err = l.turns.Turn(ctx, operator, earshot.TurnID(id))
	if errors.Is(err, visible.Absent) {
		return w, noTurn(id)
	}
	if err != nil {
		return w, err
	}
	w.row, err = l.row(ctx, w.Queued)
	if err == nil {
		w.people, err = l.people(ctx, w.Queued)
	}
	w.page, w.served = pageOf(ctx, l.store, w.Queued.ID)
	return w, err
}

// consideredMessages returns the stored messages of the turn's ledger, in its order.
func (w *wholeTurn) consideredMessages() []earshot.Message {
	var list []earshot.Message
	for _, row := range w.Ledger() {
		if m, ok := w.Messages[row.ID]; ok {
			list = append(list, m)
		}
	}
	return list
}
