package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

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

// lanes returns, for each thread that one of the docs stands in, and for the top
// level, its living docs up to the query's bound, in the order of position.
func (x *Index) lanes(p *plan, of []uint32) map[int32][]*doc {
	lanes := map[int32][]*doc{}
	for _, number := range of {
		lanes[x.docs[number].thread] = nil
	}
	for i := range x.docs {
		d := &x.docs[i]
		if l, wanted := lanes[d.thread]; wanted && !d.dead && (p.q.Before.IsZero() || upTo(d, p.q.Before)) {
			lanes[d.thread] = append(l, d)
		}
	}
	for _, l := range lanes {
		slices.SortFunc(l, compareDocs)
	}
	return lanes
}

func compareDocs(a, b *doc) int {
	return cmp.Or(cmp.Compare(a.time, b.time), strings.Compare(string(a.id), string(b.id)))
}

// near returns the messages that stand before and after a doc in its lane, reach
// of them each way and the nearest first; of a root also the first replies,
// behind the nearest two.
func (x *Index) near(p *plan, number uint32, lane []*doc, reach int) []earshot.MessageID {
	d := &x.docs[number]
	at, _ := slices.BinarySearchFunc(lane, d, compareDocs)
	var out []earshot.MessageID
	for i := 1; i <= reach; i++ {
		if at-i >= 0 {
			out = append(out, lane[at-i].id)
		}
		if at+i < len(lane) {
			out = append(out, lane[at+i].id)
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
		slices.SortFunc(replies, compareDocs)
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
