package index

import "slices"

// A term has the postings of a search term, one for each doc that has it. Most terms
// stand in one doc, so that the last posting has its place here, and those before it,
// ascending, in postings.older.
type term struct {
	last  posting
	older int32 // 1 + its index in postings.older; 0: there are none
}

// A posting is a doc's number and, in the lowest tfBits, how often the term
// occurs in it, up to tfMax.
type posting uint32

const (
	tfBits = 6
	tfMax  = 1<<tfBits - 1
	// maxDocs is how many docs a post can tell apart: 67 million. Messages that
	// are added after so many are not indexed.
	maxDocs = 1 << (32 - tfBits)
)

// maxUnposted is how many docs an index has at most that has no postings: to look
// through so few takes less time than a channel's messages take to be read, and half of
// the memory of an index of few docs would be postings.
const maxUnposted = 64

// The postings of an index of more than maxUnposted docs.
type postings struct {
	terms  []term           // by number
	older  [][]posting      // of terms that several docs have: see term
	deadOf map[uint32]int32 // by term: how many of its postings are of dead docs; most have none
}

// posted reports whether the index has postings.
func (x *Index) posted() bool { return len(x.docs) > maxUnposted }

// post adds the last doc to the postings, and all before it to those of an index that
// had none.
func (x *Index) post() {
	switch last := len(x.docs) - 1; {
	case last > maxUnposted:
		x.postDoc(last)
	case last == maxUnposted:
		for i := range x.docs {
			x.postDoc(i)
			if x.docs[i].dead {
				x.countDead(&x.docs[i])
			}
		}
	}
}

func (x *Index) postDoc(number int) {
	for _, n := range x.numbersOf(&x.docs[number]) {
		first := posting(number)<<tfBits | 1
		if int(n) == len(x.terms) {
			x.terms = append(x.terms, term{last: first})
			x.bytes += bytesTerm
			continue
		}
		t := &x.terms[n]
		if t.last>>tfBits == first>>tfBits {
			if t.last&tfMax < tfMax {
				t.last++
			}
			continue
		}
		if t.older == 0 {
			x.older = append(x.older, nil)
			t.older = int32(len(x.older))
			x.bytes += bytesOlder
		}
		x.older[t.older-1] = append(x.older[t.older-1], t.last)
		x.bytes += bytesPost
		t.last = first
	}
}

// countDead counts the postings of a doc as those of a dead one.
func (x *Index) countDead(d *doc) {
	numbers := slices.Sorted(slices.Values(x.numbersOf(d)))
	for _, n := range slices.Compact(numbers) {
		put(&x.deadOf, n, x.deadOf[n]+1)
	}
}

// postingsOf returns a term's postings, ascending, in two parts.
func (x *Index) postingsOf(n uint32) (older, last []posting) {
	if !x.posted() {
		return x.scan(n), nil
	}
	t := &x.terms[n]
	if t.older != 0 {
		older = x.older[t.older-1]
	}
	return older, []posting{t.last}
}

// scan returns a term's postings as the docs have them.
func (x *Index) scan(n uint32) []posting {
	var out []posting
	for i := range x.docs {
		tf := 0
		for _, o := range x.numbersOf(&x.docs[i]) {
			if o == n {
				tf++
			}
		}
		if tf > 0 {
			out = append(out, posting(i)<<tfBits|posting(min(tf, tfMax)))
		}
	}
	return out
}

// live returns how many live docs have a term.
func (x *Index) live(n uint32) int {
	if x.posted() {
		older, last := x.postingsOf(n)
		return len(older) + len(last) - int(x.deadOf[n])
	}
	has := 0
	for i := range x.docs {
		if d := &x.docs[i]; !d.dead && slices.Contains(x.numbersOf(d), n) {
			has++
		}
	}
	return has
}
