package rule

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// A Finder looks for a text in bytes, as it stands there or in a JSON string, or in a
// JSON string within another, however their writers spell it: writers of JSON differ
// in what they escape, and in how. It compares what the strings mean.
type Finder struct {
	// Literals are the spellings without an escape: the text itself, as the store
	// normalises it, and with the entities of Slack's messages. Bytes that have none of
	// them, and no backslash, do not have the text.
	Literals [][]byte
}

// levels is how deep JSON strings are nested that a Finder reads: none, one, and one
// within another.
const levels = 3

// longest is how many bytes one byte of a text takes at most: the six characters
// of an escape, each escaped itself.
const longest = 36

// NewFinder returns a Finder of a text. The error is [earshot.ErrInvalid] for an
// empty one.
func NewFinder(s string) (Finder, error) {
	if s == "" {
		return Finder{}, fmt.Errorf("%w: there is no text to look for", earshot.ErrInvalid)
	}
	all := []string{s, Text(s), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)}
	slices.Sort(all)
	var f Finder
	for _, l := range slices.Compact(all) {
		f.Literals = append(f.Literals, []byte(l))
	}
	return f, nil
}

// MentionsAuthor returns whether raw bytes of a delivery name an author; without an author,
// whether there are any.
func MentionsAuthor(id earshot.AuthorID) func(raw []byte) bool {
	f, err := NewFinder(string(id))
	if err != nil {
		return func(raw []byte) bool { return len(raw) > 0 }
	}
	return f.In
}

// In reports whether b has the text.
func (f Finder) In(b []byte) bool {
	found := false
	f.Each(b, func(int, int) bool { found = true; return false })
	return found
}

// Longest returns how many bytes the text takes at most.
func (f Finder) Longest() int {
	n := 0
	for _, l := range f.Literals {
		n = max(n, longest*len(l))
	}
	return n
}

// Each calls yield with the bounds of each place of b where the text stands, in
// order, until yield returns false.
func (f Finder) Each(b []byte, yield func(from, to int) bool) {
	for i := f.Next(b, 0); i >= 0; i = f.Next(b, i+1) {
		if to := f.at(b, i); to > 0 && !yield(i, to) {
			return
		}
	}
}

// Next returns the first position from i on where the text may begin, -1 where there
// is none.
func (f Finder) Next(b []byte, i int) int {
	first := -1
	for _, l := range append(f.Literals[:len(f.Literals):len(f.Literals)], []byte{'\\'}) {
		until := b
		if first >= 0 {
			until = b[:first]
		}
		if i < len(until) {
			if j := bytes.IndexByte(until[i:], l[0]); j >= 0 {
				first = i + j
			}
		}
	}
	return first
}

// at returns where the text ends that begins at position i of b, 0 where none does.
func (f Finder) at(b []byte, i int) int {
	escaped := false
	for _, l := range f.Literals {
		k := 0
		for k < len(l) && i+k < len(b) && b[i+k] == l[k] {
			k++
		}
		if k == len(l) {
			return i + k
		}
		escaped = escaped || bytes.IndexByte(b[i:min(i+k+1, len(b))], '\\') >= 0
	}
	if !escaped {
		return 0
	}
	for _, r := range f.readings() {
		if n := r.feed(b[i:]); r.done() {
			return i + n
		}
	}
	return 0
}

// Begins reports whether the text may begin with all of b and go on behind it.
func (f Finder) Begins(b []byte) bool {
	for _, l := range f.Literals {
		if len(b) < len(l) && bytes.HasPrefix(l, b) {
			return true
		}
	}
	return bytes.IndexByte(b, '\\') >= 0 && slices.ContainsFunc(f.readings(), func(r *textFinder) bool {
		r.feed(b)
		return !r.failed && !r.done()
	})
}

// Across reports whether the text is all of begin and goes on at the start of rest.
func (f Finder) Across(begin, rest []byte) bool {
	return slices.ContainsFunc(f.readings(), func(r *textFinder) bool {
		r.feed(begin)
		if r.failed || r.done() {
			return false
		}
		r.feed(rest)
		return r.done()
	})
}

// readings returns the ways to read the text, none of which has begun.
func (f Finder) readings() []*textFinder {
	var out []*textFinder
	for _, l := range f.Literals {
		for level := range levels {
			out = append(out, &textFinder{rest: l, strings: make([]unescaper, level)})
		}
	}
	return out
}

// A textFinder compares bytes, one after another, with a text from its beginning.
type textFinder struct {
	rest    []byte      // which has not come yet
	strings []unescaper // of the JSON strings, the outermost first
	failed  bool
}

// done reports whether the whole text has come.
func (r *textFinder) done() bool { return !r.failed && len(r.rest) == 0 }

// feed reads the next bytes until the text is complete or another, and returns how
// many it has read.
func (r *textFinder) feed(b []byte) int {
	for i, c := range b {
		if r.next(c, 0); r.failed || len(r.rest) == 0 {
			return i + 1
		}
	}
	return len(b)
}

// next reads a byte of the JSON string n, or of the text, which is within them all.
func (r *textFinder) next(c byte, n int) {
	switch {
	case n < len(r.strings):
		for _, c := range r.strings[n].feed(c) {
			r.next(c, n+1)
		}
	case len(r.rest) > 0: // else an escape goes on behind the text
		r.failed = r.failed || r.rest[0] != c
		r.rest = r.rest[1:]
	}
}

// An unescaper reads a JSON string byte by byte. What is no escape, such as a
// backslash before a letter that escapes nothing, is left as it is.
type unescaper struct {
	seen [6]byte // of an escape: the backslash and what follows it
	n    int
	high rune // the first half of a surrogate pair, whose second is to come
}

// escapes are what the letters behind a backslash stand for, besides u.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// feed reads a byte, and returns the bytes that are known by it.
func (u *unescaper) feed(c byte) []byte {
	if u.n == 0 && c != '\\' {
		return append(u.lone(), c)
	}
	u.seen[u.n] = c
	u.n++
	switch {
	case u.n == 1, u.n == 2 && c == 'u':
		return nil
	case u.n == 2:
		u.n = 0
		if e, ok := escapes[c]; ok {
			return append(u.lone(), e)
		}
		return append(u.lone(), '\\', c)
	}
	if _, ok := hexDigit(c); !ok {
		n := u.n
		u.n = 0
		return append(u.lone(), u.seen[:n]...)
	}
	if u.n < len(u.seen) {
		return nil
	}
	u.n = 0
	var r rune
	for _, d := range u.seen[2:] {
		v, _ := hexDigit(d)
		r = r<<4 | rune(v)
	}
	if u.high != 0 {
		if pair := utf16.DecodeRune(u.high, r); pair != utf8.RuneError {
			u.high = 0
			return utf8.AppendRune(nil, pair)
		}
	}
	out := u.lone()
	if 0xD800 <= r && r < 0xDC00 {
		u.high = r
		return out
	}
	return utf8.AppendRune(out, r)
}

// lone returns what the first half of a surrogate pair is without its second.
func (u *unescaper) lone() []byte {
	if u.high == 0 {
		return nil
	}
	u.high = 0
	return utf8.AppendRune(nil, utf8.RuneError)
}

// hexDigit returns the value of a hexadecimal digit.
func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
