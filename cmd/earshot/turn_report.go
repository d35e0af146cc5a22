package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/llm"
)

// writeCase prints a turn's prompt as a case in text form.
func (w *wholeTurn) writeCase(a *app, redact bool) error {
	if w.Prompt == nil {
		return fmt.Errorf("turn %d cannot be a case: %s", w.Queued.ID, w.Changed)
	}
	what := fmt.Sprintf("turn %d, policy %s", w.Queued.ID, w.Input.Policy.Name) + w.people.opinions()
	c := transcript.Report(what, *w.Input, *w.Prompt)
	if redact {
		var err error
		if c, err = transcript.RedactedReport("a redacted turn", *w.Input, *w.Prompt); err != nil {
			return err
		}
	}
	_, err := a.raw.Write(transcript.Format(c))
	return err
}

// A requestJSON is a request to a provider as --json writes it. One of Body and Why
// is set.
type requestJSON struct {
	Step     int             `json:"step"` // of the journal: the answer to it
	Provider string          `json:"provider"`
	Sent     *llm.SentBody   `json:"sent,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"` // the content of files is shortened
	Why      string          `json:"why,omitempty"`  // it cannot be shown
}

// writeRequests prints what the provider was sent for each answer of a turn.
func (w *wholeTurn) writeRequests(ctx context.Context, a *app, st bot.Store) error {
	list := []requestJSON{}
	for r, err := range daemon.Requests(ctx, st, w.Queued) {
		if err != nil {
			return err
		}
		out := requestJSON{Step: r.N, Provider: r.Provider, Sent: r.Sent, Body: r.Shortened(), Why: r.Why}
		if a.json {
			list = append(list, out)
			continue
		}
		a.printf("%s", terminal.Rule(fmt.Sprintf("step %d", r.N), a.width))
		if r.Body == nil {
			a.printf("cannot be shown: %s\n\n", plain.Clean(r.Why))
			continue
		}
		a.printf("%s\n", terminal.Faint(fmt.Sprintf("POST %s to %s for %s: these are the %s bytes that were sent, SHA-256 %s",
			plain.Line(r.Sent.Path, 80), r.Provider, plain.Line(r.Sent.Model, 60), plain.Number(r.Sent.Bytes), r.Sent.SHA256)))
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, out.Body, "", "  "); err != nil {
			return fmt.Errorf("request of step %d: %w", r.N, err)
		}
		a.printf("%s\n\n", plain.Clean(pretty.String()))
	}
	if a.json {
		return a.writeJSON(list)
	}
	if len(w.Steps) == 0 {
		a.printf("turn %d asked no model.\n", w.Queued.ID)
	}
	return nil
}
