package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Bounds of the terms of a text, so that a paste costs bounded work. What comes
// after MaxText bytes or MaxTerms terms is not found by a search.
const (
	MaxText  = 160 << 10 // bytes of a text that are read
	MaxTerms = 8192      // terms of a text
	MaxTerm  = 96        // bytes of a term; a longer one is cut
	MaxName  = 256       // bytes of a name that somebody is found by; a longer one is cut
)

// Terms returns the search terms of a text, one entry for each occurrence, in the
// order of the text, stop words included. Messages and queries are cut into terms
// in the same way:
//
//   - text is normalised to NFKC and lower case; accents of Latin letters go;
//   - words of ASCII letters are stemmed as English;
//   - a run of characters of a script without spaces (Han, Hiragana, Katakana,
//     Hangul, Thai and the like) becomes its pairs of neighbouring characters; a
//     single character is a term;
//   - what signs join, such as a URL, a path, a file name, ABC-123, 1.4.2, @alice
//     or snake_case, is one term as a whole (a URL without its scheme), followed
//     by its parts; after a version come its shorter forms (1.4);
//   - a mention <@U1|Alice> is @alice and alice; of <URL|label> both count.
//
// A term is valid UTF-8 without white space, at most [MaxTerm] bytes long.
func Terms(text string) []string { return new(Cutter).Terms(text) }

// A Cutter makes the terms of many texts, the same as the function [Terms] does,
// in half the time, because it caches the stems of words. The zero Cutter is
// ready to use, by one goroutine at a time.
type Cutter struct{ stems map[string]string }

// maxStems is how many stems a Cutter caches before it starts anew: about a
// megabyte.
const maxStems = 16_384

// Terms returns the terms of a text, see the function [Terms].
func (x *Cutter) Terms(text string) []string {
	text = Head(text, MaxText)
	c := termCutter{stem: x.stem}
	c.markup(strings.ToValidUTF8(text, " "))
	return c.terms
}

// stem returns the stem of an English word of lower-case letters.
func (x *Cutter) stem(word string) string {
	if s, ok := x.stems[word]; ok {
		return s
	}
	s := english.Stem(word, true)
	if s == "" {
		s = word
	}
	if x.stems == nil || len(x.stems) >= maxStems {
		x.stems = make(map[string]string)
	}
	x.stems[strings.Clone(word)] = s
	return s
}

// runeStart returns where the character begins that i is in or at.
func runeStart(s string, i int) int {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// Head returns the first n bytes of s, or fewer, so that the last character is
// whole; all of s where it is not longer.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:runeStart(s, n)]
}

// Name returns a person's name in the form in which names are compared: NFKC
// and lower case, with single spaces.
func Name(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(Head(name, MaxName)))), " ")
}

// A termCutter collects the terms of a text.
type termCutter struct {
	terms []string
	stem  func(word string) string
}

func (c *termCutter) full() bool { return len(c.terms) >= MaxTerms }

func (c *termCutter) add(term string) {
	if len(term) > MaxTerm {
		term = term[:runeStart(term, MaxTerm)]
	}
	if term != "" && !c.full() {
		c.terms = append(c.terms, term)
	}
}

// longestMarkup is how many bytes may stand between < and >.
const longestMarkup = 2048

// markup cuts text in which <…> may be a mention or a link.
func (c *termCutter) markup(text string) {
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			break
		}
		inside := text[open+1 : min(len(text), open+1+longestMarkup)]
		end := strings.IndexAny(inside, "<>\n")
		if end < 0 || inside[end] != '>' {
			c.text(text[:open])
			text = text[open+1:]
			continue
		}
		c.text(text[:open])
		c.marked(inside[:end])
		text = text[open+1+end+1:]
	}
	c.text(text)
}

// marked cuts what stands between < and >.
func (c *termCutter) marked(s string) {
	target, label, labelled := strings.Cut(s, "|")
	switch {
	case strings.HasPrefix(s, "@"), strings.HasPrefix(s, "#"):
		if labelled && strings.TrimSpace(label) != "" {
			c.text(s[:1] + strings.TrimLeft(label, s[:1]))
		} else {
			c.text(s[:1] + strings.TrimLeft(target[1:], "!&"))
		}
	case strings.HasPrefix(s, "!"): // !here, !subteam^S1|@oncall
		if labelled {
			target = "!" + strings.TrimPrefix(label, "@")
		}
		c.text("@" + target[1:])
	case strings.HasPrefix(s, ":"), strings.HasPrefix(s, "a:"): // Discord's own emoji, :name:id
		c.text(strings.SplitN(s, ":", 3)[1])
	default:
		c.text(strings.TrimPrefix(target, "mailto:"))
		if labelled && label != target {
			c.text(label)
		}
	}
}

// text cuts text without markup.
func (c *termCutter) text(s string) {
	s = strings.ToLower(norm.NFKC.String(s))
	for i := 0; i < len(s) && !c.full(); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch k := kindOf(r); k {
		case pairs:
			end := runOf(s, i, pairs)
			c.pairs(s[i:end])
			i = end
		case word, sign:
			end := chunkEnd(s, i)
			c.chunk(s[i:end])
			i = end
		case picture:
			c.add(s[i : i+n])
			i += n
		default:
			i += n
		}
	}
}

// pairs adds the pairs of neighbours in a run.
func (c *termCutter) pairs(run string) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		c.add(run)
		return
	}
	for a, b := 0, first; b < len(run) && !c.full(); {
		_, n := utf8.DecodeRuneInString(run[b:])
		c.add(run[a : b+n])
		a, b = b, b+n
	}
}

// A kind is what a character is to the cutter.
type kind int8

const (
	gap     kind = iota // ends a chunk
	word                // part of a word
	sign                // joins words; at either end of a chunk it is dropped
	pairs               // of a script without spaces
	picture             // a term of its own, such as an emoji
)

// signs join words: in a URL, a path, a ticket's id, a name.
const signs = "._-/:@#+=?&%~\\$'’"

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return word
		}
		if strings.IndexByte(signs, byte(r)) >= 0 {
			return sign
		}
		return gap
	case r == '’':
		return sign
	case r == 'ー' || r == '々':
		return pairs
	case unicode.In(r, unicode.L, unicode.M):
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return pairs
		}
		return word
	case unicode.Is(unicode.N, r):
		return word
	case r == '\uFFFD' || r == '\u2400': // what a store writes for broken text
		return gap
	case unicode.Is(unicode.So, r):
		return picture
	}
	return gap
}

// runOf returns where the run of one kind that begins at i ends.
func runOf(s string, i int, k kind) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if kindOf(r) != k {
			break
		}
		i += n
	}
	return i
}

// chunkEnd returns where the words and signs that begin at i end. A sign twice
// in a row ends a chunk ("wait...what"), except in :: and in the // of a URL.
func chunkEnd(s string, i int) int {
	start := i
	var last rune
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		k := kindOf(r)
		if k != word && k != sign {
			break
		}
		if k == sign && r == last && r != '/' && r != ':' && r != '_' && !(r == '+' && i-start < 8) {
			break
		}
		last = r
		i += n
	}
	return max(i, start+1)
}
