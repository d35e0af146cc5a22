package discord

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
)

// A newThread is the body that begins a thread.
type newThread struct {
	Name string `json:"name"`
}

// maxThreadName is how many characters of the question name its thread. Discord takes
// 100; a list of threads shows about half of that.
const maxThreadName = 80

var (
	mentioned = regexp.MustCompile(`<[@#][!&]?[^<>|]*\|([^<>]*)>`)
	emoji     = regexp.MustCompile(`<a?(:\w+:)\d+>`)
	pointed   = regexp.MustCompile(`<[@#][!&]?\d+>`)
)

// threadName is the first line of a question, in which the bot is not named.
func threadName(self earshot.Identity, m earshot.Message) string {
	text := self.WithoutMentions(m.Text)
	text = mentioned.ReplaceAllString(text, "$1")
	text = emoji.ReplaceAllString(text, "$1")
	text = pointed.ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), " ,:;>#*_`~|-")
		if line != "" {
			return shorten(line, maxThreadName)
		}
	}
	if m.Author.Name != "" {
		return shorten("Question by "+m.Author.Name, maxThreadName)
	}
	return "Question"
}

// shorten cuts a text to at most most characters, between words where it can, and
// never within what a reader sees as one character.
func shorten(s string, most int) string {
	if len([]rune(s)) <= most {
		return s
	}
	end, word, n := 0, 0, 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		from, to := g.Positions()
		if n += len(g.Runes()); n > most-1 {
			break
		}
		if s[from] == ' ' {
			word = from
		}
		end = to
	}
	if word > end/2 {
		end = word
	}
	if end == 0 {
		return string([]rune(s)[:most])
	}
	return strings.TrimRight(s[:end], " ") + "…"
}
