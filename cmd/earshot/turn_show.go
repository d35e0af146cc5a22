package main

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/desk"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/step"
)

func (w *wholeTurn) show(a *app, prices map[string]config.Price, all bool) {
	r := w.row
	a.printf("turn %d  %s  #%s  %s\n", r.ID, stateStyle(r.State), desk.Line(r.ChannelName, 40), desk.Faint("conversation "+desk.Line(r.Conversation, 40)))
	if r.Why != "" {
		a.printf("%s\n", desk.Clean(r.Why))
	}
	a.printf("%s: %s\n", desk.Strong(desk.Line(r.By, 40)), desk.Line(r.Question, 400))
	ends := ""
	if r.Ends > 0 {
		ends = fmt.Sprintf(", left by %d processes", r.Ends)
	}
	w.showEpoch(a)
	a.printf("%s\n\n", desk.Faint(fmt.Sprintf("asked %s, took %s, claimed %s%s, epoch %d", r.minute, w.tookText(), timesText(r.Tries), ends, r.Epoch)))
	w.showNames(a)
	if w.Prompt != nil {
		a.printf("%s\n", desk.Prompt(*w.Prompt, a.width, 0))
		a.printf("%s%s\n", desk.Rule("tokens", a.width), desk.Tokens(w.Prompt.Tokens, a.width))
	} else {
		a.printf("%s%s\n\n", desk.Rule("prompt", a.width), "cannot be shown: "+desk.Clean(w.Changed))
	}
	if ledger := w.Ledger(); ledger != nil {
		in, out := shownOf(ledger)
		a.printf("%s%s\n", desk.Rule(fmt.Sprintf("ledger: %s shown, %s left out", desk.Number(in), desk.Number(out)), a.width), desk.Ledger(ledger, w.considered(), w.Identity(), all, a.width))
	}
	w.showJournal(a)
	w.showAnswer(a)
	a.printf("%s\n", w.Spent(priceOf(prices)))
	served := ""
	if !w.served {
		served = desk.Faint("  (earshot sidecar --inspect serves it)")
	}
	a.printf("page: %s%s\n", w.page, served)
}

// showAnswer writes what was posted, or else what somebody else has answered.
func (w *wholeTurn) showAnswer(a *app) {
	answer := w.Answer()
	if len(answer) == 0 {
		return
	}
	if len(w.Posts) == 0 {
		a.printf("%s", desk.Rule("reply", a.width))
	} else {
		a.printf("%s", desk.Rule("posts", a.width))
	}
	for _, x := range answer {
		if x.State != "" {
			a.printf("%s  %s\n", x.State, desk.Faint(desk.Line(string(x.Message), 40)))
		}
		a.printf("%s", desk.Paragraph(desk.Clean(desk.Readable(x.Text)), a.width-2, "  "))
	}
	a.printf("\n")
}

// showNames writes the names that the prompt gives people and the zone of its
// times, where these are recorded.
func (w *wholeTurn) showNames(a *app) {
	names, _ := w.Names()
	zone := w.Zone()
	if zone != "" {
		a.printf("%s\n", desk.Faint("the prompt's times are of "+desk.Line(zone, 60)))
	}
	if len(names) > 0 {
		var list []string
		for _, n := range names {
			list = append(list, desk.Line(n.Name, 80)+" ("+desk.ID(string(n.ID))+")")
		}
		a.printf("%s\n", desk.Faint(strings.TrimSuffix(desk.Paragraph("named here first: "+strings.Join(list, ", "), a.width, ""), "\n")))
	}
	if zone != "" || len(names) > 0 {
		a.printf("\n")
	}
}

func (w *wholeTurn) showJournal(a *app) {
	if len(w.Steps) == 0 {
		return
	}
	a.printf("%s", desk.Rule("journal", a.width))
	for _, e := range w.Steps {
		at := desk.Faint(e.Time.UTC().Format("15:04:05.000"))
		switch {
		case e.Answer != nil:
			u := e.Answer.Usage
			a.printf("%s  %s %s, %s: %s + %s + %s tokens read, %s answered\n", at, desk.Line(e.Answer.Provider, 20), desk.Line(e.Answer.Model, 60), e.Answer.Stop,
				desk.Number(u.Input), desk.Number(u.CacheRead), desk.Number(u.CacheWrite), desk.Number(u.Output))
			for _, c := range e.Answer.Calls() {
				a.printf("  calls %s %s\n", desk.Strong(c.Name), desk.Line(c.Args, a.width-10))
			}
			if s := strings.TrimSpace(e.Answer.Text()); s != "" {
				a.printf("%s", desk.Paragraph(desk.Clean(s), a.width-2, "  "))
			}
		case e.Results != nil:
			for _, r := range e.Results {
				size, first := 0, ""
				for _, p := range r.Parts {
					size += len(p.Text)
					if first == "" {
						first = p.Text
					}
				}
				a.printf("%s  %s said %s bytes: %s\n", at, desk.Strong(r.Name), desk.Number(size), desk.Line(first, max(20, a.width-50)))
			}
		case e.Files != nil:
			for _, f := range e.Files {
				if f.Why != "" {
					a.printf("%s  %s was not attached: %s\n", at, desk.Line(f.Name, 60), desk.Line(f.Why, 200))
					continue
				}
				a.printf("%s  %s is attached as %s of %s bytes\n", at, desk.Strong(desk.Line(f.Name, 60)), desk.Line(f.Type, 60), desk.Number(f.Bytes))
			}
		case e.Failed != "":
			a.printf("%s  %s\n", at, desk.Bad(desk.Line(e.Failed, 400)))
		default:
			a.printf("%s  %s\n", at, desk.Faint(stepWords(e)))
		}
	}
	a.printf("\n")
}

// stepWords says what a step without content is.
func stepWords(e step.Entry) string {
	switch kind := explain.StepKind(e); kind {
	case "reopened":
		return "opened again by an operator"
	case "unknown":
		return "a step of a newer version"
	default:
		return kind
	}
}

// tookText writes the time from the question to the end of the turn.
func (w *wholeTurn) tookText() string {
	if !w.Queued.State.Final() {
		return "no end yet"
	}
	return short(w.Took())
}

// timesText writes how often something happened.
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
