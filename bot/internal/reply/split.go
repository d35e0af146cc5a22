package reply

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Split cuts a text into parts of at most most runes: between paragraphs where it
// can, else between lines, sentences or words, and at last between what readers see as
// characters. A fenced block that is cut is closed at the end of one part and opened
// again in the next, with its language; one that the text does not close is closed. A
// table that is cut has its head repeated. Nothing else is added, and only white space
// at a cut is lost. No part is blank, and a blank text has none. A most below 100
// counts as 100.
func Split(text string, most int) []string {
	var out []string
	for _, p := range split(text, max(most, leastMost)) {
		out = append(out, p.head+p.body+p.tail)
	}
	return out
}

// leastMost is a length in which a fence's two lines leave room for text.
const leastMost = 100

// A replyPart is what one post shows: a stretch of the text, and what was added around it.
type replyPart struct {
	from             int // where body begins in the text
	head, body, tail string
}

// space is what is lost at a cut.
const space = " \r\n"

func split(text string, most int) []replyPart {
	var parts []replyPart
	head, fence := "", "" // the beginning of the next part, and the line in it that opens a fence
	reserve := 0          // runes kept free for closing a fence
	longest := len(tickRun(text, findFences(text))) - 1
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		reserve = len("\n") + maxIndent + maxMark
	}
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for rest := text; rest != ""; {
		from := len(text) - len(rest)
		room := most - utf8.RuneCountInString(head)
		if !exceedsRunes(rest, room) {
			last := replyPart{from, head, rest, closingFence(fenceAfter(fence, rest))}
			if last.tail == "" || !exceedsRunes(rest+last.tail, room) {
				return append(parts, last)
			}
		}
		cut := cutAt(rest, room-reserve, longest)
		open := fenceAfter(fence, rest[:cut])
		if i := lastLine(rest[:cut]); i > 0 && open != "" && fenceAfter(fence, rest[:i]) == "" {
			cut, open = i, "" // none of the block's lines is in this part
		}
		p := replyPart{from, head, strings.TrimRight(rest[:cut], space), closingFence(open)}
		rest = strings.TrimLeft(rest[cut:], "\r\n")
		head, fence = "", open
		if open != "" {
			if line, after, _ := strings.Cut(rest, "\n"); fenceAfter(open, line) == "" {
				rest, fence = strings.TrimLeft(after, "\r\n"), "" // the block ends with this line
			} else {
				head = open + "\n"
			}
		} else {
			head = tableHead(p.head+p.body, rest, most/3)
			for strings.HasPrefix(rest, " ") && !joinsPrevious(rest) {
				rest = rest[1:]
			}
		}
		if strings.TrimSpace(p.body) != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// exceedsRunes reports whether s has more than n runes.
func exceedsRunes(s string, n int) bool {
	for range s {
		if n--; n < 0 {
			return true
		}
	}
	return false
}

// lastLine returns the offset of the last line of s that is not empty.
func lastLine(s string) int {
	return strings.LastIndexByte(strings.TrimRight(s, "\r\n"), '\n') + 1
}

var ruled = regexp.MustCompile(`^\|?[\s:|-]*-[\s:|-]*$`)

// tableHead returns the first two lines of the table that is cut between part
// and rest. It returns "" when no table is cut, or when the two lines have more
// than most bytes.
func tableHead(part, rest string, most int) string {
	if !strings.HasPrefix(rest, "|") {
		return ""
	}
	lines := strings.Split(part, "\n")
	first := len(lines)
	for first > 0 && strings.HasPrefix(lines[first-1], "|") {
		first--
	}
	if first > len(lines)-2 || !ruled.MatchString(lines[first+1]) {
		return ""
	}
	head := lines[first] + "\n" + lines[first+1] + "\n"
	if len(head) > most {
		return ""
	}
	return head
}

// ends are what a text is cut behind, the best first.
var ends = [][]string{{"\n\n", "\r\n\r\n"}, {"\n"}, {". ", "! ", "? ", "。", "！", "？"}, {" "}}

// cutAt returns the byte offset, above 0, at which to cut s, which has more than
// most runes. ticks is the length of the runs that [Guard] puts around addresses:
// no cut goes through those, because the parts of the address would be clickable.
func cutAt(s string, most, ticks int) int {
	end := runeOffset(s, most)
	for _, list := range ends {
		best := 0
		for _, e := range list {
			best = max(best, lastEnd(s, end, e))
		}
		if best > 0 {
			return best
		}
	}
	if i := findTickRun(s, end, ticks); i > 0 {
		return i
	}
	if i := len(strings.TrimRight(s[:end], s[end:end+1])); i > 0 && (s[end] == '`' || s[end] == '~') {
		return i // the two parts of a fence's mark would be none
	}
	if i := strings.LastIndexByte(s[:end], '<'); i > 0 && strings.HasPrefix(s[i:], "<@") && !strings.Contains(s[i:end], ">") {
		return i // nor would those of a mention
	}
	return end
}

// lastEnd returns the offset behind the last e in the second half of s[:end], or 0. A
// mark that joins the end of e, as an accent can join a space, is not cut off.
func lastEnd(s string, end int, e string) int {
	for to := end; ; {
		i := strings.LastIndex(s[:to], e)
		if i < end/2 || i < 0 {
			return 0
		}
		_, n := utf8.DecodeLastRuneInString(e)
		if !joinsPrevious(s[i+len(e)-n:]) {
			return i + len(e)
		}
		to = i + len(e) - 1
	}
}

// joinsPrevious reports whether the next rune of s joins its first one, so that a reader sees
// them as one character.
func joinsPrevious(s string) bool {
	_, first := utf8.DecodeRuneInString(s)
	_, second := utf8.DecodeRuneInString(s[first:])
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s[:first+second], -1)
	return len(cluster) > first
}

// runeOffset returns the byte offset, above 0, up to which s has at most most runes, of
// which it has more. It tears no character that a reader sees as one, unless that is
// longer.
func runeOffset(s string, most int) int {
	runes := 0 // up to there s has most runes
	for range most {
		_, size := utf8.DecodeRuneInString(s[runes:])
		runes += size
	}
	_, next := utf8.DecodeRuneInString(s[runes:])
	end, state := 0, -1
	for rest := s[:runes+next]; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > runes {
			break
		}
		end += len(cluster)
	}
	if end == 0 {
		return runes
	}
	return end
}
