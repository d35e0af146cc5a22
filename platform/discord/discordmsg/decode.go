// Package discordmsg decodes Discord's JSON into messages: what the gateway
// delivers, what the REST API shows, and the files of DiscordChatExporter. It is
// pure, and it never loses a message to one field that cannot be read.
//
// Start with [Decode].
package discordmsg

import (
	"errors"

	"github.com/earshot-ai/earshot"
)

// ErrNotMessage is returned by [Decode] for what is no message at all.
var ErrNotMessage = errors.New("not a Discord message")

// Names resolve the ids of a text. A nil function, and "", mean that the name is not
// known.
type Names struct {
	User    func(id string) string
	Channel func(id string) string // without #
	Role    func(id string) string
	// Self is the bot's user, and OwnRole reports whether a role is that which
	// Discord made for it: mentioning that role mentions the bot.
	Self    string
	OwnRole func(id string) bool
}

// A Decoded is what one message object says. Message.Thread is never set, because
// the object does not tell: see [Channel.Where].
type Decoded struct {
	Message earshot.Message
	Channel string // where Discord has it: a channel or a thread
	Guild   string // "" where the object does not tell, as from the REST API, and in a DM
	Type    int    // Discord's type of the message
	Nonce   string // of our own posts
	Webhook string // the webhook that posted it; "" for people and bots
	Roles   []string
	// Whole is false for an update that carries only some fields, such as a preview
	// that was added: Message then has only what it carries.
	Whole bool
	// Referenced is the message that a reply replies to, or that a thread was
	// started from, where the object contains it. Gone says that it was deleted.
	Referenced *Decoded
	Gone       bool
	// Starter says that the message only stands for the message that its thread was
	// started from (type 21); it is not stored.
	Starter bool
	// Thread is the thread that was started from this message, where the object has
	// it, with its number of messages and its name.
	Thread        *Channel
	ThreadName    string
	ThreadReplies int
	Notes         []string // what could not be read, as paths; at most 20
}

// Decode reads one message object of the gateway or of the REST API.
func Decode(raw []byte, names Names) (Decoded, error) {
	return Decoded{}, ErrNotMessage
}
