package slackmsg

import (
	"strconv"
	"strings"
)

// richText returns one paragraph for each section, list item, quote and
// preformatted block.
func (r *reader) richText(elements value) []string {
	var out []string
	for _, e := range elements.List {
		if !r.more() {
			break
		}
		switch e.At("type") {
		case "rich_text_list":
			out = append(out, r.richList(e)...)
		case "rich_text_quote":
			s := r.inline(e.Get("elements"), false)
			out = append(out, "&gt; "+strings.ReplaceAll(s, "\n", "\n&gt; "))
		case "rich_text_preformatted":
			out = append(out, "```\n"+strings.TrimSuffix(r.inline(e.Get("elements"), false), "\n")+"\n```")
		case "rich_text_section":
			out = append(out, strings.Trim(r.inline(e.Get("elements"), true), "\n"))
		default:
			out = append(out, r.inline(value{List: []value{e}}, true))
		}
	}
	return out
}

func (r *reader) richList(list value) []string {
	var out []string
	indent := strings.Repeat("    ", int(min(max(list.Get("indent").Int(), 0), 8)))
	number := int(min(max(list.Get("offset").Int(), 0), 1<<20))
	for _, item := range list.Get("elements").List {
		if !r.more() {
			break
		}
		mark := "• "
		if list.At("style") == "ordered" {
			number++
			mark = strconv.Itoa(number) + ". "
		}
		s := r.inline(value{List: []value{item}}, true)
		out = append(out, indent+mark+strings.ReplaceAll(s, "\n", "\n"+indent+"  "))
	}
	return out
}

// inline writes the elements of a section; styled adds Slack's marks for bold,
// italic, strike and code.
func (r *reader) inline(elements value, styled bool) string {
	var b strings.Builder
	for _, e := range elements.List {
		if !r.more() {
			break
		}
		s := r.element(e)
		if styled {
			s = style(s, e.Get("style"))
		}
		b.WriteString(s)
	}
	return b.String()
}

func (r *reader) element(e value) string {
	switch e.At("type") {
	case "text":
		return escape(e.At("text"))
	case "link", "url":
		url, label := markupSafe(e.At("url")), markupSafe(e.At("text"))
		switch {
		case url == "":
			return label
		case label == "" || label == url:
			return "<" + url + ">"
		}
		return "<" + url + "|" + label + ">"
	case "user":
		if id := e.At("user_id"); isID(id) {
			return "<@" + id + ">"
		}
	case "channel":
		if id := e.At("channel_id"); isID(id) {
			return "<#" + id + ">"
		}
	case "usergroup":
		if id := e.At("usergroup_id"); isID(id) {
			return "<!subteam^" + id + ">"
		}
	case "broadcast":
		if s := e.At("range"); isID(s) {
			return "<!" + s + ">"
		}
	case "emoji":
		if name := e.At("name"); name != "" {
			return ":" + escape(name) + ":"
		}
	case "date":
		return escape(e.First("fallback", "timestamp"))
	case "color":
		return escape(e.At("value"))
	case "rich_text_section":
		return r.inline(e.Get("elements"), true)
	default:
		if said := texts(r.members(e, true)); len(said) > 0 {
			return strings.Join(said, " ")
		}
	}
	return escape(e.First("text", "fallback", "name", "title", "url"))
}

// inlines are the types of elements that are parts of one line of rich text.
var inlines = map[string]bool{
	"text": true, "link": true, "user": true, "channel": true, "usergroup": true, "broadcast": true, "emoji": true, "date": true, "color": true,
}

// markupSafe makes text fit between angle brackets.
func markupSafe(s string) string {
	return strings.NewReplacer("|", "%7C", "\n", " ", "\r", " ").Replace(escape(s))
}

// style marks text as Slack's markup does. White space stays outside.
func style(s string, st value) string {
	inner := strings.TrimSpace(s)
	if inner == "" || !st.Object() {
		return s
	}
	i := strings.Index(s, inner)
	head, tail := s[:i], s[i+len(inner):]
	for _, m := range [...]struct{ name, mark string }{{"code", "`"}, {"strike", "~"}, {"italic", "_"}, {"bold", "*"}} {
		if st.Get(m.name).Bool() {
			inner = m.mark + inner + m.mark
		}
	}
	return head + inner + tail
}
