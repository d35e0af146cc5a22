package discordmsg

import (
	"github.com/earshot-ai/earshot"
)

// Types of interactions (Discord's documentation, Receiving and Responding, Interaction
// Type).
const (
	InteractionComponent = 3 // somebody used a component of a message
	InteractionForm      = 5 // somebody sent a form
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
