package bot

import (
	"strings"
	"unicode/utf8"
)

// split cuts a text into parts of at most most characters (runes): between
// paragraphs where it can, else between lines, sentences or words. A code
// fence that a cut goes through is closed and opened again. It returns at least
// one part, and none is blank.
func split(text string, most int) []string {
	most = max(most, 100)
	var parts []string
	fence := "" // the line that has opened the fence that we are in
	for rest := strings.TrimRight(text, " \n"); rest != ""; {
		head := ""
		if fence != "" {
			head = fence + "\n"
		}
		room := most - utf8.RuneCountInString(head)
		if utf8.RuneCountInString(rest) <= room {
			parts = append(parts, head+rest)
			break
		}
		room -= utf8.RuneCountInString("\n" + fenceMark + "~") // a mark may be longer than three
		cut := cutAt(rest, max(room, most/2))
		part := rest[:cut]
		rest = strings.TrimLeft(rest[cut:], "\n")
		open := fenceAfter(fence, part)
		part = head + strings.TrimRight(part, " \n")
		if open != "" {
			part += "\n" + markOf(open)
		} else {
			rest = strings.TrimLeft(rest, " ")
		}
		fence = open
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

const (
	fenceMark = "```"
	maxMark   = 4  // a longer run of ticks is text
	maxInfo   = 40 // bytes of the line that opens a fence that are repeated
)

// cutAt returns where to cut s, which has more than most runes: a byte offset
// above 0.
func cutAt(s string, most int) int {
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
	return max(end, 1)
}

// fenceAfter returns the line that has opened the fence in which s ends, ""
// when it ends outside of one.
func fenceAfter(fence, s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		mark := markOf(line)
		switch {
		case mark == "":
		case fence == "":
			fence = strings.TrimSpace(line)
			if len(fence) > maxInfo || strings.Contains(fence[len(mark):], "`") {
				fence = mark
			}
		case strings.TrimSpace(line) == mark && len(mark) >= len(markOf(fence)):
			fence = ""
		}
	}
	return fence
}

// markOf returns the ticks with which a line opens or closes a fence, or "".
func markOf(line string) string {
	line = strings.TrimLeft(line, " ")
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < len(fenceMark) || n > maxMark {
		return ""
	}
	return line[:n]
}
