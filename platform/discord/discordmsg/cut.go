package discordmsg

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Bounds of what people see on one line, in characters: Discord's own, so that nothing that
// can be posted is cut (Discord's documentation, Embed Limits, Poll Media Object, Component
// Reference, Attachment Object).
const (
	maxTitle       = 256  // of embeds; so are their authors' names, and the names of fields
	maxQuestion    = 300  // of polls
	maxAnswer      = 55   // of polls
	maxControl     = 150  // labels, descriptions and placeholders of buttons, menus and fields
	maxDescription = 1024 // alternative texts
	maxValue       = 4000 // of a field of a form
	maxCommand     = 100  // names of commands, with those of their groups
	maxHost        = 253
	maxFileName    = 255
	maxExtension   = 16
)

// line makes one line of s, of at most n characters. What was cut ends with "…".
func line(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return tolerant.CutRunes(s, n-1) + "…"
}

// fileName makes one line of a file's name. A long one keeps its extension, which says what
// the file is.
func fileName(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	ext := path.Ext(s)
	if n := utf8.RuneCountInString(ext); utf8.RuneCountInString(s) > maxFileName && n <= maxExtension {
		return line(strings.TrimSuffix(s, ext), maxFileName-n) + ext
	}
	return line(s, maxFileName)
}

// bracket writes what Discord shows beside a message's words: "[sticker: wave]". What is
// said in it mentions nobody.
func bracket(what, said string) string { return "[" + what + ": " + escapeMarkup(said) + "]" }

// parts joins the parts of a bracket, without the empty ones.
func parts(list ...string) string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " · ")
}
