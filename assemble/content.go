package assemble

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A label is what stands before a message's colon, and what that costs at most: where
// the log form has named somebody in a block, it leaves out the mark of a standing, and
// keeps that of words that are inert.
type label struct {
	kind   earshot.AuthorKind
	text   string
	marked string // with the mark
	cost   int
}

// labelOf returns an author's label, made once for each.
func (t *turn) labelOf(a earshot.Author) *label {
	key := authorKey(a)
	l := t.labels[key]
	if l == nil || l.kind != a.Kind {
		text, marked := t.names.labels(a)
		if t.isLog() && t.in.Identity.Is(a.ID) {
			text += " (you)"
			marked = text
		}
		l = &label{a.Kind, text, marked, t.in.Counter.Count(marked + ": ")}
		t.labels[key] = l
	}
	return l
}

// label returns what stands before m's colon.
func (t *turn) label(m *msg) string { return t.writtenOf(m).label.marked }

// writtenOf returns what is written of m: its label and its body. In the log form the
// body is the text alone; quotes and files have lines of their own there.
func (t *turn) writtenOf(m *msg) *writtenText {
	if m.written == nil {
		var body string
		if t.isLog() {
			body = t.renderStored(m.Text)
		} else {
			body = t.withLinked(t.withSubject(t.content(m.Message), m), m)
		}
		if !t.isLog() && m != t.anchor && m != t.root() && t.inForum() && t.ofForum(m) {
			body = t.titleLine(m)
		}
		m.written = &writtenText{label: t.labelOf(m.Author), body: body}
	}
	return m.written
}

// content is all of a message in one text: its own, what it quotes, and the names
// of its files.
func (t *turn) content(m *earshot.Message) string {
	s := t.renderStored(m.Text)
	for _, x := range m.Shared {
		if s != "" {
			s += "\n"
		}
		s += "[" + t.sharedHead(x) + "] " + t.renderStored(x.Text)
	}
	return appendFileNames(s, m.Files)
}

// renderStored returns a stored text as prompts show it: cleaned, mentions resolved; in the log
// form the address of a link stands once.
func (t *turn) renderStored(s string) string {
	s = clean(s)
	if t.isLog() {
		s = shortLinks(s)
	}
	return strings.TrimSpace(escapeTags(labelSigns(t.names.resolveMentions(s))))
}

// maxFileName is how many graphemes of a file's name are shown.
const maxFileName = 100

// appendFileNames writes the names of files behind a text.
func appendFileNames(text string, files []earshot.File) string {
	if len(files) == 0 {
		return text
	}
	var list []string
	for _, f := range files {
		list = append(list, FileName(f))
	}
	line := "[attached: " + strings.Join(list, ", ") + "]"
	if text == "" {
		return line
	}
	return text + " " + line
}

// FileName returns a file's name as prompts show it: cleaned, on one line, at
// most 100 graphemes; the id of a file without a name.
func FileName(f earshot.File) string {
	return escapeTags(firstOf(firstOf(oneLine(f.Name, maxFileName), oneLine(string(f.ID), maxFileName)), "file"))
}

// markEdited puts the mark before the body of an edited message.
func markEdited(m *msg, body string) string {
	if m.Edited != 0 {
		return "(edited) " + body
	}
	return guardEdited(body)
}

// guardEdited indents a text that itself begins with the mark of an edit.
func guardEdited(body string) string {
	if strings.HasPrefix(body, "(edited)") {
		return "  " + body
	}
	return body
}

// line is m with its label, its further lines indented.
func (t *turn) line(m *msg) string {
	return t.label(m) + ": " + indentLines(markEdited(m, t.body(m)))
}

// indentLines indents the further lines of a text, empty ones too.
func indentLines(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// body is the text of m as it is shown, cut where that was decided.
func (t *turn) body(m *msg) string {
	if m.verdict == isCut {
		return m.written.cut
	}
	return t.writtenOf(m).body
}

// maxReactions is how many kinds of reactions a row shows.
const maxReactions = 20

// formatReactions writes a message's reactions as ":eyes: 2".
func formatReactions(m *earshot.Message) []string {
	out := []string{}
	for _, r := range m.Reactions[:min(len(m.Reactions), maxReactions)] {
		out = append(out, ":"+emojiName(r.Name)+": "+strconv.Itoa(r.Count))
	}
	return out
}

// maxReactors is how many persons are named behind a reaction. Of more only the count
// is told.
const maxReactors = 4

// reactorsOf returns who gave a reaction, by id, where all are known by name and few.
// The agent needs no name.
func reactorsOf(m *earshot.Message, r earshot.Reaction) []earshot.Reactor {
	if m.Reactors == nil || r.Count > maxReactors {
		return nil
	}
	var out []earshot.Reactor
	for _, x := range m.Reactors.List {
		if x.Emoji == r.Name && x.ID != "" {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b earshot.Reactor) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name)) })
	out = slices.CompactFunc(out, func(a, b earshot.Reactor) bool { return a.ID == b.ID })
	if len(out) != r.Count {
		return nil
	}
	return out
}

// reactionsLine writes a message's reactions with who gave them, as
// ":eyes: 2 (Alice, you), :tada: 9".
func (t *turn) reactionsLine(m *earshot.Message) string {
	list := formatReactions(m)
	for i := range list {
		var who []string
		self := false
		for _, x := range reactorsOf(m, m.Reactions[i]) {
			if name, known := t.names.byID[x.ID]; known {
				who = append(who, name)
			}
			self = self || t.in.Identity.Is(x.ID)
		}
		slices.Sort(who)
		if self {
			who = append(who, "you")
		}
		if len(who) == m.Reactions[i].Count {
			list[i] += " (" + strings.Join(who, ", ") + ")"
		}
	}
	return strings.Join(list, ", ")
}

// emojiName is a reaction's name as one word, without the characters that
// separate reactions.
func emojiName(s string) string {
	s = strings.Trim(oneLine(s, maxName), ":")
	if strings.Contains(s, "::") { // a skin tone: thumbsup::skin-tone-2
		s = strings.ReplaceAll(s, "::", "-")
	}
	return strings.Map(func(r rune) rune {
		if r == ':' || r == ',' || r == ' ' || looksLikeColon(r) {
			return '_'
		}
		return r
	}, s)
}
