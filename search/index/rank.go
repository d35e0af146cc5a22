package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// Search returns the messages that match a query best, at most its limit, the
// best first; of equal ones the newer first, then the greater id. Of messages
// that say the same in the same words the best one is returned.
//
// Search works in two passes. The first scores every message that has one of the
// words, by BM25, recency and author, a block of messages at a time. The second
// scores the best of them again, with their neighbours, by everything that counts:
// neighbours' words, names, times, phrases, ids, activity (see rerank.go).
func (x *Index) Search(q Query) []Hit { return x.SearchIn(q, &Scratch{}) }

// SearchIn is Search with memory that earlier searches have used.
func (x *Index) SearchIn(q Query, s *Scratch) []Hit { return x.search(q, standard, s) }

func (x *Index) search(q Query, w weights, s *Scratch) []Hit {
	p := x.plan(q, w)
	top := &topK{limit: p.keep, docs: x.docs}
	if p.hasTerms {
		x.score(p, top)
	} else {
		x.newest(p, top)
	}
	list := x.rerank(p, top.list, s)
	best := s.best[:0] // a scoredDoc is large: what is sorted are pointers
	for i := range list {
		best = append(best, &list[i])
	}
	s.best = best
	slices.SortFunc(best, func(a, b *scoredDoc) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return x.compare(b.doc, a.doc)
	})
	if p.hasTerms {
		best = x.dedupe(best, p.q.Limit)
	}
	var hits []Hit
	for rank, f := range best[:min(len(best), p.q.Limit)] {
		hits = append(hits, x.hit(p, f, rank))
	}
	return hits
}

// newest fills top with the newest messages.
func (x *Index) newest(p *plan, top *topK) {
	// The last to arrive are mostly the newest, so that most of the others are
	// refused by their time alone.
	for i := len(x.docs) - 1; i >= 0; i-- {
		if top.full() && x.docs[i].time < x.docs[top.list[0].doc].time {
			continue
		}
		if x.admits(p, uint32(i)) {
			top.offer(candidate{doc: uint32(i)})
		}
	}
}

// blockDocs is how many docs are scored at a time: their scores stay in the
// processor's first cache.
const blockDocs = 2048

// score fills top with the docs that have one of the query's words. A doc's score
// is summed in the order of p.lookups.
func (x *Index) score(p *plan, top *topK) {
	if len(p.lookups) == 0 {
		return
	}
	var (
		scores  [blockDocs]float64
		touched []uint32
		rest    = make([][]posting, 2*len(p.lookups)) // the postings of each, in two parts
		most    = (1 + p.w.recency) * max(1, p.w.named) * max(1, p.w.span)
	)
	for i, f := range p.lookups {
		rest[2*i], rest[2*i+1] = x.postingsOf(f.number)
	}
	for {
		first := uint32(math.MaxUint32)
		for _, posts := range rest {
			if len(posts) > 0 {
				first = min(first, uint32(posts[0]>>tfBits))
			}
		}
		if first == math.MaxUint32 {
			return
		}
		first -= first % blockDocs
		end := posting(uint64(first) + blockDocs)
		touched = touched[:0]
		for i, posts := range rest {
			f := p.lookups[i/2]
			weight := float64(f.weight*p.words[f.word].weight) * (p.w.k1 + 1)
			n := 0
			for _, at := range posts {
				number := at >> tfBits
				if number >= end {
					break
				}
				n++
				tf := float64(at & tfMax)
				slot := &scores[uint32(number)-first]
				if *slot == 0 {
					touched = append(touched, uint32(number))
				}
				*slot += float64(weight*tf) / (tf + p.norms.of(x.docs[number].n))
			}
			rest[i] = posts[n:]
		}
		for _, number := range touched {
			slot := &scores[number-first]
			words := *slot
			*slot = 0
			if top.full() && words*most < top.least() || !x.admits(p, number) {
				continue
			}
			top.offer(candidate{number, words * x.contextFactor(p, &x.docs[number])})
		}
	}
}

// contextFactor returns the factor for what is known of a doc besides its words:
// its recency, and whether the query names its author or its time.
func (x *Index) contextFactor(p *plan, d *doc) float64 {
	factor := 1 + p.recency(d)
	if p.namedAuthors[d.author] != 0 {
		factor *= p.w.named
	}
	if p.inSpans(d.time) {
		factor *= p.w.span
	}
	return factor
}

// recency returns the share by which a message's score is raised. It falls with
// the number of messages since.
func (p *plan) recency(d *doc) float64 {
	if p.q.At == 0 {
		return 0
	}
	since := float64(max(0, p.until-int(d.rank)-1))
	return p.w.recency / (1 + since/p.w.age)
}

// inSpans reports whether t is in a time that the query names.
func (p *plan) inSpans(t earshot.Time) bool {
	for _, s := range p.spans {
		if s.from <= t && t < s.to {
			return true
		}
	}
	return false
}

// lengthNorms are BM25's length normalisation, k1·(1-b+b·length/average), by length.
type lengthNorms []float64

func normsOf(w weights, average float64) lengthNorms {
	n := make(lengthNorms, 256)
	for i := range n {
		n[i] = float64(w.k1*(1-w.b)) + float64(float64(w.k1*w.b)*float64(i))/max(1, average)
	}
	return n
}

// of returns the norm of a length. From 255 terms on it does not grow further: a
// long paste is not punished more.
func (n lengthNorms) of(length uint16) float64 { return n[min(int(length), len(n)-1)] }
