package discordmsg

import (
	"strconv"

	"github.com/earshot-ai/earshot"
)

// Types of interactions (Discord's documentation, Receiving and Responding, Interaction
// Type).
const (
	InteractionCommand   = 2 // somebody used a command
	InteractionComponent = 3 // somebody used a component of a message
	InteractionForm      = 5 // somebody sent a form
)

// Types of commands (Discord's documentation, Application Commands, Application Command
// Types).
const (
	CommandTyped  = 1 // typed after a slash
	CommandInMenu = 3 // chosen in a message's menu
)

// An Interaction is something that somebody did with an application, as
// INTERACTION_CREATE tells it.
type Interaction struct {
	ID string
	// Token is a secret: who has it can speak as the application for 15 minutes.
	Token   string
	App     string // the application
	Type    int
	Channel string // Discord's: a channel or a thread
	Guild   string // "" in direct messages
	Message earshot.MessageID
	By      earshot.Author // who did it; the token vouches for it
	Roles   []string       // of By in the guild; nil in direct messages
	// CustomID is what the component or the form carries.
	CustomID string
	Label    string            // of the button with this CustomID, where the message shows one
	Words    map[string]string // what the fields of a form say, by their custom ids

	CommandID   string            // of the command, which Discord gave it
	Command     string            // its name, as it was registered
	CommandType int               // [CommandTyped] or [CommandInMenu]; others are not looked at
	Options     map[string]string // the texts given to a command, by the names of its options
	Target      earshot.MessageID // the message in whose menu the command was chosen
	// Blind says that the application does not see the channel, as Discord tells.
	Blind bool
}

// ReadInteraction reads INTERACTION_CREATE. ok is false where raw is none, or does not
// say whose it is, who did it or where.
func ReadInteraction(raw []byte) (x Interaction, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return Interaction{}, false
	}
	data, r := v.Get("data"), &reader{}
	x = Interaction{
		ID: snowflake(v.At("id")), Token: v.At("token"), App: snowflake(v.At("application_id")), Type: int(v.Get("type").Int()),
		Channel: snowflake(v.At("channel_id")), Guild: snowflake(v.At("guild_id")), Message: earshot.MessageID(snowflake(v.Get("message").At("id"))),
		CustomID: data.At("custom_id"),
	}
	x.Blind = !seesChannel(v.At("app_permissions"))
	if x.Type == InteractionCommand {
		r.command(&x, data)
	}
	// Who did it is the member in a guild, else the user. The other is not looked at.
	switch member := v.Get("member"); {
	case !v.Get("guild_id").Absent():
		x.By = r.user(member.Get("user"), member)
		x.Roles = []string{}
		for _, role := range member.Get("roles").List {
			if id := snowflake(role.Str()); id != "" && r.more() {
				x.Roles = append(x.Roles, id)
			}
		}
		ok = x.Guild != ""
	default:
		x.By = r.user(v.Get("user"), value{})
		ok = true
	}
	r.walk(v.Get("message"), func(c value) {
		if x.CustomID != "" && c.At("custom_id") == x.CustomID {
			x.Label = oneLine(c.At("label"))
		}
	})
	r.walk(data, func(c value) {
		if id := c.At("custom_id"); id != "" && c.Get("type").Int() == textInput {
			if x.Words == nil {
				x.Words = map[string]string{}
			}
			x.Words[id] = c.At("value")
		}
	})
	return x, ok && x.ID != "" && x.Token != "" && x.App != "" && x.Channel != "" && x.By.ID != ""
}

// command reads which command was used, and what it was given.
func (r *reader) command(x *Interaction, data value) {
	x.CommandID = snowflake(data.At("id"))
	x.Command, x.CommandType = data.At("name"), int(data.Get("type").Int())
	x.Target = earshot.MessageID(snowflake(data.At("target_id")))
	for _, o := range data.Get("options").List {
		if name := o.At("name"); name != "" && o.Get("type").Int() == optionText && r.more() {
			if x.Options == nil {
				x.Options = map[string]string{}
			}
			x.Options[name] = o.At("value")
		}
	}
}

// optionText is the type of an option of a command that is a text (Application Command Option
// Type).
const optionText = 3

// seesChannel reports whether permissions have that to see a channel; what is none has all.
func seesChannel(permissions string) bool {
	n, err := strconv.ParseUint(permissions, 10, 64)
	return err != nil || n&viewChannel != 0
}

// asked reads for whom a message was posted that answers a command: who used it, or who sent
// the form that it opened, and the message in whose menu it was chosen (Message Interaction
// Metadata Object).
func (r *reader) asked(d *DecodedMessage, v value) {
	x := v.Get("interaction_metadata")
	command := x
	if x.Get("type").Int() == InteractionForm {
		command = x.Get("triggering_interaction_metadata")
	}
	if command.Get("type").Int() != InteractionCommand {
		return
	}
	if by := r.user(x.Get("user"), value{}); by.ID != "" && by.Kind == earshot.Human {
		d.AskedBy, d.AskedAbout = by, earshot.MessageID(snowflake(command.At("target_message_id")))
	}
}

// textInput is the type of a field of a form (Discord's documentation, Component
// Reference).
const textInput = 4

// walk calls f for each component within v. A form answers with what it was made of: rows
// of fields, or labels with one field each.
func (r *reader) walk(v value, f func(value)) {
	inner := v.Get("components").List
	if c := v.Get("component"); c.Object() {
		inner = append([]value{c}, inner...)
	}
	for _, c := range inner {
		if !r.more() {
			return
		}
		f(c)
		r.walk(c, f)
	}
}
