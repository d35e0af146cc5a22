package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section anchor is the message to answer: in full, once, last.
var anchorSection = sectionKind{
	name: Anchor,
	look: SectionLook{Means: "the question itself", Shown: "it is the question", Hue: 4, ANSI: 11},
	render: func(t *turn, k *sectionKind, w *prompt, p *fitPlan) {
		text, sep, lead := t.question(w.open())
		n := t.countLines(text) + 1
		if t.isLog() {
			n = t.questionCost()
		}
		if t.anchorInJSON() {
			w.add(earshot.User, Anchor, sep, text, n)
		} else {
			w.show(t.anchor, earshot.User, Anchor, sep, text, lead, n)
		}
		t.anchor.section, t.anchor.verdict, t.anchor.tokens = k, isFull, int32(w.tokens[Anchor])
		t.renderReferences(w, &p.media)
	},
}

// What stands before the question.
const (
	questionHeader = "[question]"
	currentPrefix  = "Current question: "
	answerAnchor   = "Answer the message in ChannelSnapshot.anchor."
)

// question returns the lines of the anchor and what separates them from the text
// above; the first lead bytes are not the anchor's. open reports whether there is
// text above in the same message.
func (t *turn) question(open bool) (text, sep string, lead int) {
	m := t.anchor
	if t.isLog() {
		text, lead = t.questionLog()
		return text, nextBlock, lead
	}
	body := indentLines(t.writtenOf(m).body)
	switch {
	case t.anchorInJSON():
		text = questionHeader + "\n" + answerAnchor
		return text, nextBlock, len(text)
	case t.in.Policy.Frame == Brackets:
		return questionHeader + "\n" + t.label(m) + ": " + guardEdited(body), nextBlock, len(questionHeader) + 1
	}
	named := t.label(m) + ": " + guardEdited(body)
	if t.in.Policy.NameAsker {
		body = named
	}
	switch {
	case t.in.Policy.Frame == Preamble && open:
		return currentPrefix + body, nextLine, len(currentPrefix)
	case t.in.Policy.Frame == Preamble && t.in.Policy.NameAsker:
		return named, nextLine, 0
	case t.in.Policy.Frame == Preamble:
		return guardBare(body, m.Message), nextLine, 0
	case t.in.Policy.Frame == Tags && open && t.threadShown():
		return currentPrefix + body, nextBlock, len(currentPrefix)
	}
	return named, nextBlock, 0
}

// questionCost is what the anchor costs at most.
func (t *turn) questionCost() int {
	if t.isLog() {
		n := t.countLines(t.questionLogHeader()) + t.entry(t.anchor, 0).cost + 1
		if t.end.Time != t.anchor.Time {
			n += t.dayCost(t.anchor)
		}
		above, reply := t.questionAbove()
		if above != "" {
			n += t.countLines(above)
		}
		if reply {
			n += t.tok(logReply)
		}
		return n
	}
	var n int
	for _, open := range []bool{false, true} {
		text, _, _ := t.question(open)
		n = max(n, t.countLines(text)+1)
	}
	if t.in.Policy.Frame == Tags { // whether the thread stands before it is not known yet
		n += t.tok(currentPrefix)
	}
	if t.anchorInJSON() {
		n += t.anchorJSONCost()
	}
	return n
}

// questionLog writes the anchor in the log form, under its header of lead bytes.
func (t *turn) questionLog() (text string, lead int) {
	l := logLine{m: t.anchor, day: t.end.Time}
	above, tree := t.questionAbove()
	if tree {
		l.tree = t.anchor.ReplyTo
	}
	if above != "" {
		above += "\n"
	}
	t.anchor.entry = t.entry(t.anchor, 0)
	t.named = map[earshot.AuthorID]bool{}
	text, _ = t.logText(&l, nil)
	header := t.questionLogHeader() + "\n" + above
	return header + text, len(header)
}

// questionAbove is the line above the question that says what it replies to, and whether
// it is written as a reply. Nothing has to be said where it has no reply reference, or
// what it replies to is the last answer, the end of the chain, or the root of its thread,
// to which every message there replies; nor where it stands right above.
func (t *turn) questionAbove() (above string, reply bool) {
	m := t.anchor
	if m.ReplyTo == "" || m.ReplyTo == m.ID || m.ReplyTo == m.Root() {
		return "", false
	}
	up := t.find(m.ReplyTo)
	switch turns := t.in.Conversation.Turns; {
	case t.later && len(turns) > 0 && slices.Contains(turns[len(turns)-1].Replies, m.ReplyTo):
		return "", false
	case up == nil && t.later && (t.recorded[m.ReplyTo] || t.hasShown(m.ReplyTo)):
		return "", false // the session has it, and nobody knows when it was said
	case up == nil || up.Deleted || up.reason == reasonBlank || t.afterEnd(up):
		return t.repliesTo(m.ReplyTo, m.Time), true
	case !t.later && t.block(Chain) != nil && (m.Root() == "" || m.Root() != up.Root() && m.Root() != up.ID):
		return "", false // the chain ends with it
	case m.Root() != "" && up == t.rightBefore(m):
		return "", true
	}
	return t.repliesTo(m.ReplyTo, m.Time), true
}

// rightBefore returns the last message of m's thread before m; nil if none is loaded.
func (t *turn) rightBefore(m *msg) *msg {
	var last *msg
	for _, o := range t.threadOf(m.Root()) {
		if o.Position().Compare(m.Position()) < 0 {
			last = o
		}
	}
	return last
}

// hasShown reports whether the session shows a message.
func (t *turn) hasShown(id earshot.MessageID) bool {
	_, ok := t.shown[id]
	return ok
}

// roundBrackets keeps a name from ending the header that has it.
var roundBrackets = strings.NewReplacer("[", "(", "]", ")")

// questionLogHeader says which day it is for the asker, in which zones times are, and who
// asks by an emoji, and when.
func (t *turn) questionLogHeader() string {
	header := "[question, " + t.asked.local(t.end.Time).Format("Mon 2 Jan 2006") + ", " + t.asked.name
	if t.asked.name != t.when.name {
		header += "; other times are of " + t.when.name
	}
	if by := t.in.AskedBy; by.Emoji != "" {
		who := firstOf(noHeading(cleanName(t.names.mentionedName(by.ID, by.Name))), "somebody")
		header += "; " + roundBrackets.Replace(who) + " asks you about this message by :" + emojiName(by.Emoji) + ":"
		if by.Time != 0 {
			header += " at " + string(t.asked.clock(nil, by.Time))
		}
	}
	return header + "]"
}

// guardBare indents the question m where it stands alone and begins as a header
// does.
func guardBare(body string, m *earshot.Message) string {
	if strings.TrimSpace(m.Text) == "" {
		return body // only files: the bracket is Earshot's
	}
	for _, h := range []string{"[", "---", "current question:", "previous conversation", "since your last message", "thread (", "standalone ("} {
		if len(body) >= len(h) && strings.EqualFold(body[:len(h)], h) {
			return "  " + body
		}
	}
	return body
}
