package index

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// An Index holds the terms of one channel's messages in memory, about 380
// bytes a message. It is for one goroutine at a time: a search puts in order
// what was added out of it.
type Index struct {
	numbers map[string]uint32 // a term's number
	terms   []term            // by number
	docs    []doc             // in the order of arrival, dead ones included
	forward []uint32          // the numbers of each doc's terms, in the order of its text
	known   map[earshot.MessageID]known
	authors map[earshot.AuthorID]int32
	said    []int32            // by author: living docs
	names   map[string]int32   // of who is quoted
	callOf  map[call]int32     // by author and name
	calls   []int32            // living docs that were said so
	quotes  map[uint32][]quote // by doc; most have none

	threadOf map[earshot.MessageID]int32 // by root
	threads  []thread
	refOf    map[earshot.MessageID]int32 // by what is referred to
	referred []reference
	level    lane           // the channel's top level
	loose    []int32        // threads whose lanes are; top among them
	looseRef []int32        // references whose answers are
	times    []earshot.Time // of the living, ascending unless shuffled
	shuffled bool

	seq    int64
	dead   int
	length int64 // terms of the living
	bytes  int64

	scratch scratch
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
	thread int32  // that it is a reply in, or top
	roots  int32  // the thread that it is the root of, or -1
	refers int32  // what it replies to, among Index.referred, or -1
	asked  int32  // itself there, or -1
	call   int32  // its author's name then, or -1
	place  uint32 // in its lane
	rank   uint32 // how many messages were said before it
	from   uint32
	n      uint16 // terms, those of quotes behind its own; at most 2*MaxTerms
	dead   bool
	system bool
	quotes bool // somebody else; see Index.quotes
}

// A thread is its root's doc, -1 while that is not known, and its replies.
type thread struct {
	root    int32
	replies lane
}

// A reference is a message that others reply to by its id: its doc, -1 while
// that is not known, and theirs, in the order of positions once the index is
// settled.
type reference struct {
	doc     int32
	answers []uint32
	loose   bool // not in order
}

// A call is an author under a name.
type call struct {
	author int32
	name   string
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
	bytesTime   = 9
	bytesDoc    = 136 // and its id
	bytesName   = 64  // an author, a name; and its id
	bytesThread = 112 // and its root's id
	bytesQuotes = 64  // that a doc quotes
	bytesQuote  = 12  // each quote
)

// New returns an empty index.
func New() *Index {
	return &Index{
		numbers:  map[string]uint32{},
		known:    map[earshot.MessageID]known{},
		authors:  map[earshot.AuthorID]int32{},
		names:    map[string]int32{},
		callOf:   map[call]int32{},
		quotes:   map[uint32][]quote{},
		threadOf: map[earshot.MessageID]int32{},
		refOf:    map[earshot.MessageID]int32{},
		bytes:    bytesIndex,
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
	id, old := t.ID, int32(-1)
	switch {
	case !ok:
		id = earshot.MessageID(strings.Clone(string(id)))
		x.bytes += bytesDoc + int64(len(id))
	case k.doc >= 0:
		id, old = x.docs[k.doc].id, k.doc
		x.drop(uint32(k.doc))
	}
	k = known{doc: -1, seq: t.Seq}
	if !t.Deleted && len(x.docs) < maxDocs && len(x.forward) < 1<<32-2*MaxTerms {
		k.doc = int32(len(x.docs))
		d := doc{id: id, time: t.Time, author: x.author(t.Author), thread: x.thread(t), refers: x.refers(t), system: t.System}
		d.call = x.call(d.author, t.Name)
		x.take(d, t, old)
	} else if old >= 0 {
		x.shuffled = true // its time goes
	}
	x.known[id] = k
	x.bind(id, k.doc)
	if x.dead > 1024 && x.dead > len(x.docs)/4 {
		x.compact()
	}
}

// take appends a doc with what a message says, in the place of an older
// revision's.
func (x *Index) take(d doc, t earshot.Terms, old int32) {
	own := t.Terms[:min(len(t.Terms), MaxTerms)]
	if len(t.Quoted) == 0 {
		x.append(d, own)
	} else {
		terms, quotes := x.quote(own, t.Quoted)
		x.append(d, terms, quotes...)
	}
	if !d.system {
		x.enter(uint32(len(x.docs)-1), old)
	}
	switch at := &x.docs[len(x.docs)-1]; {
	case old < 0:
		x.note(at)
	case x.docs[old].time == at.time:
		at.rank = x.docs[old].rank
	default:
		x.shuffled = true
	}
}

// bind notes where a message is that others hang from; -1 for nowhere.
func (x *Index) bind(id earshot.MessageID, number int32) {
	roots, asked := int32(-1), int32(-1)
	if n, ok := x.threadOf[id]; ok {
		roots, x.threads[n].root = n, number
	}
	if n, ok := x.refOf[id]; ok {
		asked, x.referred[n].doc = n, number
	}
	if number >= 0 {
		x.docs[number].roots, x.docs[number].asked = roots, asked
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
	if len(quotes) > 0 {
		d.quotes = true
		x.quotes[number] = quotes
		x.bytes += bytesQuotes + bytesQuote*int64(len(quotes))
	}
	x.docs = append(x.docs, d)
	x.count(&d, 1)
	if d.refers >= 0 {
		x.answer(number, d.refers)
	}
}

// drop makes a doc dead. Its posts stay until the next compaction.
func (x *Index) drop(number uint32) {
	d := &x.docs[number]
	d.dead = true
	x.dead++
	x.length -= int64(d.n)
	x.count(d, -1)
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
		x.said = append(x.said, 0)
		x.bytes += bytesName + int64(len(id))
	}
	return n
}

// call returns the number of an author under a name, or -1 where there is no
// name.
func (x *Index) call(author int32, name string) int32 {
	name = Name(name)
	if name == "" {
		return -1
	}
	n, ok := x.callOf[call{author, name}]
	if !ok {
		n = int32(len(x.calls))
		x.callOf[call{author, strings.Clone(name)}] = n
		x.calls = append(x.calls, 0)
		x.bytes += bytesName + int64(len(name))
	}
	return n
}

// count adds a doc to what its author is known to have said, or takes it away.
func (x *Index) count(d *doc, n int32) {
	x.said[d.author] += n
	if d.call < 0 {
		return
	}
	before := x.calls[d.call]
	x.calls[d.call] += n
	if before == 0 || x.calls[d.call] == 0 {
		x.scratch.called = nil
	}
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

// thread returns the number of the thread that t is a reply in, or top.
func (x *Index) thread(t earshot.Terms) int32 {
	if t.Thread == "" || t.Thread == t.ID {
		return top
	}
	n, ok := x.threadOf[t.Thread]
	if !ok {
		n = int32(len(x.threads))
		root := earshot.MessageID(strings.Clone(string(t.Thread)))
		x.threadOf[root] = n
		x.threads = append(x.threads, thread{root: x.docOf(root)})
		if at := x.threads[n].root; at >= 0 {
			x.docs[at].roots = n
		}
		x.bytes += bytesThread + int64(len(root))
	}
	return n
}

// refers returns the number of what t replies to by its id, or -1.
func (x *Index) refers(t earshot.Terms) int32 {
	if t.ReplyTo == "" || t.ReplyTo == t.ID {
		return -1
	}
	n, ok := x.refOf[t.ReplyTo]
	if !ok {
		n = int32(len(x.referred))
		id := earshot.MessageID(strings.Clone(string(t.ReplyTo)))
		x.refOf[id] = n
		x.referred = append(x.referred, reference{doc: x.docOf(id)})
		if at := x.referred[n].doc; at >= 0 {
			x.docs[at].asked = n
		}
		x.bytes += bytesThread + int64(len(id))
	}
	return n
}

// docOf returns a message's living doc, or -1.
func (x *Index) docOf(id earshot.MessageID) int32 {
	if k, ok := x.known[id]; ok {
		return k.doc
	}
	return -1
}
