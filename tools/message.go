package tools

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// messageJSON is a message as every answer shows it. Text has its author's own
// words alone; everything else has fields of its own.
type messageJSON struct {
	MessageID   string              `json:"message_id"`
	TS          string              `json:"ts"`
	Author      assemble.AuthorRef  `json:"author"`
	Text        string              `json:"text"`
	IsTruncated bool                `json:"is_truncated"`
	Edited      bool                `json:"edited,omitzero"`
	ReplyTo     string              `json:"reply_to,omitzero"` // by reference, as on Discord: the id of a message of this channel
	Media       []assemble.MediaRef `json:"media"`
	Reactions   []string            `json:"reactions,omitzero"`
	Shared      []quotedJSON        `json:"shared,omitzero"`

	whole string // the text before it was cut
}

// A quotedJSON is something that a message quotes.
type quotedJSON struct {
	Kind        earshot.SharedKind `json:"kind"`
	Author      string             `json:"author,omitzero"`
	Place       string             `json:"place,omitzero"`
	TS          string             `json:"ts,omitzero"`
	Text        string             `json:"text"`
	IsTruncated bool               `json:"is_truncated,omitzero"`
	Trust       earshot.Lane       `json:"trust,omitzero"` // inert, where the quoted author's words are

	whole string
}

// Bounds of what is shown of a message besides its text.
const (
	maxQuoted    = 10
	maxReactions = 20
	maxFiles     = 50
	maxLine      = 120 // graphemes of a place, an id, a media type
	maxName      = 40  // graphemes
)

// cut cuts the message's text and its quotes to most graphemes each; 0 cuts
// nothing.
func (x *messageJSON) cut(most int) {
	x.Text, x.IsTruncated = shorten(x.whole, most)
	for i := range x.Shared {
		q := &x.Shared[i]
		q.Text, q.IsTruncated = shorten(q.whole, most)
	}
}

// shorten cuts a text to most graphemes, ends it with … where it did, and reports
// whether it did.
func shorten(s string, most int) (string, bool) {
	if most <= 0 || len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s, false
	}
	short, cut := assemble.CutGraphemes(s, most)
	if cut {
		short += "…"
	}
	return short, cut
}

// A shownMessage is one of an answer that may be cut or left out.
type shownMessage struct {
	message     earshot.Message
	messageJSON *messageJSON
	json        any  // what the answer has of the message: messageJSON, or more around it
	first       bool // a thread's root: cut less than the others, and left out last
}

// describe returns messages as answers show them, and the names of the authors of
// others.
func (s *Set) describe(list, others []earshot.Message) ([]messageJSON, []string) {
	s.noteFiles(list)
	all := append(append([]earshot.Message{}, list...), others...)
	for _, m := range list {
		for _, q := range m.Shared[:min(len(m.Shared), maxQuoted)] {
			all = append(all, asMessage(q))
		}
	}
	written := s.inPromptForm(all)
	names := make([]string, len(others))
	for i := range others {
		names[i] = written[len(list)+i].Name
	}
	quotes := written[len(list)+len(others):]
	out := make([]messageJSON, len(list))
	for i, m := range list {
		out[i] = messageJSON{
			MessageID: cleanLine(string(m.ID), maxIDLength), TS: s.ts(m.Time), Edited: m.Edited != 0, Media: []assemble.MediaRef{}, whole: written[i].Text,
			Author: assemble.AuthorRef{UserID: cleanLine(string(m.Author.ID), maxLine), DisplayName: written[i].Name, IsBot: m.Author.Kind == earshot.Bot,
				Standing: string(written[i].Standing), Team: written[i].Team},
		}
		if lane := s.laneOf(m.Author); lane != "" { // what is shown and out is a question that was answered
			out[i].Author.Trust = string(earshot.LaneInert)
		}
		if m.ReplyTo != m.ID {
			out[i].ReplyTo = cleanLine(string(m.ReplyTo), maxIDLength)
		}
		for _, f := range m.Files[:min(len(m.Files), maxFiles)] {
			out[i].Media = append(out[i].Media, assemble.MediaRef{
				ArtifactID: cleanLine(string(f.ID), maxIDLength), MediaType: cleanLine(f.Type, maxLine), Filename: assemble.FileName(f), ByteLength: f.Size,
			})
		}
		for _, r := range m.Reactions[:min(len(m.Reactions), maxReactions)] {
			out[i].Reactions = append(out[i].Reactions, ":"+strings.Trim(cleanLine(r.Name, maxName), ":")+": "+strconv.Itoa(r.Count))
		}
		for _, q := range m.Shared[:min(len(m.Shared), maxQuoted)] {
			x := quotedJSON{Kind: earshot.SharedKind(cleanLine(string(q.Kind), maxName)), Place: cleanLine(q.Place, maxLine), TS: s.ts(q.Time), whole: quotes[0].Text}
			if q.Lane == earshot.LaneInert {
				x.Trust = q.Lane
			}
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

// inPromptForm returns the names and texts of messages in the form that prompts
// have.
func (s *Set) inPromptForm(list []earshot.Message) []assemble.SpokenMessage {
	return assemble.Speak(s.o.Identity, s.o.Names, s.o.Known, list)
}

// asMessage returns a quote as a message, so that its author gets a name that
// tells them apart from the authors of messages. Only for a forward does the
// platform vouch for the author's id. Any other author is a person of their own,
// whose id sorts behind all others, so that nobody's name changes because of it.
func asMessage(q earshot.SharedContent) earshot.Message {
	a := earshot.Author{ID: q.ID, Name: q.Author, Kind: earshot.Human}
	if q.Kind != earshot.Forward || q.ID == "" {
		a.ID = "\U0010FFFD" + earshot.AuthorID(q.Author)
	}
	return earshot.Message{Author: a, Text: q.Text}
}

// cleanLine returns an id or a name as one clean line of at most most graphemes.
func cleanLine(s string, most int) string {
	s, _ = assemble.CutGraphemes(strings.Join(strings.Fields(assemble.Clean(s)), " "), most)
	return s
}
