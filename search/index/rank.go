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
// It works in two passes. The first scores every message that has one of the
// words, by BM25, recency and who said it, a block of messages at a time. The
// second looks closely at the best of them and at what stands next to these:
// words of neighbours, names, times, phrases, ids, activity (see look.go).
func (x *Index) Search(q Query) []Hit { return x.search(q, standard) }

func (x *Index) search(q Query, w weights) []Hit {
	p := x.plan(q, w)
	best := &best{limit: p.keep, docs: x.docs}
	if p.cut {
		x.score(p, best)
	} else {
		x.newest(p, best)
	}
	list := x.look(p, best.list)
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), x.compare(b.doc, a.doc))
	})
	if p.cut {
		list = x.once(list, p.q.Limit)
	}
	var hits []Hit
	for rank, f := range list[:min(len(list), p.q.Limit)] {
		hits = append(hits, x.hit(p, f, rank))
	}
	return hits
}

// newest fills best with the newest messages.
func (x *Index) newest(p *plan, best *best) {
	// The last to arrive are mostly the newest, and what follows is then refused
	// by a look at the time.
	for i := len(x.docs) - 1; i >= 0; i-- {
		if best.full() && x.docs[i].time < x.docs[best.list[0].doc].time {
			continue
		}
		if x.admits(p, uint32(i)) {
			best.offer(candidate{doc: uint32(i)})
		}
	}
}

// blockDocs is how many docs are scored at a time: their scores stay in the
// processor's first cache.
const blockDocs = 2048

// score fills best with what has one of the query's words. A doc's score is
// summed in the order of p.forms.
func (x *Index) score(p *plan, best *best) {
	if len(p.forms) == 0 {
		return
	}
	var (
		scores  [blockDocs]float64
		touched []uint32
		rest    = make([][]post, len(p.forms))
		most    = (1 + p.w.recency) * max(1, p.w.named) * max(1, p.w.span)
	)
	for i, f := range p.forms {
		rest[i] = x.terms[f.number].posts
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
		end := post(uint64(first) + blockDocs)
		touched = touched[:0]
		for i, posts := range rest {
			f := p.forms[i]
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
			if best.full() && words*most < best.least() || !x.admits(p, number) {
				continue
			}
			best.offer(candidate{number, words * x.outside(p, &x.docs[number])})
		}
	}
}

// outside is the factor for what is known of a doc besides its words: when it
// was said, and whether the query names that or its author.
func (x *Index) outside(p *plan, d *doc) float64 {
	factor := 1 + p.recency(d)
	if p.called[d.author] != 0 {
		factor *= p.w.named
	}
	if p.within(d.time) {
		factor *= p.w.span
	}
	return factor
}

// recency is what a message's score is raised by, as a share of it: it falls
// with the number of messages that were said since.
func (p *plan) recency(d *doc) float64 {
	if p.q.At == 0 {
		return 0
	}
	since := float64(max(0, p.until-int(d.rank)-1))
	return p.w.recency / (1 + since/p.w.age)
}

// within reports whether the query names a time that t is in.
func (p *plan) within(t earshot.Time) bool {
	for _, s := range p.spans {
		if s.from <= t && t < s.to {
			return true
		}
	}
	return false
}

// norms is BM25's part of a doc's length, for each length up to its end.
type norms []float64

func normsOf(w weights, average float64) norms {
	n := make(norms, 256)
	for i := range n {
		n[i] = float64(w.k1*(1-w.b)) + float64(float64(w.k1*w.b)*float64(i))/max(1, average)
	}
	return n
}

// of takes a doc of more terms than norms has for one that long: a long paste
// is not punished further.
func (n norms) of(length uint16) float64 { return n[min(int(length), len(n)-1)] }
