package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// The section recall shows what search found for the question and no other
// section shows: each hit with its thread, or with the messages next to it.
var recallSection = sectionKind{
	name:       Recall,
	look:       SectionLook{Means: "older messages that search found for this question", Shown: "search found it for the question", Hue: 5, ANSI: 14},
	limits:     Section{Messages: 60, Tokens: 600, Cut: 300, Share: 35},
	allowed:    func(p Policy) bool { return p.Frame == Log },
	fillRank:   70,
	source:     SourceSearch,
	choose:     (*turn).chooseRecall,
	showsTrees: true,
	title:      recallTitle,
	log:        recallLog{},
}

// recallLog writes what was recalled, in the log form.
type recallLog struct{ logList }

// What stands above it, and above it where search is not sure. It counts nothing:
// search may find any number.
const (
	recallFound  = "earlier in this channel, found for this question"
	recallBySome = "earlier in this channel, found by some words of this question"
)

func recallTitle(t *turn) string {
	if t.unsure {
		return recallBySome
	}
	return recallFound
}

// frameCost is that of the longer header: which one it is turns out as it is filled.
func (recallLog) frameCost(t *turn, _ *block) int { return t.countLines("["+recallBySome+"]") + 2 }

func (recallLog) render(t *turn, w *prompt, b *block) { t.renderTrees(w, b, 0) }

// The thresholds of recall, tuned on real chat by gather's TestRecallMeasure; see
// docs/decisions/081-recall.md.
const (
	// recallFloor is the least score of a hit, as a part of the best one's.
	recallFloor = 0.15
	// recallCover is how much of the question's weight in words the best covering
	// hit must have; with less, search is not sure of any hit.
	recallCover = 0.22
	// recallHere bounds the best score of the hits that other sections show, as a
	// factor of the best score of the others. Above it the question is probably
	// about what is shown anyway.
	recallHere = 1.2
	// recallUnsure is how many tokens are spent where search is not sure.
	recallUnsure = 400
	// recallShort is to how many tokens a message is cut then.
	recallShort = 100
	// recallThread is how many tokens a hit's thread may have.
	recallThread = 600
	// recallAround is how far from a hit in its thread is looked for what fits.
	recallAround = 60
	// recallBest is how many hits that stand in no thread are shown with the messages
	// up to recallReach away, where the input has their Cover: where nobody uses
	// replies, an answer may come a few messages later. With other hits it is one.
	recallBest  = 6
	recallReach = 8
	// The best recallCorrected hits come with what their author said later of the same,
	// if its score is at least recallLater of the hit's.
	recallCorrected = 3
	recallLater     = 0.3
)

// FilterRecalled returns those of the hits that are good enough to be shown, the best
// first; of equal scores the earlier in the list.
func FilterRecalled(list []RecalledMessage) []RecalledMessage {
	best := 0.0
	for _, r := range list {
		best = max(best, r.Score)
	}
	var out []RecalledMessage
	for _, r := range list {
		if r.Score >= recallFloor*best {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(x, y RecalledMessage) int { return cmp.Compare(y.Score, x.Score) })
	return out
}

// hits returns what search found. What is withheld is no hit: no word of it has a part in
// what is shown.
func (t *turn) hits() []RecalledMessage {
	if len(t.lanes) == 0 {
		return t.in.Recalled
	}
	return slices.DeleteFunc(slices.Clone(t.in.Recalled), func(r RecalledMessage) bool {
		m := t.find(r.ID)
		return m != nil && m.withheld
	})
}

// chooseRecall picks what search found and is good enough, best first. A
// candidate of recall may be one of another block as well, which then shows it.
func (t *turn) chooseRecall(b *block) {
	for _, r := range FilterRecalled(t.hits()) {
		m := t.find(r.ID)
		if m == nil || !t.recallable(m) || slices.Contains(b.cands, m) {
			continue
		}
		b.cands = append(b.cands, m)
	}
}

// recallable reports whether recall may show m: no other block does, and if
// another has refused it, only for lack of room.
func (t *turn) recallable(m *msg) bool {
	refused := m.verdict == isOut && (m.reason == reasonCap || m.reason == reasonBudget)
	return m != t.anchor && (refused || t.free(m)) && !m.withheld && t.isSpoken(m) && !t.inSession(m) && !t.afterEnd(m)
}

// fill shows the best hits that no other block shows, each with its thread or the
// messages next to it. The window has its share before recall is filled, and what it
// does not need recall may have.
func (recallLog) fill(t *turn, b *block, room int) int {
	hits := slices.DeleteFunc(b.cands, func(m *msg) bool { return !t.recallable(m) })
	b.cands = nil
	if len(hits) == 0 {
		return 0
	}
	inWindow := map[*msg]*logEntry{}
	mine := min(room, t.part(b))
	if w := t.block(Window); w != nil && !w.skipped {
		share := t.windowShare(w, mine, room)
		planned, _ := t.planWindow(w, share)
		inWindow = planned.entries
		if b.Share > 0 {
			mine += share - planned.used
		}
		mine = min(room-planned.used, mine)
	}
	p := t.newTreePlan(b.Cut)
	if t.unsure = !t.sure(inWindow); t.unsure {
		mine = min(mine, recallUnsure)
		p.limit, p.brief = min(b.Cut, recallShort), recallShort/2
	}
	p.anyOrder = true
	p.addHits(hits[:min(len(hits), b.Messages)], inWindow, mine)
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

// part is how many tokens a block has for itself: its share, at least its tokens.
func (t *turn) part(b *block) int { return max(b.Tokens, t.share(b)) }

// share is a block's share of what the turn may add, in tokens; without one, as many as
// it may cost.
func (t *turn) share(b *block) int {
	if b.Share == 0 {
		return min(b.Tokens, t.in.Budget.Tokens)
	}
	return t.in.Budget.Tokens * b.Share / 100
}

// leastWindow is how many tokens a window has, where there are so many, before what
// search found has its share.
const leastWindow = 600

// windowShare is what is set aside for the window of the room that is left, where
// recall has a share too.
func (t *turn) windowShare(w *block, recall, room int) int {
	return min(t.part(w), max(room-recall, min(leastWindow, room*2/5)))
}

// A recalledThread is a thread, or a single message, with what search found in it.
type recalledThread struct {
	id   earshot.MessageID // of its root
	hits []*msg            // the best first
}

// corrections returns, for each of the best hits, the best of what its author said later
// of the same: it may correct it, and an outdated statement must not stand alone.
func (t *turn) corrections(hits []*msg) map[*msg]*msg {
	score := map[earshot.MessageID]float64{}
	for _, r := range t.in.Recalled {
		score[r.ID] = max(score[r.ID], r.Score)
	}
	out := map[*msg]*msg{}
	for i, m := range hits[:min(len(hits), recallCorrected)] {
		for _, o := range hits[i+1:] {
			if o.Author.ID == m.Author.ID && o.Position().Compare(m.Position()) > 0 && score[o.ID] >= recallLater*score[m.ID] {
				out[m] = o
				break
			}
		}
	}
	return out
}

// addHits plans the hits by the thread in which they stand, the thread with the best
// hit first. What the window shows is passed over.
func (p *treePlan) addHits(hits []*msg, inWindow map[*msg]*logEntry, room int) {
	var talks []*recalledThread
	byID := map[earshot.MessageID]*recalledThread{}
	for _, m := range hits {
		if inWindow[m] != nil {
			continue
		}
		id := standsIn(m)
		if byID[id] == nil {
			byID[id] = &recalledThread{id: id}
			talks = append(talks, byID[id])
		}
		byID[id].hits = append(byID[id].hits, m)
	}
	if p.t.unsure { // several finds say more than the surroundings of one
		for _, k := range talks {
			p.add(k.hits[0], room)
		}
	}
	reach, later := p.t.reaches(), p.t.corrections(hits)
	correct := func(m *msg) {
		if o := later[m]; o != nil && p.entries[m] != nil && p.entries[o] == nil && inWindow[o] == nil {
			p.add(o, room)
		}
	}
	for i, k := range talks {
		if thread := p.t.threadOf(k.id); len(thread) > 1 {
			p.addThread(k, thread, inWindow, min(room, p.used+recallThread))
			for _, m := range k.hits {
				correct(m)
			}
			continue
		}
		for _, m := range k.hits {
			if p.entries[m] == nil && !p.add(m, room) { // where it does not fit, a shorter one may
				continue
			}
			correct(m)
			far := 1
			if i < recallBest && reach {
				far = recallReach
			}
			for _, near := range p.t.nextTo(m, far) {
				if inWindow[near] == nil && p.entries[near] == nil {
					p.add(near, room)
				}
			}
		}
	}
}

// addThread plans a thread: its root, the hits, and what stands around them, what
// follows a hit before what precedes it.
func (p *treePlan) addThread(k *recalledThread, thread []*msg, inWindow map[*msg]*logEntry, room int) {
	add := func(m *msg) {
		if inWindow[m] == nil && p.entries[m] == nil && p.t.recallable(m) {
			p.add(m, room)
		}
	}
	if thread[0].ID == k.id {
		add(thread[0])
	}
	for _, m := range k.hits {
		add(m)
	}
	at := make([]int, len(k.hits))
	for i, m := range k.hits {
		at[i] = slices.Index(thread, m)
	}
	for far := 1; far <= recallAround; far++ {
		for _, i := range at {
			if i+far < len(thread) {
				add(thread[i+far])
			}
			if i-far >= 0 {
				add(thread[i-far])
			}
		}
	}
}

// threadOf returns the messages of a thread that are loaded and stand before the
// question, its root first, in the order of Position.
func (t *turn) threadOf(id earshot.MessageID) []*msg {
	if t.threads == nil {
		t.threads = map[earshot.MessageID][]*msg{}
		for _, m := range t.live {
			if t.isSpoken(m) {
				t.threads[standsIn(m)] = append(t.threads[standsIn(m)], m)
			}
		}
	}
	return t.threads[id]
}

// reaches reports whether the input says how well hits cover the question.
func (t *turn) reaches() bool {
	return slices.ContainsFunc(t.hits(), func(r RecalledMessage) bool { return r.Cover > 0 })
}

// sure reports whether what search found is probably about the question: the
// hits that other sections show are not clearly better than the best of the
// rest, and a hit has enough of the question's words. Without any Cover in the
// input, search is taken to be sure.
func (t *turn) sure(inWindow map[*msg]*logEntry) bool {
	cover, here, elsewhere := 0.0, 0.0, 0.0
	for _, r := range FilterRecalled(t.hits()) {
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
		if o.Root() != m.Root() && o.ID != m.Root() || !t.isSpoken(o) {
			continue
		}
		if m.Root() == "" && timeBetween(last, o.Time) > besideSpan {
			break
		}
		out, last = append(out, o), o.Time
	}
	return out
}

// timeBetween returns how much time lies between two moments.
func timeBetween(x, y earshot.Time) earshot.Time { return max(x-y, y-x) }
