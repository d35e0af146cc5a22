package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// whyLast writes the ledger of a channel's newest turn, for /why in the terminal.
func whyLast(ctx context.Context, st earshot.Store, w io.Writer, c earshot.Channel, width int) error {
	s := c.Scope()
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{Scope: &s, Limit: 20, States: earshot.AskedStates()})
	if err != nil {
		return err
	}
	l := turnsOf(st)
	for _, t := range list {
		whole, err := l.whole(ctx, int64(t.ID))
		if err != nil {
			return err
		}
		ledger := whole.Ledger()
		if ledger == nil {
			continue
		}
		in, out := shownOf(ledger)
		fmt.Fprintf(w, "%s%s", terminal.Rule(fmt.Sprintf("turn %d (%s): %s shown, %s left out", t.ID, t.State, plain.Number(in), plain.Number(out)), width),
			terminal.Ledger(ledger, whole.consideredMessages(), whole.Identity(), true, width))
		if whole.Prompt != nil {
			fmt.Fprint(w, terminal.Tokens(whole.Prompt.Tokens, width))
		}
		return nil
	}
	return errors.New("nothing was answered here yet")
}
