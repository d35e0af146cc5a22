package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A queryWord is a word that a query looks for.
type queryWord struct {
	term     string
	number   uint32  // the term's, noNumber where no message has it
	weight   float64 // its idf, times its weight in the query
	whole    bool    // it is an id, a URL or the like
	asked    bool    // it counts for Hit.Cover
	authors  []int32 // those whose names have it
	synonyms []synonym
}

// noNumber is the number that no term has.
const noNumber = math.MaxUint32 - 1

// A termLookup is a term that stands for a word of the query: the word itself, or a
// term of a synonym.
type termLookup struct {
	number uint32
	word   int     // index in plan.words
	weight float64 // term frequency of the word for each occurrence of the term
}

// chooseWords sets the words that are searched for: those of the text and of the
// context, without stop words unless there is nothing else; of all these the
// maxQueryTerms rarest.
func (x *Index) chooseWords(p *plan, all []string) {
	stop := stopsOf(all)
	synonyms := synonymsOf(all, stop)
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
			w := x.weigh(p, t, p.authorsByName[t], synonyms[t])
			w.asked = asked
			switch {
			case w.weight > 0:
				// A word that the question repeats weighs a little more.
				w.weight *= share * (2 - 1/float64(n))
				p.words = append(p.words, w)
			case asked:
				p.unknown++
			}
		}
	}
	take(x.wholeWords(all, synonyms), 1, true, nil)
	p.size = size(p.w, p.q.Text, stop)
	p.fade = min(1, max(0, (p.w.none-p.size)/(p.w.none-p.w.full)))
	if p.q.Context != "" && p.w.context > 0 {
		done := map[string]bool{}
		for _, w := range p.words {
			done[w.term] = true
		}
		// A short question ("have we seen this before?") is about its context.
		take(x.wholeWords(Terms(p.q.Context), synonyms), p.w.context, p.size < minQuestion, done)
	}
	x.addAsker(p, all)
	slices.SortFunc(p.words, func(a, b queryWord) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), strings.Compare(a.term, b.term))
	})
	p.words = p.words[:min(len(p.words), maxQueryTerms)]
	p.namedAuthors = map[int32]uint64{}
	for i, w := range p.words {
		if w.whole {
			p.exact += w.weight
		}
		for _, a := range w.authors {
			p.namedAuthors[a] |= 1 << i
		}
	}
	x.listLookups(p)
}

// addAsker adds the asker's name, as one word, where the query speaks of "me": what they
// said, and what was said to them, is what they ask about. It is no word that was asked
// for, so that Hit.Cover does not count it.
func (x *Index) addAsker(p *plan, all []string) {
	asker := p.q.Asker
	names := Terms(Name(cmp.Or(asker.Name, string(asker.ID))))
	if p.w.asker == 0 || len(names) == 0 || !ofMe(p.q.Text, all) {
		return
	}
	id, known := x.authors[asker.ID]
	for _, t := range names {
		if slices.ContainsFunc(p.words, func(w queryWord) bool { return w.term == t }) {
			continue
		}
		authors := p.authorsByName[t]
		if known { // and not another of that name
			authors = []int32{id}
		}
		if w := x.weigh(p, t, authors, nil); w.weight > 0 {
			w.weight *= p.w.asker / float64(len(names))
			p.words = append(p.words, w)
		}
	}
}

// weigh returns a word of the query with its weight, which is 0 where no message
// could match it. authors are those whose names have the word.
func (x *Index) weigh(p *plan, t string, authors []int32, synonyms []synonym) queryWord {
	w := queryWord{term: t, number: noNumber, whole: strings.ContainsAny(t, signs), authors: authors, synonyms: synonyms}
	has := 0
	if n, ok := x.number(t); ok {
		w.number = n
		has = x.live(n)
	}
	for _, a := range w.authors {
		has += int(x.spoken[a])
	}
	if has == 0 && p.w.synonyms > 0 {
		for _, k := range synonyms {
			if n, ok := x.number(k[0]); ok {
				has += x.live(n)
			}
		}
	}
	if has == 0 {
		return w
	}
	w.weight = rarity(min(has, x.Len()), x.Len()) * p.w.ofTerm(t)
	return w
}

// listLookups lists the terms that are looked up: every word, then the synonyms. A
// term stands for one word only.
func (x *Index) listLookups(p *plan) {
	listed := map[uint32]bool{}
	for i, w := range p.words {
		if w.number != noNumber {
			listed[w.number] = true
			p.lookups = append(p.lookups, termLookup{w.number, i, 1})
		}
	}
	if p.w.synonyms == 0 {
		return
	}
	for i, w := range p.words {
		for _, k := range w.synonyms {
			for _, t := range k {
				n, ok := x.number(t)
				if ok && !listed[n] && len(p.lookups) < maxLookups {
					listed[n] = true
					p.lookups = append(p.lookups, termLookup{n, i, p.w.synonyms / float64(len(k))})
				}
			}
		}
	}
}

// size returns how many different words a text has, stop words aside. What is
// joined by signs is one word; a pair of characters of a script without spaces is
// w.pair words.
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

// fewBylines is how many bylines are read anew for each search.
const fewBylines = 8

// nameAuthors returns the authors by the terms of their names.
func (x *Index) nameAuthors() map[string][]int32 {
	if x.authorsByName != nil {
		return x.authorsByName
	}
	by := map[string][]int32{}
	for c, n := range x.bylineOf {
		if x.bylines[n] == 0 {
			continue
		}
		for _, t := range Terms(c.name) {
			if list := by[t]; !slices.Contains(list, c.author) {
				by[t] = append(list, c.author)
			}
		}
	}
	return by
}

// number returns a term's number; false when no living message has it.
func (x *Index) number(name string) (uint32, bool) {
	n, ok := x.words.find(name)
	return n, ok && x.live(n) > 0
}

// rarity returns the idf of a term that has of all messages have. It is rounded to
// 2^-20, because the last bits of a logarithm differ between machines.
func rarity(has, all int) float64 {
	idf := math.Log(1 + (float64(all-has)+0.5)/(float64(has)+0.5))
	return math.Round(idf*(1<<20)) / (1 << 20)
}
