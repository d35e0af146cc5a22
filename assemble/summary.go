package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// The section summary shows the stored summary of older turns, with the range
// that it covers.
var summarySection = sectionKind{
	name:     SummaryPart,
	look:     SectionLook{Means: "a summary of turns that the session no longer has", Hue: 7, ANSI: 5},
	limits:   Section{Share: 25},
	fillRank: 10,
	fit: func(t *turn, s Section, p *fitPlan, room int) int {
		if t.summary == nil {
			return 0
		}
		p.summary = t.fitSummary(s, room)
		return t.countLines(p.summary)
	},
	render: func(t *turn, _ *sectionKind, w *prompt, p *fitPlan) {
		if p.summary != "" {
			w.add(earshot.User, SummaryPart, nextBlock, p.summary, t.countLines(p.summary))
		}
	},
}

// firstTurn makes a first turn. A summary and the messages that it covers are never both
// shown. In the log form the messages are, where all of them are loaded and fit; else the
// summary, if it has room and is shorter than they are.
func (t *turn) firstTurn() (Result, error) {
	summary := t.summary
	if summary == nil || !slices.ContainsFunc(t.in.Policy.First, func(s Section) bool { return s.Section == SummaryPart }) {
		return t.assemble(0, false)
	}
	if t.isLog() {
		t.summary = nil
		res, err := t.assemble(0, false)
		t.summary = summary
		if covered := t.covered(); err != nil || t.loadedWhole(covered) && !slices.ContainsFunc(covered, func(m *msg) bool { return m.verdict != isFull }) {
			t.summary = nil
			return res, err
		}
		t.forget()
	}
	if covered := t.covered(); t.loadedWhole(covered) && t.tokensOf(covered) < t.countLines(summary.Text) {
		t.summary = nil
	}
	t.forget()
	t.stands = t.summary != nil
	res, err := t.assemble(0, false)
	if err != nil || !t.stands || res.Tokens.Sections[SummaryPart] > 0 {
		return res, err
	}
	notes := t.notes // there is no room for the summary
	t.forget()
	t.summary, t.stands = nil, false
	if res, err = t.assemble(0, false); err == nil {
		res.Notes = append(slices.DeleteFunc(notes, func(n Note) bool { return n != noSummary }), res.Notes...)
	}
	return res, err
}

// covered returns the messages of the conversation that the summary covers, but for the
// thread's root, what recall names and what was edited since; none where its end is not
// known, and where the input has none of them.
func (t *turn) covered() []*msg {
	if t.summary.To == 0 || t.in.Conversation.Folded {
		return nil
	}
	mine := t.conversation()
	if slices.ContainsFunc(t.in.Policy.First, func(s Section) bool { return s.Section == Transcript }) {
		mine = t.transcriptFilter()
	}
	named := map[earshot.MessageID]bool{}
	for _, r := range t.in.Recalled {
		named[r.ID] = true
	}
	s, root := t.summary, t.root()
	var out []*msg
	for _, m := range t.live {
		if (s.From == 0 || m.Time >= s.From) && m.Time <= s.To && m.Edited <= s.To && m != root && !m.withheld && !named[m.ID] && t.isSpoken(m) && mine(m) {
			out = append(out, m)
		}
	}
	return out
}

// loadedWhole reports whether the input has all that the summary covers.
func (t *turn) loadedWhole(covered []*msg) bool {
	if len(covered) == 0 || t.summary.From == 0 {
		return false
	}
	first := covered[0]
	if root := t.root(); root != nil {
		first = root
	}
	if first.Time > t.summary.From {
		return false
	}
	rest, _ := t.notLoaded(t.anchor.Root())
	return rest == 0 || t.anchor.Root() == ""
}

// tokensOf is what the texts of messages cost.
func (t *turn) tokensOf(msgs []*msg) int {
	n := 0
	for _, m := range msgs {
		n += t.in.Counter.Count(m.Text)
	}
	return n
}

// A summary may have minSummary tokens, however small its share of the budget is,
// and with fewer than leastSummary it is not worth showing.
const (
	minSummary   = 32
	leastSummary = 12
)

var noSummary = Note{NoteOmitted, "summary: no room in the budget"}

// fitSummary returns the summary's lines, cut to its share of the budget and to the
// room that is left; "" where that is too little.
func (t *turn) fitSummary(s Section, room int) string {
	body := t.renderStored(t.summary.Text)
	if body == "" {
		return ""
	}
	head := t.summaryHeader(t.when.minute)
	write := func(body string) string { return head + "\n  " + indentLines(body) }
	if t.isLog() {
		head = t.summaryHeader(t.when.short)
		write = func(body string) string { return head + "\n+ summary: " + indentLog(body) }
	}
	frame := t.tok(head) + 1
	room = min(room-frame, max(minSummary, t.in.Budget.Tokens*s.Share/100-frame))
	lines := write(body)
	for limit := room; t.countLines(lines) > room+frame; limit -= max(1, limit/16) {
		if limit < leastSummary {
			t.notes = append(t.notes, noSummary)
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
