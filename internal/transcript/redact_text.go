package transcript

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
)

const invalidHost = "example.invalid"

// special is what a text has besides words: mentions of people, channels and
// everybody in the stored form, and addresses.
var special = regexp.MustCompile(`<@([!&]?)([A-Za-z0-9_.-]+)(\|[^<>\n]*)?>` +
	`|<#([^<>|\n]+)(\|[^<>\n]*)?>` +
	`|<!(here|channel|everyone)(\|[^<>\n]*)?>` +
	"|([a-zA-Z][a-zA-Z0-9+.-]*)://([^\\s/?#<>|]*)([^\\s<>|)\\]\"'`]*)")

// prose redacts a text that people or programs wrote.
func (r *redactor) prose(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range special.FindAllStringSubmatchIndex(s, -1) {
		r.words.write(&b, s[at:m[0]])
		at = m[1]
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return s[m[2*n]:m[2*n+1]]
		}
		switch {
		case group(2) != "":
			b.WriteString("<@" + group(1) + r.label(authorIDs, group(2)) + r.writeLabel(people, group(3)) + ">")
		case group(4) != "":
			b.WriteString("<#" + r.label(channelIDs, group(4)) + r.writeLabel(places, group(5)) + ">")
		case group(6) != "":
			b.WriteString("<!" + group(6) + ">")
		default:
			scheme := "https"
			if strings.EqualFold(group(8), "http") {
				scheme = "http"
			}
			b.WriteString(scheme + "://" + invalidHost)
			r.words.write(&b, group(10))
		}
	}
	r.words.write(&b, s[at:])
	return b.String()
}

// writeLabel writes the label of a mention with its bar.
func (r *redactor) writeLabel(class int, s string) string {
	if s == "" {
		return ""
	}
	at := ""
	if strings.HasPrefix(s, "|@") {
		at = "@"
	}
	return "|" + at + r.name(class, strings.TrimPrefix(s[1:], "@"))
}

// A nonsenseWords makes words without meaning.
type nonsenseWords struct {
	counter assemble.Counter // nil: lengths alone decide
	made    map[wordShape]string
}

// A wordShape is all that is kept of a word: its letters and, in text of Latin letters,
// its tokens.
type wordShape struct{ letters, tokens int }

// write writes a text with every word replaced.
func (w *nonsenseWords) write(b *strings.Builder, s string) {
	for s != "" {
		n := 0
		for n < len(s) && isLatin(s[n]) {
			n++
		}
		if n == 0 {
			c, size := utf8.DecodeRuneInString(s)
			b.WriteRune(replaceRune(c))
			s = s[size:]
			continue
		}
		w.word(b, s[:n])
		s = s[n:]
	}
}

func isLatin(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// word writes a word for one of Latin letters.
func (w *nonsenseWords) word(b *strings.Builder, was string) {
	of := wordShape{letters: len(was)}
	if w.counter != nil && len(was) <= maxShaped {
		of.tokens = w.counter.Count(" " + strings.ToLower(was))
	}
	made, ok := w.made[of]
	if !ok {
		made = w.make(of)
		w.made[of] = made
	}
	for i := range len(was) {
		c := made[i]
		if was[i] <= 'Z' {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
	}
}

// maxShaped is the length of the longest word whose tokens are counted.
const maxShaped = 24

// vowels has a word of each length that is few tokens; noise is many.
const (
	easy  = "lorementatoriumilitationelo"
	noise = "xqzvkjwfxqzvkjwfxqzvkjwfxqzvkjwf"
)

// make returns lower-case letters of a shape: the longest easy beginning whose
// tokens are as many as those of the word.
func (w *nonsenseWords) make(of wordShape) string {
	n := of.letters
	best := strings.Repeat(easy, n/len(easy)+1)[:n]
	if of.tokens == 0 {
		return best
	}
	short := w.counter.Count(" " + best)
	for k := 1; k <= n && short < of.tokens; k++ {
		made := best[:n-k] + noise[:k]
		if got := w.counter.Count(" " + made); got <= of.tokens && got > short {
			best, short = made[:n-k]+noise[:k], got
		}
	}
	for _, other := range simple {
		if short > of.tokens && len(other) == n {
			if got := w.counter.Count(" " + other); got < short {
				best, short = other, got
			}
		}
	}
	return best
}

// simple are words that are one token, for words that were.
var simple = strings.Fields(`a la qui amet lorem dolore tempora voluptat`)

// replaceRune returns what stands for a rune that is no Latin letter.
func replaceRune(c rune) rune {
	switch {
	case c < utf8.RuneSelf:
		if '0' <= c && c <= '9' {
			return '0'
		}
		return c
	case unicode.Is(unicode.Han, c):
		return '字'
	case unicode.Is(unicode.Hiragana, c):
		return 'か'
	case unicode.Is(unicode.Katakana, c):
		return 'カ'
	case unicode.Is(unicode.Hangul, c):
		return '가'
	case unicode.Is(unicode.Cyrillic, c):
		return copyCase(c, 'а', 'А')
	case unicode.Is(unicode.Greek, c):
		return copyCase(c, 'α', 'Α')
	case unicode.Is(unicode.Arabic, c) && unicode.IsLetter(c):
		return 'ا'
	case unicode.Is(unicode.Hebrew, c) && unicode.IsLetter(c):
		return 'א'
	case unicode.IsLetter(c):
		return copyCase(c, 'é', 'É')
	case unicode.IsMark(c):
		return keepRune(c, '\u0301', '\ufe0e', '\ufe0f')
	case unicode.IsNumber(c):
		return '⁰'
	case c >= 0x2460 && c <= 0x24FF, c >= 0x1F100 && c <= 0x1F1FF:
		return '○' // letters in circles and squares, which flags are made of too
	case unicode.Is(unicode.Co, c):
		return '\ue000'
	case unicode.Is(unicode.Cf, c):
		return keepRune(c, '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff')
	}
	return c // punctuation, spaces, pictures
}

func copyCase(c, lower, upper rune) rune {
	if unicode.IsUpper(c) {
		return upper
	}
	return lower
}

// keepRune returns c where it is one of kept, else the first of them.
func keepRune(c rune, kept ...rune) rune {
	for _, k := range kept {
		if c == k {
			return c
		}
	}
	return kept[0]
}
