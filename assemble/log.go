package assemble

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The log form: a prompt as people read chat, from top to bottom, with days,
// times and speakers. What begins in the first column is Earshot's; what
// people typed never does.

// runGap is how long after the line above somebody goes on without a head.
const runGap = 5 * 60 * 1_000_000

// isLog reports whether the turn is written in the log form.
func (t *turn) isLog() bool { return t.in.Policy.Frame == Log }

// A logLine is a message where a block shows it.
type logLine struct {
	m     *msg
	tree  earshot.MessageID // of a reply where trees stand together; else ""
	day   earshot.Time      // a time of the day under whose line it stands
	above string            // a line above it: what it replies to
	lacks int               // of a root: how many replies are not shown
}

// writeLog writes a block: its header, gaps, and lines under the days that
// they stand under.
func (t *turn) writeLog(p *prompt, name SectionName, header string, gaps []string, lines []logLine) {
	p.add(earshot.User, name, nextBlock, header, t.countLines(header)+1)
	for _, g := range gaps {
		p.add(earshot.User, name, nextLine, g, t.tok(g)+1)
	}
	var above *logLine
	for i := range lines {
		l := &lines[i]
		if above == nil || t.when.day(l.day) != t.when.day(above.day) {
			day := "[" + t.when.date(l.day) + "]"
			p.add(earshot.User, name, nextLine, day, t.tok(day)+1)
			above = nil
		}
		if l.above != "" {
			p.add(earshot.User, name, nextLine, l.above, t.countLines(l.above))
			above = nil
		}
		text, tokens := t.logText(l, above)
		p.add(earshot.User, name, nextLine, text, tokens)
		l.m.tokens = int32(tokens)
		above = l
	}
}

// logText is a message below another, and what it costs.
func (t *turn) logText(l, above *logLine) (string, int) {
	d := l.m.detail
	tokens := d.cost
	dated := t.when.day(l.m.Time) != t.when.day(l.day)
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
			date := t.when.date(l.m.Time) + " "
			b = append(b, date...)
			tokens += t.tok(date)
		}
		b = t.head(b, l.m)
	}
	b = append(b, indentLog(d.text)...)
	if l.lacks > 0 {
		line := notShown(l.lacks, l.m.ID)
		b = append(append(b, '\n'), line...)
		tokens += t.tok(line) + 1
	}
	b = append(b, d.plus...)
	t.writing = b
	return string(b), tokens
}

// goesOn reports whether a message needs no head, because the line above is
// the same author's.
func goesOn(l, above *logLine) bool {
	a, b := above.m, l.m
	return b.Edited == 0 && a.Author.Kind == b.Author.Kind && authorKey(a.Author) == authorKey(b.Author) &&
		b.Time >= a.Time && b.Time-a.Time <= runGap && l.tree == above.tree && a.Root() == b.Root()
}

// inOrder returns lines that stand in the order of Position, each under its
// own day.
func inOrder(msgs []*msg) []logLine {
	lines := make([]logLine, len(msgs))
	for i, m := range msgs {
		lines[i] = logLine{m: m, day: m.Time}
	}
	return lines
}

// logHeader is the header of a block, with what is left out where the block
// counts it there.
func (t *turn) logHeader(b *block, omitted int) string {
	var s string
	switch b.Section.Section {
	case Recall:
		return "[earlier in this channel, found for this question]"
	case Window:
		s = "recent in this channel"
		if t.later {
			s = "new in this channel since your last answer"
		}
	case Thread:
		s = "this thread"
	case Chain:
		s = "what this replies to"
	case Transcript:
		s = "this conversation"
	}
	if omitted > 0 {
		s += "; " + olderNotShown(omitted)
	}
	return "[" + s + "]"
}

// olderNotShown counts what a block leaves out.
func olderNotShown(n int) string {
	if n == 1 {
		return "1 older message not shown"
	}
	return fmt.Sprintf("%d older messages not shown", n)
}

// sinceHeader counts what was said since the last answer.
func sinceHeader(shown, omitted int) string {
	switch {
	case shown == 0:
		return "[since your last answer]"
	case omitted > 0:
		return fmt.Sprintf("[since your last answer: the newest %d of %d messages]", shown, shown+omitted)
	case shown == 1:
		return "[since your last answer: 1 message]"
	}
	return fmt.Sprintf("[since your last answer: %d messages]", shown)
}

// lateHeader stands above what was said before the last answer and became
// known after it.
func lateHeader(omitted int) string {
	s := "[older messages of this conversation, known only now"
	if omitted > 0 {
		s += "; " + olderNotShown(omitted)
	}
	return s + "]"
}

// lateOmitted is how many of these a delta leaves out.
func (t *turn) lateOmitted() int {
	n := 0
	for _, m := range t.live {
		if m.late && m.section == Delta && m.verdict == isOut {
			n++
		}
	}
	return n
}

// renderLogBlock writes a block of the log form.
func (t *turn) renderLogBlock(p *prompt, b *block) {
	name := b.Section.Section
	if len(b.kept) == 0 && len(b.gaps) == 0 {
		t.renderLeft(p, b)
		return
	}
	omitted := max(0, b.omitted())
	switch name {
	case Window, Recall:
		t.writeLog(p, name, t.logHeader(b, omitted), b.gaps, t.treeLines(b))
	case Delta:
		old, news := parted(b.kept)
		late := min(omitted, t.lateOmitted())
		if len(old)+late > 0 {
			t.writeLog(p, name, lateHeader(late), nil, inOrder(old))
		}
		if len(news) > 0 || len(b.gaps) > 0 {
			t.writeLog(p, name, sinceHeader(len(news), omitted-late), b.gaps, inOrder(news))
		}
	default:
		lines := inOrder(b.kept)
		if name == Thread && b.must != nil && omitted > 0 {
			lines[slices.Index(b.kept, b.must)].lacks = omitted
			omitted = 0
		}
		t.writeLog(p, name, t.logHeader(b, omitted), b.gaps, lines)
	}
}

// parted returns what became known late, and what is news.
func parted(msgs []*msg) (old, news []*msg) {
	for _, m := range msgs {
		if m.late {
			old = append(old, m)
		} else {
			news = append(news, m)
		}
	}
	return old, news
}

// logQuestion writes the anchor under its header.
func (t *turn) logQuestion() string {
	l := logLine{m: t.anchor, day: t.anchor.Time}
	t.anchor.detail = t.detailed(t.anchor, 0)
	text, _ := t.logText(&l, nil)
	return t.logQuestionHeader() + "\n" + text
}

// logQuestionHeader says which day it is, and in which zone times are.
func (t *turn) logQuestionHeader() string {
	return "[question, " + t.when.local(t.anchor.Time).Format("Mon 2 Jan 2006") + ", " + t.when.name + "]"
}

// logFrameCost is what the headers of a block cost at most.
func (t *turn) logFrameCost(b *block) int {
	const most = 88_888
	if b.Section.Section == Delta {
		return t.countLines(lateHeader(most)) + t.countLines(sinceHeader(most, most)) + 4
	}
	return t.countLines(t.logHeader(b, most)) + 2
}

// logPlace says where the model is: what people chose stands in lines of its
// own.
func (t *turn) logPlace() string {
	c := t.in.Channel
	platform := map[earshot.Platform]string{earshot.Slack: "Slack", earshot.Discord: "Discord", earshot.Local: "local"}[c.Platform]
	if platform == "" {
		platform = cleanName(string(c.Platform))
	}
	kind := map[earshot.ChannelKind]string{earshot.KindDM: "direct message", earshot.KindGroup: "group"}[c.Kind]
	if kind == "" {
		kind = "channel"
	}
	if platform != "" {
		kind = platform + " " + kind
	}
	s := "[" + strings.NewReplacer("[", "(", "]", ")").Replace("a "+kind+". You are "+t.names.selfName+" here.") + "]"
	line := func(what, text string) {
		if text != "" {
			s += "\n+ " + what + ": " + text
		}
	}
	name := oneLine(c.Name, maxChannelName)
	if c.Kind != earshot.KindDM {
		name = "#" + firstOf(strings.TrimPrefix(name, "#"), firstOf(oneLine(string(c.ID), maxChannelName), "unknown"))
	}
	line("name", name)
	line("topic", t.stored(oneLine(c.Topic, maxTopic)))
	line("purpose", t.stored(oneLine(c.Purpose, maxTopic)))
	return s
}

// logSummary is the summary with the days that it covers.
func (t *turn) logSummary(body string) string {
	s := "[summary of earlier turns"
	switch c := t.summary; {
	case c.From != 0 && c.To != 0:
		s += ", " + t.when.short(c.From) + " to " + t.when.short(c.To)
	case c.To != 0:
		s += ", up to " + t.when.short(c.To)
	case c.From != 0:
		s += ", from " + t.when.short(c.From)
	}
	return s + "]\n+ summary: " + indentLog(body)
}
