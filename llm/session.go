package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// Record returns messages of a request as entries of a session: one for each
// message, and one for each result of a tool. [FromResult] makes the same
// messages of the entries, so that a later request begins with an earlier one.
//
// The content of files is not kept: an entry names its files, and the content is
// given again with [Options.Media]. What Text, Calls and Media of an entry cannot
// express is in its Opaque, as the JSON of parts: of an assistant's message all
// parts; of a user's message the parts before the text; of a tool's result the
// parts behind the text.
func Record(messages []Message) []earshot.SessionEntry {
	var out []earshot.SessionEntry
	for _, m := range messages {
		switch {
		case m.Role == earshot.Assistant:
			out = append(out, recordAnswer(m.Parts))
		case holdsResults(m):
			for _, p := range m.Parts {
				if p.Kind == KindResult && p.Result != nil {
					out = append(out, recordResult(*p.Result))
				}
			}
		default:
			out = append(out, recordQuestion(m.Parts))
		}
	}
	return out
}

func recordAnswer(parts []Part) earshot.SessionEntry {
	r := Response{Parts: parts}
	e := earshot.SessionEntry{Role: earshot.Assistant, Text: r.Text()}
	for _, c := range r.Calls() {
		e.Calls = append(e.Calls, earshot.Call(c))
	}
	if !plainAnswer(parts) {
		e.Opaque = writeParts(parts)
	}
	return e
}

// plainAnswer reports whether parts are at most a text, then calls, and without
// any opaque JSON.
func plainAnswer(parts []Part) bool {
	for i, p := range parts {
		if p.Opaque != nil || p.Kind != KindCall && (p.Kind != KindText || i > 0) {
			return false
		}
	}
	return true
}

func recordResult(r Result) earshot.SessionEntry {
	e := earshot.SessionEntry{Role: earshot.ToolRole, Call: r.Call, Failed: r.Failed, Media: mediaOf(r.Parts)}
	rest := r.Parts
	if len(rest) > 0 && rest[0].Kind == KindText {
		e.Text, rest = rest[0].Text, rest[1:]
	}
	if len(rest) > 0 {
		e.Opaque = writeParts(rest)
	}
	return e
}

func recordQuestion(parts []Part) earshot.SessionEntry {
	e := earshot.SessionEntry{Role: earshot.User, Media: mediaOf(parts)}
	if n := len(parts); n > 0 && parts[n-1].Kind == KindText {
		e.Text, parts = parts[n-1].Text, parts[:n-1]
	}
	if len(parts) > 0 {
		e.Opaque = writeParts(parts)
	}
	return e
}

func mediaOf(parts []Part) []earshot.ArtifactID {
	var ids []earshot.ArtifactID
	for _, p := range parts {
		if p.Media != nil && p.Media.ID != "" && !slices.Contains(ids, p.Media.ID) {
			ids = append(ids, p.Media.ID)
		}
	}
	return ids
}

// Bare returns a copy of parts without the content of files, also of those in
// results.
func Bare(parts []Part) []Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if p.Media != nil {
			m := *p.Media
			m.Data = nil
			parts[i].Media = &m
		}
		if p.Result != nil {
			r := *p.Result
			r.Parts = Bare(r.Parts)
			parts[i].Result = &r
		}
	}
	return parts
}

func writeParts(parts []Part) string {
	raw, err := json.Marshal(Bare(parts))
	if err != nil {
		panic("llm: " + err.Error()) // cannot happen: parts are texts and bytes
	}
	return string(raw)
}

// readParts reads what writeParts wrote; nil for anything else, such as an
// imported entry has.
func readParts(s string) []Part {
	var parts []Part
	if s == "" || json.Unmarshal([]byte(s), &parts) != nil {
		return nil
	}
	return parts
}

// SessionLength returns how many messages at the beginning of the request that
// [FromResult] makes were sent or received in earlier turns: those that come from
// the session alone.
func SessionLength(result assemble.Result) int {
	n := 0
	for i := 0; i < len(result.Messages); i += countMerged(result.Messages[i:]) {
		m := result.Messages[i]
		if !ofSession(m) {
			break
		}
		if i == 0 && m.Role == earshot.Assistant {
			n++ // the opening
		}
		if m.Text != "" || m.Opaque != "" || len(m.Media)+len(m.Calls) > 0 || m.Role == earshot.ToolRole {
			n++
		}
	}
	return n
}

// ofSession reports whether a message comes from the session alone.
func ofSession(m assemble.Message) bool {
	return len(m.Sections) > 0 && !slices.ContainsFunc(m.Sections, func(s assemble.SectionName) bool { return s != assemble.SessionPart })
}

// countMerged returns how many messages at the beginning become one message of a request:
// consecutive results of tools do.
func countMerged(messages []assemble.Message) int {
	n := 1
	for messages[0].Role == earshot.ToolRole && n < len(messages) && messages[n].Role == earshot.ToolRole {
		n++
	}
	return n
}

// questionParts returns the parts of a user's message.
func questionParts(m assemble.Message, o *Options) ([]Part, error) {
	parts, err := fileParts(m.Media, o)
	if kept := readParts(m.Opaque); kept != nil {
		parts, err = fillParts(kept, o)
	}
	if m.Text != "" {
		parts = append(parts, Text(m.Text))
	}
	return parts, err
}

// answerParts returns the parts of the assistant's message: those that were recorded,
// where their calls are the message's, else its text and calls.
func answerParts(m assemble.Message) []Part {
	kept := Response{Parts: readParts(m.Opaque)}
	calls := make([]earshot.Call, 0, len(m.Calls))
	for _, c := range kept.Calls() {
		calls = append(calls, earshot.Call(c))
	}
	if len(kept.Parts) > 0 && slices.Equal(calls, m.Calls) {
		return kept.Parts
	}
	var parts []Part
	if m.Text != "" {
		parts = append(parts, Text(m.Text))
	}
	for _, c := range m.Calls {
		parts = append(parts, Calling(Call(c)))
	}
	return parts
}

// resultParts returns the parts of the results of the calls in one message.
func resultParts(messages []assemble.Message, called []Part, o *Options) ([]Part, error) {
	names := map[string]string{}
	for _, c := range (Response{Parts: called}).Calls() {
		names[c.ID] = c.Name
	}
	var list []Result
	for _, m := range messages {
		r := Result{Call: m.Call, Name: names[m.Call], Failed: m.Failed}
		if m.Text != "" {
			r.Parts = append(r.Parts, Text(m.Text))
		}
		files, err := fileParts(m.Media, o)
		if kept := readParts(m.Opaque); kept != nil {
			files, err = fillParts(kept, o)
		}
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, files...)
		list = append(list, r)
	}
	return Results(list...), nil
}

// fillParts returns recorded parts with the content of their files.
func fillParts(parts []Part, o *Options) ([]Part, error) {
	out := make([]Part, 0, len(parts))
	for _, p := range parts {
		if p.Media == nil {
			out = append(out, p)
			continue
		}
		given, err := filePart(p.Media.ID, o)
		if err != nil {
			return nil, err
		}
		if given.Media != nil {
			given.Media.Name = p.Media.Name
		}
		out = append(out, given)
	}
	return out, nil
}

// hasNameLine reports whether a file's name is written before it. Adapters write that of
// a text file themselves.
func hasNameLine(m Media) bool { return m.Name != "" && !strings.HasPrefix(m.Type, "text/") }
