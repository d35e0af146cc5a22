package assemble

import "slices"

// recallFloor is how good a hit must be, as a part of the best one's score.
const recallFloor = 0.4

// chooseRecall takes what search found and nothing older shows: those that are
// good enough, best first. They are no block's candidates yet: the window owns
// what it shows.
func (t *turn) chooseRecall(b *block) {
	best := 0.0
	for _, r := range t.in.Recalled {
		best = max(best, r.Score)
	}
	list := slices.Clone(t.in.Recalled)
	slices.SortStableFunc(list, func(x, y Recalled) int {
		switch {
		case x.Score > y.Score:
			return -1
		case x.Score < y.Score:
			return 1
		}
		return 0
	})
	for _, r := range list {
		m := t.find(r.ID)
		if m == nil || m == t.anchor || m.taken || !t.free(m) || r.Score < recallFloor*best || !t.talk(m) || slices.Contains(b.cands, m) || t.seen(m) {
			continue
		}
		b.cands = append(b.cands, m)
	}
	b.total = 0
}

// seen reports whether the session shows m as it is.
func (t *turn) seen(m *msg) bool {
	revision, ok := t.shown[m.ID]
	return t.later && (ok && revision >= m.Edited || t.recorded[m.ID])
}

// fillRecall shows the best hits that the window does not show, each with its
// root and the messages next to it, in the room that the window leaves.
func (t *turn) fillRecall(b *block, room int) int {
	hits := b.cands
	b.cands = nil
	if len(hits) == 0 {
		return 0
	}
	inWindow := map[*msg]*detail{}
	if w := t.blocks[Window]; w != nil && !w.left {
		planned, _ := t.planWindow(w, min(room, w.Tokens))
		inWindow = planned.shown
		room -= planned.used
	}
	room = min(room, b.Tokens)
	g := t.newGrove(b.Cut)
	g.anyOrder = true
	n := 0
	var shown []*msg
	for _, m := range hits {
		if inWindow[m] != nil || g.shown[m] != nil {
			continue
		}
		if n == b.Messages || !g.add(m, room) {
			break
		}
		n++
		shown = append(shown, m)
	}
	for _, m := range shown { // hits before what stands beside them
		for _, near := range t.nextTo(m) {
			if inWindow[near] == nil && g.shown[near] == nil {
				g.add(near, room)
			}
		}
	}
	for m := range g.shown {
		if inWindow[m] != nil { // a root that the window has
			delete(g.shown, m)
		}
	}
	g.keep(b)
	b.total = len(b.kept)
	if w := t.blocks[Window]; w != nil {
		n := len(w.cands)
		w.cands = slices.DeleteFunc(w.cands, func(m *msg) bool { return g.shown[m] != nil })
		w.total -= n - len(w.cands)
	}
	return g.used
}

// nextTo returns what was said before and after a message in its thread, or
// beside it at the top level, where nothing else shows it.
func (t *turn) nextTo(m *msg) []*msg {
	at := slices.Index(t.live, m)
	var out []*msg
	beside := func(from, step int) {
		for i, tries := from, 0; i >= 0 && i < len(t.live) && tries < 200; i, tries = i+step, tries+1 {
			o := t.live[i]
			if o.Root() != m.Root() && o.ID != m.Root() || !t.talk(o) {
				continue
			}
			if t.free(o) && !t.seen(o) {
				out = append(out, o)
			}
			return
		}
	}
	beside(at-1, -1)
	beside(at+1, 1)
	return out
}
