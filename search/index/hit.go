package index

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Bounds of Hit.Near: neighbours of the first bestHits hits are up to nearBest steps
// away, those of other hits one step; of each there are at most maxNear.
const (
	bestHits = 3
	nearBest = 4
	maxNear  = 12
)

// hit returns a scored doc as a hit. rank is the hit's place, from 0.
func (x *Index) hit(p *plan, f *scoredDoc, rank int) Hit {
	h := Hit{ID: x.docs[f.doc].id, Time: x.docs[f.doc].time, Cover: f.cover, Near: x.around(p, f.doc, rank)}
	for i, v := range f.parts {
		if v != 0 {
			h.Parts = append(h.Parts, Part{partNames[i], v})
			h.Score += v
		}
	}
	return h
}

// around returns the neighbours of a hit, the nearest first.
func (x *Index) around(p *plan, number uint32, rank int) []earshot.MessageID {
	type other struct {
		doc   uint32
		steps int
	}
	var list []other
	reach := 1
	if rank < bestHits {
		reach = nearBest
	}
	x.neighbours(number, reach, func(o uint32, steps int) {
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

// asksFor returns the docs whose ids are in the query's text. A short number is
// not taken for an id: it says how many.
func (x *Index) asksFor(p *plan) []uint32 {
	var found []uint32
	for field := range strings.FieldsSeq(p.q.Text) {
		id := strings.Trim(field, `"<>(),;?!`)
		if len(id) < minID && !strings.ContainsFunc(id, func(r rune) bool { return r < '0' || r > '9' }) {
			continue
		}
		k, ok := x.known[earshot.MessageID(id)]
		if ok && k.doc >= 0 && x.admits(p, uint32(k.doc)) && !slices.Contains(found, uint32(k.doc)) && len(found) < maxQueryTerms {
			found = append(found, uint32(k.doc))
		}
	}
	return found
}

// minID is how many digits an id of digits alone has at least.
const minID = 6

// speakerBreak stands between the terms of one author and another's, so that no
// phrase reaches across. No term has this number.
const speakerBreak = noNumber + 1

// admittedTerms returns the numbers of those of a doc's terms that count: where
// the query restricts authors, those of their words, quotes included.
func (x *Index) admittedTerms(p *plan, number uint32) []uint32 {
	d := &x.docs[number]
	all := x.numbersOf(d)
	if !d.quotes {
		if p.restricted && !p.authors[d.author] {
			return nil
		}
		return all
	}
	quotes := x.quotes[number]
	var out []uint32
	if !p.restricted || p.authors[d.author] {
		out = append(out, all[:quotes[0].from]...)
	}
	for _, q := range quotes {
		if p.quoted(q) {
			out = append(append(out, speakerBreak), all[q.from:q.from+q.n]...)
		}
	}
	return out
}
