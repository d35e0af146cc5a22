package slackmsg

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Command is a slash command that somebody has used (docs.slack.dev, Implementing slash
// commands). A field that is missing or has another type than Slack's is zero.
type Command struct {
	Name       string              // with its slash
	Text       string              // what stands after it
	App        string              // of the app to which it is delivered
	Team       earshot.WorkspaceID // where it was used
	Enterprise string              // the organisation, where the app is installed there; else ""
	User       earshot.AuthorID
	Channel    earshot.ChannelID
	Trigger    string // trigger_id: opens a form within three seconds
}

// maxCommand bounds the text of a command, in bytes.
const maxCommand = 16 << 10

// ReadCommand reads the fields of a form. ok is false where it does not say who used which
// command where.
func ReadCommand(field func(name string) string) (c Command, ok bool) {
	word := func(name string) string {
		if s := field(name); isID(s) {
			return s
		}
		return ""
	}
	c = Command{
		Name: field("command"), Text: field("text"), App: word("api_app_id"), Team: earshot.WorkspaceID(word("team_id")),
		User: earshot.AuthorID(word("user_id")), Channel: earshot.ChannelID(word("channel_id")), Trigger: field("trigger_id"),
	}
	if field("is_enterprise_install") == "true" {
		c.Enterprise = word("enterprise_id")
	}
	// Slack escapes these three, as in messages (docs.slack.dev, Formatting text).
	c.Text = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(strings.ToValidUTF8(c.Text, "\ufffd"))
	ok = strings.HasPrefix(c.Name, "/") && len(c.Name) <= 64 && len(c.Text) <= maxCommand && c.User != "" && c.Channel != "" && c.Team != ""
	return c, ok
}

// ReadCommandPayload is ReadCommand of what a socket brings.
func ReadCommandPayload(raw []byte) (c Command, ok bool) {
	v, _, err := parse(raw)
	if err != nil || !v.Object() {
		return c, false
	}
	return ReadCommand(func(name string) string {
		if f := v.Get(name); f.Kind != 't' && f.Kind != 'f' {
			return str(f)
		}
		return map[bool]string{true: "true"}[v.Get(name).Bool()]
	})
}
