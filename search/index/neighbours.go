package index

// maxPause is the silence that ends a conversation at the top level, in
// microseconds: what is said an hour later is seldom about the same.
const maxPause = 3600e6

// maxReplyNeighbours is how many replies to one message are its neighbours.
const maxReplyNeighbours = 4

// byReference is the number of steps between a message and a reply to its id.
const byReference = 0

// neighbours calls yield with the live docs next to a doc, and how many steps
// away each is:
//
//   - what it replies to by reference, and the first replies to it;
//   - up to reach docs before it and after it in its timeline, at the top level
//     no further than a pause, in a thread with the root before the first reply;
//   - the first replies of the thread that it is the root of.
//
// One doc may come twice.
func (x *Index) neighbours(number uint32, reach int, yield func(near uint32, steps int)) {
	d := &x.docs[number]
	if d.replyTo >= 0 {
		if parent := x.replyTargets[d.replyTo].doc; parent >= 0 {
			yield(uint32(parent), byReference)
		}
	}
	if d.target >= 0 {
		n := 0
		for _, a := range x.replyTargets[d.target].replies {
			if !x.docs[a].dead && n < maxReplyNeighbours {
				n++
				yield(a, byReference)
			}
		}
	}
	if !d.isSystem() {
		x.neighboursInTimeline(d, reach, -1, yield)
		x.neighboursInTimeline(d, reach, 1, yield)
	}
	if d.rootOf >= 0 {
		x.firstReplies(d.rootOf, reach, yield)
	}
}

// neighboursInTimeline yields up to reach live docs of d's timeline, before d
// (direction -1) or after it (1).
func (x *Index) neighboursInTimeline(d *doc, reach, direction int, yield func(near uint32, steps int)) {
	docs := x.timelineOf(d.thread).docs
	steps, last := 0, d.time
	for i := int(d.place) + direction; i >= 0 && i < len(docs) && steps < reach; i += direction {
		o := &x.docs[docs[i]]
		if o.dead {
			continue
		}
		if silence := o.time - last; d.thread == topLevel && max(silence, -silence) > maxPause {
			return
		}
		steps++
		last = o.time
		yield(docs[i], steps)
	}
	if d.thread != topLevel && direction < 0 {
		steps = min(steps, 2)
		if root := x.threads[d.thread].root; root >= 0 && x.docs[root].id != d.id {
			yield(uint32(root), steps+1)
		}
	}
}

// firstReplies yields up to reach of a thread's first live replies.
func (x *Index) firstReplies(thread int32, reach int, yield func(near uint32, steps int)) {
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
