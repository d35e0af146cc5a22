package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A timeline is the docs of one thread's replies, or of the channel's top level.
// System messages (joins and the like) are in none. A timeline is in the order
// of positions unless it is unsorted; dead docs stay in it.
type timeline struct {
	docs     []uint32
	unsorted bool
}

// topLevel is the thread number of docs at the channel's top level.
const topLevel = -1

// timelineOf returns a thread's timeline, or that of the top level.
func (x *Index) timelineOf(thread int32) *timeline {
	if thread == topLevel {
		return &x.main
	}
	return &x.threads[thread].replies
}

// insert puts a doc into its timeline. A new revision of a message takes the
// place of old, the doc of the revision before, if the place is the same; old is
// -1 for none.
func (x *Index) insert(number uint32, old int32) {
	d := &x.docs[number]
	line := x.timelineOf(d.thread)
	if old >= 0 {
		if o := &x.docs[old]; !o.isSystem() && o.thread == d.thread && o.time == d.time {
			d.place = o.place
			line.docs[d.place] = number
			return
		}
	}
	d.place = uint32(len(line.docs))
	if n := len(line.docs); n > 0 && !line.unsorted && x.compare(line.docs[n-1], number) > 0 {
		line.unsorted = true
		x.unsorted = append(x.unsorted, d.thread)
	}
	line.docs = append(line.docs, number)
	x.bytes += bytesNumber
}

// addReply adds a doc to those that reply to a message by its id.
func (x *Index) addReply(number uint32, target int32) {
	r := &x.replyTargets[target]
	if n := len(r.replies); n > 0 && !r.unsorted && x.compare(r.replies[n-1], number) > 0 {
		r.unsorted = true
		x.unsortedReplies = append(x.unsortedReplies, target)
	}
	r.replies = append(r.replies, number)
	x.bytes += bytesNumber
}

// compare compares docs by position.
func (x *Index) compare(a, b uint32) int {
	p, q := &x.docs[a], &x.docs[b]
	return cmp.Or(cmp.Compare(p.time, q.time), strings.Compare(string(p.id), string(q.id)))
}

// addTime adds the time of the last doc to x.times, and sets the doc's rank.
func (x *Index) addTime(d *doc) {
	n := len(x.times)
	d.rank = uint32(n)
	if n > 0 && x.times[n-1] >= d.time {
		d.rank = x.docs[len(x.docs)-2].rank // right where the doc before it has the same time
		x.timesStale = x.timesStale || x.times[n-1] > d.time || x.docs[len(x.docs)-2].time != d.time
	}
	x.times = append(x.times, d.time)
	x.bytes += bytesTime
}

// restoreOrder sorts what was added out of order.
func (x *Index) restoreOrder() {
	if len(x.unsorted)+len(x.unsortedReplies) == 0 && !x.timesStale {
		return
	}
	for _, thread := range x.unsorted {
		line := x.timelineOf(thread)
		slices.SortFunc(line.docs, x.compare)
		for i, number := range line.docs {
			x.docs[number].place = uint32(i)
		}
		line.unsorted = false
	}
	x.unsorted = x.unsorted[:0]
	for _, n := range x.unsortedReplies {
		r := &x.replyTargets[n]
		slices.SortFunc(r.replies, x.compare)
		r.unsorted = false
	}
	x.unsortedReplies = x.unsortedReplies[:0]
	if x.timesStale {
		x.times = x.times[:0]
		for i := range x.docs {
			if d := &x.docs[i]; !d.dead {
				x.times = append(x.times, d.time)
			}
		}
		slices.Sort(x.times)
		for i := range x.docs {
			x.docs[i].rank = uint32(x.countUpTo(x.docs[i].time - 1))
		}
		x.timesStale = false
	}
}

// countUpTo returns how many messages have a time at or before t.
func (x *Index) countUpTo(t earshot.Time) int {
	n, _ := slices.BinarySearch(x.times, t+1)
	return n
}
