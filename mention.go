package earshot

import (
	"regexp"
	"slices"
	"strings"
)

// Isolation is the sign in a question that asks for an answer without context.
const Isolation = "🚫"

// Isolated reports whether m is a question to be answered without context.
func (m *Message) Isolated() bool { return strings.Contains(m.Text, Isolation) }

// WithoutIsolation returns text without the sign, and without the variation
// selector that some keyboards put behind it.
func WithoutIsolation(text string) string {
	return strings.NewReplacer(Isolation+"\uFE0F", "", Isolation, "").Replace(text)
}

// MentionedIn reports whether m mentions the agent: in its list of mentions, or
// by an id anywhere in its text, code included. A name in running text is no
// mention. Whether m also calls for an answer is a question to CalledIn.
func (x Identity) MentionedIn(m *Message) bool {
	if slices.ContainsFunc(m.Mentions, x.Is) {
		return true
	}
	s := m.Text
	for {
		i := strings.Index(s, "<@")
		if i < 0 {
			return false
		}
		s = s[i+2:]
		end := strings.IndexAny(s, ">|")
		if end >= 0 && x.Is(AuthorID(strings.TrimPrefix(s[:end], "!"))) {
			return true
		}
	}
}

// CalledIn reports whether m mentions the agent outside of code and addresses,
// and so asks it for something. Where the text does not have the id at all, the
// list of mentions decides.
func (x Identity) CalledIn(m *Message) bool {
	if slices.ContainsFunc(m.Called(), x.Is) {
		return true
	}
	for _, found := range mention.FindAllStringSubmatch(m.Text, -1) {
		if x.Is(AuthorID(found[1])) {
			return false // in code or an address only
		}
	}
	return slices.ContainsFunc(m.Mentions, x.Is)
}

// Called returns who is mentioned in m's text outside of code and addresses, in
// the order of the text.
func (m *Message) Called() []AuthorID {
	if !strings.Contains(m.Text, "<@") {
		return nil
	}
	text := m.Text
	for _, r := range []*regexp.Regexp{fencedCode, inlineCode, address} {
		text = r.ReplaceAllString(text, " ")
	}
	var ids []AuthorID
	for _, found := range mention.FindAllStringSubmatch(text, -1) {
		ids = append(ids, AuthorID(found[1]))
	}
	return ids
}

// CalledGroups returns the ids of Slack's user groups and of Discord's roles that are
// mentioned in m's text outside of code and addresses.
func (m *Message) CalledGroups() []string {
	if !strings.Contains(m.Text, "<!subteam^") && !strings.Contains(m.Text, "<@&") {
		return nil
	}
	text := m.Text
	for _, r := range []*regexp.Regexp{fencedCode, inlineCode, address} {
		text = r.ReplaceAllString(text, " ")
	}
	var ids []string
	for _, found := range group.FindAllStringSubmatch(text, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// WithoutMentions returns text with each mention of the agent replaced by a
// space. Mentions of others stay.
func (x Identity) WithoutMentions(text string) string {
	if !strings.Contains(text, "<@") {
		return text
	}
	return mention.ReplaceAllStringFunc(text, func(s string) string {
		if x.Is(AuthorID(mention.FindStringSubmatch(s)[1])) {
			return " "
		}
		return s
	})
}

// A mention in the stored form, and what a mention does not count in.
var (
	mention    = regexp.MustCompile(`<@[!&]?([A-Za-z0-9_.-]+)(?:\|[^<>\n]*)?>`)
	group      = regexp.MustCompile(`<(?:!subteam\^|@&)([A-Za-z0-9]+)(?:\|[^<>\n]*)?>`)
	fencedCode = regexp.MustCompile("(?s)```.*?(?:```|$)")
	inlineCode = regexp.MustCompile("`[^`\n]+`")
	address    = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<]*(?:<@[^\s>]*>?)?[^\s<]*`)
)
