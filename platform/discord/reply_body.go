package discord

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/discord/markup"
)

// suppressEmbeds is the flag of a message under which no link has a preview. Every
// post has it: a preview is fetched from where a model's link points, and what Discord
// takes for a link is Discord's to decide.
const suppressEmbeds = 1 << 2

// A newMessage is the body of a post. disgo's type cannot say that
// fail_if_not_exists is false, and Discord takes a missing one for true.
type newMessage struct {
	Content      string          `json:"content"`
	Nonce        string          `json:"nonce,omitempty"`
	EnforceNonce bool            `json:"enforce_nonce,omitempty"`
	Flags        int             `json:"flags"`
	Mentions     allowedMentions `json:"allowed_mentions"`
	Components   []actionRow     `json:"components,omitempty"`
	Reference    *replyTarget    `json:"message_reference,omitempty"`
	Attachments  []sentFile      `json:"attachments,omitempty"`
}

// A changedMessage is the body of an update.
type changedMessage struct {
	Content  string          `json:"content"`
	Flags    int             `json:"flags"`
	Mentions allowedMentions `json:"allowed_mentions"`
	// Components are left as they are where they are missing: an empty list takes them away.
	Components []actionRow `json:"components"`
}

// allowedMentions are the allowed_mentions of all that is posted: nobody is notified but those
// whom the draft mentions, and, with [NotifyPost], the author of the message that the first
// post of an answer replies to.
type allowedMentions struct {
	Parse       []string           `json:"parse"`
	Users       []earshot.AuthorID `json:"users,omitempty"`
	RepliedUser bool               `json:"replied_user"`
}

// maxMentioned is how many users Discord takes there.
const maxMentioned = 100

func mentionedBy(d bot.Draft) allowedMentions {
	out := allowedMentions{Parse: []string{}}
	for _, id := range d.Mentions {
		if len(out.Users) < maxMentioned && !slices.Contains(out.Users, id) {
			out.Users = append(out.Users, id)
		}
	}
	return out
}

// A replyTarget is the message that a post replies to. If it is gone, the post stands
// without a reference.
type replyTarget struct {
	Message         string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// newPost returns the body of a draft with its buttons. refers says that it is a reply to
// the anchor, and notifies that whoever wrote that is told of it.
func newPost(d bot.Draft, buttons []actionRow, refers, notifies bool) newMessage {
	m := newMessage{
		Content: markup.Write(d.Text, d.Mentions...), Nonce: d.Key, EnforceNonce: d.Key != "", Flags: suppressEmbeds,
		Mentions: mentionedBy(d), Components: buttons,
	}
	if refers {
		m.Reference = &replyTarget{Message: string(d.Anchor.ID)}
		m.Mentions.RepliedUser = notifies
	}
	return m
}

// decodePosted reads Discord's answer to a post: the message's id, its time, and what it
// replies to.
func decodePosted(raw json.RawMessage) (earshot.Message, error) {
	d, err := discordmsg.Decode(raw, discordmsg.Names{})
	if err != nil || d.Message.ID == "" || d.Message.Time == 0 {
		return earshot.Message{}, fmt.Errorf("%w with what was posted", discordapi.ErrNotAnswered)
	}
	return earshot.Message{ID: d.Message.ID, Time: d.Message.Time, ReplyTo: d.Message.ReplyTo}, nil
}
