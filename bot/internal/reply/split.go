package reply

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Split cuts a text into parts of at most most runes: between paragraphs where
// it can, else between lines, sentences or words. A fenced block that is cut is
// closed at the end of one part and opened again in the next; a table that is
// cut has its head repeated. No part is blank, and a blank text has none. A most
// below 100 counts as 100.
func Split(text string, most int) []string {
	most = max(most, 100)
	var parts []string
	head, fence := "", "" // the beginning of the next part, and the line in it that opens a fence
	reserve := 0          // runes kept free for closing a fence
	longest := len(tickRun(text, fences(text))) - 1
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		reserve = len("\n   ") + maxMark
	}
	for rest := strings.TrimRight(text, " \n"); rest != ""; {
		room := most - utf8.RuneCountInString(head)
		if utf8.RuneCountInString(rest) <= room {
			parts = append(parts, head+rest)
			break
		}
		cut := cutAt(rest, max(room-reserve, most/2), longest)
		open := fenceAfter(fence, rest[:cut])
		if i := lastLine(rest[:cut]); fence == "" && open != "" && i > 0 && strings.HasPrefix(rest[i:cut], open) {
			cut, open = i, "" // none of the block's lines is in this part
		}
		part := head + strings.TrimRight(rest[:cut], " \n")
		rest = strings.TrimLeft(rest[cut:], "\n")
		head, fence = "", open
		if open != "" {
			indent, mark := markOf(open)
			part += "\n" + indent + mark
			if line, after, _ := strings.Cut(rest, "\n"); fenceAfter(open, line) == "" {
				rest, fence = strings.TrimLeft(after, "\n"), "" // the block ends with this line
			} else {
				head = open + "\n"
			}
		} else {
			head = tableHead(part, rest, most/3)
			rest = strings.TrimLeft(rest, " ")
		}
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// lastLine returns the offset of the last line of s that is not empty.
func lastLine(s string) int {
	return strings.LastIndexByte(strings.TrimRight(s, "\n"), '\n') + 1
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

// cutAt returns the byte offset, above 0, at which to cut s, which has more than
// most runes. ticks is the length of the runs that [Guard] puts around addresses:
// no cut goes through those, because the parts of the address would be clickable.
func cutAt(s string, most, ticks int) int {
	end := 0
	for n := 0; n < most && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	for _, sep := range []string{"\n\n", "\n", ". ", " "} {
		if i := strings.LastIndex(s[:end], sep); i >= end/2 {
			return i + len(sep)
		}
	}
	if i := span(s, end, ticks); i > 0 {
		return i
	}
	return max(end, 1)
}
