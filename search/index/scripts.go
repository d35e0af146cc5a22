package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The scripts without spaces whose characters stand in one run of pairs, as bits.
type scripts uint8

const (
	hiragana scripts = 1 << iota
	katakana
	han
	other // Hangul, Thai and the like
)

// scriptsOf returns the scripts of a pair of characters, 0 for any other term.
func scriptsOf(term string) scripts {
	var all scripts
	for _, r := range term {
		switch {
		case r < utf8.RuneSelf || kindOf(r) != pairs:
			return 0
		case unicode.Is(unicode.Hiragana, r):
			all |= hiragana
		case unicode.Is(unicode.Katakana, r) || r == 'ー':
			all |= katakana
		case unicode.Is(unicode.Han, r):
			all |= han
		default:
			all |= other
		}
	}
	return all
}

// mixes reports whether these are two scripts or more.
func (s scripts) mixes() bool { return s&(s-1) != 0 }

// wholeWords returns the terms of a query with one pair in place of each word in
// Katakana: the rarest of its pairs that some message has. Such a word is one word,
// however many pairs it is cut into. Synonyms of its other pairs become that pair's.
func (x *Index) wholeWords(all []string, synonyms map[string][]synonym) []string {
	var out []string
	for i := 0; i < len(all); {
		end := i + 1
		if scriptsOf(all[i]) == katakana {
			for end < len(all) && scriptsOf(all[end]) == katakana && follows(all[end-1], all[end]) {
				end++
			}
		}
		best, fewest := all[i], 0
		for _, t := range all[i:end] {
			if n, ok := x.number(t); ok && (fewest == 0 || x.live(n) < fewest) {
				best, fewest = t, x.live(n)
			}
		}
		for _, t := range all[i:end] {
			if t != best && len(synonyms[t]) > 0 {
				synonyms[best] = slices.Concat(synonyms[best], synonyms[t])
			}
		}
		out = append(out, best)
		i = end
	}
	return out
}

// follows reports whether b is the pair of characters after a in a run.
func follows(a, b string) bool {
	_, first := utf8.DecodeRuneInString(a)
	return first < len(a) && strings.HasPrefix(b, a[first:])
}
