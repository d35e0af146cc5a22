package main

import (
	"fmt"

	"github.com/earshot-ai/earshot/internal/plain"
)

// A summaryJSON is the summary in a turn's prompt.
type summaryJSON struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Turns int    `json:"turns"`
	By    string `json:"by,omitempty"` // a model, or digest
	Shown bool   `json:"shown"`        // false: the budget had no room for it, or what it covers was deleted
}

// summary returns the summary that the turn could show; nil where it had none.
func (w *wholeTurn) summary() *summaryJSON {
	s, shown := w.Summary()
	if s == nil {
		return nil
	}
	return &summaryJSON{From: s.From.String(), To: s.To.String(), Turns: s.Turns, By: s.By, Shown: shown}
}

// showEpoch writes why the turn is the first of its epoch, and the summary of the
// turns before it.
func (w *wholeTurn) showEpoch(a *app) {
	if why := plain.Began(w.Queued.Began); why != "" {
		a.printf("epoch %d begins with this turn: %s\n", w.row.Epoch, why)
	}
	s, shown := w.Summary()
	if s == nil {
		return
	}
	line := "summary of " + plain.Count(s.Turns, "turn")
	switch {
	case s.From != 0 && s.To != 0:
		line += fmt.Sprintf(", %s to %s UTC", plain.Minute(s.From), plain.Minute(s.To))
	case s.To != 0:
		line += fmt.Sprintf(", up to %s UTC", plain.Minute(s.To))
	case s.From != 0:
		line += fmt.Sprintf(", from %s UTC", plain.Minute(s.From))
	}
	if s.By != "" {
		line += ", by " + plain.Line(s.By, 60)
	}
	if !shown {
		line += "; not shown: the budget had no room for it, or what it covers was deleted"
	}
	a.printf("%s\n", line)
}
