package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A SpokenMessage is a message as prompts write it: its author's name is unique, and
// nothing in it is invisible.
type SpokenMessage struct {
	Name string // of the author, on one line
	Bot  bool   // the author is another bot

	Standing earshot.Standing // the author's
	Team     string           // the organisation of who is external
	Text     string           // with mentions as people read them
	Files    []string         // names
}

// Speak writes messages as prompts do, in the order given, for tools that answer
// with messages. known are the messages of the prompt and names those that its
// conversation uses ([ConversationState.Names]); both may be empty. Authors who are
// among known have the same names here.
func Speak(self earshot.Identity, names []earshot.SessionName, known, messages []earshot.Message) []SpokenMessage {
	all := make([]*msg, 0, len(known)+len(messages))
	for _, list := range [][]earshot.Message{known, messages} {
		for i := range list {
			all = append(all, &msg{Message: &list[i]})
		}
	}
	slices.SortStableFunc(all, byPosition)
	n := newNames(self, "bot", all, nil, EmojiAsker{}, names)
	out := make([]SpokenMessage, len(messages))
	for i, m := range messages {
		out[i] = SpokenMessage{
			Name: n.name(m.Author), Bot: m.Author.Kind == earshot.Bot && !self.Is(m.Author.ID),
			Standing: n.standing(m.Author).is, Team: n.standing(m.Author).team,
			Text: strings.TrimSpace(escapeTags(n.resolveMentions(clean(m.Text)))),
		}
		for _, f := range m.Files {
			out[i].Files = append(out[i].Files, FileName(f))
		}
	}
	return out
}

// Clean removes from s what a reader cannot see and a forger can use: control,
// bidirectional, zero-width and tag characters. Cleaning twice changes nothing
// more.
func Clean(s string) string { return clean(s) }

// CutGraphemes returns the first n graphemes of s, and whether that is less than all.
func CutGraphemes(s string, n int) (short string, cut bool) {
	short = firstGraphemes(s, n)
	return short, len(short) < len(strings.TrimRight(s, " \t\n"))
}
