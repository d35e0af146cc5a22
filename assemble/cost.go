package assemble

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
)

// tok counts a short text. The names and headings of a turn come again and
// again, so counts are kept.
func (t *turn) tok(s string) int {
	if n, ok := t.counts[s]; ok {
		return n
	}
	n := t.in.Counter.Count(s)
	t.counts[s] = n
	return n
}

// countLines counts a text as the sum of its lines, a line break for one: a
// prompt's count is the sum of its parts', so that fitting is arithmetic.
func (t *turn) countLines(s string) int {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		n++
		if line != "" {
			n += t.in.Counter.Count(line)
		}
	}
	return n
}

// words returns what is written of m: the label, and what was said, cleaned,
// with mentions resolved, and which files came with it.
func (t *turn) words(m *msg) *written {
	if m.written == nil {
		var body string
		if t.isLog() {
			body = t.stored(m.Text)
		} else {
			body = t.content(m.Message)
		}
		m.written = &written{label: t.labelOf(m.Author), body: body}
	}
	return m.written
}

// content is all that a message says where one text holds it: its words, what
// it quotes, and which files came with it.
func (t *turn) content(m *earshot.Message) string {
	s := t.stored(m.Text)
	for _, x := range m.Shared {
		if s != "" {
			s += "\n"
		}
		s += "[" + t.sharedHead(x) + "] " + t.stored(x.Text)
	}
	return attach(s, m.Files)
}

// A label is what stands before the colon, and what that costs.
type label struct {
	kind earshot.AuthorKind
	text string
	cost int
}

// labelOf returns an author's label, made once for each.
func (t *turn) labelOf(a earshot.Author) *label {
	key := authorKey(a)
	l := t.labels[key]
	if l == nil || l.kind != a.Kind {
		text := t.names.label(a)
		if t.isLog() && t.in.Identity.Is(a.ID) {
			text += " (you)"
		}
		l = &label{a.Kind, text, t.in.Counter.Count(text + ": ")}
		t.labels[key] = l
	}
	return l
}

// label returns what stands before m's colon.
func (t *turn) label(m *msg) string { return t.words(m).label.text }

// stored makes a body of a stored text.
func (t *turn) stored(s string) string {
	return strings.TrimSpace(escapeTags(t.names.resolveMentions(clean(s))))
}

// maxFileName is how many graphemes of a file's name are shown.
const maxFileName = 100

// attach names the files behind a text.
func attach(text string, files []earshot.File) string {
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

// edited puts the mark before the body of an edited message.
func edited(m *msg, body string) string {
	if m.Edited != 0 {
		return "(edited) " + body
	}
	return guardEdited(body)
}

// guardEdited moves a text that begins with the mark of an edit by itself off
// by two spaces.
func guardEdited(body string) string {
	if strings.HasPrefix(body, "(edited)") {
		return "  " + body
	}
	return body
}

// line is a message at the start of a line, continuation lines indented.
func (t *turn) line(m *msg) string {
	return t.label(m) + ": " + indent(edited(m, t.body(m)))
}

// indent moves continuation lines off the start of the line, empty ones too.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// body is what m says as it is shown, cut where it was cut.
func (t *turn) body(m *msg) string {
	if m.verdict == isCut {
		return m.written.cut
	}
	return t.words(m).body
}

// fullCost is what m costs whole: its label, its text, its line breaks and
// their indents.
func (t *turn) fullCost(m *msg) int {
	w := t.words(m)
	if w.cost == 0 {
		n, known := t.in.Counter.Stored(m.Tokens)
		if !known || m.Tokens <= 0 || w.body != m.Text {
			n = t.in.Counter.Count(w.body)
		}
		w.cost = t.lineCost(m, w.body, n)
	}
	return w.cost
}

// lineCost adds to the tokens of a body what stands around it.
func (t *turn) lineCost(m *msg, body string, tokens int) int {
	n := tokens + 1 + m.written.label.cost + strings.Count(body, "\n")
	if m.Edited != 0 {
		n += t.tok("(edited) ")
	}
	return n
}

// cutCost is what m costs where no message may have more than limit tokens of
// text.
func (t *turn) cutCost(m *msg, limit int) int {
	w := t.words(m)
	if w.cutCost == 0 {
		w.cutCost = t.fullCost(m)
		if w.cutCost > limit {
			if cut, n := t.cutText(w.body, limit); cut != w.body {
				w.cut, w.cutCost = cut, t.lineCost(m, cut, n)
			}
		}
	}
	return w.cutCost
}

// cutText cuts s to at most limit tokens, the mark that counts what is missing
// included, on a grapheme boundary. It returns s itself when that fits.
func (t *turn) cutText(s string, limit int) (string, int) {
	if len(s) <= 64*limit {
		if n := t.in.Counter.Count(s); n <= limit {
			return s, n
		}
	}
	for keep := limit - t.tok(cutMark(888_888)); ; keep -= 4 {
		end := 0
		if keep > 0 {
			end = t.in.Counter.Prefix(s, keep)
		}
		head, missing := splitGraphemes(s, end)
		cut := head + cutMark(missing)
		if n := t.in.Counter.Count(cut); n <= limit || keep <= 0 {
			return cut, n
		}
	}
}

// splitGraphemes returns the longest prefix of s of whole graphemes that has
// at most end bytes, without white space at its end, and how many graphemes
// are missing.
func splitGraphemes(s string, end int) (head string, missing int) {
	at, state, rest := 0, -1, s
	for rest != "" {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(c) > end {
			missing = 1 + uniseg.GraphemeClusterCount(rest)
			break
		}
		at += len(c)
	}
	head = strings.TrimRight(s[:at], " \t\n")
	return head, missing + uniseg.GraphemeClusterCount(s[len(head):at])
}

// cutMark says how many characters are missing.
func cutMark(missing int) string { return "… [+" + grouped(missing) + " characters]" }
