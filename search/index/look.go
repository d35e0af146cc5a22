package index

import (
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A scratch is what searches of one index use again and again.
type scratch struct {
	called map[string][]int32 // authors by the terms of their names; nil: to be made
	slots  []uint32           // by doc: its place in a close look, from 1; 0 between searches
	wants  []uint8            // by term: its place among the forms, from 1; 0 between searches
}

// A closeLook is the second pass of a search: at the candidates of the first,
// at what stands next to them, which may be the answer without one of the
// query's words, and at what stands next to that.
type closeLook struct {
	*Index
	p    *plan
	docs []uint32  // what is looked at
	tf   []float64 // by doc and word: how often it counts as said there
	n    []uint16  // by doc: its terms that are admitted
	near []uint32  // the slots next to each doc that may be a hit
	ends []int     // by doc: where its part of near ends
	acc  []float64 // by word, of the doc in hand
}

// A found is a doc that was looked at closely, with the parts of its score.
type found struct {
	doc   uint32
	score float64
	cover float64 // see Hit.Cover
	parts [allParts]float64
}

func (f *found) add(part int, value float64) {
	f.parts[part] += value
	f.score += value
}

// The messages that are told to belong to a hit: those up to nearBest steps
// away of the bestHits first ones, those next to it of others, and at most
// maxNear.
const (
	bestHits = 3
	nearBest = 4
	maxNear  = 12
)

// hit writes out the found doc of a rank, from 0.
func (x *Index) hit(p *plan, f found, rank int) Hit {
	h := Hit{ID: x.docs[f.doc].id, Time: x.docs[f.doc].time, Cover: f.cover, Near: x.belonging(p, f.doc, rank)}
	for i, v := range f.parts {
		if v != 0 {
			h.Parts = append(h.Parts, Part{partNames[i], v})
			h.Score += v
		}
	}
	return h
}

// belonging returns what belongs to a hit of a rank, the nearest first.
func (x *Index) belonging(p *plan, number uint32, rank int) []earshot.MessageID {
	type other struct {
		doc   uint32
		steps int
	}
	var list []other
	reach := 1
	if rank < bestHits {
		reach = nearBest
	}
	x.near(number, reach, func(o uint32, steps int) {
		if x.lends(p, o) && !slices.ContainsFunc(list, func(y other) bool { return y.doc == o }) {
			list = append(list, other{o, steps})
		}
	})
	slices.SortStableFunc(list, func(a, b other) int { return a.steps - b.steps })
	var out []earshot.MessageID
	for _, o := range list[:min(len(list), maxNear)] {
		out = append(out, x.docs[o.doc].id)
	}
	return out
}

// look returns every candidate, and what stands next to one and has anything of
// the query.
func (x *Index) look(p *plan, list []candidate) []found {
	if len(x.scratch.slots) < len(x.docs) {
		x.scratch.slots = make([]uint32, cap(x.docs))
	}
	if len(x.scratch.wants) < len(x.terms) {
		x.scratch.wants = make([]uint8, cap(x.terms))
	}
	for i, f := range p.forms {
		x.scratch.wants[f.number] = uint8(i + 1)
	}
	l := &closeLook{Index: x, p: p, acc: make([]float64, len(p.words))}
	defer l.close()
	// In the order of arrival, so that neighbours are found near by in memory.
	slices.SortFunc(list, func(a, b candidate) int { return int(int64(a.doc) - int64(b.doc)) })
	for _, c := range list {
		l.enter(c.doc)
	}
	named := x.named(p)
	for _, n := range named {
		l.enter(n)
	}
	if len(p.words) > 0 {
		for i := range len(l.docs) {
			x.near(l.docs[i], p.w.reach, func(o uint32, _ int) {
				if x.admits(p, o) && !x.docs[o].system {
					l.enter(o)
				}
			})
		}
	}
	return l.hits(named)
}

// enter takes a doc into the look and returns its slot.
func (l *closeLook) enter(number uint32) uint32 {
	if s := l.scratch.slots[number]; s > 0 {
		return s - 1
	}
	slot := uint32(len(l.docs))
	l.scratch.slots[number] = slot + 1
	l.docs = append(l.docs, number)
	n := len(l.p.words)
	l.tf = slices.Grow(l.tf, n)[:len(l.tf)+n]
	tf := l.tf[int(slot)*n:]
	clear(tf)
	length := uint16(0)
	for _, term := range l.spoken(l.p, number) {
		if term == between {
			continue
		}
		length++
		if w := l.scratch.wants[term]; w > 0 {
			f := l.p.forms[w-1]
			tf[f.word] += f.weight
		}
	}
	l.n = append(l.n, length)
	return slot
}

// close leaves the scratch as it was.
func (l *closeLook) close() {
	for _, d := range l.docs {
		l.scratch.slots[d] = 0
	}
	for _, f := range l.p.forms {
		l.scratch.wants[f.number] = 0
	}
}

// hits scores what is in the look.
func (l *closeLook) hits(named []uint32) []found {
	list := make([]found, len(l.docs)) // what stands next to them is entered behind
	for i := range list {
		list[i].doc = l.docs[i]
		l.score(i, &list[i])
	}
	if l.p.w.group > 0 && len(l.p.words) > 0 {
		l.group(list)
	}
	out := list[:0]
	for _, f := range list {
		if slices.Contains(named, f.doc) {
			f.add(partID, idScore)
		}
		if f.score > 0 && (f.parts[partWords] > 0 || f.parts[partID] > 0 || l.p.size >= minQuestion) || !l.p.cut {
			out = append(out, f)
		}
	}
	return out
}

// score scores one doc by its own words, by its author's name, by what is lent
// to it and by what else is known of it.
func (l *closeLook) score(i int, f *found) {
	d, p := &l.Index.docs[f.doc], l.p
	copy(l.acc, l.tf[i*len(p.words):])
	norm := p.norms.of(l.n[i])
	words := l.bm25(norm)
	f.add(partWords, words)
	own, factor := words, 1.0
	if named := p.called[d.author]; named != 0 {
		for w := range l.acc {
			if named&(1<<w) != 0 {
				l.acc[w] += p.w.name
			}
		}
		own, factor = l.bm25(norm), p.w.named
		f.add(partAuthor, float64(own*factor)-words)
	}
	if l.borrow(i) {
		f.add(partNear, float64(factor*float64((l.bm25(norm)-own)*float64(l.n[i])))/(float64(l.n[i])+p.w.body))
	}
	f.cover = l.cover(p.called[d.author])
	if p.within(d.time) {
		f.add(partTime, float64(f.score*(p.w.span-1)))
	}
	if p.number && f.score > 0 && l.hasNumber(d) {
		f.add(partNumber, float64(f.score*(p.w.number-1)))
	}
	f.add(partRecency, float64(f.score*p.recency(d)))
	if words > 0 {
		numbers := l.spoken(p, f.doc)
		numbers = numbers[:min(len(numbers), maxPlace)]
		f.add(partPhrase, float64(words*float64(float64(p.w.phrase*p.adjacency(numbers))+float64(p.w.quoted*p.quotes(numbers)))))
		f.add(partExact, float64(words*float64(p.w.exact*p.wholes(numbers))))
		f.add(partActivity, float64(words*float64(p.w.activity*l.activity(p, d))))
	}
}

// cover is the share of the weight of the query's words that acc has, or that
// are in the author's name.
func (l *closeLook) cover(named uint64) float64 {
	all := float64(rarity(0, l.Len()) * float64(l.p.unknown))
	has := 0.0
	for w, word := range l.p.words {
		if !word.asked {
			continue
		}
		all += word.weight
		if named&(1<<w) != 0 {
			has += word.weight
		} else {
			has += float64(word.weight * min(1, l.acc[w]))
		}
	}
	if all == 0 {
		return 0
	}
	return math.Round(has/all*1000) / 1000
}

// borrow adds to acc what the docs next to one lend it, and notes them. It
// reports whether there was anything.
func (l *closeLook) borrow(i int) (any bool) {
	p := l.p
	if len(p.words) == 0 {
		return false
	}
	l.Index.near(l.docs[i], p.w.reach, func(o uint32, steps int) {
		if !l.lends(p, o) {
			return
		}
		s := l.enter(o)
		l.near = append(l.near, s)
		if p.fade == 0 {
			return
		}
		share := p.w.replied
		if steps != replying {
			share = p.w.borrow / float64(steps)
		}
		share *= p.fade / (1 - p.w.lendB + p.w.lendB*max(1, float64(l.n[s])/p.average))
		tf := l.tf[int(s)*len(p.words):]
		for w := range l.acc {
			if tf[w] > 0 {
				l.acc[w] += float64(share * tf[w])
				any = true
			}
		}
	})
	for len(l.ends) <= i {
		l.ends = append(l.ends, 0)
	}
	l.ends[i] = len(l.near)
	return any
}

// bm25 sums the words of acc.
func (l *closeLook) bm25(norm float64) float64 {
	sum := 0.0
	for w, tf := range l.acc {
		if tf > 0 {
			sum += float64(float64(l.p.words[w].weight*(l.p.w.k1+1))*tf) / (tf + norm)
		}
	}
	return sum
}

// group adds to every doc a share of the best one next to it.
func (l *closeLook) group(list []found) {
	scores := make([]float64, len(list))
	for i := range list {
		scores[i] = list[i].score
	}
	from := 0
	for i := range list {
		most := 0.0
		for _, o := range l.near[from:l.ends[i]] {
			if int(o) < len(scores) {
				most = max(most, scores[o])
			}
		}
		from = l.ends[i]
		list[i].add(partTalk, float64(l.p.w.group*most))
	}
}

// named returns the docs whose ids are words of the query. A short number is no
// id: it says how many.
func (x *Index) named(p *plan) []uint32 {
	var named []uint32
	for field := range strings.FieldsSeq(p.q.Text) {
		id := strings.Trim(field, `"<>(),;?!`)
		if len(id) < minID && !strings.ContainsFunc(id, func(r rune) bool { return r < '0' || r > '9' }) {
			continue
		}
		k, ok := x.known[earshot.MessageID(id)]
		if ok && k.doc >= 0 && x.admits(p, uint32(k.doc)) && !slices.Contains(named, uint32(k.doc)) && len(named) < maxQueryTerms {
			named = append(named, uint32(k.doc))
		}
	}
	return named
}

// minID is how many digits an id has that is nothing but digits.
const minID = 6

// between stands between the terms of one person and another's, so that a
// phrase does not reach from one into the other. No term has that number.
const between = noNumber + 1

// spoken returns the numbers of those of a doc's terms that are admitted.
func (x *Index) spoken(p *plan, number uint32) []uint32 {
	d := &x.docs[number]
	all := x.numbersOf(d)
	if !d.quotes {
		if p.only && !p.authors[d.author] {
			return nil
		}
		return all
	}
	quotes := x.quotes[number]
	var out []uint32
	if !p.only || p.authors[d.author] {
		out = append(out, all[:quotes[0].from]...)
	}
	for _, q := range quotes {
		if p.quoted(q) {
			out = append(append(out, between), all[q.from:q.from+q.n]...)
		}
	}
	return out
}
