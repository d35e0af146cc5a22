package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Search returns the messages that match a query best, at most its limit, the
// best first; of equal ones the newer first, then the greater id.
//
// It works in two passes. The first scores every message that has one of the
// words, by BM25 and recency, a block of messages at a time, in fixed order.
// The second looks at the best of them closely: phrases, ids, activity.
func (x *Index) Search(q Query) []Hit { return x.search(q, standard) }

func (x *Index) search(q Query, w weights) []Hit {
	p := x.plan(q, w)
	best := &top{limit: p.keep, docs: x.docs}
	if p.cut {
		x.score(p, best)
	} else {
		x.newest(p, best)
	}
	var hits []Hit
	named := x.named(p)
	for _, c := range best.list {
		if !slices.Contains(named, c.doc) {
			hits = append(hits, x.hit(p, c))
		}
	}
	for _, n := range named {
		h := x.hit(p, candidateOf(n, best.list))
		h.add(PartID, idScore)
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Time, a.Time), strings.Compare(string(b.ID), string(a.ID)))
	})
	hits = hits[:min(len(hits), p.q.Limit)]
	numbers := make([]uint32, len(hits))
	for i, h := range hits {
		numbers[i] = uint32(x.known[h.ID].doc)
	}
	lanes := x.lanes(p, numbers)
	for i, number := range numbers {
		hits[i].Cover = x.coverOf(p, number)
		hits[i].Near = x.near(p, number, lanes[x.docs[number].thread], reachOf(i))
	}
	return hits
}

// named returns the docs whose ids are words of the query.
func (x *Index) named(p *plan) []uint32 {
	var named []uint32
	for field := range strings.FieldsSeq(p.q.Text) {
		k, ok := x.known[earshot.MessageID(strings.Trim(field, `"<>(),;`))]
		if ok && k.doc >= 0 && x.admits(p, uint32(k.doc)) && !slices.Contains(named, uint32(k.doc)) && len(named) < maxQueryTerms {
			named = append(named, uint32(k.doc))
		}
	}
	return named
}

// candidateOf returns n's candidate, one without a score when the words found
// none.
func candidateOf(n uint32, list []candidate) candidate {
	for _, c := range list {
		if c.doc == n {
			return c
		}
	}
	return candidate{doc: n}
}

// newest fills best with the newest messages.
func (x *Index) newest(p *plan, best *top) {
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

// score fills best with what has one of the query's terms. A doc's score is
// summed in the order of p.terms.
func (x *Index) score(p *plan, best *top) {
	if len(p.terms) == 0 {
		return
	}
	var (
		scores  [blockDocs]float64
		touched []uint32
		rest    = make([][]post, len(p.terms))
		norms   = x.norms()
	)
	for i, t := range p.terms {
		rest[i] = x.terms[t.number].posts
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
			weight := p.terms[i].weight * (k1 + 1)
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
				*slot += float64(weight*tf) / (tf + norms.of(x.docs[number].n))
			}
			rest[i] = posts[n:]
		}
		for _, number := range touched {
			slot := &scores[number-first]
			words := *slot
			*slot = 0
			if p.only && x.docs[number].quotes {
				if words = x.words(p, number, norms); words == 0 {
					continue
				}
			}
			if best.full() && words*(1+p.w.recency) < best.least() {
				continue
			}
			if !x.admits(p, number) {
				continue
			}
			recency := float64(words * float64(p.w.recency*recencyOf(x.docs[number].time, p.q.At)))
			best.offer(candidate{number, words + recency, words, recency})
		}
	}
}

// words scores what in a doc is said by those whose words are admitted, as if
// that were all of it.
func (x *Index) words(p *plan, number uint32, norms norms) float64 {
	said := x.said(p, number)
	length := uint16(0)
	times := map[uint32]int{}
	for _, n := range said {
		if n != between {
			length++
			times[n]++
		}
	}
	var sum float64
	for _, t := range p.terms {
		if tf := float64(min(times[t.number], tfMax)); tf > 0 {
			sum += float64(float64(t.weight*(k1+1))*tf) / (tf + norms.of(length))
		}
	}
	return sum
}

// between stands between the terms of one person and another's, so that a
// phrase does not reach from one into the other. No term has that number.
const between = math.MaxUint32

// said returns the numbers of those of a doc's terms that are admitted.
func (x *Index) said(p *plan, number uint32) []uint32 {
	d := &x.docs[number]
	all := x.numbersOf(d)
	if !d.quotes {
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

// norms is BM25's part of a doc's length, for each length up to its end.
type norms []float64

func (x *Index) norms() norms {
	average := float64(x.length) / float64(max(1, x.Len()))
	n := make(norms, 256)
	for i := range n {
		n[i] = float64(k1*(1-b)) + float64(float64(k1*b)*float64(i))/average
	}
	return n
}

// of takes a doc of more terms than norms has for one that long: a long paste
// is not punished further.
func (n norms) of(length uint16) float64 { return n[min(int(length), len(n)-1)] }

// recencyOf is 1 for what is said at this moment and falls towards 0: by half
// of a third within an hour, by half of a third within a day, and of a third
// within a month. Chat is asked about at all three scales.
func recencyOf(t, at earshot.Time) float64 {
	if at == 0 {
		return 0
	}
	const hour = 3600e6
	age := max(0, float64(at)-float64(t)) / hour
	return (1/(1+age) + 1/(1+age/24) + 1/(1+age/720)) / 3
}

// hit looks at a candidate closely.
func (x *Index) hit(p *plan, c candidate) Hit {
	d := &x.docs[c.doc]
	h := Hit{ID: d.id, Time: d.time}
	h.add(PartWords, c.words)
	h.add(PartRecency, c.recency)
	if c.words > 0 {
		numbers := x.said(p, c.doc)
		numbers = numbers[:min(len(numbers), maxPlace)]
		h.add(PartPhrase, float64(c.words*float64(float64(p.w.phrase*p.adjacency(numbers))+float64(p.w.quoted*p.quotes(numbers)))))
		h.add(PartExact, float64(c.words*float64(p.w.exact*p.wholes(numbers))))
		h.add(PartActivity, float64(c.words*float64(p.w.activity*x.activity(p, d))))
	}
	return h
}

func (h *Hit) add(name string, value float64) {
	if value != 0 {
		h.Parts = append(h.Parts, Part{name, value})
		h.Score += value
	}
}

// adjacency is the share of the query's neighbouring words that are neighbours
// in the message too, 0 to 1, rare words counting more.
func (p *plan) adjacency(numbers []uint32) float64 {
	if len(p.pairs) == 0 {
		return 0
	}
	var sum float64
	var seen uint64
	for i := range len(numbers) - 1 {
		n, ok := p.pairs[uint64(numbers[i])<<32|uint64(numbers[i+1])]
		if ok && seen&(1<<n) == 0 {
			seen |= 1 << n
			sum += p.shares[n]
		}
	}
	return sum
}

// quotes is the share of the quoted phrases that stand in the message.
func (p *plan) quotes(numbers []uint32) float64 {
	found := 0
	for _, phrase := range p.phrases {
		for i := range len(numbers) - len(phrase) + 1 {
			if slices.Equal(numbers[i:i+len(phrase)], phrase) {
				found++
				break
			}
		}
	}
	return float64(found) / float64(max(1, len(p.phrases)))
}

// wholes is the share of the query's ids, URLs and the like that the message
// has, rare ones counting more.
func (p *plan) wholes(numbers []uint32) float64 {
	if p.exact == 0 {
		return 0
	}
	var sum float64
	for _, t := range p.terms {
		if t.whole && slices.Contains(numbers, t.number) {
			sum += t.weight
		}
	}
	return sum / p.exact
}

// maxReplies is how many replies count as activity, at most.
const maxReplies = 64

// activity is how much was said in reply to a message, 0 to 1: half with four
// replies. Replies after the query's bound do not count.
func (x *Index) activity(p *plan, d *doc) float64 {
	thread, ok := x.threads[d.id]
	if !ok {
		return 0
	}
	n := 0.0
	for i, number := range x.replies[thread] {
		if r := &x.docs[number]; !r.dead && (p.q.Before.IsZero() || upTo(r, p.q.Before)) {
			n++
		}
		if i >= maxReplies {
			break
		}
	}
	return n / (n + 4)
}
