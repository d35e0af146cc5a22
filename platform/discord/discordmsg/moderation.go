package discordmsg

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// AutoMod tells of a message that it has blocked by a note of the one who wrote it, with an
// embed: its description is what was written, and its fields name the rule, what the rule
// has found, and the channel. Discord does not document that embed, of type
// auto_moderation_message (github.com/discord/discord-api-docs/pull/6057); the names of the
// fields are those that its client reads.

// moderation says by which rule a message was blocked, and for which words.
func (r *reader) moderation(v value) string {
	told := r.fieldsOf(v)
	rule := line(told["rule_name"], maxTitle)
	found := line(told["keyword_matched_content"], maxTitle)
	if found == "" {
		found = line(told["keyword"], maxTitle)
	}
	if rule != "" {
		rule = "rule " + rule
	}
	return parts(rule, found)
}

// blocked adds the message that AutoMod has blocked, which nobody but it tells. Only
// Discord makes a message of this type, so that author, place and time are as it says.
func (r *reader) blocked(m *earshot.Message, v value, p *mentionedPeople) {
	q := earshot.SharedContent{Kind: earshot.Forward, ID: m.Author.ID, Author: m.Author.Name, Time: m.Time}
	if id := r.fieldsOf(v)["channel_id"]; isSnowflake(id) && p.names.Channel != nil {
		if name := oneLine(p.names.Channel(id)); name != "" {
			q.Place = "#" + name
		}
	}
	var said []string
	for _, e := range r.list(v, "embeds") {
		if !r.more() {
			break
		}
		said = append(said, strings.TrimSpace(e.At("description")))
	}
	if q.Text = r.bounded(p.quoted(joinLines(said)), "embeds"); q.Text != "" {
		m.Shared = append(m.Shared, q)
	}
}
