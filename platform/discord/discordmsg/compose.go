package discordmsg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// compose gathers what a message says and what it quotes, each piece once and on one
// side. An app's embeds are its own words; what hangs on a person's message was put
// there by Discord.
func (r *reader) compose(m *earshot.Message, v value, p *mentionedPeople) {
	text := v.Get("content")
	if !text.Absent() && text.Kind != '"' {
		r.note("content: not a string")
	}
	own := []string{p.stored(text.Str())}
	app := m.Author.Kind == earshot.Bot
	for _, s := range r.components(v) {
		own = append(own, p.stored(s))
	}
	own = append(own, r.stickers(v)...)
	own = append(own, r.poll(v)...)
	m.Files = r.files(m.Files, v, "")
	r.forwards(m, v, p)
	for i, e := range r.list(v, "embeds") {
		if !r.more() {
			break
		}
		if !e.Object() {
			r.note("embeds[" + strconv.Itoa(i) + "]: not an object")
			continue
		}
		if app && ownEmbed(e, text.Str()) {
			for _, s := range r.embed(e) {
				own = append(own, p.stored(s))
			}
			continue
		}
		if q, ok := r.preview(e, p); ok && !slices.Contains(m.Shared, q) {
			m.Shared = append(m.Shared, q)
		}
	}
	m.Text = joinLines(own)
}

// joinLines joins pieces of text, one a line, without the empty ones and those that
// were said already.
func joinLines(list []string) string {
	var b strings.Builder
	said := map[string]bool{}
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" || said[s] {
			continue
		}
		said[s] = true
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Types of components that hold text or others (Discord's documentation, Component
// Reference). A component of an unknown type is looked into.
const textDisplay = 10

// components returns the texts of a message that is made of components.
func (r *reader) components(v value) []string {
	var out []string
	for _, c := range r.list(v, "components") {
		if !r.more() {
			break
		}
		if c.Get("type").Int() == textDisplay {
			out = append(out, c.At("content"))
		}
		if c.Get("components").Array() {
			out = append(out, r.components(c)...)
		}
	}
	return out
}
