package discordmsg

import (
	"cmp"
	"strings"
)

// used returns a line that says who used what, where a message answers that: "[Ann used
// /deploy]". Discord shows it above the message (Discord's documentation, Message
// Interaction Metadata Object; the command's name is in the older Message Interaction
// Object only, which exports have too). The names are those that the object tells, so that
// every source makes the same line.
func (r *reader) used(v value) string {
	x, named := v.Get("interaction_metadata"), v.Get("interaction")
	by := shownName(x.Get("user"))
	if by == "" {
		by = shownName(named.Get("user"))
	}
	if by == "" {
		return ""
	}
	var what string
	switch x.Get("type").Int() {
	case InteractionComponent:
		what = "used a button or a menu"
	case InteractionForm:
		what = "sent a form"
	default:
		what = "used a command"
	}
	if name := line(named.At("name"), maxCommand); name != "" && what == "used a command" {
		if int(v.Get("type").Int()) != typeMenuCommand {
			name = "/" + name
		}
		what = "used " + name
	}
	if target := shownName(x.Get("target_user")); target != "" {
		what += " on " + target
	}
	return "[" + escapeMarkup(by+" "+withoutBrackets.Replace(what)) + "]"
}

// shownName is a user's name within brackets, which it cannot close.
func shownName(u value) string {
	return withoutBrackets.Replace(displayName(u))
}

var withoutBrackets = strings.NewReplacer("[", "(", "]", ")")

// invitation returns the line of an invitation to a game or an activity of an application.
func invitation(v value) string {
	if !v.Get("activity").Object() {
		return ""
	}
	return bracket("invitation", cmp.Or(line(v.Get("application").At("name"), maxTitle), "an activity"))
}
