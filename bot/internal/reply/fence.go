package bot

import (
	"regexp"
	"strings"
)

// A line of three ticks or more opens or closes a fence of code, and everything
// between two of them is code. Which lines those are depends on what stands
// around them: lists, quotes, other fences. A text that was made to deceive
// reads otherwise here than where it is shown, so two questions are asked in two
// ways: fences, for what is left as it is because it is code, answers only where
// there is one way to read the text; fenceAfter, for where a long text is cut,
// makes the best of every text.

var (
	fenceLine = regexp.MustCompile("^( {0,3})```([^`]*)$")
	htmlLine  = regexp.MustCompile(`^[\s>*+\d.)-]*<[A-Za-z/!?]`) // may begin a block of HTML, in which there are no fences
)

// fences returns where there is code between fences that are closed. Of a text
// whose fences are not all plain, three ticks alone with a language at most and
// with the same indentation throughout, it returns none.
func fences(text string) [][2]int {
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

// tickRun returns a run of ticks that is longer than any in the text outside of
// code, so that it can be closed by no other.
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

// Bounds of a fence that a cut goes through.
const (
	minMark = 3
	maxMark = 8  // a longer run is text
	maxInfo = 40 // bytes of the line that opens a fence that are repeated
)

// fenceAfter returns the line that has opened the fence in which s ends, ""
// when it ends outside of one.
func fenceAfter(fence, s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		_, mark := markOf(line)
		rest := strings.TrimLeft(line, " ")[len(mark):]
		switch {
		case mark == "":
		case fence == "" && mark[0] == '`' && strings.Contains(rest, "`"): // code within a line
		case fence == "":
			if fence = strings.TrimRight(line, " "); len(fence) > maxInfo {
				fence = line[:len(line)-len(rest)]
			}
		case strings.TrimSpace(rest) == "" && closes(fence, mark):
			fence = ""
		}
	}
	return fence
}

// closes reports whether a mark closes the fence that a line has opened.
func closes(fence, mark string) bool {
	_, open := markOf(fence)
	return mark[0] == open[0] && len(mark) >= len(open)
}

// markOf returns the indentation and the run of ticks or tildes with which a
// line opens or closes a fence, or no run.
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
	return indent[:min(len(indent), 3)], body[:n]
}

// span returns where the run of just n ticks stands in a line that is open at
// s[at], or -1.
func span(s string, at, n int) int {
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
