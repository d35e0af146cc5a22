package search

import (
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// maxFirst is how many replies to a root are near it.
const maxFirst = 2

// near returns the messages that stand before and after a doc, in its thread or
// at the top level; of a root also the first replies.
func (x *Index) near(p *plan, number uint32) []earshot.MessageID {
	d := &x.docs[number]
	at := earshot.Position{Time: d.time, ID: d.id}
	var before, after *doc
	for i := range x.docs {
		o := &x.docs[i]
		if o.dead || o.thread != d.thread || o == d || !p.q.Before.IsZero() && !upTo(o, p.q.Before) {
			continue
		}
		switch pos := (earshot.Position{Time: o.time, ID: o.id}); {
		case pos.Compare(at) < 0 && (before == nil || pos.Compare(earshot.Position{Time: before.time, ID: before.id}) > 0):
			before = o
		case pos.Compare(at) > 0 && (after == nil || pos.Compare(earshot.Position{Time: after.time, ID: after.id}) < 0):
			after = o
		}
	}
	var out []earshot.MessageID
	for _, o := range []*doc{before, after} {
		if o != nil {
			out = append(out, o.id)
		}
	}
	if thread, ok := x.threads[d.id]; ok {
		var replies []*doc
		for _, r := range x.replies[thread] {
			if o := &x.docs[r]; !o.dead && (p.q.Before.IsZero() || upTo(o, p.q.Before)) {
				replies = append(replies, o)
			}
		}
		slices.SortFunc(replies, func(a, b *doc) int {
			return earshot.Position{Time: a.time, ID: a.id}.Compare(earshot.Position{Time: b.time, ID: b.id})
		})
		for _, o := range replies[:min(len(replies), maxFirst)] {
			out = append(out, o.id)
		}
	}
	return out
}

// coverOf is the share of the query's weight in words that a doc has. Words that
// no message has count as the rarest.
func (x *Index) coverOf(p *plan, number uint32) float64 {
	numbers := x.said(p, number)
	var has, all float64
	for _, t := range p.terms {
		all += t.weight
		if slices.Contains(numbers, t.number) {
			has += t.weight
		}
	}
	unknown := math.Log(1 + (float64(x.Len())+0.5)/0.5)
	all += float64(unknown * float64(p.unknown))
	if all == 0 {
		return 0
	}
	return math.Round(has/all*1000) / 1000
}
