package assemble

import "github.com/earshot-ai/earshot"

// The section summary shows the stored summary of older turns, with the range
// that it covers.
var summarySection = sectionKind{
	name:     SummaryPart,
	look:     SectionLook{Means: "a summary of turns that the session no longer has", Hue: 7, ANSI: 5},
	limits:   Section{Share: 25},
	fillRank: 10,
	fit: func(t *turn, s Section, p *plan, room int) int {
		if t.summary == nil {
			return 0
		}
		p.summary = t.fitSummary(s, room)
		return t.countLines(p.summary)
	},
	render: func(t *turn, _ *sectionKind, w *prompt, p *plan) {
		if p.summary != "" {
			w.add(earshot.User, SummaryPart, nextBlock, p.summary, t.countLines(p.summary))
		}
	},
}

// A summary may have minSummary tokens, however small its share of the budget is,
// and with fewer than leastSummary it is not worth showing.
const (
	minSummary   = 32
	leastSummary = 12
)

// fitSummary returns the summary's lines, cut to its share of the budget and to the
// room that is left; "" where that is too little.
func (t *turn) fitSummary(s Section, room int) string {
	body := t.stored(t.summary.Text)
	if body == "" {
		return ""
	}
	head := t.summaryHeader(t.when.minute)
	write := func(body string) string { return head + "\n  " + indent(body) }
	if t.isLog() {
		head = t.summaryHeader(t.when.short)
		write = func(body string) string { return head + "\n+ summary: " + indentLog(body) }
	}
	frame := t.tok(head) + 1
	room = min(room-frame, max(minSummary, t.in.Budget.Tokens*s.Share/100-frame))
	lines := write(body)
	for limit := room; t.countLines(lines) > room+frame; limit -= max(1, limit/16) {
		if limit < leastSummary {
			t.notes = append(t.notes, Note{NoteOmitted, "summary: no room in the budget"})
			return ""
		}
		cut, _ := t.cutText(body, limit)
		lines = write(cut)
	}
	return lines
}

// summaryHeader says which stretch of time the summary covers.
func (t *turn) summaryHeader(date func(earshot.Time) string) string {
	s := "[summary of earlier turns"
	switch c := t.summary; {
	case t.isLog() && c.From != 0 && c.To != 0 && t.when.day(c.From) == t.when.day(c.To):
		b := t.when.clock([]byte(s+", "+date(c.From)+" "), c.From)
		s = string(t.when.clock(append(b, " to "...), c.To))
	case c.From != 0 && c.To != 0:
		s += ", " + date(c.From) + " to " + date(c.To)
	case c.To != 0:
		s += ", up to " + date(c.To)
	case c.From != 0:
		s += ", from " + date(c.From)
	}
	return s + "]"
}
