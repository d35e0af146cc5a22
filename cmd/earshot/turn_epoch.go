package main

import (
	"fmt"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/desk"
)

// A summaryJSON is the summary in a turn's prompt.
type summaryJSON struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Turns int    `json:"turns"`
	By    string `json:"by,omitempty"` // a model, or digest
	Shown bool   `json:"shown"`        // false: the budget had no room for it, or what it covers was deleted
}

// summary returns the summary that the turn could show; nil where it had none, where
// it goes on with a session, or where the prompt cannot be made again.
func (w *wholeTurn) summary() *summaryJSON {
	if w.result == nil || w.input.Conversation.Summary == nil {
		return nil
	}
	shown := w.result.Tokens.Sections[assemble.SummaryPart] > 0
	if !shown && w.queued.Began == "" {
		return nil
	}
	s := w.input.Conversation.Summary
	out := &summaryJSON{Turns: s.Turns, By: s.By, Shown: shown}
	if s.From != 0 {
		out.From = s.From.String()
	}
	if s.To != 0 {
		out.To = s.To.String()
	}
	return out
}

// showEpoch writes why the turn is the first of its epoch, and the summary of the
// turns before it.
func (w *wholeTurn) showEpoch(a *app) {
	if why := desk.Began(w.queued.Began); why != "" {
		a.printf("epoch %d begins with this turn: %s\n", w.row.Epoch, why)
	}
	s := w.summary()
	if s == nil {
		return
	}
	c := w.input.Conversation.Summary
	line := "summary of " + desk.Count(s.Turns, "turn")
	switch {
	case c.From != 0 && c.To != 0:
		line += fmt.Sprintf(", %s to %s UTC", desk.Minute(c.From), desk.Minute(c.To))
	case c.To != 0:
		line += fmt.Sprintf(", up to %s UTC", desk.Minute(c.To))
	case c.From != 0:
		line += fmt.Sprintf(", from %s UTC", desk.Minute(c.From))
	}
	if s.By != "" {
		line += ", by " + desk.Line(s.By, 60)
	}
	if !s.Shown {
		line += "; not shown: the budget had no room for it, or what it covers was deleted"
	}
	a.printf("%s\n", line)
}
