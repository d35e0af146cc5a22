package slackmsg

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// composedMessage is a message in two parts: in Slack's form what its author or its
// bot wrote, and in the stored form what it quotes.
type composedMessage struct {
	own    string
	shared []quotedContent
}

// compose gathers a message from text, blocks and attachments, each piece once
// and on one side. kind is its author's: of a bot the attachments are its own
// words, of anybody else they are quoted.
func (r *reader) compose(m value, kind earshot.AuthorKind) composedMessage {
	text := m.At("text")
	if t := m.Get("text"); !t.Absent() && t.Kind != '"' {
		r.note("text: not a string")
		text = object(t)
	}
	typed := person(m)
	c := composedMessage{own: text}
	if blocks := m.Get("blocks"); typed {
		c = r.typed(text, blocks)
	} else {
		c.own = merge(text, r.blocks(blocks))
	}
	var attached []paragraph
	list := m.Get("attachments")
	if !list.Absent() && !list.Array() {
		r.note("attachments: not a list")
	}
	said, quotes := &seenText{}, map[quotedContent]bool{}
	for i, a := range list.List {
		if !r.more() {
			break
		}
		if !a.Object() {
			r.note("attachments[" + strconv.Itoa(i) + "]: not an object")
			continue
		}
		if !isOwnAttachment(a, typed, kind) {
			if q, ok := r.quote(a, typed); ok && !quotes[q] {
				quotes[q] = true
				c.shared = append(c.shared, q)
			}
			continue
		}
		if said.empty() {
			said.add(c.own)
		}
		attached = append(attached, r.attachment(a, said, "")...)
	}
	if len(attached) > 0 {
		c.own = strings.TrimPrefix(c.own+"\n"+joinParagraphs(attached), "\n")
	}
	return c
}

// isOwnAttachment reports whether an attachment is what the message's author says: all
// that a bot attaches to its own message without a mark of a share or an
// unfurl, and the tables that a person pastes, which Slack sends as attachments
// of nothing else.
func isOwnAttachment(a value, typed bool, kind earshot.AuthorKind) bool {
	switch {
	case isMarkedQuote(a):
		return false
	case kind == earshot.Bot:
		return true
	case !typed || byApp(a):
		return false
	}
	return tables(a.Get("blocks")) &&
		a.First("pretext", "author_name", "title", "text", "footer") == "" && len(a.Get("fields").List)+len(a.Get("message_blocks").List) == 0
}

// typed composes what a person typed in Slack's client. Its text and its rich
// text are two forms of the same words, and tables are the person's too. Other
// blocks are somebody else's (a client sends none; Slack adds a call's, say):
// what only they show is quoted.
func (r *reader) typed(text string, blocks value) composedMessage {
	mine, theirs := value{Kind: blocks.Kind}, value{Kind: '['}
	silent := strings.TrimSpace(text) == ""
	for _, b := range blocks.List {
		kind := b.At("type")
		_, known := layouts[kind]
		switch {
		case silent && known, table(kind), !b.Object():
			mine.List = append(mine.List, b)
		case kind != "rich_text":
			theirs.List = append(theirs.List, b)
		}
	}
	c := composedMessage{own: text}
	if silent {
		c.own = merge(text, r.blocks(mine))
	} else if more := missingFrom(text, r.blocks(mine)); len(more) > 0 {
		c.own += "\n" + joinParagraphs(more)
	}
	if more := missingFrom(c.own, r.blocks(theirs)); len(more) > 0 {
		q := quotedContent{SharedContent: earshot.SharedContent{Kind: earshot.AppQuote}, unfurled: true}
		q.Text = r.quotable(joinParagraphs(more))
		c.shared = append(c.shared, q)
	}
	return c
}

// table reports whether blocks of a type are tables.
func table(kind string) bool { return kind == "table" || kind == "data_table" }

// tables reports whether blocks are tables and nothing else.
func tables(blocks value) bool {
	for _, b := range blocks.List {
		if !table(b.At("type")) {
			return false
		}
	}
	return len(blocks.List) > 0
}

// merge joins a message's text with the paragraphs of its blocks. Slack shows the
// blocks and uses text for notifications. Where the blocks contain all of text, the
// result is the blocks; otherwise it is text, then the paragraphs that text lacks.
func merge(text string, blocks []paragraph) string {
	if len(blocks) == 0 {
		return text
	}
	said := comparableWords(text)
	if said == " " && strings.TrimSpace(text) == "" || said != " " && strings.Contains(comparableWords(strings.Join(texts(blocks), "\n")), said) {
		return joinParagraphs(blocks)
	}
	if more := missingFrom(text, blocks); len(more) > 0 {
		return text + "\n" + joinParagraphs(more)
	}
	return text
}

// missingFrom returns the paragraphs whose words a text does not contain.
func missingFrom(text string, list []paragraph) []paragraph {
	if len(list) == 0 {
		return nil
	}
	said := comparableWords(text)
	var out []paragraph
	for _, p := range list {
		if !containsWords(said, text, p.text) {
			out = append(out, p)
		}
	}
	return out
}

// containsWords reports whether a text contains the words of p. said is words(text).
func containsWords(said, text, p string) bool {
	w := comparableWords(p)
	if w == " " {
		return strings.Contains(text, strings.TrimSpace(p))
	}
	return strings.Contains(said, w)
}

// attachment returns the texts of an attachment that are not in said yet, each once,
// and adds them to said. kind is that of a quote, whose author, and for a forward
// whose footer, are fields of their own; "" where the attachment is the message's
// own.
func (r *reader) attachment(a value, said *seenText, kind earshot.SharedKind) []paragraph {
	var out []paragraph
	add := func(list ...paragraph) {
		for _, p := range list {
			p.text = strings.TrimSpace(p.text)
			if p.text != "" && r.piece() && said.add(p.text) {
				out = append(out, p)
			}
		}
	}
	say := func(s string) { add(paragraph{text: s}) }
	say(a.At("pretext"))
	if kind == "" {
		say(escape(a.At("author_name")))
		say(title(a))
	} else {
		say(escape(a.At("title")))
	}
	say(a.At("text"))
	add(r.blocks(a.Get("blocks"))...)
	for _, b := range a.Get("message_blocks").List {
		add(r.blocks(b.Get("message").Get("blocks"))...)
	}
	for _, f := range a.Get("fields").List {
		if !r.more() {
			break
		}
		say(field(f))
	}
	if len(out) == 0 {
		say(fallback(a))
	}
	add(r.links(a.Get("actions"))...)
	if kind != earshot.Forward {
		say(escape(a.At("footer")))
	}
	return out
}

// A seenText is the text so far, by which a repeated piece is recognised.
type seenText struct {
	words strings.Builder
	text  strings.Builder
}

func (t *seenText) empty() bool { return t.text.Len() == 0 }

// add adds a text, unless it is contained already. It reports whether it did.
func (t *seenText) add(s string) bool {
	if containsWords(t.words.String(), t.text.String(), s) {
		return false
	}
	t.words.WriteString(comparableWords(s))
	t.text.WriteString(s)
	t.text.WriteByte('\n')
	return true
}

// field writes a field of an attachment on one line.
func field(f value) string {
	name, text := escape(f.At("title")), f.At("value")
	if name == "" || text == "" {
		return name + text
	}
	return name + ": " + text
}

// title is an attachment's title with its link.
func title(a value) string {
	t := a.At("title")
	if s := link(a.At("title_link"), t); t != "" && s != "" {
		return s
	}
	return escape(t)
}

// fallback is an attachment's text for clients that cannot show it.
func fallback(a value) string {
	if s := a.At("fallback"); !strings.HasPrefix(s, "[no preview available") {
		return escape(s)
	}
	return ""
}
