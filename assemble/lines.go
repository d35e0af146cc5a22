package assemble

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/earshot-ai/earshot"
)

// labelledLayout is what the layouts of the text forms have in common: a message is a
// label, "Name: ", and its text.
type labelledLayout struct{}

func (labelledLayout) empty(_ *turn, b *block) bool { return len(b.cands) == 0 && len(b.gaps) == 0 }

func (labelledLayout) rootCost(t *turn, root *msg) int { return t.fullCost(root) }

// A labelledBlock writes messages one below the other, each a line that begins
// with its label.
type labelledBlock struct {
	labelledLayout
	header        func(t *turn, b *block) (head, foot string) // the lines around it; "" for none
	countsOmitted bool                                        // a line counts what is left out, where no header does
}

func (l labelledBlock) frameCost(t *turn, b *block) int {
	longest := *b
	longest.kept = b.cands
	if b.root != nil {
		longest.kept = append(slices.Clip(b.cands), b.root) // their number counts
	}
	longest.left = b.total + 10
	head, foot := l.header(t, &longest)
	n := t.countLines(head) + 2
	if foot != "" {
		n += t.tok(foot) + 1
	}
	if line := t.staleLine(longest.kept); line != "" {
		n += t.tok(line) + 1
	}
	return n
}

// staleLine says of when the newest of a block's messages is, where that is more than a
// day before the question: these forms show no times. It is "" otherwise.
func (t *turn) staleLine(msgs []*msg) string {
	var newest earshot.Time
	for _, m := range msgs {
		newest = max(newest, m.Time)
	}
	age := t.end.Time - newest
	if newest == 0 || age <= aDay {
		return ""
	}
	days := int(age / aDay)
	unit := "days"
	if days == 1 {
		unit = "day"
	}
	return "[the newest of these messages is of " + t.when.minute(newest) + ", " + formatThousands(days) + " " + unit + " before the question]"
}

// aDay is a day in microseconds.
const aDay = 24 * 3600 * 1_000_000

func (l labelledBlock) fill(t *turn, b *block, room int) int {
	costs := t.labelledCosts(b)
	costs.countsOmitted = l.countsOmitted && t.in.Policy.Form == Text && t.in.Policy.Frame != Preamble
	return t.fillLines(b, room, costs)
}

func (l labelledBlock) render(t *turn, w *prompt, b *block) {
	name := b.kind.name
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	head, foot := l.header(t, b)
	sep := nextBlock
	if t.in.Policy.Frame == Preamble || t.in.Policy.Frame == Tags || head != "" {
		w.add(earshot.User, name, nextBlock, head, t.countLines(head)+1)
	}
	if head != "" {
		sep = nextLine
	}
	sep = t.renderGaps(w, b, sep)
	if line := t.staleLine(b.kept); line != "" {
		w.add(earshot.User, name, sep, line, t.tok(line)+1)
		sep = nextLine
	}
	for _, m := range b.kept {
		if m != b.root {
			sep = t.renderCount(w, b, sep)
		}
		w.show(m, earshot.User, name, sep, t.line(m), 0, int(m.tokens))
		sep = nextLine
	}
	t.renderCount(w, b, sep)
	if foot != "" {
		w.add(earshot.User, name, nextLine, foot, t.tok(foot)+1)
	}
}

// renderGaps writes the block's gap lines, the first after sep, and returns what
// separates the next line from them.
func (t *turn) renderGaps(w *prompt, b *block, sep string) string {
	for _, g := range b.gaps {
		w.add(earshot.User, b.kind.name, sep, g, t.tok(g)+1)
		sep = nextLine
	}
	return sep
}

// renderCount writes the line that counts what the block leaves out, once, where
// it has one. It returns what separates the next line from it.
func (t *turn) renderCount(w *prompt, b *block, sep string) string {
	if !b.counted || b.countOmitted() == 0 {
		return sep
	}
	b.counted = false
	line := leftOut(b.countOmitted())
	w.add(earshot.User, b.kind.name, sep, line, t.tok(line)+1)
	return nextLine
}

// A turnsBlock writes messages as turns: the agent's own as the assistant's,
// everybody else's as labelled lines of the user's.
type turnsBlock struct {
	labelledLayout
	header        string // above a user's line that begins the block in brackets; "" for none
	platformNotes bool   // marks what the platform itself said
	countsOmitted bool   // a line counts what is left out
}

func (l turnsBlock) frameCost(t *turn, b *block) int { return t.tok(l.header) + 2 + t.openingCost(b) }

// openingCost is what [Opening] costs where the block may begin with the agent's own.
func (t *turn) openingCost(b *block) int {
	if !slices.ContainsFunc(b.cands, func(m *msg) bool { return t.in.Identity.Is(m.Author.ID) }) {
		return 0
	}
	return t.tok(Opening)
}

func (l turnsBlock) fill(t *turn, b *block, room int) int {
	costs := t.labelledCosts(b)
	costs.countsOmitted = l.countsOmitted
	return t.fillLines(b, room, costs)
}

// noteLabel stands before what the platform itself said.
const noteLabel = "[system note] "

func (l turnsBlock) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	name := b.kind.name
	sep := t.renderCount(w, b, t.renderGaps(w, b, nextBlock))
	for i, m := range b.kept {
		if t.in.Identity.Is(m.Author.ID) {
			w.show(m, earshot.Assistant, name, nextLine, t.body(m), 0, int(m.tokens))
			continue
		}
		if i == 0 && l.header != "" && t.in.Policy.Frame == Brackets {
			w.add(earshot.User, name, sep, l.header, t.tok(l.header)+1)
			sep = nextLine
		}
		line := t.line(m)
		if l.platformNotes && !t.isSpoken(m) {
			line = noteLabel + indentLines(markEdited(m, t.body(m)))
		}
		w.show(m, earshot.User, name, sep, line, 0, int(m.tokens))
		sep = nextLine
	}
}

// lineCosts is what messages cost in a block of lines: whole, and with no more
// of each than the block's Cut.
type lineCosts struct {
	whole, cut    func(*msg) int
	countsOmitted bool // a line of the block counts what is left out
}

// labelledCosts is what labelled lines cost.
func (t *turn) labelledCosts(b *block) lineCosts {
	return lineCosts{whole: t.fullCost, cut: func(m *msg) int { return t.cutCost(m, b.Cut) }}
}

// briefCut is how many tokens are shown of a message that stands for more than
// itself: the agent's own answer outside of its thread, and in the log form a
// root that is older than the window.
const briefCut = 100

// shortAnswers is cost, except that the agent's answers in threads are cut to
// briefCut.
func (t *turn) shortAnswers(cost func(*msg) int) func(*msg) int {
	return func(m *msg) int {
		if t.isAnswer(m) {
			return t.cutCost(m, briefCut)
		}
		return cost(m)
	}
}

// fillLines keeps messages that stand one below the other. Where they do not
// fit whole, long ones are cut before any is left out.
func (t *turn) fillLines(b *block, room int, costs lineCosts) int {
	room = min(room, b.Tokens)
	line := 0
	if costs.countsOmitted {
		line = t.tok(leftOut(b.total)) + 1
	}
	reserve := 0
	if b.total > len(b.cands)+b.rootCount() {
		reserve = line
	}
	used := 0
	if n, ok := wholeCost(b.cands, costs.whole, room-reserve); ok {
		used = n
		for _, m := range b.cands {
			t.keep(b, m, costs.whole(m))
		}
	} else {
		for i, m := range slices.Backward(b.cands) {
			n := costs.cut(m)
			if used+n+line > room {
				b.dropOldest(i+1, reasonBudget)
				break
			}
			used += n
		}
		for _, m := range b.cands {
			t.keepCut(b, m)
		}
	}
	b.kept = b.cands
	shown := len(b.kept) + b.rootCount()
	if costs.countsOmitted && shown > 0 && b.total > shown && used+line <= room {
		b.counted = true
		used += line
	}
	return used
}

// wholeCost is what all messages cost, the newest asked first; ok is false where
// that is more than room.
func wholeCost(msgs []*msg, cost func(*msg) int, room int) (used int, ok bool) {
	for _, m := range slices.Backward(msgs) {
		if used += cost(m); used > room {
			return used, false
		}
	}
	return used, true
}

// keep records that a block shows m whole.
func (t *turn) keep(b *block, m *msg, tokens int) {
	m.verdict, m.section, m.tokens, m.reason = isFull, b.kind, int32(tokens), noReason
}

// keepCut records that a block shows m, cut where its text is longer than a
// message may be in a section that does not fit whole.
func (t *turn) keepCut(b *block, m *msg) {
	t.keep(b, m, m.written.cutCost)
	if m.written.cut != "" {
		m.verdict = isCut
	}
}

// lastOf says in a header how many messages its block shows, the newest, and how
// many it leaves out: "last 50 of 190 messages; 140 earlier ones were left out".
// Where none is left out it says how many there are only if always is set.
func lastOf(b *block, always bool) string {
	shown, omitted := len(b.kept), b.countOmitted()
	switch {
	case shown == 0 && !b.skipped:
		return ""
	case omitted > 0:
		return fmt.Sprintf("last %d of %d messages; %d earlier ones were left out", shown, shown+omitted, omitted)
	case always:
		return fmt.Sprintf("last %d messages", shown)
	}
	return ""
}

// preambleHeader is the first line of a block in the frame preamble, and the
// dashes below it.
func preambleHeader(title, counts string) string {
	if counts != "" {
		title += " (" + counts + ")"
	}
	return title + ":\n---"
}

// leftOut is the line of a block that counts what it does not show.
func leftOut(n int) string { return "[" + strconv.Itoa(n) + " earlier messages were left out]" }
