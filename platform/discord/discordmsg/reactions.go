package discordmsg

import "github.com/earshot-ai/earshot"

// reactions reads emoji and counts, in Discord's order. An emoji of Unicode is named
// by itself, one of a server by its name.
func (r *reader) reactions(v value) []earshot.Reaction {
	var out []earshot.Reaction
	for _, x := range r.list(v, "reactions") {
		name, n := oneLine(x.Get("emoji").At("name")), x.Get("count").Int()
		if name == "" || n <= 0 || n > 1<<30 || !r.more() {
			continue
		}
		out = append(out, earshot.Reaction{Name: name, Count: int(n)})
	}
	return out
}

// A Reaction is an event about the reactions of a message.
type Reaction struct {
	Message earshot.MessageID
	Channel string // Discord's: a channel or a thread
	Guild   string
	User    earshot.AuthorID // "" where all of an emoji, or all reactions, are removed
	Member  earshot.Author   // the same person by name, where Discord tells it: with an emoji that is given in a guild
	Bot     bool             // the user is known to be a bot
	Emoji   string           // as in [earshot.Reaction.Name]; "" where all reactions are removed
}

// ReadReaction reads MESSAGE_REACTION_ADD, _REMOVE, _REMOVE_ALL and _REMOVE_EMOJI. ok
// is false where raw tells no message.
func ReadReaction(raw []byte) (x Reaction, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return Reaction{}, false
	}
	x = Reaction{
		Message: earshot.MessageID(snowflake(v.At("message_id"))), Channel: snowflake(v.At("channel_id")), Guild: snowflake(v.At("guild_id")),
		User: earshot.AuthorID(snowflake(v.At("user_id"))), Emoji: oneLine(v.Get("emoji").At("name")), Bot: v.Get("member").Get("user").Get("bot").Bool(),
	}
	if m := v.Get("member"); m.Get("user").Object() {
		x.Member = (&reader{}).user(m.Get("user"), m)
	}
	return x, x.Message != "" && x.Channel != ""
}
