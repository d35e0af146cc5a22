package discordmsg

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Errors of [Decode]: nothing could be decoded at all.
var (
	ErrNotMessage = errors.New("not a Discord message")
	ErrTooLarge   = errors.New("message is too large")
	ErrSyntax     = fmt.Errorf("%w: broken JSON", ErrNotMessage)
)

// Names resolve the ids of a text. A nil function, and "", mean that the name is not
// known. For the same id a function must return the same for the length of one call
// of [Decode].
type Names struct {
	User    func(id string) string
	Channel func(id string) string // without #
	Role    func(id string) string
	// Self is the bot's user, and OwnRole reports whether a role is that which
	// Discord made for it: mentioning that role mentions the bot.
	Self    string
	OwnRole func(id string) bool
}

// A DecodedMessage is what one message object says. Message.Thread is never set, because
// the object does not tell: see [Channel.Where].
type DecodedMessage struct {
	Message earshot.Message
	Channel string // where Discord has it: a channel or a thread
	Guild   string // "" where the object does not tell, as from the REST API, and in a DM
	Type    int    // Discord's type of the message
	Nonce   string // of our own posts
	// Webhook is the webhook that posted it; "" for people, bots and the answers to
	// commands. Such an author's id is the webhook's, a dot, and a hash of the name:
	// one webhook speaks for many.
	Webhook string
	Roles   []string
	// Whole is false for an update that carries only some fields, such as a preview
	// that was added: Message then has only what it carries.
	Whole bool
	// Referenced is the message that a reply replies to, or that a thread was
	// started from, where the object contains it. Gone says that it was deleted.
	Referenced *DecodedMessage
	Gone       bool
	// Starter says that the message only stands for the message that its thread was
	// started from (type 21); it is not stored. Message has only id, time and author.
	Starter bool
	// Begun is the thread that was started from no message, where that is what the
	// object tells (type 18). Message then is the thread's name, as the first message of
	// the thread and under its id; a note with an id of its own where the name is not known.
	Begun earshot.MessageID
	// Thread is the thread that was started from this message, where the object has
	// it, with its number of messages (0 when unknown) and its name.
	Thread        *Channel
	ThreadName    string
	ThreadReplies int
	// AskedBy is who has used a command that the message answers, and AskedAbout the message
	// in whose menu they chose it. Discord says so, not who posted.
	AskedBy    earshot.Author
	AskedAbout earshot.MessageID
	Notes      []string // what could not be read, as paths; at most 20
}

// maxText bounds a stored text, in bytes. Discord's own bound is 4,000 characters, to
// which embeds add 6,000.
const maxText = 256 << 10

// Decode reads one message object of the gateway or of the REST API. Seq, Tokens and
// the SHA-256 of files are never set.
//
// The error is ErrTooLarge above MaxBytes, ErrSyntax for what is no JSON, and
// ErrNotMessage (which ErrSyntax is too) for what is no object, has no id, or tells no
// time in its id or its timestamp. Everything else decodes, if need be with notes.
func Decode(raw []byte, names Names) (DecodedMessage, error) {
	v, deep, err := parseValue(raw)
	if err != nil {
		return DecodedMessage{}, err
	}
	r := &reader{names: names}
	if deep {
		r.note("nested too deep")
	}
	d, err := r.decode(v, true)
	if err != nil {
		return DecodedMessage{}, err
	}
	d.Notes = r.notes
	return d, nil
}

// Bounds of a message: what it lists, and what is noted of it.
const (
	maxElements = 1000
	maxNotes    = 20
)

// A reader decodes one message.
type reader struct {
	names    Names
	own      bool // the message is the bot's: its buttons are none of its words
	elements int
	notes    []string
}

func (r *reader) note(s string) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, s)
	}
}

// more counts an element, and reports false once there are too many.
func (r *reader) more() bool {
	r.elements++
	if r.elements == maxElements {
		r.note("more than " + strconv.Itoa(maxElements) + " elements")
	}
	return r.elements < maxElements
}

// list returns the elements of a list, noting what is no list.
func (r *reader) list(v value, name string) []value {
	l := v.Get(name)
	if !l.Absent() && !l.Array() {
		r.note(name + ": not a list")
	}
	return l.List
}

// decode reads a message object, and with references the message itself that it refers
// to. Of a message within another Discord tells the reference only.
func (r *reader) decode(v value, references bool) (DecodedMessage, error) {
	if !v.Object() {
		return DecodedMessage{}, ErrNotMessage
	}
	id := v.At("id")
	if !isSnowflake(id) {
		return DecodedMessage{}, fmt.Errorf("%w: it has no id", ErrNotMessage)
	}
	t, ok := timeOf(id, v.At("timestamp"))
	if !ok {
		return DecodedMessage{}, fmt.Errorf("%w: it has no time", ErrNotMessage)
	}
	d := DecodedMessage{
		Channel: snowflake(v.At("channel_id")), Guild: snowflake(v.At("guild_id")),
		Type: int(v.Get("type").Int()), Nonce: tolerant.CutBytes(v.At("nonce"), maxID), Webhook: webhookOf(v),
		Whole: v.Get("author").Object() && !v.Get("content").Absent(),
	}
	people := r.people(v)
	d.Message = earshot.Message{
		ID: earshot.MessageID(id), Time: t,
		Author: r.author(v, d.Type, d.Webhook),
		Edited: r.edited(v),
	}
	for _, x := range r.list(v.Get("member"), "roles") {
		if role := snowflake(x.Str()); role != "" && r.more() {
			d.Roles = append(d.Roles, role)
		}
	}
	r.thread(&d, v.Get("thread"))
	d.Starter = d.Type == typeStarter
	r.reference(&d, v)
	r.asked(&d, v)
	if references {
		r.referenced(&d, v.Get("referenced_message"))
	}
	if d.Starter || r.begun(&d, v) {
		return d, nil
	}
	m := &d.Message
	if kindOfType(d.Type) == systemNote {
		m.Text = people.stored(r.systemText(v, d.Type))
		if d.Type == typeAutoModeration {
			r.blocked(m, v, people)
		}
	} else {
		r.compose(m, v, people)
	}
	m.Mentions = people.mentions(v)
	m.Reactions = r.reactions(v)
	m.Text = r.bounded(strings.TrimSpace(m.Text), "content")
	return d, nil
}

// edited returns when a message was last edited. An update that adds a preview has
// no such time, or the earlier one.
func (r *reader) edited(v value) earshot.Time {
	x := v.Get("edited_timestamp")
	if x.Absent() {
		return 0
	}
	t, err := earshot.ParseTime(x.Str())
	if err != nil {
		r.note("edited_timestamp: not a time")
		return 0
	}
	return t
}

// reference reads which message a reply replies to.
func (r *reader) reference(d *DecodedMessage, v value) {
	ref := v.Get("message_reference")
	id, channel := ref.At("message_id"), snowflake(ref.At("channel_id"))
	// Older exports and some programs have a reply as a message without a type of its own.
	// A message that came from a channel that is followed refers to that one.
	plain := d.Type == typeDefault && v.Get("flags").Int()&isCrosspost == 0 && channel != "" && channel == d.Channel && isSnowflake(id)
	if (plain || isReplyType(d.Type)) && ref.Get("type").Int() == referenceReply {
		switch {
		case !isSnowflake(id):
			if ref.Object() {
				r.note("message_reference: no message_id")
			}
		case channel == "" || d.Channel == "" || channel == d.Channel:
			d.Message.ReplyTo = earshot.MessageID(id)
		}
	}
}

// isCrosspost is the flag of a message that came from a channel that is followed
// (IS_CROSSPOST of Message Flags).
const isCrosspost = 1 << 1

// referenced reads the message that a reply replies to, or that a thread was started
// from.
func (r *reader) referenced(d *DecodedMessage, told value) {
	if d.Message.ReplyTo == "" && !d.Starter {
		return
	}
	d.Gone = told.Kind == 'n'
	if !told.Object() {
		return
	}
	x, err := (&reader{names: r.names, elements: r.elements}).decode(told, false)
	if err != nil {
		r.note("referenced_message: no id")
		return
	}
	x.Guild = cmp.Or(x.Guild, d.Guild)
	d.Referenced = &x
}

// thread reads the thread that was started from a message.
func (r *reader) thread(d *DecodedMessage, v value) {
	c, ok := channelOf(v)
	if !ok {
		if v.Object() {
			r.note("thread: no id")
		}
		return
	}
	d.Thread, d.ThreadName, d.ThreadReplies = &c.Channel, c.Name, max(0, c.Messages)
	d.Message.Replies, d.Message.Subject = c.Replies(), c.Subject(false, nil)
}

// bounded cuts a text to what is stored of one.
func (r *reader) bounded(s, path string) string {
	if len(s) > maxText {
		r.note(path + ": longer than 256 KiB")
		s = tolerant.CutBytes(s, maxText)
	}
	return s
}
