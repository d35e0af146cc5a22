package slackmsg

import (
	"strconv"
	"strings"
)

// unfurled reports whether Slack or an app made the attachment from a link in
// the text. Such attachments come and go after the message was posted, so they
// are no part of what its author wrote.
func unfurled(a value) bool {
	for _, k := range [...]string{"is_msg_unfurl", "is_reply_unfurl", "is_thread_root_unfurl", "is_app_unfurl"} {
		if a.get(k).bool() && !a.get("is_share").bool() {
			return true
		}
	}
	return a.first("from_url", "original_url", "app_unfurl_url") != "" && !a.get("is_share").bool()
}

// shared reports whether the attachment shows what stands elsewhere: a
// forwarded message, the message behind a link, a web page.
func shared(a value) bool { return a.get("is_share").bool() || unfurled(a) }

// composed is the text of a message in Slack's form, in two parts: what its
// author or its bot wrote, and what is shown from elsewhere.
type composed struct {
	own    string
	shared []string
}

// text returns both parts as they are stored.
func (c composed) text() string {
	var lines []string
	if strings.TrimSpace(c.own) != "" {
		lines = append(lines, c.own)
	}
	return strings.Join(append(lines, c.shared...), "\n")
}

// compose gathers the text of a message from text, blocks and attachments,
// each piece once. person says that people's rule holds: their text and blocks
// are two forms of the same words.
func (r *reader) compose(m value, person bool) composed {
	text := m.at("text")
	if t := m.get("text"); !t.absent() && t.kind != '"' {
		r.note("text: not a string")
		text = object(t)
	}
	var c composed
	c.own = text
	if !person || strings.TrimSpace(text) == "" {
		c.own = merge(text, r.blocks(m.get("blocks")))
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
		if shared(a) {
			if s := r.source(a); s != "" && !contains(c.shared, s) {
				c.shared = append(c.shared, s)
			}
			continue
		}
		if said == "" {
			said = words(c.own)
		}
		lines := r.attachment(a, said)
		if len(lines) > 0 {
			add := strings.Join(lines, "\n")
			c.own = strings.TrimPrefix(c.own+"\n"+add, "\n")
			said += words(add)
		}
	}
	return c
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

// attachment returns the lines of an attachment that a bot posted, without
// what is said already.
func (r *reader) attachment(a value, said string) []string {
	var lines []string
	add := func(s string) {
		s = strings.TrimSpace(s)
		if s == "" || says(said, said, s) {
			return
		}
		lines = append(lines, s)
		said += words(s)
	}
	add(a.at("pretext"))
	add(escape(a.at("author_name")))
	add(title(a))
	add(a.at("text"))
	for _, p := range r.blocks(a.get("blocks")) {
		add(p)
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
	add(escape(a.at("footer")))
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

// source writes what is shown from elsewhere, attributed to where it is from:
// "Shared from Bob: …".
func (r *reader) source(a value) string {
	var body []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !contains(body, s) {
			body = append(body, s)
		}
	}
	if !a.get("is_msg_unfurl").bool() && !a.get("is_share").bool() {
		add(escape(a.at("title")))
	}
	add(a.at("text"))
	for _, p := range r.blocks(a.get("blocks")) {
		if !says(words(strings.Join(body, "\n")), "", p) {
			add(p)
		}
	}
	if len(body) == 0 {
		for _, mb := range a.get("message_blocks").list {
			for _, p := range r.blocks(mb.get("message").get("blocks")) {
				add(p)
			}
		}
	}
	for _, f := range a.get("fields").list {
		if !r.more() {
			break
		}
		add(field(f))
	}
	if len(body) == 0 {
		add(fallback(a))
	}
	if len(body) == 0 && len(a.get("files").list) == 0 {
		return ""
	}
	return "Shared from " + escape(r.origin(a)) + ": " + strings.Join(body, "\n")
}

// origin names who or what an attachment is from, on one line.
func (r *reader) origin(a value) string {
	name := plain(a.at("author_name"))
	if u, ok := r.names.user(authorID(a.at("author_id"))); name == "" && ok {
		name = u.Name
	}
	for _, s := range [...]string{name, plain(a.at("author_subname")), plain(a.at("service_name")), host(a.first("from_url", "original_url", "app_unfurl_url"))} {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			return cut(s, maxLabel)
		}
	}
	return "elsewhere"
}

// host returns the host of a URL, or "".
func host(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
