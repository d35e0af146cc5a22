package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// A grove is several trees that are shown together, planned message by message
// from the newest: a window, or what search found. It is planned before anything
// is decided, so that it can be planned again with less room.
type grove struct {
	t     *turn
	limit int // tokens of a message; 0: whole
	roots int // tokens of what is shown for another's sake
	used  int
	// anyOrder says that messages do not come from the newest back, so that
	// the day of a tree is not known before all have come.
	anyOrder bool
	trees    map[earshot.MessageID]*tree
	days     map[day]bool
	shown    map[*msg]*detail
}

// A tree is a root and its replies, as far as they are shown. Its newest
// message says under which day it stands.
type tree struct {
	last    earshot.Time
	stands  map[*msg]bool // shown for another's sake: a root, or the answer to it
	orphan  bool          // its root stands elsewhere
	above   int           // what is paid for the line that says so
	counted bool          // its root's line of replies is paid for
}

func (t *turn) newGrove(limit int) *grove {
	return &grove{t: t, limit: limit, roots: rootCut, trees: map[earshot.MessageID]*tree{}, days: map[day]bool{}, shown: map[*msg]*detail{}}
}

// add plans one more message, with its root and the answer to it where these
// are not shown, and reports whether all of that fits into room.
func (g *grove) add(m *msg, room int) bool {
	t := g.t
	top := t.tree(m)
	tr, cost := g.trees[top], 0
	if tr == nil {
		tr = &tree{last: m.Time, stands: map[*msg]bool{}}
		if g.anyOrder || !g.days[t.when.day(m.Time)] {
			cost += t.dayCost(m)
		}
	}
	own := g.detail(m)
	cost += own.cost + g.dated(tr, m)
	if t.parent(m) != "" {
		cost += t.tok(logReply)
	}
	if before, ok := g.shown[m]; ok {
		cost -= before.cost
		if own.cost < before.cost {
			return true
		}
	}
	type extra struct {
		m *msg
		d *detail
	}
	var extras []extra
	orphan, above := tr.orphan, tr.above
	switch root := t.find(top); {
	case m.ID == top:
		cost += g.rootCost(tr, m)
		if a := g.answerTo(m); a != nil {
			extras = append(extras, extra{a, t.detailed(a, g.roots)})
		}
	case g.trees[top] != nil && !tr.orphan && root != nil && g.shown[root] != nil:
	case g.trees[top] != nil && tr.orphan: // the line may come to be about m
		above = max(above, g.aboveCost(m))
		cost += above - tr.above
	case g.stands(root):
		extras = append(extras, extra{root, t.detailed(root, g.roots)})
		cost += g.rootCost(tr, root)
		if a := g.answerTo(root); a != nil && a != m {
			extras = append(extras, extra{a, t.detailed(a, g.roots)})
		}
	default:
		orphan, above = true, g.aboveCost(m)
		cost += above
	}
	for _, x := range extras {
		cost += x.d.cost + g.dated(tr, x.m) + t.tok(logReply)
	}
	if g.used+cost > room {
		return false
	}
	g.used += cost
	g.trees[top] = tr
	g.days[t.when.day(tr.last)] = true
	tr.orphan, tr.above = orphan, above
	tr.counted = tr.counted || len(extras) > 0 || m.ID == top
	delete(tr.stands, m)
	g.shown[m] = own
	for _, x := range extras {
		tr.stands[x.m] = true
		g.shown[x.m] = x.d
	}
	return true
}

// aboveCost is what the line costs at most that says what m replies to.
func (g *grove) aboveCost(m *msg) int {
	return g.t.tok("+ replies to Mon 30 Sep 2026 00:00 ") + 12 + g.t.parentCost(m)
}

// detail is how a message is shown: the agent's own answers in threads short.
func (g *grove) detail(m *msg) *detail {
	if g.t.isAnswer(m) {
		return g.t.detailed(m, rootCut)
	}
	return g.t.detailed(m, g.t.limitOf(m, g.limit))
}

// dated is what the day costs in a head of a message that stands under another
// day's line.
func (g *grove) dated(tr *tree, m *msg) int {
	if !g.anyOrder && g.t.when.day(tr.last) == g.t.when.day(m.Time) {
		return 0
	}
	return g.t.dayCost(m)
}

// rootCost is what the line that counts replies costs, once a tree.
func (g *grove) rootCost(tr *tree, root *msg) int {
	if tr.counted || g.t.replies(root) == 0 {
		return 0
	}
	return g.t.lacksCost(root)
}

// stands reports whether a root that the walk has not come to may be shown for
// its reply's sake.
func (g *grove) stands(root *msg) bool {
	if root == nil || root == g.t.anchor || root.Deleted || !g.t.talk(root) || root.reason == reasonBlank || root.Position().Compare(g.t.anchor.Position()) > 0 {
		return false
	}
	if _, held := g.t.shown[root.ID]; held && g.t.later || g.t.recorded[root.ID] && g.t.later {
		return false
	}
	return g.t.free(root)
}

// free reports whether no block shows m, and none has refused it but a window
// that looks less far, a transcript, which refuses for itself alone, or because
// it is no news.
func (t *turn) free(m *msg) bool {
	return m.verdict == undecided || m.verdict == isOut && (m.section == Window || m.section == Transcript || m.reason == reasonLate || m.reason == reasonConsidered)
}

// answerTo returns the agent's answer to a question that is shown, if it is
// not: the first thing that the agent said in the question's thread.
func (g *grove) answerTo(q *msg) *msg {
	a := g.t.ownReply(q.ID)
	if a == nil || g.shown[a] != nil || !g.stands(a) {
		return nil
	}
	return a
}

// treeLines lays out what a window or recall shows: each tree together, the
// trees in the order of their newest message.
func (t *turn) treeLines(b *block) []logLine {
	var order []earshot.MessageID
	byTree := map[earshot.MessageID][]*msg{}
	for _, m := range b.kept {
		id := t.tree(m)
		byTree[id] = append(byTree[id], m)
	}
	for _, m := range slices.Backward(b.kept) {
		if id := t.tree(m); byTree[id][len(byTree[id])-1] == m {
			order = append(order, id)
		}
	}
	slices.Reverse(order)
	var lines []logLine
	for _, id := range order {
		msgs := byTree[id]
		last := msgs[len(msgs)-1].Time
		if i := slices.IndexFunc(msgs, func(m *msg) bool { return m.ID == id }); i > 0 {
			msgs = slices.Insert(slices.Delete(slices.Clone(msgs), i, i+1), 0, msgs[i])
		}
		for i, m := range msgs {
			l := logLine{m: m, day: last}
			if m.ID != id { // in a circle somebody is at the top
				l.tree = id
				if i == 0 {
					l.above = t.repliesTo(m, last)
				}
			}
			if m.ID == id {
				l.lacks = t.lacking(m)
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// repliesTo is the line above a reply whose root stands elsewhere.
func (t *turn) repliesTo(m *msg, under earshot.Time) string {
	up := t.find(t.parent(m))
	if up != nil && up.Deleted {
		return "+ replies to a deleted message"
	}
	if up == nil || up.reason == reasonBlank || up.Position().Compare(t.anchor.Position()) > 0 {
		return "+ replies to a message that is not loaded"
	}
	at := string(t.when.clock(nil, up.Time))
	if t.when.day(up.Time) != t.when.day(under) {
		at = t.when.date(up.Time) + " " + at
	}
	t.replied = append(t.replied, up)
	return "+ replies to " + at + " " + t.names.name(up.Author)
}

// parentCost is what the name of whom m replies to costs.
func (t *turn) parentCost(m *msg) int {
	if up := t.find(t.parent(m)); up != nil {
		return t.labelOf(up.Author).cost
	}
	return 0
}

// replies is how many replies a root has, the question not counted: by what is
// stored, else what the platform told, else what the input holds.
func (t *turn) replies(root *msg) int {
	for _, s := range t.in.Stored {
		if s.Thread == root.ID && s.Thread != "" {
			n := s.Count - 1
			if t.anchor.Root() == root.ID {
				n--
			}
			return max(0, n)
		}
	}
	here := t.repliesHere()[root.ID]
	if root.Replies != nil {
		return max(root.Replies.Count, here)
	}
	return here
}

// repliesHere counts the replies of each thread that the input holds.
func (t *turn) repliesHere() map[earshot.MessageID]int {
	if t.threads == nil {
		t.threads = map[earshot.MessageID]int{}
		for _, m := range t.live {
			if root := m.Root(); root != "" && t.talk(m) {
				t.threads[root]++
			}
		}
	}
	return t.threads
}

// lacking is how many of a root's replies neither this prompt nor the session
// shows.
func (t *turn) lacking(root *msg) int {
	if t.told == nil {
		t.told = map[earshot.MessageID]int{}
		for _, m := range t.live {
			_, held := t.shown[m.ID]
			if m.Root() != "" && t.talk(m) && (m.verdict == isFull || m.verdict == isCut || t.later && (held || t.recorded[m.ID])) {
				t.told[m.Root()]++
			}
		}
	}
	return max(0, t.replies(root)-t.told[root.ID])
}

// ownReply returns the first thing that the agent said in a thread.
func (t *turn) ownReply(root earshot.MessageID) *msg {
	if t.own == nil {
		t.own = map[earshot.MessageID]*msg{}
		for _, m := range t.live {
			if r := m.Root(); r != "" && t.own[r] == nil && t.in.Identity.Is(m.Author.ID) {
				t.own[r] = m
			}
		}
	}
	return t.own[root]
}

// plan plans a window of the newest messages that fit into room, whole if all
// do; n is how many candidates it holds.
func (t *turn) planWindow(b *block, room int) (g *grove, n int) {
	for _, limit := range []int{0, b.Cut} {
		g, n = t.newGrove(limit), 0
		for _, m := range slices.Backward(b.cands) {
			if n == b.Messages || !g.add(m, room) {
				break
			}
			n++
		}
		if n == len(b.cands) || n == b.Messages {
			break
		}
	}
	return g, n
}

// fillTreeWindow keeps the newest of the channel's talk.
func (t *turn) fillTreeWindow(b *block, room int) int {
	g, n := t.planWindow(b, room)
	left := len(b.cands) - n
	for _, m := range b.cands[:left] {
		if g.shown[m] != nil {
			continue
		}
		if n == b.Messages {
			m.out(Window, reasonCap)
		} else {
			m.out(Window, reasonBudget)
		}
	}
	g.keep(b)
	return g.used
}

// keep shows what was planned.
func (g *grove) keep(b *block) {
	b.kept = nil
	for m := range g.shown {
		b.kept = append(b.kept, m)
	}
	slices.SortFunc(b.kept, func(x, y *msg) int { return x.Position().Compare(y.Position()) })
	for _, m := range b.kept {
		g.t.show(b, m, g.shown[m])
	}
}
