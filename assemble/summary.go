package assemble

import "github.com/earshot-ai/earshot"

// The section summary shows the stored summary of older turns, with the range
// that it covers.
var summarySection = sectionKind{
	name:     SummaryPart,
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

// minSummary is the fewest tokens that a summary is worth showing with.
const minSummary = 24

// fitSummary returns the summary's lines, cut to its share of the budget and to the
// room that is left; "" where that is too little.
func (t *turn) fitSummary(s Section, room int) string {
	head := t.summaryHeader(t.when.minute)
	room = min(room, t.in.Budget.Tokens*s.Share/100) - t.tok(head) - 1
	body := t.stored(t.summary.Text)
	if body == "" {
		return ""
	}
	if room < minSummary {
		t.notes = append(t.notes, Note{NoteOmitted, "summary: no room in the budget"})
		return ""
	}
	write := func(body string) string { return head + "\n  " + indent(body) }
	if t.isLog() {
		write = func(body string) string {
			return t.summaryHeader(t.when.short) + "\n+ summary: " + indentLog(body)
		}
	}
	lines := write(body)
	for limit := room; t.countLines(lines) > room+t.tok(head)+1; limit -= max(1, limit/16) {
		if limit < minSummary {
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
	case c.From != 0 && c.To != 0:
		s += ", " + date(c.From) + " to " + date(c.To)
	case c.To != 0:
		s += ", up to " + date(c.To)
	case c.From != 0:
		s += ", from " + date(c.From)
	}
	return s + "]"
}
