package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// What people paste: the permalink of a message. Where it leads to a message of this
// channel, that message is quoted below the one that links to it.

const (
	maxLinked = 3   // permalinks that one message resolves
	linkedCut = 100 // tokens of a message that is linked to
)

// A linkedMessage is what a permalink leads to: a message of the channel, nil where it
// is not loaded or was said after the question, or one of another channel.
type linkedMessage struct {
	m         *msg
	elsewhere bool
}

// linkedBy returns what the permalinks in a message lead to, at most maxLinked. What the
// platform quotes of them itself, and the message itself, are left out.
func (t *turn) linkedBy(m *msg) []linkedMessage {
	var out []linkedMessage
	for _, l := range Permalinks(m.Text) {
		if len(out) == maxLinked {
			break
		}
		up := t.find(l.Message)
		if up != nil && t.afterEnd(up) {
			up = nil
		}
		switch {
		case l.Channel != t.in.Channel.ID && (up == nil || up.Root() != earshot.MessageID(l.Channel)):
			out = append(out, linkedMessage{elsewhere: true})
		case up == m || up != nil && !up.withheld && slices.ContainsFunc(m.Shared, func(s earshot.SharedContent) bool { return s.Text == up.Text }):
		case !slices.Contains(out, linkedMessage{m: up}):
			out = append(out, linkedMessage{m: up})
		}
	}
	return out
}

// linkHead says what a permalink leads to, and text is what is shown of it.
func (t *turn) linkHead(l linkedMessage) (head, text string) {
	switch {
	case l.elsewhere:
		return "link to a message of a channel that is not this one", ""
	case l.m == nil || l.m.reason == reasonBlank:
		return "link to a message that is not loaded", ""
	case l.m.Deleted:
		return "link to a deleted message", ""
	case l.m.withheld:
		return "link to a message that the operator withholds", ""
	}
	t.namedParents = append(t.namedParents, l.m)
	text, _ = t.cutText(t.renderStored(l.m.Text), linkedCut)
	head = "link to " + string(t.when.clock([]byte(t.when.date(l.m.Time)+" "), l.m.Time)) + " " + t.names.name(l.m.Author)
	if t.names.standing(l.m.Author).inert {
		head += inertQuote
	}
	return head, text
}

// withLinked puts what m links to behind its content, in the forms without + lines.
func (t *turn) withLinked(content string, m *msg) string {
	for _, l := range t.linkedBy(m) {
		head, text := t.linkHead(l)
		content += strings.TrimRight("\n["+head+"] "+text, " ")
	}
	return content
}

// A Permalink names a message as its platform's address does.
type Permalink struct {
	Channel earshot.ChannelID
	Message earshot.MessageID
}

// Permalinks returns the addresses of messages in a text, in their order, each once.
func Permalinks(text string) []Permalink {
	var out []Permalink
	if !strings.Contains(text, "://") {
		return nil
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n<>|()[]\"", r) }) {
		if !strings.HasPrefix(word, "https://") {
			continue
		}
		channel, id, ok := earshot.ParsePermalink(strings.TrimRight(word, ".,;:!?"))
		if l := (Permalink{channel, id}); ok && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
