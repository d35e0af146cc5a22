package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// The floors of what is recalled, tuned on real chat by gather's
// TestRecallMeasure; see docs/decisions/081-recall.md.
const (
	// recallFloor is how good a hit must be, as a part of the best one's score.
	recallFloor = 0.4
	// recallCover is how much of the question's weight in words one of the hits
	// must have, or the search is not sure of any.
	recallCover = 0.22
	// recallHere is how much better, as a factor, a hit that is at hand may be
	// than the best of the others, or the question is about what is at hand.
	recallHere = 1.2
	// recallUnsure is how many tokens are spent on what the search is not sure
	// of.
	recallUnsure = 300
	// recallShort is to how many tokens a message is cut then.
	recallShort = 50
	// recallReach is how many messages each way stand with the recallBest best
	// hits, where the input says what these have of the question's words: in flat
	// talk an answer may come a few messages later. With others one.
	recallBest  = 3
	recallReach = 4
)

// Worth returns those of what search found that are good enough to be shown,
// the best first: of equal scores the earlier in the list.
func Worth(list []Recalled) []Recalled {
	best := 0.0
	for _, r := range list {
		best = max(best, r.Score)
	}
	var out []Recalled
	for _, r := range list {
		if r.Score >= recallFloor*best {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(x, y Recalled) int { return cmp.Compare(y.Score, x.Score) })
	return out
}

// chooseRecall takes what search found and is good enough, best first. They are
// no block's candidates yet: the other blocks own what they show.
func (t *turn) chooseRecall(b *block) {
	for _, r := range Worth(t.in.Recalled) {
		m := t.find(r.ID)
		if m == nil || m == t.anchor || !t.recallable(m) || slices.Contains(b.cands, m) {
			continue
		}
		b.cands = append(b.cands, m)
	}
	b.total = 0
}

// recallable reports whether recall may show m: nothing else does, and where
// another block has refused it, that was for want of room.
func (t *turn) recallable(m *msg) bool {
	refused := m.verdict == isOut && (m.reason == reasonCap || m.reason == reasonBudget)
	return (refused || t.free(m)) && t.talk(m) && !t.seen(m) && m.Position().Compare(t.anchor.Position()) < 0
}

// seen reports whether the session shows m as it is.
func (t *turn) seen(m *msg) bool {
	revision, ok := t.shown[m.ID]
	return t.later && (ok && revision >= m.Edited || t.recorded[m.ID])
}

// fillRecall shows the best hits that no other block shows, each with its root
// and the messages next to it, in the room that the window leaves.
func (t *turn) fillRecall(b *block, room int) int {
	hits := slices.DeleteFunc(b.cands, func(m *msg) bool { return !t.recallable(m) })
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
	if !t.sure(inWindow) {
		room = min(room, recallUnsure)
		g.limit, g.roots = min(b.Cut, recallShort), recallShort/2
	}
	g.anyOrder = true
	n := 0
	var shown []*msg
	for _, m := range hits {
		if inWindow[m] != nil || g.shown[m] != nil {
			continue
		}
		if n == b.Messages {
			break
		}
		if !g.add(m, room) {
			continue // a shorter one may fit
		}
		n++
		shown = append(shown, m)
	}
	covers := map[earshot.MessageID]float64{}
	for _, r := range t.in.Recalled {
		covers[r.ID] = r.Cover
	}
	for i, m := range shown { // hits before what stands beside them
		reach := 1
		if i < recallBest && covers[m.ID] > 0 {
			reach = recallReach
		}
		for _, near := range t.nextTo(m, reach) {
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
	t.takeOver(g)
	g.keep(b)
	b.total = len(b.kept)
	return g.used
}

// sure reports whether what search found is probably about the question: what
// is shown elsewhere anyway is not clearly better than the best that is not, and
// a hit has enough of the question's words. Where the input does not say what a
// hit has of them, search is taken to be sure.
func (t *turn) sure(inWindow map[*msg]*detail) bool {
	cover, here, elsewhere := 0.0, 0.0, 0.0
	for _, r := range Worth(t.in.Recalled) {
		cover = max(cover, r.Cover)
		if m := t.find(r.ID); m == nil || inWindow[m] != nil || !t.recallable(m) {
			here = max(here, r.Score)
		} else {
			elsewhere = max(elsewhere, r.Score)
		}
	}
	return cover == 0 || cover >= recallCover && here <= recallHere*elsewhere
}

// takeOver takes what recall shows out of the counts of what other blocks leave
// out.
func (t *turn) takeOver(g *grove) {
	w := t.blocks[Window]
	for m := range g.shown {
		if o := t.blocks[m.section]; m.verdict == isOut && o != nil && (m.reason == reasonCap || m.reason == reasonBudget) && t.within(o.Section, m) {
			o.total--
		}
	}
	if w != nil {
		n := len(w.cands)
		w.cands = slices.DeleteFunc(w.cands, func(m *msg) bool { return g.shown[m] != nil })
		w.total -= n - len(w.cands)
	}
}

// explainRecall puts what search said of what it found into the ledger, which
// has a row for each of t.msgs.
func (t *turn) explainRecall(l earshot.Ledger) {
	for _, r := range slices.Backward(t.in.Recalled) { // of two for one id the first counts
		m := t.find(r.ID)
		if m == nil {
			continue
		}
		if i, ok := slices.BinarySearchFunc(t.msgs, m, func(x, y *msg) int { return x.Position().Compare(y.Position()) }); ok {
			l[i].Score, l[i].Cover, l[i].Parts = r.Score, r.Cover, r.Parts
		}
	}
}

// besideSpan is how long after the message before it something at the top
// level may belong to it, in microseconds.
const besideSpan = 3600 * 1_000_000

// maxAnswers is how many answers to what search found stand with it.
const maxAnswers = 2

// nextTo returns what belongs to a hit and nothing else shows: what it answers,
// its first answers, and what was said before and after it in its thread or run
// of talk.
func (t *turn) nextTo(m *msg, reach int) []*msg {
	var out []*msg
	take := func(o *msg) {
		if o != nil && o != m && t.recallable(o) && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	take(t.find(m.ReplyTo))
	at := slices.Index(t.live, m)
	for i, n := at+1, 0; i < len(t.live) && n < maxAnswers; i++ {
		if o := t.live[i]; o.ReplyTo == m.ID || o.Root() == m.ID {
			take(o)
			n++
		}
	}
	before, after := t.beside(m, at, -1, reach), t.beside(m, at, 1, reach)
	for i := range reach {
		for _, list := range [][]*msg{before, after} {
			if i < len(list) {
				take(list[i])
			}
		}
	}
	return out
}

// beside returns what was said next to a message of t.live, one way, in its
// thread or run of talk, the nearest first.
func (t *turn) beside(m *msg, at, step, reach int) []*msg {
	var out []*msg
	last := m.Time
	for i, tries := at+step, 0; i >= 0 && i < len(t.live) && tries < 200 && len(out) < reach; i, tries = i+step, tries+1 {
		o := t.live[i]
		if o.Root() != m.Root() && o.ID != m.Root() || !t.talk(o) {
			continue
		}
		if m.Root() == "" && apart(last, o.Time) > besideSpan {
			break
		}
		out, last = append(out, o), o.Time
	}
	return out
}

// apart is how much time lies between two moments.
func apart(x, y earshot.Time) earshot.Time { return max(x-y, y-x) }
