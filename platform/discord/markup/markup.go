package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
)

// MaxText is how many characters a message may have. Discord counts code points
// (github.com/discord/discord-api-docs/issues/1315).
const MaxText = 2000

// Write writes Markdown as the content of a message, of at most [MaxText] characters. It
// mentions nobody but those in may, and them only where the text has <@id>.
// Where what it adds makes a text longer than that, less is added: the columns of
// tables are not aligned, and then the text stays as it is, but for its mentions. What
// is longer all the same is cut.
func Write(source string, may ...earshot.AuthorID) string {
	source = strings.ToValidUTF8(source, "\uFFFD")
	for _, aligned := range [...]bool{true, false} {
		if out := defuse(formatBlocks(source, aligned), may); fitsMessage(out) {
			return out
		}
	}
	if out := defuse(source, may); fitsMessage(out) {
		return out
	}
	return cutText(withoutMentions(source))
}

func fitsMessage(s string) bool { return utf8.RuneCountInString(s) <= MaxText }

// cutText cuts a text to MaxText characters, where it can not within what a reader sees as
// one.
func cutText(s string) string {
	if fitsMessage(s) {
		return s
	}
	end, n := 0, 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if n += len(g.Runes()); n > MaxText-1 {
			break
		}
		_, end = g.Positions()
	}
	if end == 0 {
		return string([]rune(s)[:MaxText-1]) + "…"
	}
	return s[:end] + "…"
}
