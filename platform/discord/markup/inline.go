package markup

import (
	"regexp"
	"strings"
)

var (
	// A link or a picture: its mark, its words, its target.
	linked = regexp.MustCompile(`(!?)\[([^\[\]\n]*)\]\(<?([^()<>\s]*(?:\([^()<>\s]*\)[^()<>\s]*)*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)`)
	strong = regexp.MustCompile(`(^|[^\w\\_])__([^\s_](?:[^_\n]*[^\s_])?)__($|[^\w_])`)
	// What looks like an address to a reader.
	addressed = regexp.MustCompile(`(?i)://|\bwww\.|[\p{L}\p{N}]\.\p{L}{2,}`)
)

// formatInline writes what stands in one line, but for its code.
func formatInline(s string) string {
	if !strings.ContainsAny(s, "[_") {
		return s
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		from, to := codeSpan(s[at:])
		b.WriteString(formatProse(s[at : at+from]))
		b.WriteString(s[at+from : at+to])
		at += to
	}
	return b.String()
}

// formatProse writes a text without code.
func formatProse(s string) string {
	s = linked.ReplaceAllStringFunc(s, formatLink)
	return strong.ReplaceAllString(s, "$1**$2**$3") // two underscores underline, on Discord
}

// formatLink writes a link so that its words hide no other address, and a picture as a link.
// Discord shows links to pages under words, and others as they were typed.
func formatLink(s string) string {
	m := linked.FindStringSubmatch(s)
	words, target := strings.TrimSpace(m[2]), m[3]
	page := strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://")
	switch {
	case target == "":
		return s
	case words == "" || words == target:
		return target
	case !page || addressed.MatchString(words):
		return words + " (" + target + ")"
	}
	return "[" + words + "](" + target + ")"
}

// codeSpan returns where the first code of a line begins and ends; both are the line's
// length where it has none.
func codeSpan(s string) (from, to int) {
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) {
			i += 2
			continue
		}
		if s[i] != '`' {
			i++
			continue
		}
		n := countTicks(s[i:])
		for j := i + n; j < len(s); {
			if s[j] != '`' {
				j++
				continue
			}
			k := countTicks(s[j:])
			if k == n {
				return i, j + k
			}
			j += k
		}
		i += n
	}
	return len(s), len(s)
}

// countTicks returns how many ticks s begins with.
func countTicks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
