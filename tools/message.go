package tools

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// Said is what every answer tells of a message. What is not its author's own
// words has fields of its own and is never in the text.
type said struct {
	MessageID   string              `json:"message_id"`
	TS          string              `json:"ts"`
	Author      assemble.AuthorRef  `json:"author"`
	Text        string              `json:"text"`
	IsTruncated bool                `json:"is_truncated"`
	Edited      bool                `json:"edited,omitzero"`
	Media       []assemble.MediaRef `json:"media"`
	Reactions   []string            `json:"reactions,omitzero"`
	Shared      []quoted            `json:"shared,omitzero"`

	whole string // Text, uncut
}

// A quoted is what a message quotes.
type quoted struct {
	Kind        earshot.SharedKind `json:"kind"`
	Author      string             `json:"author,omitzero"`
	Place       string             `json:"place,omitzero"`
	TS          string             `json:"ts,omitzero"`
	Text        string             `json:"text"`
	IsTruncated bool               `json:"is_truncated,omitzero"`

	whole string
}

// Bounds of what is told of a message besides its text.
const (
	maxQuoted    = 10
	maxReactions = 20
	maxFiles     = 50
	maxLine      = 120 // graphemes of a place, an id, a media type
	maxName      = 40  // graphemes
)

// cut shortens the texts to so many graphemes each; 0: not at all.
func (x *said) cut(most int) {
	x.Text, x.IsTruncated = shorten(x.whole, most)
	for i := range x.Shared {
		q := &x.Shared[i]
		q.Text, q.IsTruncated = shorten(q.whole, most)
	}
}

// shorten cuts a text to so many graphemes and says whether it did.
func shorten(s string, most int) (string, bool) {
	if most <= 0 || len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s, false
	}
	short, cut := assemble.Cut(s, most)
	if cut {
		short += "…"
	}
	return short, cut
}

// A said message with what is not told of it in every answer.
type entry struct {
	message earshot.Message
	said    *said
	json    any  // said is in it
	first   bool // a thread's root: cut less than the others, and left out last
}

// say tells of messages, and by which names the authors of others go.
func (s *Set) say(list, others []earshot.Message) ([]said, []string) {
	s.meet(list)
	all := append(append([]earshot.Message{}, list...), others...)
	for _, m := range list {
		for _, q := range m.Shared[:min(len(m.Shared), maxQuoted)] {
			all = append(all, asMessage(q))
		}
	}
	spoken := s.speak(all)
	names := make([]string, len(others))
	for i := range others {
		names[i] = spoken[len(list)+i].Name
	}
	quotes := spoken[len(list)+len(others):]
	out := make([]said, len(list))
	for i, m := range list {
		out[i] = said{
			MessageID: line(string(m.ID), maxIDLength), TS: s.ts(m.Time), Edited: m.Edited != 0, Media: []assemble.MediaRef{}, whole: spoken[i].Text,
			Author: assemble.AuthorRef{UserID: line(string(m.Author.ID), maxLine), DisplayName: spoken[i].Name, IsBot: m.Author.Kind == earshot.Bot},
		}
		for _, f := range m.Files[:min(len(m.Files), maxFiles)] {
			out[i].Media = append(out[i].Media, assemble.MediaRef{
				ArtifactID: line(string(f.ID), maxIDLength), MediaType: line(f.Type, maxLine), Filename: assemble.FileName(f), ByteLength: f.Size,
			})
		}
		for _, r := range m.Reactions[:min(len(m.Reactions), maxReactions)] {
			out[i].Reactions = append(out[i].Reactions, ":"+strings.Trim(line(r.Name, maxName), ":")+": "+strconv.Itoa(r.Count))
		}
		for _, q := range m.Shared[:min(len(m.Shared), maxQuoted)] {
			x := quoted{Kind: earshot.SharedKind(line(string(q.Kind), maxName)), Place: line(q.Place, maxLine), TS: s.ts(q.Time), whole: quotes[0].Text}
			if q.Author != "" || q.ID != "" {
				x.Author = quotes[0].Name
			}
			out[i].Shared = append(out[i].Shared, x)
			quotes = quotes[1:]
		}
		out[i].cut(0)
	}
	return out, names
}

// speak is where names and texts get the form that prompts have.
func (s *Set) speak(list []earshot.Message) []assemble.Spoken {
	return assemble.Speak(s.o.Identity, s.o.Names, s.o.Known, list)
}

// asMessage makes a quoted author somebody who can be told apart from the
// authors of messages. Only of a forward does the platform vouch for who said
// it; anybody else is told apart from everybody of that name, and stands behind
// them in the order of ids, so that nobody's name changes because of it.
func asMessage(q earshot.Shared) earshot.Message {
	a := earshot.Author{ID: q.ID, Name: q.Author, Kind: earshot.Human}
	if q.Kind != earshot.Forward || q.ID == "" {
		a.ID = "\U0010FFFD" + earshot.AuthorID(q.Author)
	}
	return earshot.Message{Author: a, Text: q.Text}
}

// line brings what is an id or a name to one clean line.
func line(s string, most int) string {
	s, _ = assemble.Cut(strings.Join(strings.Fields(assemble.Clean(s)), " "), most)
	return s
}
