package reply

import (
	"regexp"
	"strings"
)

// A line of three ticks or more opens or closes a fenced block of code. Which
// lines do depends on the lists, quotes and fences around them, so a hostile
// text can read differently here than in the client that shows it. Hence two
// parsers. fences decides what Guard leaves alone because it is code: it is
// strict, and returns nothing unless every reader agrees. fenceAfter decides
// whether Split cuts through a block: it is lenient and always answers.

var (
	fenceLine = regexp.MustCompile("^( {0,3})```([^`]*)$")
	htmlLine  = regexp.MustCompile(`^[\s>*+\d.)-]*<[A-Za-z/!?]`) // may open an HTML block, inside which ticks are no fence
)

// findFences returns the byte ranges of the code between closed fences. It returns
// none unless all fences of the text are plain: exactly three ticks, nothing but
// a language behind them, and the same indentation throughout.
func findFences(text string) [][2]int {
	var out [][2]int
	open, indent := false, ""
	at, from := 0, 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		body := strings.TrimRight(line, "\n")
		m := fenceLine.FindStringSubmatch(body)
		switch {
		case !strings.Contains(body, "```") && !strings.Contains(body, "~~~"):
			if open && strings.TrimSpace(body) != "" && !strings.HasPrefix(body, indent) || !open && htmlLine.MatchString(body) {
				return nil
			}
		case m == nil:
			return nil
		case !open:
			open, indent, from = true, m[1], at+len(line)
		case m[1] != indent || strings.TrimSpace(m[2]) != "":
			return nil
		default:
			out = append(out, [2]int{from, at})
			open = false
		}
		at += len(line)
	}
	return out
}

// tickRun returns a run of ticks one longer than the longest in the text outside
// of code, so that no other run closes it.
func tickRun(text string, code [][2]int) string {
	longest, at := 0, 0
	for _, c := range append(code, [2]int{len(text), len(text)}) {
		n := 0
		for i := at; i < c[0]; i++ {
			if text[i] != '`' {
				n = 0
				continue
			}
			n++
			longest = max(longest, n)
		}
		at = c[1]
	}
	return strings.Repeat("`", longest+1)
}

// Limits of the fences that fenceAfter recognizes.
const (
	minMark   = 3  // ticks or tildes
	maxMark   = 8  // a longer run is text
	maxIndent = 3  // of the line that closes a fence; it needs no more (CommonMark, 4.5)
	maxOpen   = 12 // of the line that opens one, as in a list
	maxInfo   = 40 // bytes of an opening line; of a longer one only the mark is repeated
)

// item is what a list's item begins with.
var item = regexp.MustCompile(`^ *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)+`)

// fenceAfter returns the line that opens again the fence in which s ends, or "" when
// s ends outside of fences. fence is that line for the one that is open where s begins.
func fenceAfter(fence, s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if fence == "" {
			if n := len(item.FindString(line)); n > 0 { // a list's item may begin with a fence
				line = strings.Repeat(" ", n) + line[n:]
			}
		}
		_, mark := markOf(line)
		rest := strings.TrimLeft(line, " ")[len(mark):]
		switch {
		case mark == "":
		case fence == "" && mark[0] == '`' && strings.Contains(rest, "`"): // code within a line
		case fence == "":
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			indent = indent[:min(len(indent), maxOpen)]
			if fence = indent + mark + strings.TrimRight(rest, " \r"); len(fence) > maxInfo {
				fence = indent + mark
			}
		case strings.TrimSpace(rest) == "" && closesFence(fence, mark):
			fence = ""
		}
	}
	return fence
}

// closingFence returns what closes the fence that the line open opened; "" for none.
func closingFence(open string) string {
	if open == "" {
		return ""
	}
	indent, mark := markOf(open)
	return "\n" + indent + mark
}

// closesFence reports whether a mark closes the fence that the line fence opened.
func closesFence(fence, mark string) bool {
	_, open := markOf(fence)
	return mark[0] == open[0] && len(mark) >= len(open)
}

// markOf returns the indentation and the run of ticks or tildes of a line that
// opens or closes a fence; mark is "" for other lines.
func markOf(line string) (indent, mark string) {
	body := strings.TrimLeft(line, " ")
	if body == "" || body[0] != '`' && body[0] != '~' {
		return "", ""
	}
	n := len(body) - len(strings.TrimLeft(body, body[:1]))
	if n < minMark || n > maxMark {
		return "", ""
	}
	indent = line[:len(line)-len(body)]
	return indent[:min(len(indent), maxIndent)], body[:n]
}

// findTickRun returns the offset of the run of exactly n ticks that is still open at
// s[at] within the line, or -1 when there is none.
func findTickRun(s string, at, n int) int {
	open := -1
	for i := strings.LastIndexByte(s[:at], '\n') + 1; i < at; {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		switch {
		case run != n:
		case open < 0:
			open = i
		case i+run <= at:
			open = -1
		}
		i += run
	}
	return open
}
