package inspect

import (
	"context"
	"crypto/rand"
	"io"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// inChat are the attributes of a link from the chat to the chat. With scripts only the
// chat is replaced (chatBody says how), and what was typed elsewhere stays.
func inChat(href string) templ.Attributes { return templ.Attributes{"href": href, "hx-get": href} }

// posts are the attributes of a form of the chat.
func posts(path string) templ.Attributes {
	return templ.Attributes{"method": "post", "action": path, "hx-post": path}
}

// spoken is a text of chat, its mentions marked. It is made here, because every space
// counts.
func spoken(list []stretch) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, x := range list {
			if s := templ.EscapeString(x.text); x.mention {
				b.WriteString(`<b class="mention">` + s + `</b>`)
			} else {
				b.WriteString(s)
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func urlQuery(s string) string { return url.QueryEscape(s) }

// newClient is the sender's id of the message that a form will send: a form that is
// sent twice is one message.
func newClient() string { return rand.Text() }

// composerLabel says where a form writes to.
func composerLabel(d chatData, form string) string {
	if form == "thread" {
		return "Reply in this thread"
	}
	return "Message " + d.Channel.label
}

// editText is what a form for a message's new text begins with.
func (d chatData) editText(m chatMessage) string {
	if d.tells("edit", m.ID) {
		return d.typed.text
	}
	return typedForm(m.Text)
}

// typedForm returns a stored text as somebody would type it.
func typedForm(text string) string {
	return mentions.ReplaceAllStringFunc(text, func(s string) string { return strings.TrimSpace(plain.Readable(s)) })
}

func repliesLabel(n int) string {
	if n == 1 {
		return "1 reply"
	}
	return plain.Number(n) + " replies"
}

// dayLine is the day on which messages were said.
func dayLine(t earshot.Time) string { return t.UTC().Format("Monday, 2 January 2006") }
