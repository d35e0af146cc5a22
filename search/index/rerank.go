package index

import (
	"math"
	"slices"
)

// A Scratch is memory that searches reuse, of one index or of several, one search at a
// time. The zero Scratch is ready to use.
type Scratch struct {
	slots   []uint32 // by doc: 1 + its index in reranker.docs; 0 between searches
	lookups []uint8  // by term: 1 + its index in plan.lookups; 0 between searches
	// Room for what a reranker has under the same names.
	docs []uint32
	tf   []float64
	n    []uint16
	near []uint32
	ends []int
	list []scoredDoc
	best []*scoredDoc
}

// A reranker is the second pass of a search. It scores the candidates of the
// first pass and their neighbours, which may be the answer without having one of
// the query's words. The neighbours of all these are loaded too, for their words.
type reranker struct {
	*Index
	scratch *Scratch
	p       *plan
	docs    []uint32  // the docs that are loaded
	tf      []float64 // term frequencies: of docs[i] and p.words[w], at i*len(p.words)+w
	n       []uint16  // by doc: how many of its terms are admitted
	near    []uint32  // the neighbours of each doc that may be a hit, as indices in docs
	ends    []int     // by doc: where its neighbours end in near
	acc     []float64 // by word: the term frequencies of the doc that is being scored
}

// A scoredDoc has a score and its parts.
type scoredDoc struct {
	doc   uint32
	score float64
	cover float64 // see Hit.Cover
	parts [allParts]float64
}

func (f *scoredDoc) add(part int, value float64) {
	f.parts[part] += value
	f.score += value
}

// rerank scores the candidates and their neighbours, and returns those that match
// the query, in the scratch.
func (x *Index) rerank(p *plan, list []candidate, s *Scratch) []scoredDoc {
	if len(s.slots) < len(x.docs) {
		s.slots = make([]uint32, cap(x.docs))
	}
	if len(s.lookups) < len(x.words.ends) {
		s.lookups = make([]uint8, cap(x.words.ends))
	}
	for i, f := range p.lookups {
		s.lookups[f.number] = uint8(i + 1)
	}
	l := &reranker{Index: x, scratch: s, p: p, acc: make([]float64, len(p.words)), docs: s.docs[:0], tf: s.tf[:0], n: s.n[:0], near: s.near[:0], ends: s.ends[:0]}
	defer l.close()
	// In the order of arrival, in which neighbours are close to each other in memory.
	slices.SortFunc(list, func(a, b candidate) int { return int(int64(a.doc) - int64(b.doc)) })
	for _, c := range list {
		l.load(c.doc)
	}
	similar := x.similar(p)
	for _, n := range similar {
		l.load(n)
	}
	named := x.asksFor(p)
	for _, n := range named {
		l.load(n)
	}
	if len(p.words) > 0 {
		for i := range len(l.docs) {
			x.neighbours(l.docs[i], p.w.reach, func(o uint32, _ int) {
				if x.admits(p, o) && !x.docs[o].isSystem() {
					l.load(o)
				}
			})
		}
	}
	return l.hits(named, similar)
}

// load counts the query's words in a doc, once, and returns the doc's index in
// l.docs.
func (l *reranker) load(number uint32) uint32 {
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
	for _, term := range l.admittedTerms(l.p, number) {
		if term == speakerBreak {
			continue
		}
		length++
		if w := l.scratch.lookups[term]; w > 0 {
			f := l.p.lookups[w-1]
			tf[f.word] += f.weight
		}
	}
	l.n = append(l.n, length)
	return slot
}

// keptFrequencies is how many term frequencies a scratch keeps room for: 1 MiB.
const keptFrequencies = 1 << 17

// close clears the scratch, and keeps the room that it has now.
func (l *reranker) close() {
	l.scratch.docs, l.scratch.n, l.scratch.near, l.scratch.ends = l.docs, l.n, l.near, l.ends
	if cap(l.tf) <= keptFrequencies {
		l.scratch.tf = l.tf
	}
	for _, d := range l.docs {
		l.scratch.slots[d] = 0
	}
	for _, f := range l.p.lookups {
		l.scratch.lookups[f.number] = 0
	}
}

// hits scores the docs that are loaded and returns those that match. named are the
// docs that the query asks for by id, similar those of [Query.Similar].
func (l *reranker) hits(named, similar []uint32) []scoredDoc {
	list := slices.Grow(l.scratch.list[:0], len(l.docs))[:len(l.docs)] // scoring loads more docs, which are no hits
	l.scratch.list = list
	for i := range list {
		list[i] = scoredDoc{doc: l.docs[i]}
		l.score(i, &list[i])
	}
	l.mean(list, similar)
	if l.p.w.group > 0 && len(l.p.words) > 0 {
		l.group(list)
	}
	out := list[:0]
	for _, f := range list {
		if slices.Contains(named, f.doc) {
			f.add(partID, idScore)
		}
		if f.score > 0 && (f.parts[partWords] > 0 || f.parts[partMeaning] > 0 || f.parts[partID] > 0 || l.p.size >= minQuestion) || !l.p.hasTerms {
			out = append(out, f)
		}
	}
	return out
}

// score scores one doc by its own words, its author's name, its neighbours' words
// and what else is known of it.
func (l *reranker) score(i int, f *scoredDoc) {
	d, p := &l.Index.docs[f.doc], l.p
	copy(l.acc, l.tf[i*len(p.words):])
	norm := p.norms.of(l.n[i])
	words := l.bm25(norm)
	f.add(partWords, words)
	own, factor := words, 1.0
	if named := p.namedAuthors[d.author]; named != 0 {
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
	f.cover = l.cover(p.namedAuthors[d.author])
	if p.inSpans(d.time) {
		f.add(partTime, float64(f.score*(p.w.span-1)))
	}
	if p.number && f.score > 0 && l.hasNumber(d) {
		f.add(partNumber, float64(f.score*(p.w.number-1)))
	}
	f.add(partRecency, float64(f.score*p.recency(d)))
	if words > 0 {
		numbers := l.admittedTerms(p, f.doc)
		numbers = numbers[:min(len(numbers), maxPlace)]
		f.add(partPhrase, float64(words*float64(float64(p.w.phrase*p.adjacency(numbers))+float64(p.w.quoted*p.quotes(numbers)))))
		f.add(partExact, float64(words*float64(p.w.exact*p.exactShare(numbers))))
		f.add(partActivity, float64(words*float64(p.w.activity*l.replyActivity(p, d))))
	}
}

// cover returns Hit.Cover: the share of the weight of the query's words that are
// in acc, or in the author's name.
func (l *reranker) cover(named uint64) float64 {
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

// borrow adds to acc a doc's share of its neighbours' words, and adds the
// neighbours to near. It reports whether acc has changed.
func (l *reranker) borrow(i int) (any bool) {
	p := l.p
	if len(p.words) == 0 {
		return false
	}
	l.Index.neighbours(l.docs[i], p.w.reach, func(o uint32, steps int) {
		if !l.lends(p, o) {
			return
		}
		s := l.load(o)
		l.near = append(l.near, s)
		if p.fade == 0 {
			return
		}
		share := p.w.replied
		if steps != byReference {
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

// bm25 returns the BM25 score of acc.
func (l *reranker) bm25(norm float64) float64 {
	sum := 0.0
	for w, tf := range l.acc {
		if tf > 0 {
			sum += float64(float64(l.p.words[w].weight*(l.p.w.k1+1))*tf) / (tf + norm)
		}
	}
	return sum
}

// similar returns the docs of [Query.Similar] that may be hits, in their order.
func (x *Index) similar(p *plan) []uint32 {
	var out []uint32
	for _, id := range p.q.Similar {
		if k, ok := x.known[id]; ok && k.doc >= 0 && x.admits(p, uint32(k.doc)) {
			out = append(out, uint32(k.doc))
		}
	}
	return out
}

// mean raises the scores of docs that are like the query in meaning, by their places: how
// alike they are is another encoder's, and on another scale, each time. The first gets a
// share of the best score by words.
func (l *reranker) mean(list []scoredDoc, similar []uint32) {
	if len(similar) == 0 {
		return
	}
	best := 0.0
	for i := range list {
		best = max(best, list[i].score)
	}
	if best == 0 {
		best = 1
	}
	for place, doc := range similar {
		list[l.scratch.slots[doc]-1].add(partMeaning, l.p.w.meaning*best/(1+float64(place)/l.p.w.meaningHalf))
	}
}

// group adds to every doc's score a share of its best neighbour's.
func (l *reranker) group(list []scoredDoc) {
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
