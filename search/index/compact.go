package index

// compact builds the index anew from the living. Deleted messages stay known,
// and so do names, threads and what is replied to.
func (x *Index) compact() {
	y := New()
	y.seq = x.seq
	y.authors, y.said = x.authors, make([]int32, len(x.said))
	for id := range x.authors {
		y.bytes += bytesName + int64(len(id))
	}
	y.names, y.callOf, y.calls = x.names, x.callOf, make([]int32, len(x.calls))
	for name := range x.names {
		y.bytes += bytesName + int64(len(name))
	}
	for c := range x.callOf {
		y.bytes += bytesName + int64(len(c.name))
	}
	y.threadOf, y.threads = x.threadOf, make([]thread, len(x.threads))
	for id := range x.threadOf {
		y.bytes += bytesThread + int64(len(id))
	}
	y.refOf, y.referred = x.refOf, make([]reference, len(x.referred))
	for id := range x.refOf {
		y.bytes += bytesThread + int64(len(id))
	}
	y.known = x.known
	for id := range x.known {
		y.bytes += bytesDoc + int64(len(id))
	}
	for i := range y.threads {
		y.threads[i].root = -1
	}
	for i := range y.referred {
		y.referred[i].doc = -1
	}
	var terms []string
	for i := range x.docs {
		d := x.docs[i]
		if d.dead {
			continue
		}
		terms = terms[:0]
		for _, n := range x.numbersOf(&d) {
			terms = append(terms, x.terms[n].name)
		}
		number := int32(len(y.docs))
		k := y.known[d.id]
		k.doc = number
		y.known[d.id] = k
		y.append(d, terms, x.quotes[uint32(i)]...)
		y.bind(d.id, number)
		if !d.system {
			y.enter(uint32(number), -1)
		}
		y.note(&y.docs[number])
	}
	*x = *y
}
