package inspect

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
)

// A promptPart is a message of the prompt as the model gets it; the system text is the
// first one.
type promptPart struct {
	Role     string         `json:"role"`           // system, user, assistant or tool
	Turn     earshot.TurnID `json:"turn,omitempty"` // of the session: the turn that said it
	Segments []segment      `json:"segments"`
	Media    []string       `json:"media,omitempty"` // files that are attached to it
	Calls    []callData     `json:"calls,omitempty"`
	Call     string         `json:"call,omitempty"`   // of a tool's answer: the id of the call
	Failed   bool           `json:"failed,omitempty"` // of a tool's answer: it says what went wrong
	Opaque   int            `json:"opaque_bytes,omitempty"`

	session bool
}

type callData struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// A segment is a stretch of the prompt that shows one message, or none.
type segment struct {
	Section assemble.SectionName `json:"section"`
	Message earshot.MessageID    `json:"message,omitempty"`
	Text    string               `json:"text"`

	index int    // in the prompt
	of    int    // the candidate that it shows; -1 for none
	shown string // the text as a page shows it: of whole lines without the last line break
	lines bool   // it is whole lines
}

// A sectionPart is consecutive segments of one section.
type sectionPart struct {
	section  assemble.SectionName
	first    bool // no part before it is of this section
	segments []segment
}

// promptOf lays out a prompt, and notes in the candidates where each is shown.
func promptOf(e *explain.Explanation, list []candidate) []promptPart {
	index := make(map[earshot.MessageID]int, len(list))
	for i := range list {
		index[list[i].ID] = i
	}
	var parts []promptPart
	at := -2 // the part of the last segment
	for i, s := range e.Segments {
		if s.Part != at {
			parts = append(parts, partOf(e, s))
			at = s.Part
		}
		p := &parts[len(parts)-1]
		g := segment{Section: s.Section, Message: s.Shows, Text: s.Text, index: i, of: -1}
		if of, ok := index[s.Shows]; ok && s.Shows != "" {
			g.of = of
			if list[of].line < 0 || e.Segments[list[of].line].Turn != 0 {
				list[of].line = i // where this turn shows it, else where the session does
			}
		}
		p.Segments = append(p.Segments, g)
	}
	for i := range parts {
		lay(parts[i].Segments)
	}
	return parts
}

// lay decides how the segments of a message stand on a page. The line break behind a
// segment belongs to its line, not to the segment that follows.
func lay(list []segment) {
	for i := range list {
		list[i].shown = list[i].Text
	}
	begins := true // a line
	for i := range list {
		g := &list[i]
		if i+1 < len(list) && !strings.HasSuffix(g.shown, "\n") && strings.HasPrefix(list[i+1].shown, "\n") {
			g.shown += "\n"
			list[i+1].shown = list[i+1].shown[1:]
		}
		ends := i+1 == len(list) || strings.HasSuffix(g.shown, "\n")
		if g.lines = begins && ends; g.lines {
			g.shown = strings.TrimSuffix(g.shown, "\n")
		}
		begins = ends || g.shown == "" && begins
	}
}

// partOf describes the message of the prompt that a segment begins.
func partOf(e *explain.Explanation, s explain.Segment) promptPart {
	if s.Part < 0 {
		return promptPart{Role: "system"}
	}
	m := e.Result.Messages[s.Part]
	p := promptPart{Role: string(m.Role), Turn: s.Turn, Call: m.Call, Failed: m.Failed, Opaque: len(m.Opaque), session: s.Turn != 0 || s.Section == assemble.SessionPart}
	for _, id := range m.Media {
		p.Media = append(p.Media, fileName(e, id))
	}
	for _, c := range m.Calls {
		p.Calls = append(p.Calls, callData(c))
	}
	return p
}

// fileName returns the name of a file, or its id where no message has it.
func fileName(e *explain.Explanation, id earshot.ArtifactID) string {
	for _, m := range e.Input.Messages {
		for _, f := range m.Files {
			if f.ID == id {
				return assemble.FileName(f)
			}
		}
	}
	return string(id)
}

// stretches returns a part's segments, grouped by section. What separates two sections
// stands at the end of the first. Before has the sections that were written already.
func (p *promptPart) stretches(before map[assemble.SectionName]bool) []sectionPart {
	var out []sectionPart
	for _, g := range p.Segments {
		if n := len(out); n == 0 || g.Section != "" && out[n-1].section != g.Section {
			out = append(out, sectionPart{section: g.Section, first: !before[g.Section]})
			before[g.Section] = true
		}
		last := &out[len(out)-1]
		last.segments = append(last.segments, g)
	}
	return out
}

// A promptGroup is what a page folds: the system text, an earlier turn of the session,
// or this turn, which is open.
type promptGroup struct {
	kind  string // system, session or now
	turn  earshot.TurnID
	parts []promptPart
}

// groupParts returns the prompt in the parts that a page folds.
func groupParts(parts []promptPart) []promptGroup {
	var out []promptGroup
	for _, p := range parts {
		kind := "now"
		switch {
		case p.Role == "system":
			kind = "system"
		case p.session:
			kind = "session"
		}
		if n := len(out); n == 0 || out[n-1].kind != kind || kind == "session" && out[n-1].turn != p.Turn {
			out = append(out, promptGroup{kind: kind, turn: p.Turn})
		}
		last := &out[len(out)-1]
		last.parts = append(last.parts, p)
	}
	return out
}

// words are the first words of a group, for its heading.
func (g promptGroup) words() string {
	for _, p := range g.parts {
		for _, s := range p.Segments {
			if s.Text != "" {
				return s.Text
			}
		}
	}
	return ""
}

// lineCount is how many lines a group has.
func (g promptGroup) lineCount() int {
	n := 0
	for _, p := range g.parts {
		text := ""
		for _, s := range p.Segments {
			text += s.Text
		}
		n += strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	}
	return n
}
