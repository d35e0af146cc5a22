package discordmsg

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sortedLabels puts the longest names first, so that of two names of which one begins
// the other the right one is found.
func sortedLabels(list []mentionLabel) []mentionLabel {
	slices.SortStableFunc(list, func(a, b mentionLabel) int { return len(b.name) - len(a.name) })
	return list
}

// withMentions turns "@Ann" into a mention where the message mentions an Ann.
// DiscordChatExporter writes mentions as names, unless told otherwise.
func withMentions(s string, labels []mentionLabel) string {
	if len(labels) == 0 || strings.IndexByte(s, '@') < 0 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '@')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		if strings.HasSuffix(s[:i], "<") { // a mention already
			b.WriteByte('@')
			s = s[i+1:]
			continue
		}
		s = s[i+1:]
		l, ok := labelAt(s, labels)
		if !ok {
			b.WriteByte('@')
			continue
		}
		b.WriteString("<@" + l.id + formatLabel(l.name) + ">")
		s = s[len(l.name):]
	}
	return b.String() + s
}

// labelAt returns the label that s begins with, as a whole word.
func labelAt(s string, labels []mentionLabel) (mentionLabel, bool) {
	for _, l := range labels {
		if rest, ok := strings.CutPrefix(s, l.name); ok {
			next, _ := utf8.DecodeRuneInString(rest)
			if rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return l, true
			}
		}
	}
	return mentionLabel{}, false
}
