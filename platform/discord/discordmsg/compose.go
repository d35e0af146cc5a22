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
	r.own = r.names.Self != "" && string(m.Author.ID) == r.names.Self
	own = append(own, r.stickers(v)...)
	poll, votes := r.poll(v)
	own = append(own, poll, invitation(v))
	own = append(own, r.alternatives(v)...)
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
	for _, s := range r.components(v) { // buttons stand below what they are about
		own = append(own, p.stored(s))
	}
	// Without MESSAGE_CONTENT Discord tells who used a command, and not what the answer
	// says. Such a message stays one that says nothing.
	if m.Text = joinLines(own); !r.own && (m.Text != "" || len(m.Files)+len(m.Shared) > 0) {
		own = append(own, r.used(v))
	}
	m.Text = joinLines(append(own, votes))
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
