package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Spoken is a message as prompts write it: nobody can pass for somebody
// else, and nothing in it is invisible.
type Spoken struct {
	Name  string   // of the author, one line, told apart from all others
	Bot   bool     // the author is another bot
	Text  string   // what was said, with mentions as people read them
	Files []string // names
}

// Speak writes messages as prompts do, in the order given. The authors of
// known, which may be empty, are told apart from theirs: where known are the
// messages of a prompt and held the names that its conversation uses, people
// have the names that they have there.
func Speak(self earshot.Identity, held []earshot.Named, known, messages []earshot.Message) []Spoken {
	all := make([]*msg, 0, len(known)+len(messages))
	for _, list := range [][]earshot.Message{known, messages} {
		for i := range list {
			all = append(all, &msg{Message: &list[i]})
		}
	}
	slices.SortStableFunc(all, func(x, y *msg) int { return x.Position().Compare(y.Position()) })
	n := newNames(self, "bot", all, held)
	out := make([]Spoken, len(messages))
	for i, m := range messages {
		out[i] = Spoken{
			Name: n.name(m.Author), Bot: m.Author.Kind == earshot.Bot && !self.Is(m.Author.ID),
			Text: strings.TrimSpace(escapeTags(n.resolveMentions(clean(m.Text)))),
		}
		for _, f := range m.Files {
			out[i].Files = append(out[i].Files, FileName(f))
		}
	}
	return out
}

// Clean removes from s what a reader cannot see and a forger can use: control,
// bidirectional, zero-width and tag characters. It is idempotent.
func Clean(s string) string { return clean(s) }

// Cut returns the first n graphemes of s, and whether that is less than all.
func Cut(s string, n int) (string, bool) {
	short := firstGraphemes(s, n)
	return short, len(short) < len(strings.TrimRight(s, " \t\n"))
}
