package discordmsg

import "strings"

// The types of messages that are told apart (Discord's documentation, Message Types).
const (
	typeDefault         = 0
	typeRecipientAdd    = 1
	typeRecipientRemove = 2
	typeCall            = 3
	typeNameChange      = 4
	typeIconChange      = 5
	typePinned          = 6
	typeJoin            = 7
	typeThreadCreated   = 18
	typeReply           = 19
	typeCommand         = 20
	typeStarter         = 21
	typeMenuCommand     = 23
	typeAutoModeration  = 24
	typeSubscription    = 25
	typePurchase        = 44
	typePollResult      = 46
)

// Types of message_reference.
const (
	referenceReply   = 0
	referenceForward = 1
)

// A messageKind says what a type of message is here.
type messageKind int

const (
	talk       messageKind = iota // somebody says something
	systemNote                    // Discord notes what happened
)

// kindOfType returns what a type of message is. What Discord adds later is talk, so that
// it is shown rather than lost.
func kindOfType(t int) messageKind {
	if _, ok := notes[t]; ok {
		return systemNote
	}
	return talk
}

// isReplyType reports whether the reference of a type is a reply's. A pin and a poll's
// result refer to messages too.
func isReplyType(t int) bool {
	return t == typeReply || t == typeCommand || t == typeMenuCommand
}

// notes is what Discord notes by itself, as a line that follows the name of who did
// it. "%" stands for what the message tells: the content, or whom it is about.
var notes = map[int]string{
	typeRecipientAdd:    "added % to the group",
	typeRecipientRemove: "removed % from the group",
	typeCall:            "started a call",
	typeNameChange:      "changed the channel's name: %",
	typeIconChange:      "changed the channel's icon",
	typePinned:          "pinned a message",
	typeJoin:            "joined the server",
	8:                   "boosted the server",
	9:                   "boosted the server to level 1",
	10:                  "boosted the server to level 2",
	11:                  "boosted the server to level 3",
	12:                  "made this channel follow %",
	14:                  "the server was removed from Server Discovery",
	15:                  "the server is eligible for Server Discovery again",
	16:                  "the server has failed the requirements of Server Discovery for a week",
	17:                  "the server has failed the requirements of Server Discovery for three weeks",
	typeThreadCreated:   "started a thread: %",
	22:                  "was reminded to invite people",
	typeAutoModeration:  "AutoMod has blocked a message: %",
	typeSubscription:    "subscribed to a role: %",
	26:                  "was offered a subscription",
	27:                  "started a stage: %",
	28:                  "ended a stage: %",
	29:                  "speaks on the stage",
	30:                  "asks to speak on the stage",
	31:                  "changed the stage's topic: %",
	32:                  "upgraded an app in this server",
	36:                  "enabled security actions until %",
	37:                  "disabled security actions",
	38:                  "reported a raid",
	39:                  "reported a false alarm",
	typePurchase:        "bought something in this server: %",
	typePollResult:      "a poll has closed: %",
	55:                  "upgraded the stream's quality",
}

// systemText is the line that a system message is stored with, in Discord's markup.
func (r *reader) systemText(v value, t int) string {
	told := strings.TrimSpace(v.At("content"))
	switch t {
	case typeRecipientAdd, typeRecipientRemove:
		who := ""
		for _, u := range r.list(v, "mentions") {
			if who = snowflake(u.At("id")); who != "" {
				break
			}
		}
		switch {
		case who == "":
			told = "somebody"
		case t == typeRecipientRemove && who == v.Get("author").At("id"):
			return "left the group"
		default:
			told = "<@" + who + ">"
		}
	case typeCall:
		if length := callLength(v); length != "" {
			return notes[t] + " that lasted " + length
		}
		return notes[t]
	case typePollResult:
		told = escapeMarkup(r.pollResult(v))
	case typeAutoModeration:
		told = escapeMarkup(r.moderation(v))
	case typeSubscription:
		told = escapeMarkup(line(v.Get("role_subscription_data").At("tier_name"), maxTitle))
	case typePurchase:
		told = escapeMarkup(line(v.Get("purchase_notification").Get("guild_product_purchase").At("product_name"), maxTitle))
	default: // names
		told = escapeMarkup(told)
	}
	line := notes[t]
	if told == "" {
		return strings.TrimRight(strings.Replace(line, "%", "", 1), ": ")
	}
	return strings.Replace(line, "%", told, 1)
}
