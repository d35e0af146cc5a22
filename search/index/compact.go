package index

// compact builds the index anew from the live docs. What is known of deleted
// messages stays, and so do names, threads and reply targets.
func (x *Index) compact() {
	y := New()
	y.seq = x.seq
	y.authors, y.spoken = x.authors, make([]int32, len(x.spoken))
	for id := range x.authors {
		y.bytes += bytesName + int64(len(id))
	}
	y.names, y.bylineOf, y.bylines = x.names, x.bylineOf, make([]int32, len(x.bylines))
	for name := range x.names {
		y.bytes += bytesName + int64(len(name))
	}
	for c := range x.bylineOf {
		y.bytes += bytesName + int64(len(c.name))
	}
	y.threadOf, y.threads = x.threadOf, make([]thread, len(x.threads))
	for id := range x.threadOf {
		y.bytes += bytesThread + int64(len(id))
	}
	y.replyTargetOf, y.replyTargets = x.replyTargetOf, make([]replyTarget, len(x.replyTargets))
	for id := range x.replyTargetOf {
		y.bytes += bytesThread + int64(len(id))
	}
	y.known = x.known
	for id := range x.known {
		y.bytes += bytesDoc + int64(len(id))
	}
	for i := range y.threads {
		y.threads[i].root = -1
	}
	for i := range y.replyTargets {
		y.replyTargets[i].doc = -1
	}
	var terms []string
	for i := range x.docs {
		d := x.docs[i]
		if d.dead {
			continue
		}
		terms = terms[:0]
		for _, n := range x.numbersOf(&d) {
			terms = append(terms, string(x.words.name(n)))
		}
		number := int32(len(y.docs))
		k := y.known[d.id]
		k.doc = number
		y.known[d.id] = k
		y.append(d, terms, x.quotes[uint32(i)]...)
		y.linkReplies(d.id, number)
		if !d.isSystem() {
			y.insert(uint32(number), -1)
		}
		y.addTime(&y.docs[number])
	}
	*x = *y
}
