package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

func (w *wholeTurn) show(a *app, prices map[string]config.Price, all bool) {
	r := w.row
	a.printf("turn %d  %s  #%s  %s\n", r.ID, stateStyle(r.State), plain.Line(r.ChannelName, 40), terminal.Faint("conversation "+plain.Line(r.Conversation, 40)))
	if r.Why != "" {
		a.printf("%s\n", plain.Clean(r.Why))
	}
	a.printf("%s: %s\n", terminal.Strong(plain.Line(r.By, 40)), plain.Line(r.Question, 400))
	ends := ""
	if r.Ends > 0 {
		ends = fmt.Sprintf(", left by %d processes", r.Ends)
	}
	w.showEpoch(a)
	a.printf("%s\n\n", terminal.Faint(fmt.Sprintf("asked %s, took %s, claimed %s%s, epoch %d", r.minute, w.tookText(), timesText(r.Tries), ends, r.Epoch)))
	w.showNames(a)
	if w.Prompt != nil {
		a.printf("%s\n", terminal.Prompt(*w.Prompt, a.width, 0))
		a.printf("%s%s", terminal.Rule("tokens", a.width), terminal.Tokens(w.Prompt.Tokens, a.width))
		if line := w.OwnToolsLine(); line != "" {
			a.printf("%s\n", terminal.Faint(line))
		}
		a.printf("\n")
	} else {
		a.printf("%s%s\n\n", terminal.Rule("prompt", a.width), "cannot be shown: "+plain.Clean(w.Changed))
	}
	if ledger := w.Ledger(); ledger != nil {
		in, out := shownOf(ledger)
		a.printf("%s%s\n", terminal.Rule(fmt.Sprintf("ledger: %s shown, %s left out", plain.Number(in), plain.Number(out)), a.width), terminal.Ledger(ledger, w.consideredMessages(), w.Identity(), all, a.width))
	}
	if len(w.Steps)+len(w.people.Approvals) > 0 {
		a.printf("%s", terminal.Rule("journal", a.width))
		w.showJournal(a)
		a.printf("\n")
	}
	w.showAnswer(a)
	w.showPeople(a)
	a.printf("%s\n", w.Spent(priceOf(prices)))
	served := ""
	if !w.served {
		served = terminal.Faint("  (earshot sidecar --inspect serves it)")
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
		a.printf("%s", terminal.Rule("reply", a.width))
	} else {
		a.printf("%s", terminal.Rule("posts", a.width))
	}
	for _, x := range answer {
		if x.State != "" {
			a.printf("%s  %s\n", x.State, terminal.Faint(plain.Line(string(x.Message), 40)))
		}
		a.printf("%s", terminal.Paragraph(plain.Clean(plain.Readable(x.Text)), a.width-2, "  "))
	}
	a.printf("\n")
}

// showNames writes the names that the prompt gives people and the zone of its
// times, where these are recorded.
func (w *wholeTurn) showNames(a *app) {
	names, _ := w.Names()
	zone := w.Zone()
	if zone != "" {
		a.printf("%s\n", terminal.Faint("the prompt's times are of "+plain.Line(zone, 60)))
	}
	if len(names) > 0 {
		var list []string
		for _, n := range names {
			list = append(list, plain.Line(n.Name, 80)+" ("+plain.ID(string(n.ID))+")")
		}
		a.printf("%s\n", terminal.Faint(strings.TrimSuffix(terminal.Paragraph("named here first: "+strings.Join(list, ", "), a.width, ""), "\n")))
	}
	if zone != "" || len(names) > 0 {
		a.printf("\n")
	}
}

// showJournal writes the steps of the turn, and what people were asked and decided between
// them.
func (w *wholeTurn) showJournal(a *app) {
	events := w.decisions()
	for _, e := range w.Steps {
		for len(events) > 0 && events[0].at <= e.Time {
			events[0].show(a)
			events = events[1:]
		}
		at := clockOf(e.Time)
		switch {
		case e.Answer != nil:
			u := e.Answer.Usage
			a.printf("%s  %s %s, %s: %s + %s + %s tokens read, %s answered\n", at, plain.Line(e.Answer.Provider, 20), plain.Line(e.Answer.Model, 60), e.Answer.Stop,
				plain.Number(u.Input), plain.Number(u.CacheRead), plain.Number(u.CacheWrite), plain.Number(u.Output))
			for _, c := range e.Answer.Calls() {
				a.printf("  calls %s %s\n", terminal.Strong(c.Name), plain.Line(c.Args, a.width-10))
			}
			if s := strings.TrimSpace(e.Answer.Text()); s != "" {
				a.printf("%s", terminal.Paragraph(plain.Clean(s), a.width-2, "  "))
			}
		case e.Results != nil:
			for _, r := range e.Results {
				size, first := 0, ""
				for _, p := range r.Parts {
					size, first = size+len(p.Text), cmp.Or(first, p.Text)
				}
				if r.Unknown {
					a.printf("%s  %s\n", at, terminal.Bad(plain.Line(r.Name, 64)+": nobody knows whether it ran"))
					continue
				}
				a.printf("%s  %s said %s bytes: %s\n", at, terminal.Strong(r.Name), plain.Number(size), plain.Line(first, max(20, a.width-50)))
			}
		case e.Offer != nil && e.Offer.Of != 0:
			a.printf("%s  tools of one's own: those of turn %d\n", at, e.Offer.Of)
		case e.Offer != nil:
			a.printf("%s  tools of one's own: %s\n", at, plain.Count(len(e.Offer.List), "tool"))
		case e.Begun != nil:
			effect := "may change something"
			if e.Begun.Effect == toolbox.Reads {
				effect = "reads"
			}
			a.printf("%s  %s begins: it %s\n", at, terminal.Strong(plain.Line(e.Begun.Name, 64)), effect)
		case e.Task != nil:
			a.printf("%s  the agent calls its work %s\n", at, plain.Line(e.Task.ID, 80))
		case e.Files != nil:
			for _, f := range e.Files {
				if f.Why != "" {
					a.printf("%s  %s was not attached: %s\n", at, plain.Line(f.Name, 60), plain.Line(f.Why, 200))
					continue
				}
				a.printf("%s  %s is attached as %s of %s bytes\n", at, terminal.Strong(plain.Line(f.Name, 60)), plain.Line(f.Type, 60), plain.Number(f.Bytes))
			}
		case e.Failed != "":
			a.printf("%s  %s\n", at, terminal.Bad(plain.Line(e.Failed, 400)))
		default:
			a.printf("%s  %s\n", at, terminal.Faint(stepWords(e)))
		}
	}
	for _, e := range events {
		e.show(a)
	}
}

// clockOf is the time of a line of the journal.
func clockOf(t earshot.Time) string { return terminal.Faint(t.UTC().Format("15:04:05.000")) }

// A decision is a line of the journal about somebody who was asked something.
type decision struct {
	at   earshot.Time
	text string
}

func (d decision) show(a *app) { a.printf("%s  %s\n", clockOf(d.at), d.text) }

// decisions returns what people were asked in the turn and what they decided, by time.
func (w *wholeTurn) decisions() (list []decision) {
	for _, x := range w.people.Approvals {
		asked := "whether " + terminal.Strong(plain.Line(x.Tool, 64)) + " may be called"
		if x.Tool == bot.AskTool {
			asked = "something by the model"
		}
		list = append(list, decision{x.asked, plain.Line(nameOr(x.AskerName, x.Asker), 40) + " is asked " + asked})
		if x.decided == 0 {
			continue
		}
		by := plain.Line(nameOr(x.ByName, x.By), 40)
		if x.Operator {
			by = "an operator"
		}
		text := "nobody agreed to " + plain.Line(x.Tool, 64) + ": " + string(x.State)
		switch {
		case x.State == earshot.ApprovalAgreed && x.Tool == bot.AskTool:
			text = terminal.Good(by+" answered") + ": " + plain.Line(x.Why, 200)
		case x.State == earshot.ApprovalAgreed:
			text = terminal.Good(by+" agreed") + " to exactly these arguments, SHA-256 " + x.SHA256[:min(12, len(x.SHA256))] + "…"
		case x.State == earshot.ApprovalRefused:
			text = terminal.Bad(by + " said no")
			if x.Why != "" {
				text += ": " + plain.Line(x.Why, 200)
			}
		}
		list = append(list, decision{x.decided, text})
	}
	slices.SortStableFunc(list, func(x, y decision) int { return cmp.Compare(x.at, y.at) })
	return list
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
	return formatDuration(w.Took())
}

// timesText writes how often something happened.
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
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
