package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// The section recall shows what search found for the question and no other
// section shows: each hit with its root and the messages next to it.
var recallSection = sectionKind{
	name:       Recall,
	look:       SectionLook{Means: "older messages that search found for this question", Shown: "search found it for the question", Hue: 5, ANSI: 14},
	limits:     Section{Messages: 12, Tokens: 1500, Cut: 300},
	allowed:    func(p Policy) bool { return p.Frame == Log },
	fillRank:   70,
	source:     SourceSearch,
	choose:     (*turn).chooseRecall,
	showsTrees: true,
	title:      func(*turn) string { return recallHeader },
	log:        recallLog{},
}

// recallLog writes what was recalled, in the log form.
type recallLog struct{ logList }

// recallHeader stands above it. It counts nothing: search may find any number.
const recallHeader = "earlier in this channel, found for this question"

func (recallLog) frameCost(t *turn, _ *block) int { return t.countLines("["+recallHeader+"]") + 2 }

func (recallLog) render(t *turn, w *prompt, b *block) { t.renderTrees(w, b, 0) }

// The thresholds of recall, tuned on real chat by gather's TestRecallMeasure; see
// docs/decisions/081-recall.md.
const (
	// recallFloor is the least score of a hit, as a part of the best one's.
	recallFloor = 0.4
	// recallCover is how much of the question's weight in words the best covering
	// hit must have; with less, search is not sure of any hit.
	recallCover = 0.22
	// recallHere bounds the best score of the hits that other sections show, as a
	// factor of the best score of the others. Above it the question is probably
	// about what is shown anyway.
	recallHere = 1.2
	// recallUnsure is how many tokens are spent where search is not sure.
	recallUnsure = 300
	// recallShort is to how many tokens a message is cut then.
	recallShort = 50
	// recallReach is how many messages each way are shown with the recallBest
	// best hits, where the input has their Cover: where nobody uses replies, an
	// answer may come a few messages later. With other hits it is one.
	recallBest  = 3
	recallReach = 4
)

// Worth returns those of the hits that are good enough to be shown, the best
// first; of equal scores the earlier in the list.
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

// chooseRecall picks what search found and is good enough, best first. A
// candidate of recall may be one of another block as well, which then shows it.
func (t *turn) chooseRecall(b *block) {
	for _, r := range Worth(t.in.Recalled) {
		m := t.find(r.ID)
		if m == nil || m == t.anchor || !t.recallable(m) || slices.Contains(b.cands, m) {
			continue
		}
		b.cands = append(b.cands, m)
	}
}

// recallable reports whether recall may show m: no other block does, and if
// another has refused it, only for lack of room.
func (t *turn) recallable(m *msg) bool {
	refused := m.verdict == isOut && (m.reason == reasonCap || m.reason == reasonBudget)
	return (refused || t.free(m)) && t.spoken(m) && !t.seen(m) && m.Position().Compare(t.anchor.Position()) < 0
}

// fill shows the best hits that no other block shows, each with its root and the
// messages next to it, in the room that the window leaves.
func (recallLog) fill(t *turn, b *block, room int) int {
	hits := slices.DeleteFunc(b.cands, func(m *msg) bool { return !t.recallable(m) })
	b.cands = nil
	if len(hits) == 0 {
		return 0
	}
	inWindow := map[*msg]*logEntry{}
	if w := t.block(Window); w != nil && !w.skipped {
		planned, _ := t.planWindow(w, min(room, w.Tokens))
		inWindow = planned.entries
		room -= planned.used
	}
	room = min(room, b.Tokens)
	p := t.newTreePlan(b.Cut)
	if !t.sure(inWindow) {
		room = min(room, recallUnsure)
		p.limit, p.brief = min(b.Cut, recallShort), recallShort/2
	}
	p.anyOrder = true
	p.addHits(hits, b.Messages, inWindow, room)
	for m := range p.entries {
		if inWindow[m] != nil { // a root that the window shows
			delete(p.entries, m)
		}
	}
	if w := t.block(Window); w != nil {
		w.cands = slices.DeleteFunc(w.cands, func(m *msg) bool { return p.entries[m] != nil })
	}
	p.keep(b)
	return p.used
}

// addHits plans at most n of the hits, the best first, then what belongs to
// them. What the window shows is passed over.
func (p *treePlan) addHits(hits []*msg, n int, inWindow map[*msg]*logEntry, room int) {
	t := p.t
	var shown []*msg
	for _, m := range hits {
		if inWindow[m] != nil || p.entries[m] != nil {
			continue
		}
		if len(shown) == n {
			break
		}
		if p.add(m, room) { // where it does not fit, a shorter one may
			shown = append(shown, m)
		}
	}
	covers := map[earshot.MessageID]float64{}
	for _, r := range t.in.Recalled {
		covers[r.ID] = r.Cover
	}
	for i, m := range shown {
		reach := 1
		if i < recallBest && covers[m.ID] > 0 {
			reach = recallReach
		}
		for _, near := range t.nextTo(m, reach) {
			if inWindow[near] == nil && p.entries[near] == nil {
				p.add(near, room)
			}
		}
	}
}

// sure reports whether what search found is probably about the question: the
// hits that other sections show are not clearly better than the best of the
// rest, and a hit has enough of the question's words. Without any Cover in the
// input, search is taken to be sure.
func (t *turn) sure(inWindow map[*msg]*logEntry) bool {
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

// besideSpan is how much time may lie between a message at the top level and the
// next one that belongs to it, in microseconds.
const besideSpan = 3600 * 1_000_000

// maxTries is how many messages are looked at for those next to a hit.
const maxTries = 200

// maxAnswers is how many answers to a hit are shown with it.
const maxAnswers = 2

// nextTo returns the messages that belong to a hit and that recall may show: what
// it answers, its first answers, and up to reach messages before and after it in
// its thread or at the top level.
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

// beside returns up to reach messages next to t.live[at], which is m, in the
// direction of step, in its thread or at the top level, the nearest first.
func (t *turn) beside(m *msg, at, step, reach int) []*msg {
	var out []*msg
	last := m.Time
	for i, tries := at+step, 0; i >= 0 && i < len(t.live) && tries < maxTries && len(out) < reach; i, tries = i+step, tries+1 {
		o := t.live[i]
		if o.Root() != m.Root() && o.ID != m.Root() || !t.spoken(o) {
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
