package assemble

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Opening is the user's message before what the assistant said, where a prompt would
// begin with that: providers demand that the user's comes first.
const Opening = "[this conversation goes on]"

// A prompt is the messages of a result while they are written, one for each
// run of a role, and of what stands apart. The text of the last one is in the builder
// until it is closed.
type prompt struct {
	apart    bool // what is added next begins a message
	messages []Message
	text     strings.Builder
	tokens   map[SectionName]int
	bytes    int // about how many this turn adds
	shows    int // about how many messages of chat this turn adds
	opening  int // what [Opening] costs
}

// What separates a piece of text from the text above it in its message.
const (
	nextLine  = "\n"
	nextBlock = "\n\n"
)

// add appends a piece to the last message after sep, or starts a message when
// the role changes.
func (w *prompt) add(role earshot.Role, section SectionName, sep, text string, tokens int) {
	n := len(w.messages)
	if n == 0 && role == earshot.Assistant {
		w.add(earshot.User, section, "", Opening, w.opening)
		n++
	}
	if n == 0 || w.messages[n-1].Role != role || w.apart {
		w.apart = false
		w.close()
		w.messages = append(w.messages, Message{Role: role})
		w.text.Grow(w.bytes)
		w.bytes = 0
		n++
	} else if w.text.Len() > 0 {
		w.text.WriteString(sep)
	}
	m := &w.messages[n-1]
	from := w.text.Len()
	w.text.WriteString(text)
	if !slices.Contains(m.Sections, section) {
		m.Sections = append(m.Sections, section)
	}
	if k := len(m.Spans); k > 0 && m.Spans[k-1].Section == section {
		m.Spans[k-1].To = w.text.Len()
	} else {
		m.Spans = append(m.Spans, Span{section, from, w.text.Len()})
	}
	w.tokens[section] += tokens
}

// show adds a piece that is a message of chat, behind its first lead bytes, which
// are not.
func (w *prompt) show(m *msg, role earshot.Role, section SectionName, sep, text string, lead, tokens int) {
	w.add(role, section, sep, text, tokens)
	to := w.text.Len()
	w.passage(m, to-len(text)+lead, to)
}

// passage records that a stretch of the last message shows m.
func (w *prompt) passage(m *msg, from, to int) {
	last := &w.messages[len(w.messages)-1]
	if last.Passages == nil && w.shows > 0 {
		last.Passages, w.shows = make([]Passage, 0, w.shows), 0
	}
	last.Passages = append(last.Passages, Passage{m.ID, from, to})
}

// showJSON adds a piece of typed JSON that contains messages of chat: parts are
// their values, in the order in which they stand in whole.
func (w *prompt) showJSON(section SectionName, whole string, parts []jsonPart, tokens int) {
	w.add(earshot.User, section, nextLine, whole, tokens)
	start, at := w.text.Len()-len(whole), 0
	for _, p := range parts {
		// A text in JSON has its quotes escaped, so that it cannot contain a value.
		text := compactJSON(p.value)
		from := at + strings.Index(whole[at:], text)
		at = from + len(text)
		w.passage(p.m, start+from, start+at)
	}
}

// close gives the last message its text.
func (w *prompt) close() {
	if n := len(w.messages); n > 0 {
		w.messages[n-1].Text = w.text.String()
		w.text = strings.Builder{}
	}
}

// open reports whether the last message is the user's and has text.
func (w *prompt) open() bool {
	n := len(w.messages)
	return n > 0 && w.messages[n-1].Role == earshot.User && w.text.Len() > 0
}

// render writes the prompt in the policy's order, and explains it.
func (t *turn) render(p *fitPlan) Result {
	w := &prompt{tokens: map[SectionName]int{}, opening: t.tok(Opening)}
	system := t.systemText(p.guide)
	w.shows = 1 // the question
	for _, b := range t.blocks {
		w.shows += len(b.kept)
		for _, m := range b.kept {
			w.bytes += len(m.Text) + 48
		}
	}
	if p.guide {
		w.tokens[Guide] = t.countGuide()
	}
	if n := t.countInstructions(); n > 0 {
		w.tokens[Instructions] = n
	}
	for _, s := range t.sections {
		switch {
		case s.block != nil:
			s.block.layout.render(t, w, s.block)
		case s.kind.render != nil:
			s.kind.render(t, s.kind, w, p)
		}
	}
	w.messages[len(w.messages)-1].Media = p.media.attach
	w.tokens[Media] += p.media.cost
	return t.result(system, w, p)
}

// renderSkipped writes the line that stands for a block of which nothing fits.
func (t *turn) renderSkipped(w *prompt, b *block) {
	if b.lineStands() {
		line := t.skippedLine(b, b.countOmitted())
		w.add(earshot.User, b.kind.name, nextBlock, line, t.tok(line)+1)
	}
}

// skippedLine stands in place of a block of which nothing fits. It names the block,
// except where the prompt has no other that it could be taken for.
func (t *turn) skippedLine(b *block, n int) string {
	title, sep, counts := b.kind.title(t), ": ", strconv.Itoa(n)+" messages were left out"
	if t.isLog() {
		sep, counts = "; ", olderNotShown(n)
	}
	if t.oneBlock {
		return "[" + counts + "]"
	}
	return "[" + title + sep + counts + "]"
}
