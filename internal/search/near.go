package search

import (
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// reachOf is how far each way messages are near a hit of a rank, from 0: an
// answer may come a few messages behind the best ones.
func reachOf(rank int) int {
	if rank < 3 {
		return 4
	}
	return 1
}

// maxFirst is how many replies to a root are near it.
const maxFirst = 2

// near returns the messages that stand before and after a doc, in its thread or
// at the top level, reach of them each way and the nearest first; of a root
// also the first replies, behind the nearest two.
func (x *Index) near(p *plan, number uint32, reach int) []earshot.MessageID {
	d := &x.docs[number]
	place := func(o *doc) earshot.Position { return earshot.Position{Time: o.time, ID: o.id} }
	low, high := place(d), place(d)
	var out []earshot.MessageID
	for range reach {
		var before, after *doc
		for i := range x.docs {
			o := &x.docs[i]
			if o.dead || o.thread != d.thread || !p.q.Before.IsZero() && !upTo(o, p.q.Before) {
				continue
			}
			switch at := place(o); {
			case at.Compare(low) < 0 && (before == nil || at.Compare(place(before)) > 0):
				before = o
			case at.Compare(high) > 0 && (after == nil || at.Compare(place(after)) < 0):
				after = o
			}
		}
		if before != nil {
			out, low = append(out, before.id), place(before)
		}
		if after != nil {
			out, high = append(out, after.id), place(after)
		}
	}
	two := min(len(out), 2)
	return slices.Concat(out[:two], x.firstReplies(p, d), out[two:])
}

// firstReplies returns the first replies to a root.
func (x *Index) firstReplies(p *plan, d *doc) []earshot.MessageID {
	var out []earshot.MessageID
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
