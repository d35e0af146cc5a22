package discordmsg

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// PrependTitle returns the text of a forum post's first message below the post's title,
// which Discord has as the thread's name and which often holds the question. Every
// source of messages uses it, the import too, so that all tell the same text.
func PrependTitle(title, text string) string {
	title = escapeMarkup(strings.Join(strings.Fields(title), " "))
	switch {
	case title == "", text == title, strings.HasPrefix(text, title+"\n"):
		return text
	case text == "":
		return title
	}
	return title + "\n" + text
}

// atOnce is how far apart the ids of a thread that no message began and of the message
// that tells so are at most, in microseconds: Discord makes both in one request.
const atOnce = 5_000_000

// begun makes of the message that tells that a thread was started (type 18) what was
// said first in the thread: its name, by who started it, under the thread's id. Discord
// also tells it of a thread that was started from an old message, which has that
// message's id and so is not of the same moment; there the message stays a note. It
// stays one too where nothing tells the name.
func (r *reader) begun(d *DecodedMessage, v value) bool {
	id := snowflake(v.Get("message_reference").At("channel_id"))
	began, ok := TimeOf(id)
	if d.Type != typeThreadCreated || !ok || id == d.Channel || max(began, d.Message.Time)-min(began, d.Message.Time) > atOnce {
		return false
	}
	d.Begun = earshot.MessageID(id)
	name := oneLine(v.At("content"))
	if name == "" && r.names.Channel != nil {
		name = oneLine(r.names.Channel(id))
	}
	if name == "" {
		return false
	}
	d.Message = earshot.Message{ID: d.Begun, Time: began, Author: r.author(v, typeDefault, d.Webhook), Text: PrependTitle(name, "")}
	return true
}
