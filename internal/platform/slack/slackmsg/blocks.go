package slackmsg

import (
	"strconv"
	"strings"
)

// parts of a message that are looked at. Slack allows 50 blocks and 100
// attachments; what is beyond these bounds is left out with a note.
const (
	maxParts    = 2000 // paragraphs of blocks, and of attachments
	maxElements = 20000
)

// A reader collects the paragraphs of a message in Slack's form.
type reader struct {
	names    Names
	elements int
	notes    []string
}

func (r *reader) note(s string) {
	if len(r.notes) < 20 {
		r.notes = append(r.notes, s)
	}
}

// more counts an element, and reports false once there are too many.
func (r *reader) more() bool {
	r.elements++
	if r.elements == maxElements {
		r.note("blocks: more than " + strconv.Itoa(maxElements) + " elements")
	}
	return r.elements < maxElements
}

// blocks returns the paragraphs of Block Kit blocks, in order.
func (r *reader) blocks(blocks value) []string {
	if !blocks.absent() && !blocks.array() {
		r.note("blocks: not a list")
	}
	var out []string
	for i, b := range blocks.list {
		if !r.more() {
			break
		}
		if !b.object() {
			r.note("blocks[" + strconv.Itoa(i) + "]: not an object")
			continue
		}
		for _, p := range r.block(b) {
			if strings.TrimSpace(p) != "" {
				out = append(out, p)
			}
		}
		if len(out) > maxParts {
			r.note("blocks: more than " + strconv.Itoa(maxParts) + " paragraphs")
			return out[:maxParts]
		}
	}
	return out
}

func (r *reader) block(b value) []string {
	switch b.at("type") {
	case "rich_text":
		return r.richText(b.get("elements"))
	case "section":
		out := []string{object(b.get("text"))}
		for _, f := range b.get("fields").list {
			if r.more() {
				out = append(out, object(f))
			}
		}
		if a := b.get("accessory"); a.at("type") == "image" {
			out = append(out, escape(a.at("alt_text")))
		}
		return out
	case "context":
		var line []string
		for _, e := range b.get("elements").list {
			if !r.more() {
				break
			}
			s := object(e)
			if e.at("type") == "image" {
				s = escape(e.at("alt_text"))
			}
			if s != "" {
				line = append(line, s)
			}
		}
		return []string{strings.Join(line, " ")}
	case "image", "video":
		return []string{object(b.get("title")), object(b.get("description")), escape(b.at("alt_text"))}
	case "markdown":
		return []string{escape(b.at("text"))}
	case "table":
		return r.table(b.get("rows"))
	case "data_table":
		return append([]string{object(b.get("caption"))}, r.table(b.get("rows"))...)
	case "actions", "divider", "file", "context_actions":
		return nil // nothing that anyone said
	}
	out := []string{object(b.get("title")), object(b.get("label")), object(b.get("text")), object(b.get("description"))}
	return append(out, r.richText(b.get("elements"))...)
}

// object reads a text object, or a text given as a bare string.
func object(v value) string {
	if v.object() {
		if v.at("type") == "mrkdwn" {
			return v.at("text")
		}
		return escape(v.at("text"))
	}
	return escape(v.str())
}

// table writes one line a row.
func (r *reader) table(rows value) []string {
	var out []string
	for _, row := range rows.list {
		var cells []string
		for _, c := range row.list {
			if !r.more() {
				return out
			}
			if c.at("type") == "rich_text" {
				cells = append(cells, strings.Join(r.richText(c.get("elements")), " "))
			} else {
				cells = append(cells, firstOf(object(c), escape(c.at("value"))))
			}
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return out
}

// richText returns one paragraph for each section, list item, quote and
// preformatted block.
func (r *reader) richText(elements value) []string {
	var out []string
	for _, e := range elements.list {
		if !r.more() {
			break
		}
		switch e.at("type") {
		case "rich_text_list":
			out = append(out, r.richList(e)...)
		case "rich_text_quote":
			s := r.inline(e.get("elements"), false)
			out = append(out, "&gt; "+strings.ReplaceAll(s, "\n", "\n&gt; "))
		case "rich_text_preformatted":
			out = append(out, "```\n"+strings.TrimSuffix(r.inline(e.get("elements"), false), "\n")+"\n```")
		case "rich_text_section":
			out = append(out, strings.Trim(r.inline(e.get("elements"), true), "\n"))
		default:
			out = append(out, r.inline(value{list: []value{e}}, true))
		}
	}
	return out
}

func (r *reader) richList(list value) []string {
	var out []string
	indent := strings.Repeat("    ", int(min(max(list.get("indent").int(), 0), 8)))
	number := int(min(max(list.get("offset").int(), 0), 1<<20))
	for _, item := range list.get("elements").list {
		if !r.more() {
			break
		}
		mark := "• "
		if list.at("style") == "ordered" {
			number++
			mark = strconv.Itoa(number) + ". "
		}
		s := r.inline(item.get("elements"), true)
		out = append(out, indent+mark+strings.ReplaceAll(s, "\n", "\n"+indent+"  "))
	}
	return out
}

// inline writes the elements of a section; styled adds Slack's marks for bold,
// italic, strike and code.
func (r *reader) inline(elements value, styled bool) string {
	var b strings.Builder
	for _, e := range elements.list {
		if !r.more() {
			break
		}
		s := r.element(e)
		if styled {
			s = style(s, e.get("style"))
		}
		b.WriteString(s)
	}
	return b.String()
}

func (r *reader) element(e value) string {
	switch e.at("type") {
	case "text":
		return escape(e.at("text"))
	case "link":
		url, label := markupSafe(e.at("url")), markupSafe(e.at("text"))
		switch {
		case url == "":
			return label
		case label == "" || label == url:
			return "<" + url + ">"
		}
		return "<" + url + "|" + label + ">"
	case "user":
		if id := e.at("user_id"); isID(id) {
			return "<@" + id + ">"
		}
	case "channel":
		if id := e.at("channel_id"); isID(id) {
			return "<#" + id + ">"
		}
	case "usergroup":
		if id := e.at("usergroup_id"); isID(id) {
			return "<!subteam^" + id + ">"
		}
	case "broadcast":
		if s := e.at("range"); isID(s) {
			return "<!" + s + ">"
		}
	case "emoji":
		if name := e.at("name"); name != "" {
			return ":" + escape(name) + ":"
		}
	case "date":
		return escape(e.first("fallback", "timestamp"))
	case "color":
		return escape(e.at("value"))
	case "rich_text_section":
		return r.inline(e.get("elements"), true)
	}
	return escape(e.first("text", "fallback", "name", "title", "url"))
}

// markupSafe makes text fit between angle brackets.
func markupSafe(s string) string {
	return strings.NewReplacer("|", "%7C", "\n", " ", "\r", " ").Replace(escape(s))
}

// style marks text as Slack's markup does. White space stays outside.
func style(s string, st value) string {
	inner := strings.TrimSpace(s)
	if inner == "" || !st.object() {
		return s
	}
	i := strings.Index(s, inner)
	head, tail := s[:i], s[i+len(inner):]
	for _, m := range [...]struct{ name, mark string }{{"code", "`"}, {"strike", "~"}, {"italic", "_"}, {"bold", "*"}} {
		if st.get(m.name).bool() {
			inner = m.mark + inner + m.mark
		}
	}
	return head + inner + tail
}
