package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/internal/when"
)

// A wanted is a word that a query looks for.
type wanted struct {
	term   string
	number uint32  // noNumber where no message has it
	weight float64 // idf, times its weight in the query
	whole  bool    // an id, a URL and the like
	asked  bool    // of the text, not of its context
	called []int32 // authors whose names have it
	kin    []kin   // words that people use for it
}

// noNumber is the number of no term.
const noNumber = math.MaxUint32 - 1

// A form is a term that stands for a word of the query, and how often the word
// counts as said where the term is.
type form struct {
	number uint32
	word   int
	weight float64
}

// A span is a stretch of time, without its end.
type span struct{ from, to earshot.Time }

// A plan is a query prepared for one index.
type plan struct {
	q       Query
	w       weights
	words   []wanted         // the rarest first
	forms   []form           // in the order of words, each before its kin
	cut     bool             // the text has terms
	unknown int              // words of the text that no message has
	size    float64          // words that the text has, stop words aside
	fade    float64          // how much of what is near counts
	number  bool             // the query asks for one
	spans   []span           // times that the query names
	exact   float64          // the sum of weights of wholes
	called  map[int32]uint64 // by author: the words that are in the name, as bits
	pairs   map[uint64]int   // of neighbours' numbers, with their places in shares
	shares  []float64        // of all pairs' weight
	phrases [][]uint32       // quoted
	only    bool             // what certain people said
	authors map[int32]bool   // their ids' numbers
	names   map[int32]bool   // their names' numbers
	exclude map[earshot.MessageID]bool
	until   int // messages up to the query's moment
	keep    int // candidates that are looked at closely
	norms   norms
	average float64 // terms of a message
}

// plan prepares a query.
func (x *Index) plan(q Query, w weights) *plan {
	x.settle()
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Text, q.Context = Head(q.Text, maxQuery), Head(q.Context, maxQuery)
	p := &plan{q: q, w: w, keep: max(minKeep, 4*q.Limit), number: asksNumber(q.Text)}
	p.average = float64(x.length) / float64(max(1, x.Len()))
	p.norms = normsOf(w, p.average)
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
	if q.At != 0 {
		zone := q.Zone
		if zone == nil {
			zone = time.UTC
		}
		for _, m := range when.Mentions(q.Text, time.UnixMicro(int64(q.At)).In(zone)) {
			p.spans = append(p.spans, span{earshot.TimeOf(m.From), earshot.TimeOf(m.To)})
		}
	}
	at := q.At
	if q.Before.Time != 0 {
		at = min(at, q.Before.Time)
	}
	p.until = x.until(at)
	x.limit(p)
	return p
}

// Says reports whether a text has a word to look for: more than stop words and
// such as "now" or "get".
func Says(text string) bool {
	all := Terms(Head(text, maxQuery))
	stop := stopsOf(all)
	return slices.ContainsFunc(all, func(t string) bool { return !stop(t) && !weak[t] })
}

// limit prepares a query's conditions.
func (x *Index) limit(p *plan) {
	if p.only = len(p.q.Authors)+len(p.q.Names) > 0; p.only {
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
	if len(p.q.Exclude) > 0 {
		p.exclude = map[earshot.MessageID]bool{}
		for _, id := range p.q.Exclude {
			p.exclude[id] = true
		}
	}
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

// want chooses the words that are looked for: those of the text, without stop
// words where there are others, then those of the context; the rarest
// maxQueryTerms of them.
func (x *Index) want(p *plan, all []string) {
	stop := stopsOf(all)
	related := kinOf(all, stop)
	take := func(terms []string, share float64, asked bool, done map[string]bool) {
		times := map[string]int{}
		some := false
		for _, t := range terms {
			times[t]++
			some = some || !stop(t)
		}
		for t, n := range times {
			if some && stop(t) || done[t] {
				continue
			}
			w := x.wanted(p, t, related[t])
			w.asked = asked
			switch {
			case w.weight > 0:
				// A word that a question repeats matters more, but not by much.
				w.weight *= share * (2 - 1/float64(n))
				p.words = append(p.words, w)
			case asked:
				p.unknown++
			}
		}
	}
	take(all, 1, true, nil)
	p.size = size(p.w, p.q.Text, stop)
	p.fade = min(1, max(0, (p.w.none-p.size)/(p.w.none-p.w.full)))
	if p.q.Context != "" && p.w.context > 0 {
		done := map[string]bool{}
		for _, w := range p.words {
			done[w.term] = true
		}
		// A short question ("have we seen this before?") is about what it is asked
		// under.
		take(Terms(p.q.Context), p.w.context, p.size < minQuestion, done)
	}
	slices.SortFunc(p.words, func(a, b wanted) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), strings.Compare(a.term, b.term))
	})
	p.words = p.words[:min(len(p.words), maxQueryTerms)]
	p.called = map[int32]uint64{}
	for i, w := range p.words {
		if w.whole {
			p.exact += w.weight
		}
		for _, a := range w.called {
			p.called[a] |= 1 << i
		}
	}
	x.forms(p)
}

// wanted weighs a word; its weight is 0 where nothing could match it.
func (x *Index) wanted(p *plan, t string, kin []kin) wanted {
	w := wanted{term: t, number: noNumber, whole: strings.ContainsAny(t, signs), called: x.callers(t), kin: kin}
	has := 0
	if n, ok := x.number(t); ok {
		w.number = n
		has = x.terms[n].living()
	}
	for _, a := range w.called {
		has += int(x.said[a])
	}
	if has == 0 && p.w.kin > 0 {
		for _, k := range kin {
			if n, ok := x.number(k[0]); ok {
				has += x.terms[n].living()
			}
		}
	}
	if has == 0 {
		return w
	}
	w.weight = rarity(min(has, x.Len()), x.Len())
	if weak[t] {
		w.weight *= p.w.weak
	}
	if hiragana(t) {
		w.weight *= p.w.kana
	}
	return w
}

// forms lists what is looked for: every word, then what people use for it. A
// term stands for one word.
func (x *Index) forms(p *plan) {
	held := map[uint32]bool{}
	for i, w := range p.words {
		if w.number != noNumber {
			held[w.number] = true
			p.forms = append(p.forms, form{w.number, i, 1})
		}
	}
	if p.w.kin == 0 {
		return
	}
	for i, w := range p.words {
		for _, k := range w.kin {
			for _, t := range k {
				n, ok := x.number(t)
				if ok && !held[n] && len(p.forms) < maxForms {
					held[n] = true
					p.forms = append(p.forms, form{n, i, p.w.kin / float64(len(k))})
				}
			}
		}
	}
}

// size returns how many different words a text has, stop words aside. What signs hold
// together is one; of a script without spaces each pair counts w.pair.
func size(w weights, text string, stop func(string) bool) float64 {
	n := 0.0
	seen := map[string]bool{}
	for field := range strings.FieldsSeq(text) {
		one := 0.0
		for _, t := range Terms(field) {
			if stop(t) || seen[t] {
				continue
			}
			seen[t] = true
			if r, _ := utf8.DecodeRuneInString(t); kindOf(r) == pairs {
				n += w.pair
			} else {
				one = 1
			}
		}
		n += one
	}
	return n
}

// hiragana reports whether a term has only such characters: they are endings
// and particles.
func hiragana(term string) bool {
	return !strings.ContainsFunc(term, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) })
}

// callers returns the authors whose names have a term.
func (x *Index) callers(t string) []int32 {
	if x.scratch.called == nil {
		x.scratch.called = map[string][]int32{}
		for c, n := range x.callOf {
			if x.calls[n] == 0 {
				continue
			}
			for _, t := range Terms(c.name) {
				if list := x.scratch.called[t]; !slices.Contains(list, c.author) {
					x.scratch.called[t] = append(list, c.author)
				}
			}
		}
	}
	return x.scratch.called[t]
}

// number returns a term's number; false when no living message has it.
func (x *Index) number(name string) (uint32, bool) {
	n, ok := x.numbers[name]
	return n, ok && x.terms[n].living() > 0
}

// rarity is the idf of what has of all messages have, rounded to 2^-20, so that
// the last bits of the logarithm, which differ between machines, do not show.
func rarity(has, all int) float64 {
	idf := math.Log(1 + (float64(all-has)+0.5)/(float64(has)+0.5))
	return math.Round(idf*(1<<20)) / (1 << 20)
}

// adjacent notes which terms follow one another in the query.
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
// words may still be of others: see [Index.spoken].
func (x *Index) admits(p *plan, number uint32) bool {
	d := &x.docs[number]
	switch {
	case d.time < p.q.Since:
		return false
	case p.only && !p.authors[d.author] && !(d.quotes && slices.ContainsFunc(x.quotes[number], p.quoted)):
		return false
	}
	return x.lends(p, number)
}

// lends reports whether a doc's words may count for those next to it.
func (x *Index) lends(p *plan, number uint32) bool {
	d := &x.docs[number]
	if d.dead || !p.q.Before.IsZero() && !upTo(d, p.q.Before) {
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
