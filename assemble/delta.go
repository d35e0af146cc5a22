package assemble

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section delta shows the messages of the conversation that became known since
// the last turn, and edits of messages that the session shows.
var deltaSection = sectionKind{
	name:      Delta,
	look:      SectionLook{Means: "what was said in the conversation since the last answer", Shown: "new since the last answer", Hue: 3, ANSI: 3},
	limits:    Section{Messages: 50, Tokens: unbounded, Cut: 300},
	laterOnly: true,
	fillRank:  30,
	source:    SourceChanges,
	choose:    (*turn).chooseDelta,
	gaps:      conversationGaps,
	text:      labelledBlock{header: deltaHeader},
	title:     func(*turn) string { return "since your last answer" },
	log:       deltaLog{},
	guide: []sectionGuide{
		{Brackets, 4, guideLine{"- [since your last answer …]: what was said since.", 13}},
		{Preamble, 2, guideLine{"- \"Since your last message\": what was said since, between lines of dashes. What follows \"Current question:\", or stands alone, is the question.", 32}},
	},
}

// chooseDelta picks the fresh messages of this conversation, and edits of any
// message that the session shows. An edited root counts as one of the messages and
// is kept whole.
func (t *turn) chooseDelta(b *block) {
	mine := t.conversation()
	root := t.root()
	for _, m := range t.live {
		if m.taken || !mine(m) && !t.editedSince(m) || !t.isSpoken(m) && m != root || !t.fresh(m) {
			continue
		}
		if !t.within(b.Section, m) {
			b.refuse(m)
		} else if m == root {
			b.root, m.taken = m, true
		} else {
			b.take(m)
		}
	}
	b.total += len(b.cands) + b.rootCount()
	if root := t.anchor.Root(); root != "" || t.in.Channel.Kind == earshot.KindDM {
		t.countStored(b, root)
	}
	b.cap()
}

// editedSince reports whether the session shows an older revision of m.
func (t *turn) editedSince(m *msg) bool {
	x, shown := t.shown[m.ID]
	return shown && x.revision < m.Edited
}

// deltaHeader is what stands around a delta in the text forms.
func deltaHeader(t *turn, b *block) (head, foot string) {
	switch t.in.Policy.Frame {
	case Preamble:
		return preambleHeader("Since your last message, the following conversation took place", lastOf(b, true)), "---"
	case Tags:
		return "<slack_thread_context>", "</slack_thread_context>"
	case Brackets:
		counts := lastOf(b, true)
		switch {
		case counts == "":
			return "[since your last answer]", ""
		case counts == "last 1 messages":
			counts = "1 message"
		case b.countOmitted() == 0:
			counts = strings.TrimPrefix(counts, "last ")
		}
		return "[since your last answer (" + counts + ")]", ""
	}
	return "", ""
}

// deltaLog writes a delta in the log form: first the messages from before the last
// question that were not known then, then the new ones, each under its header.
type deltaLog struct{ logList }

// mostMessages is a number that has as many digits as counts in headers may
// have.
const mostMessages = 88_888

func (deltaLog) frameCost(t *turn, b *block) int {
	return t.countLines(lateHeader(mostMessages)) + t.countLines(t.sinceHeader(b, mostMessages, mostMessages)) + 4
}

func (deltaLog) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	var late, news []*msg
	for _, m := range b.kept {
		if m.late {
			late = append(late, m)
		} else {
			news = append(news, m)
		}
	}
	omitted := b.countOmitted()
	lateOmitted := t.lateOmitted(b)
	if len(late)+lateOmitted > 0 {
		t.writeLog(w, b.kind.name, lateHeader(lateOmitted), nil, inOrder(late))
	}
	if omitted -= lateOmitted; len(news)+len(b.gaps)+omitted > 0 {
		t.writeLog(w, b.kind.name, t.sinceHeader(b, len(news), omitted), b.gaps, inOrder(news))
	}
}

// sinceHeader counts what was said since the last answer.
func (t *turn) sinceHeader(b *block, shown, omitted int) string {
	switch {
	case shown == 0:
		return logHeader(b.kind.title(t), omitted)
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

// lateOmitted is how many messages that became known late the block leaves out.
func (t *turn) lateOmitted(b *block) int {
	n := 0
	for _, m := range t.live {
		if m.late && !m.withheld && m.section == b.kind && m.verdict == isOut {
			n++
		}
	}
	return n
}
