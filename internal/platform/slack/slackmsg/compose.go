package slackmsg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// composed is a message in two parts: in Slack's form what its author or its
// bot wrote, and in the stored form what it quotes.
type composed struct {
	own    string
	shared []quoted
}

// compose gathers a message from text, blocks and attachments, each piece once
// and on one side. kind is its author's: of a bot the attachments are its own
// words, of anybody else they are quoted.
func (r *reader) compose(m value, kind earshot.AuthorKind) composed {
	text := m.at("text")
	if t := m.get("text"); !t.absent() && t.kind != '"' {
		r.note("text: not a string")
		text = object(t)
	}
	typed := person(m)
	c := composed{own: text}
	if blocks := m.get("blocks"); !typed || strings.TrimSpace(text) == "" {
		c.own = merge(text, r.blocks(blocks))
	} else {
		// A person's text and blocks are two forms of the same words, but for tables.
		said := words(text)
		for _, row := range r.blocks(tables(blocks)) {
			if !says(said, text, row) {
				c.own += "\n" + row
			}
		}
	}
	list := m.get("attachments")
	if !list.absent() && !list.array() {
		r.note("attachments: not a list")
	}
	said := ""
	for i, a := range list.list {
		if !r.more() {
			break
		}
		if !a.object() {
			r.note("attachments[" + strconv.Itoa(i) + "]: not an object")
			continue
		}
		if !own(a, typed, kind) {
			if q, ok := r.quote(a, typed); ok && !slices.Contains(c.shared, q) {
				c.shared = append(c.shared, q)
			}
			continue
		}
		if said == "" {
			said = words(c.own)
		}
		lines := r.attachment(a, said, "")
		if len(lines) > 0 {
			add := strings.Join(lines, "\n")
			c.own = strings.TrimPrefix(c.own+"\n"+add, "\n")
			said += words(add)
		}
	}
	return c
}

// own reports whether an attachment is what the message's author says: all
// that a bot attaches to its own message without a mark of a share or an
// unfurl, and the tables that a person pastes, which Slack sends as attachments
// of nothing else.
func own(a value, typed bool, kind earshot.AuthorKind) bool {
	switch {
	case marked(a):
		return false
	case kind == earshot.Bot:
		return true
	case !typed || byApp(a):
		return false
	}
	blocks := a.get("blocks")
	return len(blocks.list) > 0 && len(tables(blocks).list) == len(blocks.list) &&
		a.first("pretext", "author_name", "title", "text", "footer") == "" && len(a.get("fields").list)+len(a.get("message_blocks").list) == 0
}

// tables returns those blocks that are tables.
func tables(blocks value) value {
	out := value{kind: '['}
	for _, b := range blocks.list {
		if t := b.at("type"); t == "table" || t == "data_table" {
			out.list = append(out.list, b)
		}
	}
	return out
}

// merge joins a message's text with the paragraphs of its blocks. Slack shows
// the blocks and keeps text for notifications: where the blocks say all that
// text says they stand alone, otherwise what only they say follows it.
func merge(text string, blocks []string) string {
	if len(blocks) == 0 {
		return text
	}
	all := strings.Join(blocks, "\n")
	if said := words(text); said == " " && strings.TrimSpace(text) == "" || said != " " && strings.Contains(words(all), said) {
		return all
	}
	said := words(text)
	lines := []string{text}
	for _, p := range blocks {
		if !says(said, text, p) {
			lines = append(lines, p)
		}
	}
	return strings.Join(lines, "\n")
}

// says reports whether a text, given also as its words, says p already.
func says(said, text, p string) bool {
	w := words(p)
	if w == " " {
		return strings.Contains(text, strings.TrimSpace(p))
	}
	return strings.Contains(said, w)
}

// attachment returns what an attachment says, each piece once and without what
// is said already. kind is that of a quote, whose author and, of a forward,
// whose footer are told beside the text; "" where it is the message's own.
func (r *reader) attachment(a value, said string, kind earshot.SharedKind) []string {
	var lines []string
	add := func(s string) {
		s = strings.TrimSpace(s)
		w := words(s)
		again := strings.Contains(said, w)
		if w == " " { // it has no words, as an emoji has none
			again = slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, s) })
		}
		if s == "" || again {
			return
		}
		lines = append(lines, s)
		said += w
	}
	add(a.at("pretext"))
	if kind == "" {
		add(escape(a.at("author_name")))
		add(title(a))
	} else {
		add(escape(a.at("title")))
	}
	add(a.at("text"))
	for _, p := range r.blocks(a.get("blocks")) {
		add(p)
	}
	for _, b := range a.get("message_blocks").list {
		for _, p := range r.blocks(b.get("message").get("blocks")) {
			add(p)
		}
	}
	for _, f := range a.get("fields").list {
		if !r.more() {
			break
		}
		add(field(f))
	}
	if len(lines) == 0 {
		add(fallback(a))
	}
	if kind != earshot.Forward {
		add(escape(a.at("footer")))
	}
	return lines
}

// field writes a field of an attachment on one line.
func field(f value) string {
	name, text := escape(f.at("title")), f.at("value")
	if name == "" || text == "" {
		return name + text
	}
	return name + ": " + text
}

// title is an attachment's title with its link.
func title(a value) string {
	t, link := a.at("title"), markupSafe(a.at("title_link"))
	if t == "" || !strings.Contains(link, "://") {
		return escape(t)
	}
	return "<" + link + "|" + markupSafe(t) + ">"
}

// fallback is an attachment's text for clients that cannot show it.
func fallback(a value) string {
	if s := a.at("fallback"); !strings.HasPrefix(s, "[no preview available") {
		return escape(s)
	}
	return ""
}
