package assemble

import (
	"regexp"
	"strings"

	"github.com/earshot-ai/earshot"
)

// maxMarkup is how many bytes a span of markup may have; a longer one is text.
const maxMarkup = 512

// resolveMentions writes mentions as people read them: <@U1> and <@!id> become
// @Name, <#C1|n> becomes #n, <!here> becomes @here, <!subteam^S1|n> becomes @n.
// A user has the name of that author in the input, else the label, else the id.
// Links, emoji and everything else in angle brackets stay as they are.
func (n *uniqueNames) resolveMentions(s string) string {
	i := strings.IndexByte(s, '<')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		text, length := n.markup(s)
		b.WriteString(text)
		s = s[length:]
		i = strings.IndexByte(s, '<')
	}
	return b.String() + s
}

// markup reads one span of markup at the start of s, which begins with '<'. It
// returns what to write and how many bytes were read; text that is no markup
// is returned as its first byte.
func (n *uniqueNames) markup(s string) (text string, length int) {
	end := strings.IndexByte(s[:min(len(s), maxMarkup)], '>')
	if end < 2 || strings.ContainsAny(s[1:end], "<\n") {
		return s[:1], 1
	}
	inner, length := s[1:end], end+1
	id, label, _ := strings.Cut(inner[1:], "|")
	label = oneLine(label, maxName)
	switch inner[0] {
	case '@':
		id = strings.TrimPrefix(strings.TrimPrefix(id, "!"), "&")
		if !isID(id) {
			return s[:1], 1
		}
		if _, known := n.byID[earshot.AuthorID(id)]; !known && (n.byID == nil || n.keepsIDs && label == "") && !n.self.Is(earshot.AuthorID(id)) {
			return s[:length], length
		}
		return "@" + n.mentionedName(earshot.AuthorID(id), label), length
	case '#':
		if !isID(id) {
			return s[:1], 1
		}
		return "#" + firstOf(strings.TrimPrefix(label, "#"), id), length
	case '!':
		kind, arg, _ := strings.Cut(id, "^")
		switch kind {
		case "here", "channel", "everyone":
			return "@" + kind, length
		case "subteam":
			return "@" + firstOf(strings.TrimPrefix(label, "@"), arg), length
		case "date":
			if label != "" {
				return label, length
			}
		}
	}
	return s[:length], length
}

// namedLink is a link with a label: <https://…|label>.
var namedLink = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9+.-]*:[^<>|\s]+)\|([^<>|\n]+)>`)

// shortLinks leaves out the label of a link that is its address once more: but for
// the scheme, a slash at the end, and what was cut off. Chat programs write such
// labels themselves.
func shortLinks(s string) string {
	if !strings.Contains(s, "|") {
		return s
	}
	bare := func(s string) string {
		s = strings.TrimSpace(s)
		if scheme, rest, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "/") {
			s = rest
		}
		return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "mailto:"), "/"))
	}
	return namedLink.ReplaceAllStringFunc(s, func(link string) string {
		address, label, _ := strings.Cut(link[1:len(link)-1], "|")
		whole, part := bare(address), bare(label)
		begin := strings.TrimSuffix(strings.TrimSuffix(part, "…"), "...")
		if whole == part || begin != part && begin != "" && strings.HasPrefix(whole, begin) {
			return "<" + address + ">"
		}
		return link
	})
}

// labelSigns writes angle brackets in the labels of links. In the stored form one would
// close the link, so characters that look alike stand for them there. A < that would
// open something stays what it is.
func labelSigns(s string) string {
	if !strings.ContainsAny(s, "‹›") {
		return s
	}
	return namedLink.ReplaceAllStringFunc(s, func(link string) string {
		address, label, _ := strings.Cut(link, "|")
		return address + "|" + strings.NewReplacer("›", ">", "‹ ", "< ").Replace(label)
	})
}

// isID reports whether s looks like a platform's id.
func isID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

// firstOf returns a, or b where a is empty.
func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
