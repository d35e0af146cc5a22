package slackmsg

import (
	"cmp"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Slack does not document which of an attachment's fields an app may set, and
// apps do post attachments with is_share, author_name and from_url. What tells
// Slack's own attachments from theirs is where they hang: a person's client
// can send none, and what an app adds to a person's message by chat.unfurl
// carries that app's ids (docs.slack.dev, chat.unfurl). So author, place and
// time are believed of a share or a message's unfurl on a message that a person
// typed, with the ids that Slack gives it; everything else is an app's.

// quotedContent is what a message quotes. An unfurled one comes and goes after the
// message was posted, so that it is no part of what its author did.
type quotedContent struct {
	earshot.SharedContent
	unfurled bool
}

// isMessage reports whether an attachment is marked as a message from
// elsewhere.
func isMessage(a value) bool {
	for _, k := range [...]string{"is_share", "is_msg_unfurl", "is_reply_unfurl", "is_thread_root_unfurl"} {
		if a.Get(k).Bool() {
			return true
		}
	}
	return false
}

// isPage reports whether an attachment is marked as made of a link.
func isPage(a value) bool {
	return a.Get("is_app_unfurl").Bool() || a.First("from_url", "original_url", "app_unfurl_url") != ""
}

// isMarkedQuote reports whether an attachment shows what stands elsewhere: a forwarded
// message, the message behind a link, a web page.
func isMarkedQuote(a value) bool { return isMessage(a) || isPage(a) }

// byApp reports whether an app has put an attachment onto a person's message.
func byApp(a value) bool {
	return a.Get("is_app_unfurl").Bool() || a.First("bot_id", "app_id", "app_unfurl_url") != ""
}

// sharedKind says how far an attachment is to be believed. typed says that a
// person typed the message that has it.
func sharedKind(a value, typed bool) earshot.SharedKind {
	_, timed := sharedTime(a)
	switch {
	case !typed || byApp(a):
	case isMessage(a):
		if channelID(a.Get("channel_id")) != "" && authorID(a.At("author_id")) != "" && timed {
			return earshot.Forward
		}
	case host(a.First("from_url", "original_url")) != "":
		return earshot.Link
	}
	return earshot.AppQuote
}

// quote reads an attachment that shows what stands elsewhere. ok is false where
// it shows no words and no file: the name of a page's site alone is none.
func (r *reader) quote(a value, typed bool) (q quotedContent, ok bool) {
	q.Kind = sharedKind(a, typed)
	q.unfurled = isMarkedQuote(a) && !a.Get("is_share").Bool()
	q.Author = oneLine(a.At("author_name"))
	switch q.Kind {
	case earshot.Forward:
		q.ID = authorID(a.At("author_id"))
		q.Time, _ = sharedTime(a)
		q.Place = r.place(a)
		if q.Author == "" {
			u, _ := r.names.user(q.ID)
			q.Author = oneLine(u.Name)
		}
	default:
		q.Place = host(a.First("from_url", "original_url", "app_unfurl_url"))
	}
	q.Author = cmp.Or(q.Author, oneLine(a.At("author_subname")))
	named := q.Author != ""
	q.Author = cmp.Or(q.Author, oneLine(a.At("service_name")))
	q.Text = r.quotable(joinParagraphs(r.attachment(a, &seenText{}, q.Kind)))
	return q, q.Text != "" || named || len(a.Get("files").List) > 0
}

// directMessage is the place of what was said in a conversation without a name.
const directMessage = "direct message"

// quotable turns a quoted text in Slack's form into the stored form, bounded.
func (r *reader) quotable(s string) string {
	s, _ = r.names.stored(s)
	s = strings.TrimRight(s, "\n")
	if len(s) > maxText {
		s = tolerant.CutBytes(s, maxText)
		r.note("attachments: a text longer than 256 KiB")
	}
	return s
}

// place names where a forward is from: #general, or a direct message. What the
// workspace does not name for us may stand in the footer, which everybody in
// the channel sees ("Thread in #support").
func (r *reader) place(a value) string {
	id := channelID(a.Get("channel_id"))
	if id != "" && id[0] == 'D' {
		return directMessage
	}
	if r.names.Channel != nil {
		if name := oneLine(r.names.Channel(id)); strings.HasPrefix(name, "mpdm-") {
			return directMessage
		} else if name != "" {
			return "#" + name
		}
	}
	if name := oneLine(a.At("channel_name")); name != "" {
		return "#" + strings.TrimPrefix(name, "#")
	}
	footer := oneLine(a.At("footer"))
	if i := strings.LastIndex(footer, " #"); i >= 0 && !strings.Contains(footer[i+2:], " ") {
		return footer[i+1:]
	}
	return ""
}

// sharedTime returns when a forwarded message was said, by its ts.
func sharedTime(a value) (earshot.Time, bool) {
	ts := a.At("ts")
	if ts == "" {
		for _, b := range a.Get("message_blocks").List {
			ts = cmp.Or(ts, b.At("ts"))
		}
	}
	t, err := earshot.ParseTime(ts)
	return t, err == nil && isTS(ts)
}

// host returns the host of a URL, or "".
func host(url string) string {
	_, rest, ok := strings.Cut(plain(url), "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return oneLine(rest[strings.LastIndexByte(rest, '@')+1:])
}
