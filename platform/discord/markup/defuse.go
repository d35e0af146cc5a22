package markup

import (
	"regexp"
	"strings"

	"github.com/earshot-ai/earshot"
)

// unseen is a character that nobody sees, and that no mention may contain: a zero
// width space.
const unseen = "\u200b"

var (
	// <@1> <@!1> <@&1> <#1> </name:1> <id:customize>: Reference, Message Formatting.
	pointed  = regexp.MustCompile(`<(@[!&]?[0-9]|#[0-9]|/[^<>\n]{1,200}:[0-9]|id:[a-z])`)
	everyone = regexp.MustCompile(`(?i)@(everyone|here)`)
)

// defuse takes apart what would mention somebody but those in may, or a channel or
// command. A reader sees the text as it was written.
func defuse(s string, may []earshot.AuthorID) string {
	for _, id := range may {
		if before, after, ok := strings.Cut(s, "<@"+string(id)+">"); ok {
			return defuse(before, may) + "<@" + string(id) + ">" + defuse(after, may)
		}
	}
	s = pointed.ReplaceAllString(s, "<"+unseen+"$1")
	return everyone.ReplaceAllString(s, "@"+unseen+"$1")
}

// withoutMentions does so by leaving out marks, where a text must not become longer.
func withoutMentions(s string) string {
	for { // removing one mark may form another
		next := everyone.ReplaceAllString(pointed.ReplaceAllString(s, "$1"), "$1")
		if next == s {
			return s
		}
		s = next
	}
}
