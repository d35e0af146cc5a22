package index

import (
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// An Index holds the terms of one channel's messages in memory, about 340
// bytes a message. One goroutine at a time may use it; several may search it at once
// after [Index.Settle], until more is added.
type Index struct {
	words    dictionary                         // the number of each term
	postings                                    // of each term
	docs     []doc                              // in the order of arrival, dead ones included
	forward  []uint32                           // the numbers of each doc's terms, in the order of its text
	known    map[earshot.MessageID]knownMessage // every message that was added
	authors  map[earshot.AuthorID]int32         // the number of each author
	spoken   []int32                            // by author: how many live docs are theirs
	names    map[string]int32                   // the number of each name of a quoted author
	bylineOf map[namedAuthor]int32              // the number of each byline
	bylines  []int32                            // by byline: how many live docs have it
	quotes   map[uint32][]quote                 // by doc; most have none

	threadOf        map[earshot.MessageID]int32 // the number of each thread, by its root
	threads         []thread
	replyTargetOf   map[earshot.MessageID]int32 // the number of each reply target, by its id
	replyTargets    []replyTarget
	main            timeline       // the channel's top level
	unsorted        []int32        // threads with an unsorted timeline, topLevel among them
	unsortedReplies []int32        // reply targets with unsorted replies
	times           []earshot.Time // of the live docs, ascending unless timesStale
	timesStale      bool

	seq    int64 // the largest sequence that was added
	dead   int   // docs that are dead
	length int64 // terms of all live docs
	bytes  int64 // what all this holds, estimated

	authorsByName map[string][]int32 // authors by the terms of their names; nil: see nameAuthors
}

// A doc is one revision of a message. It is dead once the message has a newer
// revision or is deleted.
type doc struct {
	id      earshot.MessageID
	time    earshot.Time
	author  int32
	thread  int32  // that it is a reply in, or topLevel
	rootOf  int32  // the thread that it is the root of, or -1
	replyTo int32  // the reply target that it replies to, or -1
	target  int32  // the reply target that it is, or -1
	byline  int32  // or -1 where the author had no name
	place   uint32 // its index in its timeline; inNone of one of the system
	rank    uint32 // how many live docs have an earlier time
	from    uint32 // where its terms begin in Index.forward
	n       uint16 // how many they are: its own, then those of quotes; at most 2*MaxTerms
	dead    bool
	quotes  bool // it has an entry in Index.quotes
}

// inNone is the place of a doc that is in no timeline.
const inNone = math.MaxUint32

// isSystem reports whether a doc is a notice of the platform, such as that somebody joined.
func (d *doc) isSystem() bool { return d.place == inNone }

// A thread is the doc of its root, -1 while that is not known, and the replies.
type thread struct {
	root    int32
	replies timeline
}

// A replyTarget is a message that others reply to by its id: its doc, -1 while
// that is not known, and the docs that reply, in the order of positions unless
// they are unsorted.
type replyTarget struct {
	doc      int32
	replies  []uint32
	unsorted bool
}

// A namedAuthor is an author under a name: people change their names.
type namedAuthor struct {
	author int32
	name   string
}

// A quote is a stretch of a doc's terms that are somebody else's words. author
// and name are the numbers of whose, -1 where they are not known.
type quote struct {
	author, name int32
	from, n      uint16 // the first of the terms, counted in the doc, and how many
}

// A knownMessage has a doc, or -1 where it was deleted, and the sequence of the
// newest revision that was added. Deleted messages are kept, so that an older
// revision cannot bring them back.
type knownMessage struct {
	doc int32
	seq int64
}

// Estimates of how many bytes things hold in memory, with their share of maps
// and slices.
const (
	bytesIndex  = 1 << 10
	bytesWord   = 14 // a term; and its name
	bytesTerm   = 10 // a term's postings
	bytesOlder  = 32 // that several docs have a term
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
		words:   newDictionary(),
		known:   map[earshot.MessageID]knownMessage{},
		authors: map[earshot.AuthorID]int32{},
		bytes:   bytesIndex,
	}
}

// Seq returns the largest sequence that was added: what became known after it
// is missing.
func (x *Index) Seq() int64 { return x.seq }

// Bytes estimates what the index holds in memory.
func (x *Index) Bytes() int64 { return x.bytes }

// Settle makes an index ready for searches by several goroutines at once: it sorts what
// was added out of order, and gives back room that an index of few messages does not
// need. [Index.Search] does it where nobody did.
func (x *Index) Settle() {
	x.restoreOrder()
	if len(x.bylines) > fewBylines {
		x.authorsByName = x.nameAuthors()
	}
	if len(x.docs) <= maxClipped {
		x.clip()
	}
}

// maxClipped is how many docs an index has at most that keeps no room for more: they are
// copied with every change.
const maxClipped = 256

// clip gives back the room for more.
func (x *Index) clip() {
	x.words.clip()
	x.terms, x.older = clipped(x.terms), clipped(x.older)
	x.docs, x.forward, x.times, x.main.docs = clipped(x.docs), clipped(x.forward), clipped(x.times), clipped(x.main.docs)
}

// Len returns how many messages can be found.
func (x *Index) Len() int { return len(x.docs) - x.dead }

// Add adds a message. It replaces an older revision of the same message; where t
// is deleted, the message is removed. A t whose sequence is not above that of the
// message's newest revision changes nothing. t is not kept.
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
		x.remove(uint32(k.doc))
	}
	k = knownMessage{doc: -1, seq: t.Seq}
	if !t.Deleted && len(x.docs) < maxDocs && len(x.forward) < 1<<32-2*MaxTerms && len(x.words.ends) < maxWords-2*MaxTerms {
		k.doc = int32(len(x.docs))
		d := doc{id: id, time: t.Time, author: x.author(t.Author), thread: x.thread(t), replyTo: x.replyTargetNumber(t)}
		if t.System {
			d.place = inNone
		}
		d.byline = x.bylineNumber(d.author, t.Name)
		x.addDoc(d, t, old)
	} else if old >= 0 {
		x.timesStale = true // the time of old is no longer that of a live doc
	}
	x.known[id] = k
	x.linkReplies(id, k.doc)
	if x.dead > 1024 && x.dead > len(x.docs)/4 {
		x.compact()
	}
}

// addDoc appends a doc with a message's terms. old is the doc of the revision
// before, -1 for none.
func (x *Index) addDoc(d doc, t earshot.Terms, old int32) {
	own := t.Terms[:min(len(t.Terms), MaxTerms)]
	if len(t.Quoted) == 0 {
		x.append(d, own)
	} else {
		terms, quotes := x.quote(own, t.Quoted)
		x.append(d, terms, quotes...)
	}
	if !d.isSystem() {
		x.insert(uint32(len(x.docs)-1), old)
	}
	switch at := &x.docs[len(x.docs)-1]; {
	case old < 0:
		x.addTime(at)
	case x.docs[old].time == at.time:
		at.rank = x.docs[old].rank
	default:
		x.timesStale = true
	}
}

// linkReplies tells the thread and the reply target of a message which doc the
// message has now; -1 for none.
func (x *Index) linkReplies(id earshot.MessageID, number int32) {
	rootOf, target := int32(-1), int32(-1)
	if n, ok := x.threadOf[id]; ok {
		rootOf, x.threads[n].root = n, number
	}
	if n, ok := x.replyTargetOf[id]; ok {
		target, x.replyTargets[n].doc = n, number
	}
	if number >= 0 {
		x.docs[number].rootOf, x.docs[number].target = rootOf, target
	}
}

// quote returns a message's own terms followed by those of its quotes, of which
// there are at most MaxTerms, and where the terms of each quote stand.
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

// append adds a doc with its terms, which include those of quotes.
func (x *Index) append(d doc, terms []string, quotes ...quote) {
	number := uint32(len(x.docs))
	d.from = uint32(len(x.forward))
	for _, name := range terms {
		n, isNew := x.words.add(name)
		if isNew {
			x.bytes += bytesWord + int64(len(name))
		}
		x.forward = append(x.forward, n)
	}
	d.n = uint16(uint32(len(x.forward)) - d.from)
	x.length += int64(d.n)
	x.bytes += bytesNumber * int64(d.n)
	if len(quotes) > 0 {
		d.quotes = true
		put(&x.quotes, number, quotes)
		x.bytes += bytesQuotes + bytesQuote*int64(len(quotes))
	}
	x.docs = append(x.docs, d)
	x.post()
	x.count(&d, 1)
	if d.replyTo >= 0 {
		x.addReply(number, d.replyTo)
	}
}

// remove marks a doc as dead. Its posts stay until the next compaction.
func (x *Index) remove(number uint32) {
	d := &x.docs[number]
	d.dead = true
	x.dead++
	x.length -= int64(d.n)
	x.count(d, -1)
	if x.posted() {
		x.countDead(d)
	}
}

// numbersOf returns the numbers of d's terms, in the order of its text.
func (x *Index) numbersOf(d *doc) []uint32 { return x.forward[d.from : d.from+uint32(d.n)] }

func (x *Index) author(id earshot.AuthorID) int32 {
	n, ok := x.authors[id]
	if !ok {
		n = int32(len(x.authors))
		x.authors[earshot.AuthorID(strings.Clone(string(id)))] = n
		x.spoken = append(x.spoken, 0)
		x.bytes += bytesName + int64(len(id))
	}
	return n
}

// bylineNumber returns the number of an author under a name, -1 where the name
// is empty.
func (x *Index) bylineNumber(author int32, name string) int32 {
	name = Name(name)
	if name == "" {
		return -1
	}
	n, ok := x.bylineOf[namedAuthor{author, name}]
	if !ok {
		n = int32(len(x.bylines))
		put(&x.bylineOf, namedAuthor{author, strings.Clone(name)}, n)
		x.bylines = append(x.bylines, 0)
		x.bytes += bytesName + int64(len(name))
	}
	return n
}

// count adds n, 1 or -1, to how many live docs d's author and byline have.
func (x *Index) count(d *doc, n int32) {
	x.spoken[d.author] += n
	if d.byline < 0 {
		return
	}
	before := x.bylines[d.byline]
	x.bylines[d.byline] += n
	if before == 0 || x.bylines[d.byline] == 0 {
		x.authorsByName = nil
	}
}

// name returns the number of a quoted author's name, -1 where it is empty.
func (x *Index) name(name string) int32 {
	name = Name(name)
	if name == "" {
		return -1
	}
	n, ok := x.names[name]
	if !ok {
		n = int32(len(x.names))
		put(&x.names, strings.Clone(name), n)
		x.bytes += bytesName + int64(len(name))
	}
	return n
}

// thread returns the number of the thread that t is a reply in, or topLevel.
func (x *Index) thread(t earshot.Terms) int32 {
	if t.Thread == "" || t.Thread == t.ID {
		return topLevel
	}
	n, ok := x.threadOf[t.Thread]
	if !ok {
		n = int32(len(x.threads))
		root := earshot.MessageID(strings.Clone(string(t.Thread)))
		put(&x.threadOf, root, n)
		x.threads = append(x.threads, thread{root: x.docOf(root)})
		if at := x.threads[n].root; at >= 0 {
			x.docs[at].rootOf = n
		}
		x.bytes += bytesThread + int64(len(root))
	}
	return n
}

// replyTargetNumber returns the number of what t replies to by its id, or -1.
func (x *Index) replyTargetNumber(t earshot.Terms) int32 {
	if t.ReplyTo == "" || t.ReplyTo == t.ID {
		return -1
	}
	n, ok := x.replyTargetOf[t.ReplyTo]
	if !ok {
		n = int32(len(x.replyTargets))
		id := earshot.MessageID(strings.Clone(string(t.ReplyTo)))
		put(&x.replyTargetOf, id, n)
		x.replyTargets = append(x.replyTargets, replyTarget{doc: x.docOf(id)})
		if at := x.replyTargets[n].doc; at >= 0 {
			x.docs[at].target = n
		}
		x.bytes += bytesThread + int64(len(id))
	}
	return n
}

// put sets an entry of a map that is made when it is needed: there are many indexes, and
// most of them need few of theirs.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// docOf returns a message's live doc, or -1.
func (x *Index) docOf(id earshot.MessageID) int32 {
	if k, ok := x.known[id]; ok {
		return k.doc
	}
	return -1
}
