package tokens

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens/internal/vocab"
)

// ErrUnknown is returned by [For] for a spec that names no counter. The error
// that wraps it lists the specs that there are.
var ErrUnknown = errors.New("unknown counter")

// For returns the counter that a spec names:
//
//	o200k         OpenAI's vocabulary of that name; "" means the same
//	o200k*FACTOR  that count times a factor, rounded up for each text; the
//	              factor is above 0 and at most 10, with at most six decimals
//	bytes4        a quarter of the bytes, rounded up
//
// The counter's name is the spec in its shortest form: "o200k*1.150" becomes
// o200k*1.15, and "o200k*1.0" becomes o200k. The error is [ErrUnknown].
func For(spec string) (assemble.Counter, error) {
	switch spec {
	case "", "o200k":
		return o200k{}, nil
	case "bytes4":
		return bytes4{}, nil
	}
	if factor, ok := strings.CutPrefix(spec, "o200k*"); ok {
		if millionths, ok := parseFactor(factor); ok {
			if millionths == 1_000_000 {
				return o200k{}, nil
			}
			return scaledCounter{millionths}, nil
		}
		return nil, fmt.Errorf("%w %q: a factor is a number above 0 and at most 10 with at most six decimals, such as o200k*1.15", ErrUnknown, spec)
	}
	return nil, fmt.Errorf("%w %q; use o200k, o200k*FACTOR (such as o200k*1.15) or bytes4", ErrUnknown, spec)
}

// Base returns the tokens of text by the base counter, o200k. It is the count
// that stores keep as [earshot.Message.Tokens].
func Base(text string) int { return o200k{}.Count(text) }

// o200k is the base counter.
type o200k struct{}

func (o200k) Name() string             { return "o200k" }
func (o200k) Stored(n int) (int, bool) { return n, true }

func (o200k) Count(s string) int {
	n := 0
	for i := 0; i < len(s); {
		end := pieceEnd(s, i)
		n += countPiece(s[i:end])
		i = end
	}
	return n
}

// Prefix ends between two tokens, never inside a character of valid UTF-8.
// Its cost is bounded by max, whatever the length of s.
func (c o200k) Prefix(s string, max int) int {
	if max <= 0 {
		return 0
	}
	if max < len(s)/vocab.Longest {
		s = s[:(max+1)*vocab.Longest]
	}
	left := max
	for i := 0; i < len(s); {
		end := pieceEnd(s, i)
		n := countPiece(s[i:end])
		if n > left {
			return c.within(s, i, i+prefixOfPiece(s[i:end], left), max)
		}
		left -= n
		i = end
	}
	return len(s)
}

// within returns cut, a token boundary in the piece that begins at start, if
// the text up to cut has at most max tokens, else start: the text up to there
// has. Rarely, the part of a piece has more tokens than its share of the whole
// piece; then the piece is left out.
func (c o200k) within(s string, start, cut, max int) int {
	for cut > start && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if cut > start && c.Count(s[:cut]) > max {
		return start
	}
	return cut
}

// scaledCounter is the base counter times a factor in millionths. It is integer
// arithmetic, so that a count is the same on every machine.
type scaledCounter struct{ millionths int64 }

func (c scaledCounter) Name() string {
	return "o200k*" + strconv.FormatFloat(float64(c.millionths)/1e6, 'f', -1, 64)
}
func (c scaledCounter) Stored(n int) (int, bool) {
	return int((int64(n)*c.millionths + 999_999) / 1_000_000), true
}

func (c scaledCounter) Count(s string) int {
	n, _ := c.Stored(Base(s))
	return n
}

func (c scaledCounter) Prefix(s string, max int) int {
	if max <= 0 {
		return 0
	}
	// No text has more tokens than bytes, so a larger bound means no bound.
	if int64(max) > math.MaxInt64/1_000_000 {
		return len(s)
	}
	return o200k{}.Prefix(s, int(int64(max)*1_000_000/c.millionths))
}

// parseFactor reads a decimal such as 1.15 as millionths.
func parseFactor(s string) (int64, bool) {
	whole, frac, dot := strings.Cut(s, ".")
	if whole == "" || len(whole) > 2 || len(frac) > 6 || dot && frac == "" {
		return 0, false
	}
	var v int64
	for _, c := range []byte(whole + frac + "000000"[len(frac):]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, v > 0 && v <= 10_000_000
}

// bytes4 is a quarter of the bytes: an estimate for any model, without a
// vocabulary.
type bytes4 struct{}

func (bytes4) Name() string           { return "bytes4" }
func (bytes4) Stored(int) (int, bool) { return 0, false }
func (bytes4) Count(s string) int     { return (len(s) + 3) / 4 }

func (bytes4) Prefix(s string, max int) int {
	if max <= 0 {
		return 0
	}
	if max >= (len(s)+3)/4 {
		return len(s)
	}
	cut := 4 * max
	for i := cut; i > cut-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return cut
}
