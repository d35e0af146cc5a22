package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// An fts ranks texts as SQLite's FTS5 does with its tokenizer "porter unicode61"
// and its function bm25, the words of a query joined by OR. It shares nothing
// with search, which is measured against it.
type fts struct {
	posts   map[string][]ftsPost
	lengths []int // of each text, in words
	sum     int
	stems   map[string]string
}

type ftsPost struct{ text, times int }

// FTS5's parameters of BM25, and the idf of a word that half of the texts have.
const (
	ftsK1     = 1.2
	ftsB      = 0.75
	ftsLeast  = 1e-6
	ftsRounds = 1 << 20
)

func newFTS() *fts { return &fts{posts: map[string][]ftsPost{}, stems: map[string]string{}} }

// words cuts a text into runs of letters and digits, in lower case, without the
// accents of Latin letters, stemmed as English.
func (f *fts) words(text string) []string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.Co, unicode.Mn) })
	for i, w := range list {
		stem, ok := f.stems[w]
		if !ok {
			stem = stemOf(w)
			f.stems[w] = stem
		}
		list[i] = stem
	}
	return list
}

func stemOf(w string) string {
	if strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) {
		w = norm.NFC.String(strings.Map(func(r rune) rune {
			if r >= 0x300 && r <= 0x36f {
				return -1
			}
			return r
		}, norm.NFD.String(w)))
	}
	if s := english.Stem(w, true); s != "" {
		return s
	}
	return w
}

// add adds a text; they are numbered from 0.
func (f *fts) add(text string) {
	number := len(f.lengths)
	words := f.words(text)
	for _, w := range words {
		list := f.posts[w]
		if n := len(list); n > 0 && list[n-1].text == number {
			list[n-1].times++
			continue
		}
		f.posts[w] = append(list, ftsPost{number, 1})
	}
	f.lengths = append(f.lengths, len(words))
	f.sum += len(words)
}

// rank returns the texts that have one of the query's words, the best first, of
// equal ones the newer.
func (f *fts) rank(query string) []int {
	scores := f.scores(query)
	out := make([]int, 0, len(scores))
	for text := range scores {
		out = append(out, text)
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a)) })
	return out
}

// scores returns the score of each text that has one of the query's words.
func (f *fts) scores(query string) map[int]float64 {
	scores := map[int]float64{}
	seen := map[string]bool{}
	n := float64(len(f.lengths))
	average := float64(max(1, f.sum)) / max(1, n)
	for _, w := range f.words(query) {
		if seen[w] {
			continue
		}
		seen[w] = true
		has := float64(len(f.posts[w]))
		// Rounded, so that the last bits of the logarithm, which differ between
		// machines, do not show.
		idf := max(ftsLeast, math.Round(math.Log((n-has+0.5)/(has+0.5))*ftsRounds)/ftsRounds)
		for _, p := range f.posts[w] {
			tf, length := float64(p.times), float64(f.lengths[p.text])
			scores[p.text] += float64(idf*float64(tf*(ftsK1+1))) / (tf + float64(ftsK1*(1-ftsB+float64(ftsB*length)/average)))
		}
	}
	return scores
}
