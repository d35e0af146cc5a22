package search

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// An Index holds the terms of one channel's messages in memory, about 400
// bytes a message. [Index.Search] only reads and may be called by several
// goroutines at once; nothing else may run beside [Index.Add].
type Index struct {
	numbers map[string]uint32 // a term's number
	terms   []term            // by number
	docs    []doc             // in the order of arrival, dead ones included
	forward []uint32          // the numbers of each doc's terms, in the order of its text
	known   map[earshot.MessageID]known
	authors map[earshot.AuthorID]int32
	names   map[string]int32            // of who is quoted
	quotes  map[uint32][]quote          // by doc; most have none
	threads map[earshot.MessageID]int32 // by root
	replies [][]uint32                  // by thread: docs

	seq    int64
	dead   int
	length int64 // terms of the living
	bytes  int64
}

// A term is what is known of one term.
type term struct {
	name  string
	posts []post // one for each doc that has it, ascending
	dead  int32  // how many of posts are dead
	next  uint32 // the doc behind that of the last post; 0 without any
}

// living is how many living docs have the term.
func (t *term) living() int { return len(t.posts) - int(t.dead) }

// A post is a doc's number and, in the lowest tfBits, how often the term
// occurs in it, up to tfMax.
type post uint32

const (
	tfBits = 6
	tfMax  = 1<<tfBits - 1
	// maxDocs is how many docs fit a post: 67 million. What comes after them
	// is not indexed.
	maxDocs = 1 << (32 - tfBits)
)

// A doc is one revision of a message.
type doc struct {
	id     earshot.MessageID
	time   earshot.Time
	author int32
	thread int32 // the thread that it is a reply in, or -1
	from   uint32
	n      uint16 // terms, those of quotes behind its own; at most 2*MaxTerms
	dead   bool
	quotes bool // somebody else; see Index.quotes
}

// A quote is a stretch of a doc's terms that somebody else said. author and
// name are -1 where they are not known.
type quote struct {
	author, name int32
	from, n      uint16 // terms, from the doc's first on
}

// A known is where a message stands, and its newest sequence. A deleted
// message is remembered, so that an older revision cannot bring it back.
type known struct {
	doc int32 // -1: deleted
	seq int64
}

// Estimates of what things hold in memory, with their share of maps and slices.
const (
	bytesIndex  = 1 << 10
	bytesTerm   = 104 // and its name twice
	bytesPost   = 5
	bytesNumber = 5
	bytesDoc    = 120 // and its id
	bytesName   = 64  // an author, a thread, a name; and its id
	bytesQuotes = 64  // that a doc quotes
	bytesQuote  = 12  // each quote
)

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{
		numbers: map[string]uint32{},
		known:   map[earshot.MessageID]known{},
		authors: map[earshot.AuthorID]int32{},
		names:   map[string]int32{},
		quotes:  map[uint32][]quote{},
		threads: map[earshot.MessageID]int32{},
		bytes:   bytesIndex,
	}
}

// Seq returns the largest sequence that was added: what became known after it
// is missing.
func (x *Index) Seq() int64 { return x.seq }

// Bytes estimates what the index holds in memory.
func (x *Index) Bytes() int64 { return x.bytes }

// Len returns how many messages can be found.
func (x *Index) Len() int { return len(x.docs) - x.dead }

// Add takes in a message, in the place of an older revision of it, or forgets
// it when it was deleted. What is not newer than what is known of the message
// changes nothing. t is not kept.
func (x *Index) Add(t earshot.Terms) {
	x.seq = max(x.seq, t.Seq)
	k, ok := x.known[t.ID]
	if ok && t.Seq <= k.seq {
		return
	}
	id := t.ID
	switch {
	case !ok:
		id = earshot.MessageID(strings.Clone(string(id)))
		x.bytes += bytesDoc + int64(len(id))
	case k.doc >= 0:
		id = x.docs[k.doc].id
		x.drop(uint32(k.doc))
	}
	k = known{doc: -1, seq: t.Seq}
	if !t.Deleted && len(x.docs) < maxDocs && len(x.forward) < 1<<32-2*MaxTerms {
		k.doc = int32(len(x.docs))
		d := doc{id: id, time: t.Time, author: x.author(t.Author), thread: x.thread(t)}
		own := t.Terms[:min(len(t.Terms), MaxTerms)]
		if len(t.Quoted) == 0 {
			x.append(d, own)
		} else {
			terms, quotes := x.quote(own, t.Quoted)
			x.append(d, terms, quotes...)
		}
	}
	x.known[id] = k
	if x.dead > 1024 && x.dead > len(x.docs)/4 {
		x.compact()
	}
}

// quote returns a message's own terms with those of what it quotes behind them,
// at most MaxTerms of these, and where each stands.
func (x *Index) quote(own []string, quoted []earshot.Quote) (terms []string, quotes []quote) {
	terms = slices.Clone(own)
	for _, q := range quoted {
		list := q.Terms[:min(len(q.Terms), len(own)+MaxTerms-len(terms))]
		if len(list) == 0 {
			continue
		}
		at := quote{author: -1, name: x.name(q.Name), from: uint16(len(terms)), n: uint16(len(list))}
		if q.Author != "" {
			at.author = x.author(q.Author)
		}
		terms, quotes = append(terms, list...), append(quotes, at)
	}
	return terms, quotes
}

// append adds a doc with its terms, those of quotes among them.
func (x *Index) append(d doc, terms []string, quotes ...quote) {
	number := uint32(len(x.docs))
	d.from = uint32(len(x.forward))
	for _, name := range terms {
		n, ok := x.numbers[name]
		if !ok {
			name = strings.Clone(name) // name may be a piece of a whole row
			n = uint32(len(x.terms))
			x.numbers[name] = n
			x.terms = append(x.terms, term{name: name})
			x.bytes += bytesTerm + 2*int64(len(name))
		}
		x.forward = append(x.forward, n)
		t := &x.terms[n]
		if t.next != number+1 { // its posts are far away in memory: no look at them
			t.next = number + 1
			t.posts = append(t.posts, post(number)<<tfBits|1)
			x.bytes += bytesPost
		} else if last := &t.posts[len(t.posts)-1]; *last&tfMax < tfMax {
			*last++
		}
	}
	d.n = uint16(uint32(len(x.forward)) - d.from)
	x.length += int64(d.n)
	x.bytes += bytesNumber * int64(d.n)
	if d.thread >= 0 {
		x.replies[d.thread] = append(x.replies[d.thread], number)
		x.bytes += bytesNumber
	}
	if len(quotes) > 0 {
		d.quotes = true
		x.quotes[number] = quotes
		x.bytes += bytesQuotes + bytesQuote*int64(len(quotes))
	}
	x.docs = append(x.docs, d)
}

// drop makes a doc dead. Its posts stay until the next compaction.
func (x *Index) drop(number uint32) {
	d := &x.docs[number]
	d.dead = true
	x.dead++
	x.length -= int64(d.n)
	numbers := slices.Sorted(slices.Values(x.numbersOf(d)))
	for _, n := range slices.Compact(numbers) {
		x.terms[n].dead++
	}
}

// numbersOf returns the numbers of d's terms, in the order of its text.
func (x *Index) numbersOf(d *doc) []uint32 { return x.forward[d.from : d.from+uint32(d.n)] }

func (x *Index) author(id earshot.AuthorID) int32 {
	n, ok := x.authors[id]
	if !ok {
		n = int32(len(x.authors))
		x.authors[earshot.AuthorID(strings.Clone(string(id)))] = n
		x.bytes += bytesName + int64(len(id))
	}
	return n
}

// name returns the number of a name, or -1 where there is none.
func (x *Index) name(name string) int32 {
	name = Name(name)
	if name == "" {
		return -1
	}
	n, ok := x.names[name]
	if !ok {
		n = int32(len(x.names))
		x.names[strings.Clone(name)] = n
		x.bytes += bytesName + int64(len(name))
	}
	return n
}

// thread returns the number of the thread that t is a reply in, or -1.
func (x *Index) thread(t earshot.Terms) int32 {
	if t.Thread == "" || t.Thread == t.ID {
		return -1
	}
	n, ok := x.threads[t.Thread]
	if !ok {
		n = int32(len(x.replies))
		x.threads[earshot.MessageID(strings.Clone(string(t.Thread)))] = n
		x.replies = append(x.replies, nil)
		x.bytes += bytesName + int64(len(t.Thread))
	}
	return n
}

// compact builds the index anew from the living. Deleted messages stay known.
func (x *Index) compact() {
	y := NewIndex()
	y.seq = x.seq
	y.authors = x.authors
	for id := range x.authors {
		y.bytes += bytesName + int64(len(id))
	}
	y.names = x.names
	for name := range x.names {
		y.bytes += bytesName + int64(len(name))
	}
	y.threads = x.threads
	y.replies = make([][]uint32, len(x.replies))
	for id := range x.threads {
		y.bytes += bytesName + int64(len(id))
	}
	y.known = x.known
	for id := range x.known {
		y.bytes += bytesDoc + int64(len(id))
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
		k := y.known[d.id]
		k.doc = int32(len(y.docs))
		y.known[d.id] = k
		y.append(d, terms, x.quotes[uint32(i)]...)
	}
	*x = *y
}
