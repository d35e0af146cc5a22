package explain

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A passage is where a message of the session shows a message of chat, and which
// turn recorded it.
type passage struct {
	turn     earshot.TurnID
	passages []assemble.Passage
}

// segments divides the prompt. session says of the prompt's first messages, which
// are the session's, what they show.
func (x *Explanation) segments(session []passage) {
	system, instructions := x.Result.System, ""
	if i := x.Input.Instructions; i != "" && strings.HasSuffix(system, i) {
		system, instructions = system[:len(system)-len(i)], i
	}
	for _, s := range []Segment{{Section: assemble.Guide, Text: system}, {Section: assemble.Instructions, Text: instructions}} {
		if s.Part = -1; s.Text != "" {
			x.Segments = append(x.Segments, s)
		}
	}
	for i := range x.Result.Messages {
		m := &x.Result.Messages[i]
		of := passage{passages: m.Passages}
		if i < len(session) {
			of = session[i]
		}
		x.divide(i, m, of)
	}
}

// divide adds the segments of one message of the prompt.
func (x *Explanation) divide(part int, m *assemble.Message, of passage) {
	first, at, shown := len(x.Segments), 0, of.passages
	add := func(section assemble.SectionName, shows earshot.MessageID, to int) {
		if to > at {
			x.Segments = append(x.Segments, Segment{Part: part, Role: m.Role, Section: section, Shows: shows, Turn: of.turn, Text: m.Text[at:to]})
			at = to
		}
	}
	for _, span := range m.Spans {
		add("", "", span.From)
		for len(shown) > 0 && shown[0].From >= span.From && shown[0].To <= span.To {
			add(span.Section, "", shown[0].From)
			add(span.Section, shown[0].Message, shown[0].To)
			shown = shown[1:]
		}
		add(span.Section, "", span.To)
	}
	add("", "", len(m.Text))
	if len(x.Segments) == first { // only calls or files
		s := Segment{Part: part, Role: m.Role, Turn: of.turn}
		if len(m.Sections) > 0 {
			s.Section = m.Sections[0]
		}
		x.Segments = append(x.Segments, s)
	}
}
