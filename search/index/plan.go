package index

import (
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/internal/when"
)

// A span is a stretch of time, from inclusive and to exclusive.
type span struct{ from, to earshot.Time }

// A plan is a query prepared for one index.
type plan struct {
	q             Query
	w             weights
	words         []queryWord      // the rarest first
	lookups       []termLookup     // the words in their order, then the synonyms
	hasTerms      bool             // the text has terms
	unknown       int              // how many words of the text no message has
	size          float64          // how many words the text has, stop words aside
	fade          float64          // how much neighbours' words count, 0 to 1
	number        bool             // the answer to the query has a number
	spans         []span           // times that the query names
	exact         float64          // the weights of all words that are whole, summed
	namedAuthors  map[int32]uint64 // by author: bit i is set if words[i] is in the name
	pairs         map[uint64]int   // two terms that follow one another, to an index in shares
	shares        []float64        // each pair's share of the weight of all pairs
	phrases       [][]uint32       // the terms of each quoted phrase
	restricted    bool             // only words of authors and names count
	authors       map[int32]bool   // by number
	names         map[int32]bool   // by number
	exclude       []uint32         // docs, ascending
	until         int              // how many messages there are up to the query's moment
	keep          int              // how many candidates the second pass looks at
	norms         lengthNorms
	authorsByName map[string][]int32
	average       float64 // terms of a message on average
}

// plan prepares a query.
func (x *Index) plan(q Query, w weights) *plan {
	x.restoreOrder()
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Text, q.Context = Head(q.Text, maxQuery), Head(q.Context, maxQuery)
	p := &plan{q: q, w: w, keep: max(minKeep, 4*q.Limit), number: asksNumber(q.Text), authorsByName: x.nameAuthors()}
	p.average = float64(x.length) / float64(max(1, x.Len()))
	p.norms = normsOf(w, p.average)
	text, quoted := unquote(q.Text)
	all := Terms(text)
	p.hasTerms = len(all) > 0 || len(q.Similar) > 0
	x.chooseWords(p, all)
	x.adjacent(p, all)
	for _, s := range quoted {
		if numbers, ok := x.sequence(Terms(s)); ok {
			p.phrases = append(p.phrases, numbers)
		}
	}
	if q.At != 0 {
		zone := q.Zone
		if zone == nil {
			zone = time.UTC
		}
		for _, s := range when.Spans(q.Text, time.UnixMicro(int64(q.At)).In(zone)) {
			p.spans = append(p.spans, span{earshot.TimeOf(s.From), earshot.TimeOf(s.To)})
		}
	}
	at := q.At
	if q.Before.Time != 0 {
		at = min(at, q.Before.Time)
	}
	p.until = x.countUpTo(at)
	x.restrict(p)
	return p
}

// Searchable reports whether a text has a word that is worth searching for: not
// only stop words and words such as "now" or "get".
func Searchable(text string) bool {
	all := Terms(Head(text, maxQuery))
	stop := stopsOf(all)
	return slices.ContainsFunc(all, func(t string) bool { return !stop(t) && !weakWords[t] })
}

// restrict prepares the query's conditions: authors, names, what is excluded.
func (x *Index) restrict(p *plan) {
	if p.restricted = len(p.q.Authors)+len(p.q.Names) > 0; p.restricted {
		p.authors, p.names = map[int32]bool{}, map[int32]bool{}
		for _, a := range p.q.Authors {
			if n, ok := x.authors[a]; ok {
				p.authors[n] = true
			}
		}
		for _, name := range p.q.Names {
			if n, ok := x.names[Name(name)]; ok {
				p.names[n] = true
			}
		}
	}
	for _, id := range p.q.Exclude {
		if at := x.docOf(id); at >= 0 {
			p.exclude = append(p.exclude, uint32(at))
		}
	}
	slices.Sort(p.exclude)
}

// unquote returns the text with spaces in place of double quotes, and the quoted
// parts.
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

// adjacent sets the plan's pairs: which terms follow one another in the query.
func (x *Index) adjacent(p *plan, all []string) {
	rare := map[uint32]float64{}
	for _, t := range p.words {
		if t.number != noNumber {
			rare[t.number] = t.weight
		}
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

// sequence returns the numbers of terms; false where there are no terms or no
// live message has one of them.
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

// admits reports whether a doc may be a hit. Where authors are restricted, not
// all of its terms need count: see [Index.admittedTerms].
func (x *Index) admits(p *plan, number uint32) bool {
	d := &x.docs[number]
	switch {
	case d.time < p.q.Since:
		return false
	case p.restricted && !p.authors[d.author] && !(d.quotes && slices.ContainsFunc(x.quotes[number], p.quoted)):
		return false
	}
	return x.lends(p, number)
}

// Admits returns whether a message may be a hit of a query, for an encoder that looks
// for [Query.Similar].
func (x *Index) Admits(q Query) func(earshot.MessageID) bool {
	p := &plan{q: q}
	x.restrict(p)
	return func(id earshot.MessageID) bool {
		k, ok := x.known[id]
		return ok && k.doc >= 0 && x.admits(p, uint32(k.doc))
	}
}

// lends reports whether a doc's words may count for its neighbours.
func (x *Index) lends(p *plan, number uint32) bool {
	d := &x.docs[number]
	if d.dead || !p.q.Before.IsZero() && !upTo(d, p.q.Before) {
		return false
	}
	if len(p.exclude) == 0 {
		return true
	}
	_, excluded := slices.BinarySearch(p.exclude, number)
	return !excluded
}

// quoted reports whether the words of q count.
func (p *plan) quoted(q quote) bool {
	return !p.restricted || q.author >= 0 && p.authors[q.author] || q.name >= 0 && p.names[q.name]
}

// upTo reports whether d stands at or before pos.
func upTo(d *doc, pos earshot.Position) bool {
	if d.time == pos.Time && pos.ID == "" {
		return true
	}
	return earshot.Position{Time: d.time, ID: d.id}.Compare(pos) <= 0
}
