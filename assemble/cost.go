package assemble

import (
	"strings"

	"github.com/rivo/uniseg"
)

// tok counts a short text. Names and headings are counted many times in a turn, so
// counts are kept.
func (t *turn) tok(s string) int {
	if n, ok := t.counts[s]; ok {
		return n
	}
	n := t.in.Counter.Count(s)
	t.counts[s] = n
	return n
}

// countLines counts a text line by line, each line break as one token. So the
// count of a prompt is the sum of the counts of its lines.
func (t *turn) countLines(s string) int {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		n++
		if line != "" {
			n += t.in.Counter.Count(line)
		}
	}
	return n
}

// fullCost is what m costs whole: its label, its text, its line breaks and
// their indents.
func (t *turn) fullCost(m *msg) int {
	w := t.writtenOf(m)
	if w.cost == 0 {
		n, known := t.in.Counter.Stored(m.Tokens)
		if !known || m.Tokens <= 0 || w.body != m.Text {
			n = t.in.Counter.Count(w.body)
		}
		w.cost = t.lineCost(m, w.body, n)
	}
	return w.cost
}

// lineCost is what a line with this body costs, given the tokens of the body.
func (t *turn) lineCost(m *msg, body string, tokens int) int {
	n := tokens + 1 + m.written.label.cost + strings.Count(body, "\n")
	if m.Edited != 0 {
		n += t.tok("(edited) ")
	}
	return n
}

// cutCost is what m costs where no message may have more than limit tokens of
// text.
func (t *turn) cutCost(m *msg, limit int) int {
	w := t.writtenOf(m)
	if w.cutCost == 0 {
		w.cutCost = t.fullCost(m)
		if w.cutCost > limit {
			if cut, n := t.cutText(w.body, limit); cut != w.body {
				w.cut, w.cutCost = cut, t.lineCost(m, cut, n)
			}
		}
	}
	return w.cutCost
}

// cutText cuts s on a grapheme boundary to at most limit tokens, including the
// mark that counts what is missing. It returns s itself where that fits. The
// number is the tokens of the result.
func (t *turn) cutText(s string, limit int) (string, int) {
	if len(s) <= 64*limit {
		if n := t.in.Counter.Count(s); n <= limit {
			return s, n
		}
	}
	for keep := limit - t.tok(cutMark(888_888)); ; keep -= 4 {
		end := 0
		if keep > 0 {
			end = t.in.Counter.Prefix(s, keep)
		}
		head, missing := splitGraphemes(s, end)
		cut := head + cutMark(missing)
		if n := t.in.Counter.Count(cut); n <= limit || keep <= 0 {
			return cut, n
		}
	}
}

// splitGraphemes returns the longest prefix of s of whole graphemes and whole escapes
// that has at most end bytes, without white space at its end, and how many graphemes
// are missing.
func splitGraphemes(s string, end int) (head string, missing int) {
	at, state, rest := 0, -1, s
	for rest != "" {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(c) > end {
			missing = 1 + uniseg.GraphemeClusterCount(rest)
			break
		}
		at += len(c)
	}
	from, _ := escapeAt(s, at)
	head = strings.TrimRight(s[:from], " \t\n")
	return head, missing + uniseg.GraphemeClusterCount(s[len(head):at])
}

// cutMark says how many characters are missing.
func cutMark(missing int) string { return "… [+" + formatThousands(missing) + " characters]" }
