package discordmsg

import (
	"cmp"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A person's message carries only what Discord made of its links, because a client
// can send no embeds (Discord's documentation, Create Message: embeds are an app's).
// An app's message carries its own embeds, which have the type "rich", and Discord's,
// which have another type or name the page's provider: an app cannot set either
// (Execute Webhook: "you can set every field except type, provider, video").

// ownEmbed reports whether an embed of an app's message is what the app says. said is
// the message's content, in which a link would stand that Discord made a preview of.
func ownEmbed(e value, said string) bool {
	url := e.At("url")
	switch e.At("type") {
	case "", "rich":
		return !e.Get("provider").Object() || url == "" || !strings.Contains(said, url)
	}
	return false
}

// embed returns what an embed says, line by line, in Discord's markup.
func (r *reader) embed(e value) []string {
	author, provider := e.Get("author"), line(e.Get("provider").At("name"), maxTitle)
	out := []string{linked(line(author.At("name"), maxTitle), author.At("url")), provider, linked(line(e.At("title"), maxTitle), e.At("url"))}
	return append(out, r.embedBody(e)...)
}

// embedBody returns what stands below the title of an embed, line by line.
func (r *reader) embedBody(e value) []string {
	out := []string{e.At("description")}
	for _, f := range r.list(e, "fields") {
		if !r.more() {
			break
		}
		name, text := line(f.At("name"), maxTitle), strings.TrimSpace(f.At("value"))
		if name != "" && text != "" {
			name += ": "
		}
		out = append(out, name+text)
	}
	for _, kind := range [...]string{"image", "thumbnail", "video"} {
		if s := line(e.Get(kind).At("description"), maxDescription); s != "" {
			out = append(out, bracket("image", s))
		}
	}
	out = append(out, r.components(e)...)
	return append(out, e.Get("footer").At("text"))
}

// preview reads an embed that Discord made of a link. ok is false where it shows no
// words: the name of a page's site alone is none.
func (r *reader) preview(e value, p *mentionedPeople) (earshot.SharedContent, bool) {
	author, site := line(e.Get("author").At("name"), maxTitle), line(e.Get("provider").At("name"), maxTitle)
	q := earshot.SharedContent{Kind: earshot.Link, Place: hostOf(e.At("url")), Author: cmp.Or(author, site)}
	if q.Place == "" {
		q.Kind = earshot.AppQuote
	}
	if e.At("type") == "poll_result" {
		return q, false
	}
	text := joinLines(append([]string{line(e.At("title"), maxTitle)}, r.embedBody(e)...))
	if text != "" && author != "" && !strings.Contains(strings.ToLower(q.Place), strings.ToLower(site)) {
		text += "\n" + site // what the host does not say
	}
	q.Text = r.bounded(p.quoted(text), "embeds")
	return q, q.Text != ""
}

// forwards reads the snapshots of a forwarded message. Discord vouches for place and
// time, and does not tell who wrote it (Discord's documentation, Message Snapshot).
func (r *reader) forwards(m *earshot.Message, v value, p *mentionedPeople) {
	ref := v.Get("message_reference")
	if ref.Get("type").Int() != referenceForward {
		return
	}
	place := ""
	if id := ref.At("channel_id"); isSnowflake(id) && p.names.Channel != nil {
		if name := oneLine(p.names.Channel(id)); name != "" {
			place = "#" + name
		}
	}
	for _, x := range r.list(v, "message_snapshots") {
		s := x.Get("message")
		if !s.Object() || !r.more() {
			r.note("message_snapshots: no message")
			continue
		}
		q := r.snapshot(s)
		q.Place = place
		if q.Time == 0 {
			q.Time, _ = TimeOf(ref.At("message_id"))
		}
		m.Files = r.files(m.Files, s, "message_snapshots.")
		if q.Text != "" || s.Get("attachments").Array() && len(s.Get("attachments").List) > 0 {
			m.Shared = append(m.Shared, q)
		}
	}
}

// snapshot reads a forwarded message. Its embeds are quoted with it.
func (r *reader) snapshot(s value) earshot.SharedContent {
	p := r.people(s)
	lines := append([]string{s.At("content")}, r.stickers(s)...)
	lines = append(lines, r.alternatives(s)...)
	for _, e := range r.list(s, "embeds") {
		if !r.more() {
			break
		}
		lines = append(lines, r.embed(e)...)
	}
	lines = append(lines, r.components(s)...)
	q := earshot.SharedContent{Kind: earshot.Forward, Text: r.bounded(p.quoted(joinLines(lines)), "message_snapshots")}
	q.Time, _ = earshot.ParseTime(s.At("timestamp"))
	return q
}

// hostOf returns the host of a web address, or "".
func hostOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return line(rest[strings.LastIndexByte(rest, '@')+1:], maxHost)
}
