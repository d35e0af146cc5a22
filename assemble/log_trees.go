package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A treePlan plans what a window or recall shows in the log form: the platform's
// threads, and single messages, one message added at a time. It changes no message, so
// that a window can be planned again with less room.
type treePlan struct {
	t     *turn
	limit int // tokens of a message; 0: whole
	brief int // tokens of a root or an answer that is shown for another's sake
	used  int // tokens of what is planned
	// anyOrder says that messages are not added from the newest back, so that
	// the day of a tree is not known before all are.
	anyOrder bool
	titles   bool                               // messages are a forum's posts, which are named
	trees    map[earshot.MessageID]*plannedTree // by the id of their root
	days     map[day]bool
	entries  map[*msg]*logEntry // what is shown, and how
}

// A plannedTree is the part of a thread that is planned, or a single message.
type plannedTree struct {
	last      earshot.Time // of its newest message, under whose day it stands
	orphan    bool         // its root stands elsewhere
	aboveCost int          // what is charged for the line that says so
	counted   bool         // the line that counts the root's replies is charged
}

func (t *turn) newTreePlan(limit int) *treePlan {
	return &treePlan{t: t, limit: limit, brief: briefCut, trees: map[earshot.MessageID]*plannedTree{}, days: map[day]bool{}, entries: map[*msg]*logEntry{}}
}

// A planAddition is what adding one message to a plan adds: the message, its root
// and the agent's answer where these come with it, and what that costs.
type planAddition struct {
	top       earshot.MessageID
	tree      *plannedTree
	extras    []*msg // the root and the answer
	cost      int
	orphan    bool
	aboveCost int
}

// add plans one more message, with its root and the answer to it where these
// are not shown, and reports whether all of that fits into room.
func (p *treePlan) add(m *msg, room int) bool {
	t := p.t
	a := planAddition{top: standsIn(m)}
	a.tree = p.trees[a.top]
	known := a.tree != nil
	if !known {
		a.tree = &plannedTree{last: m.Time}
		if p.anyOrder || !p.days[t.when.day(m.Time)] {
			a.cost += t.dayCost(m)
		}
	}
	e := p.entryOf(m)
	a.cost += e.cost + p.dateCost(a.tree, m)
	if t.parent(m) != "" {
		a.cost += t.tok(logReply)
	}
	if before, ok := p.entries[m]; ok {
		a.cost -= before.cost
		if e.cost < before.cost {
			return true
		}
	}
	p.addRoot(&a, m, known)
	for _, x := range a.extras {
		a.cost += t.entry(x, p.brief).cost + p.dateCost(a.tree, x) + t.tok(logReply)
	}
	if p.used+a.cost > room {
		return false
	}
	p.used += a.cost
	p.trees[a.top] = a.tree
	p.days[t.when.day(a.tree.last)] = true
	a.tree.orphan, a.tree.aboveCost = a.orphan, a.aboveCost
	a.tree.counted = a.tree.counted || len(a.extras) > 0 || m.ID == a.top
	p.entries[m] = e
	for _, x := range a.extras {
		p.entries[x] = t.entry(x, p.brief)
	}
	return true
}

// addRoot adds what m needs above it: its root with the agent's answer, or a
// line that says what it replies to.
func (p *treePlan) addRoot(a *planAddition, m *msg, known bool) {
	a.orphan, a.aboveCost = a.tree.orphan, a.tree.aboveCost
	switch root := p.t.find(a.top); {
	case m.ID == a.top:
		if p.entries[m] == nil {
			a.cost += p.rootCost(a.tree, m)
		}
		if answer := p.answerTo(m); answer != nil {
			a.extras = append(a.extras, answer)
		}
	case known && !a.tree.orphan && root != nil && p.entries[root] != nil:
	case known && a.tree.orphan: // the line may come to be about m
		a.aboveCost = max(a.aboveCost, p.aboveCost(m))
		a.cost += a.aboveCost - a.tree.aboveCost
	case p.canShow(root):
		a.extras = append(a.extras, root)
		a.cost += p.rootCost(a.tree, root)
		if answer := p.answerTo(root); answer != nil && answer != m {
			a.extras = append(a.extras, answer)
		}
	default:
		a.orphan, a.aboveCost = true, p.aboveCost(m)
		a.cost += a.aboveCost
	}
}

// rootCost is what stands around the root of a tree: the line that counts its replies,
// and the one that says what it replies to itself.
func (p *treePlan) rootCost(tree *plannedTree, root *msg) int {
	n := p.countCost(tree, root)
	if p.t.parent(root) != "" {
		n += p.aboveCost(root)
	}
	return n
}

// aboveCost is what the line costs at most that says what m replies to.
func (p *treePlan) aboveCost(m *msg) int {
	n := p.t.tok("+ replies to Mon 30 Sep 2026 00:00 ") + 12 // more than any other such line
	if up := p.t.find(p.t.parent(m)); up != nil {
		n += p.t.labelOf(up.Author).cost
	}
	return n
}

// entryOf is how a message is shown: the agent's own answers in threads short.
func (p *treePlan) entryOf(m *msg) *logEntry {
	if p.titles {
		return p.t.titleEntry(m)
	}
	if p.t.isAnswer(m) {
		return p.t.entry(m, briefCut)
	}
	return p.t.entry(m, p.t.limitOf(m, p.limit))
}

// dateCost is what the day costs in the head of a message that stands under
// another day's line.
func (p *treePlan) dateCost(tree *plannedTree, m *msg) int {
	if !p.anyOrder && p.t.when.day(tree.last) == p.t.when.day(m.Time) {
		return 0
	}
	return p.t.dayCost(m)
}

// countCost is what the line that counts a root's replies costs, once a tree.
func (p *treePlan) countCost(tree *plannedTree, root *msg) int {
	if tree.counted || p.t.replyCount(root) == 0 {
		return 0
	}
	return p.t.repliesLineCost(root)
}

// canShow reports whether m, which no block has as candidate here, may be shown
// with its reply or question.
func (p *treePlan) canShow(m *msg) bool {
	t := p.t
	if m == nil || m == t.anchor || m.Deleted || m.withheld || !t.isSpoken(m) || m.reason == reasonBlank || t.afterEnd(m) {
		return false
	}
	if _, held := t.shown[m.ID]; t.later && (held || t.recorded[m.ID]) {
		return false
	}
	return t.free(m)
}

// free reports whether no block shows m, and none has refused it but one that
// refuses for itself alone, or because m is no news.
func (t *turn) free(m *msg) bool {
	return m.verdict == undecided || m.verdict == isOut &&
		(m.section != nil && m.section.refusesForSelf || m.reason == reasonLate || m.reason == reasonConsidered)
}

// answerTo returns the agent's answer to a question that is shown, where it is
// not shown itself: the first message of the agent's in the question's thread.
func (p *treePlan) answerTo(q *msg) *msg {
	a := p.t.ownAnswer(q.ID)
	if a == nil || p.titles || p.entries[a] != nil || !p.canShow(a) {
		return nil
	}
	return a
}

// keep makes the plan what the block shows.
func (p *treePlan) keep(b *block) {
	b.kept = nil
	for m := range p.entries {
		b.kept = append(b.kept, m)
	}
	slices.SortFunc(b.kept, byPosition)
	for _, m := range b.kept {
		p.t.keepEntry(b, m, p.entries[m])
	}
}

// renderTrees writes a block whose threads stand together. Its header counts what is
// omitted.
func (t *turn) renderTrees(w *prompt, b *block, omitted int) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	t.writeLog(w, b.kind.name, logHeader(b.kind.title(t), omitted), b.gaps, t.treeLines(b))
}

// standsIn returns the id of what m stands together with: the root of its thread, else
// its own. A reply by reference stands at its own time.
func standsIn(m *msg) earshot.MessageID { return cmp.Or(m.Root(), m.ID) }

// treeLines lays out what a window or recall shows: each thread together, the threads
// and single messages in the order of their newest message, in recall of their first,
// and under the day of that.
func (t *turn) treeLines(b *block) []logLine {
	byFirst := b.kind.source == SourceSearch
	threads := map[earshot.MessageID][]*msg{}
	for _, m := range b.kept {
		threads[standsIn(m)] = append(threads[standsIn(m)], m)
	}
	var lines []logLine
	for _, m := range b.kept {
		msgs := threads[standsIn(m)]
		if byFirst && m == msgs[0] || !byFirst && m == msgs[len(msgs)-1] {
			lines = t.threadLines(lines, msgs, m.Time, byFirst)
		}
	}
	return lines
}

// threadLines appends a thread, or a single message, under the day of a time. Its root
// stands first, also where its time says otherwise. chosen says that messages stand there
// for themselves, and not all that was said.
func (t *turn) threadLines(lines []logLine, msgs []*msg, day earshot.Time, chosen bool) []logLine {
	id := standsIn(msgs[0])
	if i := slices.IndexFunc(msgs, func(m *msg) bool { return m.ID == id }); i > 0 {
		msgs = slices.Insert(slices.Delete(slices.Clone(msgs), i, i+1), 0, msgs[i])
	}
	for i, m := range msgs {
		l := logLine{m: m, day: day}
		if n := len(lines); chosen && n > 0 {
			l.parted = t.parted(lines[n-1].m, m)
		}
		switch up := t.parent(m); {
		case m.ID == id:
			l.repliesLeft = t.repliesLeft(m)
			if l.tree = up; up != "" && !t.standsAbove(lines, up, l) {
				l.above = t.repliesTo(up, day)
			}
		case i == 0:
			l.tree, l.above = id, t.repliesTo(id, day)
		default:
			l.tree = id
		}
		lines = append(lines, l)
	}
	return lines
}

// parted reports whether something was said between two messages where they stand: at the
// top level, or in their thread.
func (t *turn) parted(a, b *msg) bool {
	i, _ := slices.BinarySearchFunc(t.live, a, byPosition)
	for i++; i < len(t.live) && byPosition(t.live[i], b) < 0; i++ {
		if t.live[i].Root() == b.Root() && t.isSpoken(t.live[i]) {
			return true
		}
	}
	return false
}

// standsAbove reports whether the last of lines, under the same day, shows what a line
// replies to: it is that message, or the author's reply to it that the line goes on with.
func (t *turn) standsAbove(lines []logLine, to earshot.MessageID, l logLine) bool {
	if len(lines) == 0 {
		return false
	}
	last := &lines[len(lines)-1]
	return t.when.day(last.day) == t.when.day(l.day) && (last.m.ID == to || goesOn(&l, last))
}

// What stands above a reply to a message that cannot be shown.
const (
	repliesToDeleted = "+ replies to a deleted message"
	repliesToUnknown = "+ replies to a message that is not loaded"
	repliesWithheld  = "+ replies to a message that the operator withholds"
)

// repliesTo is the line above a reply to a message that stands elsewhere. The line
// is written under the day of the time under.
func (t *turn) repliesTo(id earshot.MessageID, under earshot.Time) string {
	up := t.find(id)
	if up != nil && up.Deleted {
		return repliesToDeleted
	}
	if up != nil && up.withheld {
		return repliesWithheld
	}
	if up == nil || up.reason == reasonBlank || t.afterEnd(up) {
		return repliesToUnknown
	}
	at := string(t.when.clock(nil, up.Time))
	if t.when.day(up.Time) != t.when.day(under) {
		at = t.when.date(up.Time) + " " + at
	}
	t.namedParents = append(t.namedParents, up)
	return "+ replies to " + at + " " + t.names.name(up.Author)
}
