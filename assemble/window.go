package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// chooseWindow takes the channel's newest messages: those it looks at; of the
// conversations of two and more messages those with the newest messages, and
// what stands alone; of these the newest messages.
func (t *turn) chooseWindow(b *block) {
	for _, m := range t.live {
		if m.taken || m.verdict != undecided || !t.talk(m) || t.later && !t.fresh(m) {
			continue
		}
		if !t.within(b.Section, m) {
			m.out(Window, reasonCap)
			continue
		}
		b.take(m)
	}
	b.total = len(b.cands)
	drop := func(keep func(i int, m *msg) bool) {
		var kept []*msg
		for i, m := range b.cands {
			if keep(len(b.cands)-1-i, m) {
				kept = append(kept, m)
			} else {
				m.out(Window, reasonCap)
			}
		}
		b.cands = kept
	}
	drop(func(age int, _ *msg) bool { return age < b.Look })
	size, trees := map[earshot.MessageID]int{}, map[earshot.MessageID]bool{}
	for _, m := range b.cands {
		size[t.tree(m)]++
	}
	for _, m := range slices.Backward(b.cands) {
		if id := t.tree(m); size[id] > 1 && len(trees) < b.Threads {
			trees[id] = true
		}
	}
	drop(func(_ int, m *msg) bool { return size[t.tree(m)] == 1 || trees[t.tree(m)] })
	drop(func(age int, _ *msg) bool { return age < b.Messages })
}

// A group is one tree of the window as it is shown: a heading, and what is
// kept of the tree in the order of Position.
type group struct {
	id   earshot.MessageID
	msgs []*msg
}

// groups groups messages by tree, the tree with the newest message first.
func (t *turn) groups(msgs []*msg) []group {
	var out []group
	index := map[earshot.MessageID]int{}
	for _, m := range slices.Backward(msgs) {
		id := t.tree(m)
		i, ok := index[id]
		if !ok {
			i = len(out)
			index[id] = i
			out = append(out, group{id: id})
		}
		out[i].msgs = append(out[i].msgs, m)
	}
	for _, g := range out {
		slices.Reverse(g.msgs)
	}
	return out
}

// heading is the line above a group. One message stands alone.
func (t *turn) heading(g group) string {
	if len(g.msgs) == 1 {
		return "standalone (" + t.label(g.msgs[0]) + "):"
	}
	var who []string
	for _, m := range g.msgs {
		if l := t.label(m); !slices.Contains(who, l) {
			who = append(who, l)
		}
	}
	return "thread (" + strings.Join(who, ", ") + "):"
}

// groupLine is a message inside the window: indented by two spaces, its
// continuation lines by four, and without a label where the heading has it.
func (t *turn) groupLine(g group, m *msg) string {
	text := edited(m, t.body(m))
	if len(g.msgs) > 1 {
		text = t.label(m) + ": " + text
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n    ")
}

// groupCost is what a group costs: a blank line, the heading, a line for each
// message and its indents.
func (t *turn) groupCost(g group, cost func(*msg) int) int {
	n := t.tok(t.heading(g)) + 2
	for _, m := range g.msgs {
		n += cost(m) + 1
	}
	return n
}

// isAnswer reports whether m is the agent's own answer in a thread. Outside of
// it an answer stands short: in the log form always, elsewhere where not
// everything fits.
func (t *turn) isAnswer(m *msg) bool { return m.Root() != "" && t.in.Identity.Is(m.Author.ID) }

// fillWindow keeps the newest messages whose groups fit into room and returns
// what they cost.
func (t *turn) fillWindow(b *block, room int) int {
	whole := func() int {
		n := 0
		for _, g := range t.groups(b.cands) {
			n += t.groupCost(g, t.fullCost)
		}
		return n
	}
	if n := whole(); n <= room {
		b.kept = b.cands
		for _, m := range b.kept {
			t.keep(b, m, t.fullCost(m))
		}
		return n
	}
	cost := t.shortAnswers(func(m *msg) int { return t.cutCost(m, b.Cut) })
	used := 0
	groups := map[earshot.MessageID]*group{}
	for i, m := range slices.Backward(b.cands) {
		id := t.tree(m)
		g, before := groups[id], 0
		if g == nil {
			g = &group{id: id}
			groups[id] = g
		} else {
			before = t.groupCost(*g, cost)
		}
		g.msgs = append([]*msg{m}, g.msgs...)
		more := t.groupCost(*g, cost) - before
		if used+more > room {
			for _, o := range b.cands[:i+1] {
				o.out(Window, reasonBudget)
			}
			b.cands = b.cands[i+1:]
			break
		}
		used += more
	}
	b.kept = b.cands
	for _, m := range b.kept {
		t.keepCut(b, m)
	}
	return used
}
