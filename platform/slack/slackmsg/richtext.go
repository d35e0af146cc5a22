package slackmsg

import (
	"strconv"
	"strings"
)

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
		s := r.inline(value{list: []value{item}}, true)
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
	case "link", "url":
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
	default:
		if said := texts(r.members(e, true)); len(said) > 0 {
			return strings.Join(said, " ")
		}
	}
	return escape(e.first("text", "fallback", "name", "title", "url"))
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
