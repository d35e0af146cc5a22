package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A lane is docs that were said one after the other: a thread's replies, or
// what stands at the channel's top level. Joins and the like stand in none.
// Once the index is settled a lane is in the order of positions; the dead are
// among them.
type lane struct {
	docs  []uint32
	loose bool // not in order
}

// top is the number of the lane of the channel's top level.
const top = -1

// laneOf returns a thread's lane, or the one of the top level.
func (x *Index) laneOf(thread int32) *lane {
	if thread == top {
		return &x.level
	}
	return &x.threads[thread].replies
}

// enter puts a doc into its lane. A new revision takes the place of the old
// one, where that is the same; old is -1 for none.
func (x *Index) enter(number uint32, old int32) {
	d := &x.docs[number]
	l := x.laneOf(d.thread)
	if old >= 0 {
		if o := &x.docs[old]; !o.system && o.thread == d.thread && o.time == d.time {
			d.place = o.place
			l.docs[d.place] = number
			return
		}
	}
	d.place = uint32(len(l.docs))
	if n := len(l.docs); n > 0 && !l.loose && x.compare(l.docs[n-1], number) > 0 {
		l.loose = true
		x.loose = append(x.loose, d.thread)
	}
	l.docs = append(l.docs, number)
	x.bytes += bytesNumber
}

// answer notes a doc among those that reply to a message by its id.
func (x *Index) answer(number uint32, reference int32) {
	r := &x.referred[reference]
	if n := len(r.answers); n > 0 && !r.loose && x.compare(r.answers[n-1], number) > 0 {
		r.loose = true
		x.looseRef = append(x.looseRef, reference)
	}
	r.answers = append(r.answers, number)
	x.bytes += bytesNumber
}

// compare compares docs by position.
func (x *Index) compare(a, b uint32) int {
	p, q := &x.docs[a], &x.docs[b]
	return cmp.Or(cmp.Compare(p.time, q.time), strings.Compare(string(p.id), string(q.id)))
}

// note counts a doc in among the times.
func (x *Index) note(d *doc) {
	n := len(x.times)
	d.rank = uint32(n)
	if n > 0 && x.times[n-1] >= d.time {
		d.rank = x.docs[len(x.docs)-2].rank // of the same time, if nothing is shuffled
		x.shuffled = x.shuffled || x.times[n-1] > d.time || x.docs[len(x.docs)-2].time != d.time
	}
	x.times = append(x.times, d.time)
	x.bytes += bytesTime
}

// settle puts in order what arrived out of it.
func (x *Index) settle() {
	for _, thread := range x.loose {
		l := x.laneOf(thread)
		slices.SortFunc(l.docs, x.compare)
		for i, number := range l.docs {
			x.docs[number].place = uint32(i)
		}
		l.loose = false
	}
	x.loose = x.loose[:0]
	for _, n := range x.looseRef {
		r := &x.referred[n]
		slices.SortFunc(r.answers, x.compare)
		r.loose = false
	}
	x.looseRef = x.looseRef[:0]
	if x.shuffled {
		x.times = x.times[:0]
		for i := range x.docs {
			if d := &x.docs[i]; !d.dead {
				x.times = append(x.times, d.time)
			}
		}
		slices.Sort(x.times)
		for i := range x.docs {
			x.docs[i].rank = uint32(x.until(x.docs[i].time - 1))
		}
		x.shuffled = false
	}
}

// until returns how many messages were said at or before a time.
func (x *Index) until(t earshot.Time) int {
	n, _ := slices.BinarySearch(x.times, t+1)
	return n
}

// pause is the silence that ends a run of talk at the top level, in
// microseconds: what is said an hour later is seldom about the same.
const pause = 3600e6

// maxAnswers is how many replies to one message lend it their words.
const maxAnswers = 4

// replying is the number of steps between a message and its reply.
const replying = 0

// near calls yield with the living docs next to a doc and how many steps they
// are away: what it replies to and what replies to it; up to reach docs before
// it and after it in its thread, the root before the first reply, or in its run
// of talk at the top level; and where it is a root the first replies. One doc
// may come twice.
func (x *Index) near(number uint32, reach int, yield func(near uint32, steps int)) {
	d := &x.docs[number]
	if d.refers >= 0 {
		if parent := x.referred[d.refers].doc; parent >= 0 {
			yield(uint32(parent), replying)
		}
	}
	if d.asked >= 0 {
		n := 0
		for _, a := range x.referred[d.asked].answers {
			if !x.docs[a].dead && n < maxAnswers {
				n++
				yield(a, replying)
			}
		}
	}
	if !d.system {
		x.beside(d, reach, -1, yield)
		x.beside(d, reach, 1, yield)
	}
	if d.roots >= 0 {
		x.first(d.roots, reach, yield)
	}
}

// beside yields up to reach docs of d's lane, backwards or forwards from it.
func (x *Index) beside(d *doc, reach, direction int, yield func(near uint32, steps int)) {
	docs := x.laneOf(d.thread).docs
	steps, last := 0, d.time
	for i := int(d.place) + direction; i >= 0 && i < len(docs) && steps < reach; i += direction {
		o := &x.docs[docs[i]]
		if o.dead {
			continue
		}
		if silence := o.time - last; d.thread == top && max(silence, -silence) > pause {
			return
		}
		steps++
		last = o.time
		yield(docs[i], steps)
	}
	if d.thread != top && direction < 0 {
		steps = min(steps, 2)
		if root := x.threads[d.thread].root; root >= 0 && x.docs[root].id != d.id {
			yield(uint32(root), steps+1)
		}
	}
}

// first yields a thread's first replies.
func (x *Index) first(thread int32, reach int, yield func(near uint32, steps int)) {
	steps := 0
	for _, number := range x.threads[thread].replies.docs {
		if steps == reach {
			return
		}
		if !x.docs[number].dead {
			steps++
			yield(number, steps)
		}
	}
}
