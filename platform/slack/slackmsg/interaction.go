package slackmsg

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// An Interaction is what somebody did at a button of a message, or with a form
// (docs.slack.dev, block_actions payload and view_submission payload). A field that is
// missing or has another type than Slack's is zero: nothing is guessed.
type Interaction struct {
	Type       string              // block_actions, view_submission, …
	App        string              // of the app to which it is delivered: api_app_id
	Team       earshot.WorkspaceID // where that app is installed; "" where that is an organisation
	Enterprise string              // the organisation where it is; "" where it is a workspace
	User       earshot.AuthorID    // who did it
	UserTeam   earshot.WorkspaceID // theirs; in shared channels it may be another

	// Of block_actions, where it is about one button of one message.
	Channel earshot.ChannelID
	Message earshot.MessageID
	Thread  earshot.MessageID // the message's; "" outside
	Trigger string            // trigger_id: opens a form within three seconds
	Action  string            // action_id
	Value   string

	// Of view_submission, and of message_action its callback_id.
	Form    string            // callback_id
	Private string            // private_metadata
	Fields  map[string]string // what was typed into its fields, by their action_id
}

// ReadInteraction reads the payload of an interaction. The error is ErrTooLarge,
// ErrSyntax, or ErrNotMessage for what is no object.
func ReadInteraction(raw []byte) (Interaction, error) {
	v, _, err := parse(raw)
	if err != nil {
		return Interaction{}, err
	}
	if !v.Object() {
		return Interaction{}, fmt.Errorf("%w: not an object", ErrNotMessage)
	}
	user := v.Get("user")
	x := Interaction{
		Type: str(v.Get("type")), App: id(v.Get("api_app_id")), Team: earshot.WorkspaceID(id(v.Get("team").Get("id"))),
		User: earshot.AuthorID(id(user.Get("id"))), UserTeam: earshot.WorkspaceID(id(user.Get("team_id"))), Trigger: str(v.Get("trigger_id")),
	}
	if v.Get("team").Absent() && v.Get("is_enterprise_install").Kind == 't' {
		x.Enterprise = id(v.Get("enterprise").Get("id"))
	}
	switch x.Type {
	case "block_actions":
		x.click(v)
	case "view_submission":
		x.submission(v.Get("view"))
	case "message_action":
		x.shortcut(v)
	}
	return x, nil
}

// click reads what is said of a button and its message, or nothing of it.
func (x *Interaction) click(v value) {
	channel, m, in := id(v.Get("channel").Get("id")), v.Get("message"), v.Get("container")
	ts := str(m.Get("ts"))
	actions := v.Get("actions")
	if channel == "" || !isTS(ts) || !actions.Array() || len(actions.List) != 1 ||
		!same(in.Get("channel_id"), channel) || !same(in.Get("message_ts"), ts) {
		return
	}
	a := actions.List[0]
	if str(a.Get("type")) != "button" || str(a.Get("block_id")) == "" {
		return
	}
	x.Channel, x.Message = earshot.ChannelID(channel), earshot.MessageID(ts)
	if root := str(m.Get("thread_ts")); isTS(root) {
		x.Thread = earshot.MessageID(root)
	}
	x.Action, x.Value = str(a.Get("action_id")), str(a.Get("value"))
}

// shortcut reads at which message a shortcut was used, or nothing of it.
func (x *Interaction) shortcut(v value) {
	channel, m := id(v.Get("channel").Get("id")), v.Get("message")
	ts := str(m.Get("ts"))
	if channel == "" || !isTS(ts) {
		return
	}
	x.Form, x.Channel, x.Message = str(v.Get("callback_id")), earshot.ChannelID(channel), earshot.MessageID(ts)
	if root := str(m.Get("thread_ts")); isTS(root) {
		x.Thread = earshot.MessageID(root)
	}
}

// submission reads a form.
func (x *Interaction) submission(view value) {
	// Of a form that somebody opened in a shared channel, team is theirs (Slack's Bolt,
	// App.ts, buildSource).
	if !view.Get("app_installed_team_id").Absent() {
		x.Team = earshot.WorkspaceID(id(view.Get("app_installed_team_id")))
	}
	x.Form, x.Private, x.Fields = str(view.Get("callback_id")), str(view.Get("private_metadata")), map[string]string{}
	for _, block := range view.Get("state").Get("values").Members {
		for _, field := range block.Value.Members {
			if said := field.Value.Get("value"); str(field.Value.Get("type")) == "plain_text_input" && (said.Kind == '"' || said.Absent()) {
				x.Fields[field.Name] = str(said)
			}
		}
	}
}

// str returns a string, and "" for every other kind.
func str(v value) string {
	if v.Kind != '"' {
		return ""
	}
	return v.Text
}

// id returns an id, and "" for what cannot be one.
func id(v value) string {
	if s := str(v); isID(s) {
		return s
	}
	return ""
}

// same reports whether a value that need not be there is a string.
func same(v value, s string) bool { return v.Kind == 0 || str(v) == s }

// IsID reports whether s can be an id of Slack's.
func IsID(s string) bool { return isID(s) }

// IsStamp reports whether s is a ts, the id of a message.
func IsStamp(s string) bool { return isTS(s) }
