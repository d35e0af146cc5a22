package slackmsg

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Bounds of markup. A label is cut to maxLabel characters, a span in angle
// brackets is looked at for maxSpan bytes, an id has at most maxID.
const (
	maxLabel = 80
	maxSpan  = 4096
	maxID    = 64
)

// escape writes plain text in Slack's form, in which & < > are entities. What
// is an entity already stays: Slack escapes some plain texts and not others.
func escape(s string) string {
	if !strings.ContainsAny(s, "&<>") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<':
			b.WriteString("&lt;")
		case s[i] == '>':
			b.WriteString("&gt;")
		case s[i] == '&' && entity(s[i:]) == "":
			b.WriteString("&amp;")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// entity returns Slack's entity at the start of s, or "".
func entity(s string) string {
	for _, e := range [...]string{"&amp;", "&lt;", "&gt;"} {
		if strings.HasPrefix(s, e) {
			return e
		}
	}
	return ""
}

// plain resolves the entities of a text that holds no markup, such as a name.
func plain(s string) string { return plainer.Replace(s) }

var (
	plainer = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	// In an address or a label an angle bracket would close the link. An address has it
	// percent-encoded; a label has one that looks like it, which prompts show as what it was.
	urlSigns  = strings.NewReplacer("&amp;", "&", "&lt;", "%3C", "&gt;", "%3E")
	linkSigns = strings.NewReplacer("&amp;", "&", "&lt;", "‹", "&gt;", "›")
)

// stored turns text in Slack's form into the form that is kept: entities
// resolved, labels filled in, and nothing live that was not live before. It
// returns the users mentioned, in order, each once.
func (n Names) stored(s string) (text string, mentions []earshot.AuthorID) {
	if !strings.ContainsAny(s, "&<") {
		return s, nil
	}
	var b strings.Builder
	seen := map[earshot.AuthorID]bool{}
	for len(s) > 0 {
		i := strings.IndexAny(s, "&<")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if s[0] == '&' {
			e := entity(s)
			switch {
			case e == "":
				b.WriteByte('&')
				s = s[1:]
				continue
			case e == "&lt;" && opensMention(s[len(e):]):
				b.WriteString(e)
			default:
				b.WriteString(plain(e))
			}
			s = s[len(e):]
			continue
		}
		out, id, length := n.span(s)
		b.WriteString(out)
		s = s[length:]
		if id != "" && !seen[id] {
			seen[id] = true
			mentions = append(mentions, id)
		}
	}
	b.WriteString(s)
	return b.String(), mentions
}

// opensMention reports whether s, after a literal <, would be read as a mention.
// Characters that a reader does not see do not hide one: who shows the text
// may remove them.
func opensMention(s string) bool {
	for _, r := range s {
		if r == '@' || r == '#' || r == '!' {
			return true
		}
		if r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Mn) {
			return false
		}
	}
	return false
}

// span reads markup at the start of s, which begins with '<'. It returns what
// is stored, the user it mentions if any, and how many bytes were read. A <
// that begins no markup is written so that it can never begin a mention.
func (n Names) span(s string) (out string, id earshot.AuthorID, length int) {
	end := strings.IndexByte(s[:min(len(s), maxSpan)], '>')
	if end >= 2 && !strings.ContainsAny(s[1:end], "<\n\r") {
		if out, id, ok := n.markup(s[1:end]); ok {
			return out, id, end + 1
		}
	}
	if opensMention(s[1:]) {
		return "&lt;", "", 1
	}
	return "<", "", 1
}

// markup resolves what stands between angle brackets.
func (n Names) markup(inner string) (out string, id earshot.AuthorID, ok bool) {
	target, label, _ := strings.Cut(inner[1:], "|")
	switch inner[0] {
	case '@':
		if !isID(target) {
			return "", "", false
		}
		id = earshot.AuthorID(target)
		if a, ok := n.user(id); ok && a.Name != "" {
			label = a.Name
		}
		return "<@" + target + formatLabel(label) + ">", id, true
	case '#':
		if !isID(target) {
			return "", "", false
		}
		if label == "" && n.Channel != nil {
			label = n.Channel(earshot.ChannelID(target))
		}
		return "<#" + target + formatLabel(label) + ">", "", true
	case '!':
		if group, ok := strings.CutPrefix(target, "subteam^"); ok && label == "" && isID(group) && n.Group != nil {
			if label = n.Group(group); label != "" {
				return "<!" + target + formatLabel("@"+label) + ">", "", true
			}
		}
		return "<" + linkSigns.Replace(inner) + ">", "", true
	}
	scheme, _, found := strings.Cut(inner, ":")
	if !found || scheme == "" || strings.ContainsFunc(scheme, func(r rune) bool { return r > 'z' || !isIDByte(byte(r)) && r != '+' }) {
		return "", "", false
	}
	if target, label, ok := strings.Cut(inner, "|"); ok {
		return "<" + urlSigns.Replace(target) + "|" + linkSigns.Replace(label) + ">", "", true
	}
	return "<" + urlSigns.Replace(inner) + ">", "", true
}

// formatLabel writes a label after its bar, or nothing. A label cannot close its
// span or open another.
func formatLabel(s string) string {
	s = strings.Join(strings.FieldsFunc(plain(s), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>|", r)
	}), " ")
	if s == "" {
		return ""
	}
	return "|" + tolerant.CutRunes(s, maxLabel)
}

func isID(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxID
}

func isIDByte(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '_' || c == '-' || c == '.'
}

// comparableWords reduces text in Slack's form to what is compared when asking whether
// one text says what another has said: letters and digits in lower case, one
// space between words, a space at both ends. Of a mention the id counts, of a
// link the label.
func comparableWords(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	gap := true
	put := func(s string) {
		for _, r := range s {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r) && !unicode.Is(unicode.Variation_Selector, r) {
				b.WriteRune(unicode.ToLower(r))
				gap = false
			} else if !gap {
				b.WriteByte(' ')
				gap = true
			}
		}
	}
	for len(s) > 0 {
		i := strings.IndexAny(s, "&<")
		if i < 0 {
			break
		}
		put(s[:i])
		s = s[i:]
		if e := entity(s); e != "" {
			put(" ")
			s = s[len(e):]
			continue
		}
		end := strings.IndexByte(s[:min(len(s), maxSpan)], '>')
		if s[0] == '&' || end < 2 || strings.ContainsAny(s[1:end], "<\n\r") {
			put(" ")
			s = s[1:]
			continue
		}
		target, label, _ := strings.Cut(s[1:end], "|")
		if label == "" || strings.ContainsAny(target[:min(1, len(target))], "@#!") {
			label = target
		}
		put(" ")
		put(label)
		put(" ")
		s = s[end+1:]
	}
	put(s)
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}
