package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// The section thread shows the anchor's thread: the root whole, then the newest
// replies that fit.
var threadSection = sectionKind{
	name:     Thread,
	look:     SectionLook{Means: "the thread in which the question stands", Shown: "in the question's thread", Hue: 2, ANSI: 2},
	limits:   Section{Messages: unbounded, Tokens: 8000, Cut: 300},
	fillRank: 40,
	source:   SourceThread,
	choose:   (*turn).chooseThread,
	gaps:     conversationGaps,
	text:     labelledBlock{header: threadHeader, countsOmitted: true},
	json:     threadJSON{},
	title:    func(*turn) string { return "this thread" },
	log:      threadLog{},
	guide: []sectionGuide{
		{Brackets, 2, guideLine{"- [this thread]: its root, then its newest messages.", 13}},
		{Preamble, 1, guideLine{"- \"Previous conversation\": the thread so far, between lines of dashes.", 16}},
		{Tags, 2, guideLine{"- <slack_thread_context>: the thread's root, then its newest messages. \"Current question:\" follows.", 23}},
	},
}

// chooseThread picks the messages of the anchor's thread.
func (t *turn) chooseThread(b *block) {
	extent := Extent{Thread: t.anchor.Root()}
	if extent.Thread == "" {
		return
	}
	mine := t.holds(extent)
	if t.in.Policy.Form == JSON {
		mine = func(m *msg) bool { return extent.Holds(m.Message) } // the snapshot shows what is no reply
	}
	b.root = t.root()
	for _, m := range t.live {
		switch {
		case m == b.root:
			m.taken = true
		case m.taken || !mine(m) || !t.isSpoken(m):
		case !t.within(b.Section, m):
			m.taken = true
			b.refuse(m)
		default:
			b.take(m)
		}
	}
	b.total += len(b.cands) + b.rootCount()
	t.countStored(b, extent.Thread)
	b.cap()
}

// threadHeader is what stands around a thread in the text forms.
func threadHeader(t *turn, b *block) (head, foot string) {
	switch t.in.Policy.Frame {
	case Preamble:
		return preambleHeader("Previous conversation", lastOf(b, false)), "---"
	case Tags:
		return "<slack_thread_context>", "</slack_thread_context>"
	case Brackets:
		return "[this thread]", ""
	}
	return "", ""
}

// threadShown reports whether the thread's block stands in the prompt.
func (t *turn) threadShown() bool {
	b := t.block(Thread)
	return b != nil && (!b.nothingKept() || b.lineStands())
}

// threadLog writes a thread in the log form. It may have all but a few lines of the
// window, and but recall's share where search found what it has no room for.
type threadLog struct{ logList }

func (l threadLog) fill(t *turn, b *block, room int) int {
	if w := t.block(Window); w != nil && len(w.cands) > 0 {
		room -= min(leastWindow, t.share(w))
	}
	if r := t.block(Recall); r != nil {
		left, _ := t.newest(b, min(room, b.Tokens), b.Cut)
		if slices.ContainsFunc(r.cands, func(m *msg) bool { return m != b.root && !slices.Contains(b.cands[left:], m) }) {
			room -= t.share(r)
		}
	}
	return l.logList.fill(t, b, max(0, room))
}

// render counts the replies that are left out in a line below the root, where
// the root is shown.
func (threadLog) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	omitted := b.countOmitted()
	lines := inOrder(b.kept)
	for i := range lines {
		if lines[i].m == b.root && omitted > 0 {
			lines[i].repliesLeft = omitted
			omitted = 0
		}
	}
	t.writeLog(w, b.kind.name, logHeader(b.kind.title(t), omitted), b.gaps, lines)
}

// threadJSON writes a thread as a [ThreadContext]. It stands there even without
// a message, because it says how many replies there are.
type threadJSON struct{}

func (threadJSON) empty(t *turn, b *block) bool {
	return t.anchor.Root() == "" && len(b.cands) == 0 && len(b.gaps) == 0
}

func (threadJSON) rootCost(t *turn, root *msg) int { return t.jsonCost(t.messageJSON(root)) }

// threadJSONFrame is what the fields around the messages cost at most, besides
// the thread's id.
const threadJSONFrame = 80

func (threadJSON) frameCost(t *turn, _ *block) int {
	return t.countLines(threadJSONHeader(t)) + 2 + threadJSONFrame + t.tok(string(t.anchor.Root()))
}

func (threadJSON) fill(t *turn, b *block, room int) int {
	return t.fillLines(b, room, lineCosts{
		whole: func(m *msg) int { return t.jsonCost(t.replyJSON(m, m.bodyJSON(t), false)) },
		cut:   func(m *msg) int { return t.cutReply(m, b.Cut) },
	})
}

func (l threadJSON) render(t *turn, w *prompt, b *block) {
	if t.anchor.Root() == "" && len(b.gaps) == 0 || b.skipped {
		t.renderSkipped(w, b)
		return
	}
	head := threadJSONHeader(t)
	w.add(earshot.User, Thread, nextBlock, head, t.tok(head)+1)
	t.renderGaps(w, b, nextLine)
	if t.anchor.Root() == "" {
		return
	}
	n := l.frameCost(t, b) - t.tok(head) - 1
	for _, m := range b.kept {
		n += int(m.tokens)
	}
	context, parts := t.threadContext(b)
	w.showJSON(Thread, compactJSON(context), parts, n)
}

// threadJSONHeader is the line above the JSON.
func threadJSONHeader(t *turn) string {
	if t.in.Policy.Frame != Brackets {
		return ""
	}
	return "[ThreadContext]"
}

// threadContext is the thread with the messages that are kept, and where they
// stand in it.
func (t *turn) threadContext(b *block) (ThreadContext, []jsonPart) {
	th := ThreadRef{ThreadID: string(t.anchor.Root()), Replies: []ReplyRef{}}
	if root := t.subjectRoot(); root != nil {
		th.Name = t.subjectName(root.Subject)
		for _, tag := range root.Subject.Tags[:min(len(root.Subject.Tags), maxTags)] {
			th.Tags = append(th.Tags, cleanName(tag))
		}
	}
	parts := make([]jsonPart, 0, len(b.kept))
	for _, m := range b.kept {
		if m == b.root {
			ref := t.messageJSON(m)
			th.Root = &ref
			parts = slices.Insert(parts, 0, jsonPart{m, ref})
			continue
		}
		reply := t.replyJSON(m, m.bodyJSON(t), false)
		if m.verdict == isCut {
			reply = t.replyJSON(m, m.written.cut, true)
		}
		th.Replies = append(th.Replies, reply)
		parts = append(parts, jsonPart{m, reply})
	}
	th.Truncation = TruncatedRef{b.total - b.rootCount(), len(th.Replies), "most_recent", t.omittedRange(b)}
	return ThreadContext{SchemaVersion, th}, parts
}

// omittedRange is the first and last time of the thread's replies that the block
// does not show, nil when it shows all.
func (t *turn) omittedRange(b *block) *[]string {
	if b.total == len(b.kept) {
		return nil
	}
	from, to := b.from, b.to
	for _, m := range t.live {
		if m.Root() == t.anchor.Root() && m != b.root && !m.withheld && t.isSpoken(m) && (m.verdict == isOut || m.section != b.kind) {
			if from == 0 || m.Time < from {
				from = m.Time
			}
			to = max(to, m.Time)
		}
	}
	if len(b.kept) > b.rootCount() {
		first := b.kept[0]
		if first == b.root {
			first = b.kept[1]
		}
		to = min(to, first.Time)
	}
	return &[]string{from.String(), to.String()}
}
