package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Query asks an index for messages. All of its conditions must hold.
type Query struct {
	// Text is what is looked for, in words. A part in double quotes counts
	// more where it occurs as it stands. A message's id finds the message.
	// Text without any term finds the newest messages.
	Text string
	// Context is what Text is asked under, such as the root of its thread. Its
	// words count less.
	Context string
	// At is the moment that the query is asked at: recency is measured from it,
	// and words such as "yesterday" mean days before it. Zero: neither counts.
	At earshot.Time
	// Zone is where days begin at midnight for who asks; nil means UTC.
	Zone *time.Location
	// Before admits what stands at or before it; zero: everything. Without an
	// ID it admits all of its time.
	Before earshot.Position
	// Since admits what was said at or after it.
	Since earshot.Time
	// Authors and Names admit what they said, also where a message of somebody
	// else quotes it; both empty: everyone. Of a message only the words count
	// that one of them said. A name, as [Name] compares it, finds quotes only:
	// who said a message itself is known by id.
	Authors []earshot.AuthorID
	Names   []string
	// Exclude leaves messages out.
	Exclude []earshot.MessageID
	// Limit is how many hits are wanted; 0 means 8.
	Limit int
}

// A Hit is a message that was found.
type Hit struct {
	ID    earshot.MessageID
	Time  earshot.Time
	Score float64 // the sum of Parts
	Parts []Part  // what it is made of; parts of 0 are left out
	// Cover is the share of the weight of Query.Text's words that the message
	// has, 0 to 1; words that no message has count as the rarest.
	Cover float64
	// Near are the messages that belong to it, such as those before and after it
	// in its thread or at the top level, three each way of the best hits and one
	// of others, and the first two replies to it; none from behind Query.Before.
	Near []earshot.MessageID
}

// A Part is one reason of a hit's score.
type Part struct {
	Name  string
	Value float64
}

// The names of the parts, in their order. Words is the BM25 of the words that
// are in both; the others raise it by a share of itself, but for ID, which
// puts a message that is asked for by its id above all others.
const (
	PartWords    = "words"
	PartRecency  = "recency"
	PartPhrase   = "phrase"
	PartExact    = "exact"
	PartActivity = "activity"
	PartID       = "id"
)

// weights says by how much of its words' score a signal raises a hit at most.
type weights struct{ recency, phrase, quoted, exact, activity float64 }

// standard is chosen on real chat (TestQuality): recency helps both what asks
// for an old message and what replies to a new one.
var standard = weights{recency: 1, phrase: 0.1, quoted: 2, exact: 0.25, activity: 0.05}

// BM25's parameters, and the score of an id. Chat's messages are short, and a
// word that is said twice says little more than once: lower than the 1.2 and
// 0.75 of documents, measured on the shared data (TestQuality).
const (
	k1      = 0.8
	b       = 0.4
	idScore = 1000
)

// Bounds of a query's work, whatever its text.
const (
	defaultLimit  = 8
	maxQuery      = 16 << 10 // bytes of its text that are read
	maxQueryTerms = 40       // the rarest are looked for
	maxPairs      = 64       // the first neighbours; they fit the bits of a word
	maxPhrases    = 8        // quoted
	maxPhrase     = 16       // terms of a quoted phrase; a longer one is cut
	maxPlace      = 2048     // terms of a message that are looked through for phrases
)

// A wanted is a term that a query looks for.
type wanted struct {
	number uint32
	weight float64 // idf, times its weight in the query
	whole  bool    // an id, a URL and the like
}

// A plan is a query prepared for one index.
type plan struct {
	q       Query
	w       weights
	terms   []wanted       // the rarest first
	cut     bool           // the text has terms
	unknown int            // how many of them no message has
	exact   float64        // the sum of weights of wholes
	pairs   map[uint64]int // of neighbours' numbers, with their places in shares
	shares  []float64      // of all pairs' weight
	phrases [][]uint32     // quoted
	only    bool           // what certain people said
	authors map[int32]bool // their ids' numbers
	names   map[int32]bool // their names' numbers
	exclude map[earshot.MessageID]bool
	keep    int // candidates that are looked at closely
}

// plan prepares a query.
func (x *Index) plan(q Query, w weights) *plan {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Text = Head(q.Text, maxQuery)
	p := &plan{q: q, w: w, keep: max(64, 4*q.Limit)}
	text, quoted := unquote(q.Text)
	all := Terms(text)
	p.cut = len(all) > 0
	x.want(p, all)
	x.adjacent(p, all)
	for _, s := range quoted {
		if numbers, ok := x.sequence(Terms(s)); ok {
			p.phrases = append(p.phrases, numbers)
		}
	}
	if p.only = len(q.Authors)+len(q.Names) > 0; p.only {
		p.authors, p.names = map[int32]bool{}, map[int32]bool{}
		for _, a := range q.Authors {
			if n, ok := x.authors[a]; ok {
				p.authors[n] = true
			}
		}
		for _, name := range q.Names {
			if n, ok := x.names[Name(name)]; ok {
				p.names[n] = true
			}
		}
	}
	if len(q.Exclude) > 0 {
		p.exclude = map[earshot.MessageID]bool{}
		for _, id := range q.Exclude {
			p.exclude[id] = true
		}
	}
	return p
}

// unquote returns the text with spaces for quotes, and what stood in quotes.
func unquote(text string) (string, []string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '"' || r == '“' || r == '”' })
	if n := strings.Count(text, `"`) + strings.Count(text, "“") + strings.Count(text, "”"); n < 2 || n > 2*maxPhrases {
		return strings.Join(parts, " "), nil
	}
	var quoted []string
	rest := text
	for {
		_, after, ok := cutQuote(rest)
		if !ok {
			break
		}
		inside, next, ok := cutQuote(after)
		if !ok {
			break
		}
		quoted = append(quoted, inside)
		rest = next
	}
	return strings.Join(parts, " "), quoted
}

func cutQuote(s string) (before, after string, ok bool) {
	i := strings.IndexAny(s, `"“”`)
	if i < 0 {
		return s, "", false
	}
	width := 1
	if s[i] != '"' {
		width = len("“")
	}
	return s[:i], s[i+width:], true
}

// want chooses the terms that are looked for: without stop words where there
// are others, the rarest maxQueryTerms of them.
func (x *Index) want(p *plan, all []string) {
	times := map[string]int{}
	words := false
	for _, t := range all {
		times[t]++
		words = words || !stops[t]
	}
	for t, n := range times {
		if words && stops[t] {
			continue
		}
		number, ok := x.number(t)
		if !ok {
			p.unknown++
			continue
		}
		weight := x.rarity(number)
		// A word that a question repeats matters more, but not by much.
		weight *= 2 - 1/float64(n)
		p.terms = append(p.terms, wanted{number, weight, strings.ContainsAny(t, signs)})
	}
	slices.SortFunc(p.terms, func(a, b wanted) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), strings.Compare(x.terms[a.number].name, x.terms[b.number].name))
	})
	p.terms = p.terms[:min(len(p.terms), maxQueryTerms)]
	for _, t := range p.terms {
		if t.whole {
			p.exact += t.weight
		}
	}
}

// number returns a term's number; false when no living message has it.
func (x *Index) number(name string) (uint32, bool) {
	n, ok := x.numbers[name]
	return n, ok && x.terms[n].living() > 0
}

// rarity is a term's idf, rounded to 2^-20, so that the last bits of the
// logarithm, which differ between machines, do not show.
func (x *Index) rarity(number uint32) float64 {
	has := float64(x.terms[number].living())
	idf := math.Log(1 + (float64(x.Len())-has+0.5)/(has+0.5))
	return math.Round(idf*(1<<20)) / (1 << 20)
}

// adjacent notes which terms follow one another in the query.
func (x *Index) adjacent(p *plan, all []string) {
	rare := map[uint32]float64{}
	for _, t := range p.terms {
		rare[t.number] = t.weight
	}
	var sum float64
	for i := range len(all) - 1 {
		a, okA := x.number(all[i])
		c, okC := x.number(all[i+1])
		if !okA || !okC || rare[a] == 0 && rare[c] == 0 {
			continue
		}
		key := uint64(a)<<32 | uint64(c)
		if _, ok := p.pairs[key]; ok {
			continue
		}
		if p.pairs == nil {
			p.pairs = map[uint64]int{}
		}
		p.pairs[key] = len(p.shares)
		p.shares = append(p.shares, rare[a]+rare[c])
		sum += rare[a] + rare[c]
		if len(p.shares) == maxPairs {
			break
		}
	}
	for i := range p.shares {
		p.shares[i] /= sum
	}
}

// sequence returns the numbers of terms; false where the index lacks one or
// there are none.
func (x *Index) sequence(terms []string) ([]uint32, bool) {
	var numbers []uint32
	for _, t := range terms[:min(len(terms), maxPhrase)] {
		n, ok := x.number(t)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, len(numbers) > 0
}

// admits reports whether a doc may be a hit. In one that quotes somebody the
// words may still be of others: see [Index.said].
func (x *Index) admits(p *plan, number uint32) bool {
	d := &x.docs[number]
	switch {
	case d.dead, d.time < p.q.Since:
		return false
	case !p.q.Before.IsZero() && !upTo(d, p.q.Before):
		return false
	case p.only && !p.authors[d.author] && !(d.quotes && slices.ContainsFunc(x.quotes[number], p.quoted)):
		return false
	}
	return p.exclude == nil || !p.exclude[d.id]
}

// quoted reports whether q is of somebody whose words are admitted.
func (p *plan) quoted(q quote) bool {
	return !p.only || q.author >= 0 && p.authors[q.author] || q.name >= 0 && p.names[q.name]
}

// upTo reports whether d stands at or before pos.
func upTo(d *doc, pos earshot.Position) bool {
	if d.time == pos.Time && pos.ID == "" {
		return true
	}
	return earshot.Position{Time: d.time, ID: d.id}.Compare(pos) <= 0
}
