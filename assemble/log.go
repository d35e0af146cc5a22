package assemble

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// The log form: a prompt as people read chat, from top to bottom, with days,
// times and speakers. What begins in the first column is Earshot's; what people
// typed is indented or stands behind a head. docs/context.md describes it.

// runGap is how long after the line above the same author goes on without a
// head, in microseconds.
const runGap = 5 * 60 * 1_000_000

// isLog reports whether the turn is written in the log form.
func (t *turn) isLog() bool { return t.in.Policy.Frame == Log }

// A logLine is a message where a block shows it.
type logLine struct {
	m           *msg
	tree        earshot.MessageID // of a reply where trees stand together; else ""
	day         earshot.Time      // a time of the day under whose line it stands
	above       string            // a line above it: what it replies to
	repliesLeft int               // of a root: how many replies are not shown
	parted      bool              // what was said between the line above and m stands elsewhere, or nowhere
}

// writeLog writes a block: its header, gaps, and lines, each under its day.
func (t *turn) writeLog(w *prompt, name SectionName, header string, gaps []string, lines []logLine) {
	w.add(earshot.User, name, nextBlock, header, t.countLines(header)+1)
	for _, g := range gaps {
		w.add(earshot.User, name, nextLine, g, t.tok(g)+1)
	}
	t.named = map[earshot.AuthorID]bool{}
	var above *logLine
	for i := range lines {
		l := &lines[i]
		if above == nil || t.when.day(l.day) != t.when.day(above.day) {
			day := "[" + t.when.date(l.day) + "]"
			w.add(earshot.User, name, nextLine, day, t.tok(day)+1)
			above = nil
		}
		if l.above != "" {
			w.add(earshot.User, name, nextLine, l.above, t.countLines(l.above))
			above = nil
		}
		text, tokens := t.logText(l, above)
		w.show(l.m, earshot.User, name, nextLine, text, 0, tokens)
		l.m.tokens = int32(tokens)
		above = l
	}
}

// logText is a message below the line above, nil for none, and what it costs.
func (t *turn) logText(l, above *logLine) (text string, tokens int) {
	e := l.m.entry
	tokens = e.cost
	when := t.whenOf(l.m)
	dated := when.day(l.m.Time) != when.day(l.day)
	b := t.writing[:0]
	switch {
	case above != nil && !dated && goesOn(l, above):
		b = append(b, logAgain...)
		tokens += t.tok(logAgain) - t.headCost(l.m)
	default:
		if l.tree != "" {
			b = append(b, logReply...)
			tokens += t.tok(logReply)
		}
		if dated {
			date := when.date(l.m.Time) + " "
			b = append(b, date...)
			tokens += t.tok(date)
		}
		b = t.head(b, l.m)
	}
	b = append(b, indentLog(e.text)...)
	if l.repliesLeft > 0 {
		line := repliesNotShown(l.repliesLeft, l.m.ID)
		b = append(append(b, '\n'), line...)
		tokens += t.tok(line) + 1
	}
	b = append(b, e.plus...)
	t.writing = b
	return string(b), tokens
}

// goesOn reports whether a message needs no head, because the line above is
// the same author's.
func goesOn(l, above *logLine) bool {
	a, b := above.m, l.m
	return !l.parted && b.Edited == 0 && a.Author.Kind == b.Author.Kind && authorKey(a.Author) == authorKey(b.Author) &&
		b.Time >= a.Time && b.Time-a.Time <= runGap && l.tree == above.tree && a.Root() == b.Root()
}

// inOrder returns lines in the order of Position, each under its own day.
func inOrder(msgs []*msg) []logLine {
	lines := make([]logLine, len(msgs))
	for i, m := range msgs {
		lines[i] = logLine{m: m, day: m.Time}
	}
	return lines
}

// logHeader is the header of a block, with how many messages it leaves out where
// it counts them there.
func logHeader(title string, omitted int) string {
	if omitted > 0 {
		title += "; " + olderNotShown(omitted)
	}
	return "[" + title + "]"
}

// olderNotShown counts what a block leaves out.
func olderNotShown(n int) string {
	if n == 1 {
		return "1 older message not shown"
	}
	return fmt.Sprintf("%d older messages not shown", n)
}
