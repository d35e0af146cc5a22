package main

import (
	"context"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// What people had to do with a turn: what they were asked, what they think of the answer, and
// who stopped it.
type turnPeople struct {
	Approvals []approvalJSON `json:"approvals"`
	Feedback  []feedbackJSON `json:"feedback"`
	Stopped   string         `json:"stopped,omitempty"`    // when somebody asked for its end
	StoppedBy string         `json:"stopped_by,omitempty"` // "" for an operator
}

func (l turnStore) people(ctx context.Context, q earshot.QueuedTurn) (p turnPeople, err error) {
	p.Approvals, err = l.approvals(ctx, earshot.ApprovalQuery{Turn: q.ID, Limit: maxTurnApprovals})
	if err != nil {
		return p, err
	}
	if q.Stopped != 0 {
		p.Stopped, p.StoppedBy = q.Stopped.String(), string(q.StoppedBy)
	}
	p.Feedback, err = l.feedback(ctx, earshot.FeedbackQuery{Turn: q.ID, Limit: 200})
	return p, err
}

func (w *wholeTurn) showPeople(a *app) {
	p := w.people
	if len(p.Feedback) == 0 && p.Stopped == "" {
		return
	}
	a.printf("%s", terminal.Rule("people", a.width))
	if p.Stopped != "" {
		who := p.StoppedBy
		if who == "" {
			who = "an operator"
		}
		a.printf("stopped %s by %s\n", w.Queued.Stopped.UTC().Format(time.TimeOnly), plain.Line(who, 40))
	}
	for _, f := range p.Feedback {
		a.printf("%s %s: %s %s\n", f.minute, plain.Line(nameOr(f.AuthorName, f.Author), 40), verdict(f.Good), plain.Line(f.Reason, 200))
	}
	a.printf("\n")
}

// opinions are what people think of the answer, for the head of a case.
func (p turnPeople) opinions() string {
	var out strings.Builder
	for _, f := range p.Feedback {
		word := "bad"
		if f.Good {
			word = "good"
		}
		out.WriteString("; " + string(f.Author) + " found the answer " + word)
		if f.Reason != "" {
			out.WriteString(": " + plain.Line(f.Reason, 200))
		}
	}
	return out.String()
}
