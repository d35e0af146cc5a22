package assemble

import (
	"fmt"
	"slices"
	"strconv"
)

// A plan is what fit has decided besides the blocks.
type plan struct {
	guide    bool
	place    string // "" when there is none
	summary  string // its lines, "" when there is none
	media    mediaPlan
	session  int // tokens
	question int // tokens of the question at most
}

// fit gives each section its part of the budget: gap lines and headers, the
// summary, delta, thread, chain, transcript, window or snapshot. Anchor,
// thread root and instructions are never cut; where they exceed the limit,
// the error is ErrBudgetTooSmall. Place and guide give way before that.
func (t *turn) fit(session int) (*plan, error) {
	p := &plan{guide: true, session: session, question: t.questionCost()}
	limit := t.in.Budget.Limit
	need := p.question + t.countInstructions()
	framed := 0
	for _, b := range t.blocks {
		if b.must != nil {
			framed += t.frameCost(b)
			need += t.mustCost(b)
		}
	}
	need += framed
	if need > limit {
		return nil, fmt.Errorf("%w: the question, the thread's root and the instructions need %d tokens, the limit is %d; raise budget.limit", ErrBudgetTooSmall, need, limit)
	}
	guide := t.countGuide()
	if t.later {
		if need += guide + session; need > limit {
			return nil, ErrBudgetTooSmall
		}
	} else {
		if need+guide <= limit {
			need += guide
		} else {
			p.guide = false
			t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("guide: no room under the limit of %d tokens; the model is not told what is data and what is not", limit)})
		}
		if _, ok := t.has(Place); ok {
			text := t.placeText()
			if n := t.countLines(text); need+n <= limit {
				p.place = text
				need += n
			} else {
				t.notes = append(t.notes, Note{NoteOmitted, "place: no room under the limit"})
			}
		}
	}
	room := max(0, min(t.in.Budget.Tokens-framed, limit-need))
	room -= t.fitGaps(room)
	room -= t.fitHeaders(room)
	if s, ok := t.has(SummaryPart); ok && t.summary != nil {
		p.summary = t.fitSummary(s, room)
		room -= t.countLines(p.summary)
	}
	if s, ok := t.has(Media); ok {
		room -= t.fitMedia(&p.media, s, room)
	}
	for _, name := range fillOrder {
		if b := t.blocks[name]; b != nil {
			room -= t.fill(b, room)
		}
	}
	for _, m := range t.live {
		if !t.talk(m) {
			m.out("", reasonSystem)
		}
		m.out("", reasonOther)
	}
	t.noteOmitted()
	return p, nil
}

func (t *turn) countInstructions() int {
	if t.in.Instructions == "" {
		return 0
	}
	return 1 + t.countLines(t.in.Instructions)
}

// fitGaps drops the gap lines that the budget cannot hold; the result's notes
// keep them.
func (t *turn) fitGaps(room int) int {
	used := 0
	for _, name := range fillOrder {
		b := t.blocks[name]
		if b == nil {
			continue
		}
		b.gaps = slices.DeleteFunc(b.gaps, func(line string) bool {
			n := t.tok(line) + 1
			if used+n > room {
				return true
			}
			used += n
			return false
		})
	}
	return used
}

// fitHeaders reserves what stands around each block. A block whose frame does
// not fit is left out, and gives back what its gap lines took. The block with
// the thread's root stands there for any budget.
func (t *turn) fitHeaders(room int) int {
	used := 0
	for _, name := range fillOrder {
		b := t.blocks[name]
		if b == nil || b.must != nil || len(b.cands) == 0 && len(b.gaps) == 0 && !t.threadInJSON(name) {
			continue
		}
		n := t.frameCost(b)
		if used+n <= room {
			used += n
			continue
		}
		b.left = true
		for _, line := range b.gaps {
			used -= t.tok(line) + 1
		}
		b.gaps = nil
	}
	return used
}

// fitSummary returns the summary's lines, cut to its share of the budget and
// to what is left of it.
func (t *turn) fitSummary(s Section, room int) string {
	head := t.summaryHeader()
	room = min(room, t.in.Budget.Tokens*s.Share/100) - t.tok(head) - 1
	body := t.stored(t.summary.Text)
	if body == "" {
		return ""
	}
	if room < 24 {
		t.notes = append(t.notes, Note{NoteOmitted, "summary: no room in the budget"})
		return ""
	}
	write := func(body string) string { return head + "\n  " + indent(body) }
	if t.isLog() {
		write = t.logSummary
	}
	lines := write(body)
	for limit := room; t.countLines(lines) > room+t.tok(head)+1; limit -= max(1, limit/16) {
		if limit < 24 {
			return ""
		}
		cut, _ := t.cutText(body, limit)
		lines = write(cut)
	}
	return lines
}

// keep records that a block shows m whole.
func (t *turn) keep(b *block, m *msg, tokens int) {
	m.verdict, m.section, m.tokens, m.reason = isFull, b.Section.Section, int32(tokens), noReason
}

// keepCut records that a block shows m, cut where its text is longer than a
// message may be in a section that does not fit whole.
func (t *turn) keepCut(b *block, m *msg) {
	t.keep(b, m, m.written.cutCost)
	if m.written.cut != "" {
		m.verdict = isCut
	}
}

// mustCost is what the thread's root costs in its block.
func (t *turn) mustCost(b *block) int {
	switch {
	case t.isLog():
		return t.detailed(b.must, 0).cost + t.dayCost(b.must) + t.lacksCost(b.must)
	case t.in.Policy.Form == JSON && b.Section.Section == Thread:
		return t.jsonCost(t.messageJSON(b.must))
	}
	return t.fullCost(b.must)
}

// fill keeps the newest of the block's candidates that fit into room, and
// returns what they cost.
func (t *turn) fill(b *block, room int) int {
	name := b.Section.Section
	frame := 0
	switch name {
	case Transcript:
		frame = t.chooseLate(b, room)
		room -= frame
	case Window, Snapshot, Recall:
		b.yield()
	}
	if b.left && b.must == nil {
		for _, m := range b.cands {
			m.out(name, reasonBudget)
		}
		b.cands = nil
		return t.leaveOut(b, room)
	}
	before := room
	room = min(room, b.Tokens)
	if w := t.blocks[Window]; name == Thread && t.isLog() && w != nil && len(w.cands) > 0 {
		room = min(room, t.in.Budget.Tokens*threadShare/100)
	}
	var used int
	switch {
	case name == Recall:
		used = t.fillRecall(b, before)
	case name == Window && t.isLog():
		used = t.fillTreeWindow(b, room)
	case t.isLog():
		used = t.fillLog(b, room)
	case name == Window:
		used = t.fillWindow(b, room)
	case name == Snapshot:
		used = t.fillSnapshot(b, room)
	default:
		used = t.fillLines(b, room)
	}
	if b.must != nil {
		b.kept = slices.Insert(slices.Clone(b.kept), t.mustIndex(b), b.must)
		t.keep(b, b.must, t.mustCost(b))
		if t.isLog() {
			b.must.detail = t.detailed(b.must, 0)
		}
	}
	if th := t.blocks[Thread]; name == Transcript && th != nil {
		for _, m := range b.kept {
			if inThread(t.anchor.Root())(m) {
				th.total-- // what the thread's block left out stands here
			}
		}
	}
	if len(b.kept) == 0 && b.omitted() > 0 && len(b.gaps) == 0 {
		b.left = true
		return t.leaveOut(b, before)
	}
	return used + frame
}

// chooseLate picks a transcript's messages and returns what its frame costs
// beyond what [turn.fitHeaders], which did not know of them, has reserved.
func (t *turn) chooseLate(b *block, room int) int {
	reserved := 0
	if len(b.gaps) > 0 {
		reserved = t.frameCost(b)
	}
	t.chooseTranscript(b)
	frame := max(0, t.frameCost(b)-reserved)
	if len(b.cands) == 0 {
		frame = 0
	}
	b.left = frame > room
	if b.left {
		return 0
	}
	return frame
}

// threadShare is how much of the budget a thread has at most, in percent,
// where there is talk around it.
const threadShare = 60

// yield drops the candidates that the transcript, which chooses late, shows.
func (b *block) yield() {
	n := len(b.cands)
	b.cands = slices.DeleteFunc(b.cands, func(m *msg) bool { return m.verdict == isFull || m.verdict == isCut })
	b.total -= n - len(b.cands)
}

// mustIndex is where the root stands among what is kept.
func (t *turn) mustIndex(b *block) int {
	i := 0
	for i < len(b.kept) && b.kept[i].Position().Compare(b.must.Position()) < 0 {
		i++
	}
	return i
}

// leaveOut puts one line in place of a block of which nothing fits, if that
// fits.
func (t *turn) leaveOut(b *block, room int) int {
	if n := t.tok(t.leftLine(b)) + 1; b.omitted() > 0 && n <= room {
		return n
	}
	b.total = len(b.kept)
	return 0
}

// leftLine is the line in place of a block of which nothing fits.
func (t *turn) leftLine(b *block) string {
	if t.isLog() {
		return "[" + olderNotShown(b.omitted()) + "]"
	}
	return leftOut(b.omitted(), false)
}

// leftOut is the line that counts what is not shown.
func leftOut(n int, earlier bool) string {
	if earlier {
		return "[" + strconv.Itoa(n) + " earlier messages were left out]"
	}
	return "[" + strconv.Itoa(n) + " messages were left out]"
}

// fillLines keeps messages that stand one below the other. Where they do not
// fit whole, long ones are cut before any is left out.
func (t *turn) fillLines(b *block, room int) int {
	name := b.Section.Section
	full, cut := t.fullCost, func(m *msg) int { return t.cutCost(m, b.Cut) }
	if t.in.Policy.Form == JSON && name == Thread {
		full = func(m *msg) int { return t.jsonCost(t.replyJSON(m, m.bodyJSON(t), false)) }
		cut = func(m *msg) int { return t.cutReply(m, b.Cut) }
	}
	counts := t.countsEarlier(b)
	if name == Transcript && t.anchor.Root() == "" {
		cut = t.shortAnswers(cut)
	}
	line := 0
	if counts {
		line = t.tok(leftOut(b.total, true)) + 1
	}
	reserve := 0
	if b.omitted() > len(b.cands)+mustCount(b) {
		reserve = line
	}
	used := 0
	whole := true
	for _, m := range slices.Backward(b.cands) {
		if used += full(m); used+reserve > room {
			whole = false
			break
		}
	}
	if whole {
		b.kept = b.cands
		for _, m := range b.kept {
			t.keep(b, m, full(m))
		}
	} else {
		used, reserve = 0, line
		for i, m := range slices.Backward(b.cands) {
			n := cut(m)
			if used+n+reserve > room {
				for _, o := range b.cands[:i+1] {
					o.out(name, reasonBudget)
				}
				b.cands = b.cands[i+1:]
				break
			}
			used += n
		}
		b.kept = b.cands
		for _, m := range b.kept {
			t.keepCut(b, m)
		}
	}
	if counts && b.total > len(b.kept)+mustCount(b) && used+line <= room && len(b.kept)+mustCount(b) > 0 {
		b.earlier = true
		used += line
	}
	return used
}

// shortAnswers is cost, where the agent's answers in threads are cut short.
func (t *turn) shortAnswers(cost func(*msg) int) func(*msg) int {
	return func(m *msg) int {
		if t.isAnswer(m) {
			return t.cutCost(m, rootCut)
		}
		return cost(m)
	}
}

func mustCount(b *block) int {
	if b.must != nil {
		return 1
	}
	return 0
}

// countsEarlier reports whether a line of the block's own counts what is left
// out; elsewhere the header counts it, or nothing does.
func (t *turn) countsEarlier(b *block) bool {
	switch b.Section.Section {
	case Thread:
		return t.in.Policy.Form == Text && t.in.Policy.Frame != Preamble
	case Transcript:
		return true
	}
	return false
}

// noteOmitted tells the operator how much each section left out.
func (t *turn) noteOmitted() {
	for _, name := range fillOrder {
		b := t.blocks[name]
		if b == nil {
			continue
		}
		n := 0
		if b.total > len(b.kept) {
			n = b.total - len(b.kept)
		}
		if b.left {
			n = 0
			for _, m := range t.live {
				if m.section == name && m.verdict == isOut && (m.reason == reasonBudget || m.reason == reasonCap) {
					n++
				}
			}
		}
		if n > 0 {
			t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("%s: %d of %d messages were left out", name, n, n+len(b.kept))})
		}
	}
}
