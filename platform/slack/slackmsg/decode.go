package slackmsg

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Errors of Decode: nothing could be decoded at all.
var (
	ErrNotMessage = errors.New("not a Slack message")
	ErrTooLarge   = errors.New("message is too large")
	ErrSyntax     = fmt.Errorf("%w: broken JSON", ErrNotMessage)
)

// A Kind says what has happened to a message.
type Kind string

// The kinds. Edit is a change by the author. Slack also sends message_changed when it
// adds a link preview; that is Ignored, with the reason Unfurl.
const (
	Posted  Kind = "posted"
	Edit    Kind = "edit"
	Delete  Kind = "delete"
	Ignored Kind = "ignored"
)

// Reasons of Ignored.
const (
	NotAMessage = "not a message"      // an event of another type
	ReplyNotice = "reply notice"       // message_replied: the reply comes by itself; Message has the root's id, time and Replies
	Unfurl      = "unfurl"             // message_changed without a change by the author; Message is filled in
	Ephemeral   = "ephemeral"          // seen by one person only, not part of the channel
	Withheld    = "content withheld"   // the organisation has revoked the encryption key
	NoTarget    = "no message is told" // a change or deletion of nothing
)

// A DecodedMessage is what one JSON object says about a message.
//
// Message is the message as it is now; for Delete it is a tombstone, with id, time
// and thread only. Seq, Tokens and the SHA-256 of files are never set.
type DecodedMessage struct {
	Kind     Kind
	Reason   string // of Ignored, one of the constants
	Message  earshot.Message
	Subtype  string              // Slack's, as it came
	Channel  earshot.ChannelID   // "" where the object does not tell, as in exports
	Team     earshot.WorkspaceID // likewise; of the author, which in shared channels may be another than the channel's
	ClientID string              // client_msg_id
	Key      string              // of our own post, in its metadata
	Whole    bool                // of our own post: it has its last text
	AskedBy  earshot.AuthorID    // of our own post: whose question it is, in its metadata
	Form     bool                // a program without a user posted it: Workflow Builder a form, or a webhook
	Notes    []string            // what could not be read, as paths; at most 20
}

// maxText bounds a stored text, in bytes. Slack's own bound is 40,000
// characters, to which blocks and attachments add.
const maxText = 256 << 10

// Decode reads one message or event: the outer callback with its "event", the
// event itself, or a message of history, replies or an export.
//
// The error is ErrTooLarge above MaxBytes, ErrSyntax for what is no JSON, and
// ErrNotMessage (which ErrSyntax is too) for what is no object or has no
// usable ts. Everything else decodes, if need be with
// notes.
func Decode(raw []byte, names Names) (DecodedMessage, error) {
	v, deep, err := parse(raw)
	if err != nil {
		return DecodedMessage{}, err
	}
	if !v.Object() {
		return DecodedMessage{}, ErrNotMessage
	}
	r := &reader{names: names}
	if deep {
		r.note("nested too deep")
	}
	var d DecodedMessage
	if e := v.Get("event"); e.Object() {
		d.Team = workspaceID(v.At("team_id"))
		v = e
	}
	err = r.decode(&d, v)
	d.Notes = r.notes
	return d, err
}

func (r *reader) decode(d *DecodedMessage, v value) error {
	switch v.At("type") {
	case "", "message", "app_mention":
	default:
		d.Kind, d.Reason = Ignored, NotAMessage
		return nil
	}
	d.Subtype = v.At("subtype")
	d.Channel = channelID(v.Get("channel"))
	if t := workspaceID(v.First("team", "team_id")); t != "" {
		d.Team = t
	}
	previous := v.Get("previous_message")
	if !previous.Object() {
		previous = v.Get("original")
	}
	switch d.Subtype {
	case "message_changed":
		return r.changed(d, v, previous)
	case "message_deleted":
		return r.deleted(d, cmp.Or(v.At("deleted_ts"), previous.At("ts")), previous.At("thread_ts"))
	case "tombstone":
		return r.deleted(d, v.At("ts"), v.At("thread_ts"))
	case "message_replied":
		r.replied(d, v.Get("message"))
		return nil
	case "":
		// By the Events API message_replied comes without its subtype:
		// docs.slack.dev, message_replied.
		if v.Get("message").Object() && v.Get("text").Absent() && v.Get("user").Absent() {
			r.replied(d, v.Get("message"))
			return nil
		}
	case "ekm_access_denied":
		d.Kind, d.Reason = Ignored, Withheld
		return nil
	}
	if v.Get("is_ephemeral").Bool() {
		d.Kind, d.Reason = Ignored, Ephemeral
		return nil
	}
	m, _, err := r.message(v)
	d.Kind, d.Message, d.ClientID, d.Form = Posted, m, clientID(v), form(v, m)
	d.Key, d.Whole = key(v)
	d.AskedBy = askedBy(v)
	return err
}

// form reports whether a program without a user of its own posted m. Slack shows no
// difference between a workflow's form and a webhook: workflow_id is not in a mention's
// event, and both have an app_id.
func form(v value, m earshot.Message) bool {
	return m.Author.Kind == earshot.Bot && v.At("user") == ""
}

// changed tells an edit from the other things that Slack calls a change.
func (r *reader) changed(d *DecodedMessage, v, previous value) error {
	now := v.Get("message")
	if !now.Object() {
		d.Kind, d.Reason = Ignored, NoTarget
		return nil
	}
	if now.At("subtype") == "tombstone" {
		return r.deleted(d, now.At("ts"), now.At("thread_ts"))
	}
	m, own, err := r.message(now)
	if err != nil {
		return err
	}
	d.Message, d.ClientID, d.Form = m, clientID(now), form(now, m)
	d.Key, d.Whole = key(now)
	d.AskedBy = askedBy(now)
	if t := workspaceID(now.At("team")); t != "" {
		d.Team = t
	}
	d.Kind, d.Reason = Ignored, Unfurl
	if !previous.Object() {
		if !m.Edited.IsZero() {
			d.Kind, d.Reason = Edit, ""
		}
		return nil
	}
	before := &reader{names: r.names}
	was := before.compose(previous, before.author(previous).Kind)
	if len(was.shared) > 0 && m.Shared == nil { // its author has removed the preview
		d.Message.Shared = []earshot.SharedContent{}
	}
	if was.own != own.own || !slices.Equal(was.attached(), own.attached()) || !slices.EqualFunc(before.files(previous), m.Files, sameFile) {
		d.Kind, d.Reason = Edit, ""
		if previousEdit := editTime(previous); m.Edited.IsZero() || m.Edited == previousEdit {
			// A bot's update may carry no new edit time: the event's own
			// time names the revision then.
			if t, err := earshot.ParseTime(cmp.Or(v.At("ts"), v.At("event_ts"))); err == nil {
				d.Message.Edited = max(t, previousEdit)
			}
		}
	}
	return nil
}

// attached returns what the author has attached: forwards and quotes, without
// what was unfurled later. A forward is compared by who said it and when, since
// its text follows the edits of the original.
func (c composedMessage) attached() []earshot.SharedContent {
	var out []earshot.SharedContent
	for _, q := range c.shared {
		if q.unfurled {
			continue
		}
		x := q.SharedContent
		if x.Kind == earshot.Forward {
			x = earshot.SharedContent{Kind: x.Kind, ID: x.ID, Time: x.Time}
		}
		out = append(out, x)
	}
	return out
}

func (r *reader) deleted(d *DecodedMessage, ts, thread string) error {
	t, err := earshot.ParseTime(ts)
	if err != nil || !isTS(ts) {
		d.Kind, d.Reason = Ignored, NoTarget
		return nil
	}
	d.Kind = Delete
	d.Message = earshot.Message{ID: earshot.MessageID(ts), Time: t, Deleted: true}
	if isTS(thread) {
		d.Message.Thread = earshot.MessageID(thread)
	}
	return nil
}

// message decodes a message object, and returns also what was composed.
func (r *reader) message(v value) (earshot.Message, composedMessage, error) {
	ts := v.At("ts")
	t, err := earshot.ParseTime(ts)
	if err != nil || !isTS(ts) {
		return earshot.Message{}, composedMessage{}, errors.Join(ErrNotMessage, errors.New("it has no ts"))
	}
	author := r.author(v)
	c := r.compose(v, author.Kind)
	m := earshot.Message{
		ID:      earshot.MessageID(ts),
		Time:    t,
		Author:  author,
		Edited:  editTime(v),
		Files:   r.files(v),
		Replies: activity(v),
	}
	m.Reactions, m.Reactors = r.reactions(v.Get("reactions"))
	if thread := v.At("thread_ts"); isTS(thread) {
		m.Thread = earshot.MessageID(thread)
	} else if thread != "" {
		r.note("thread_ts: not a ts")
	}
	m.Text, m.Mentions = r.names.stored(c.own)
	for _, q := range c.shared {
		m.Shared = append(m.Shared, q.SharedContent)
	}
	m.Text = strings.TrimRight(m.Text, "\n")
	if len(m.Text) > maxText {
		m.Text = tolerant.CutBytes(m.Text, maxText)
		r.note("text: longer than 256 KiB")
	}
	return m, c, nil
}

// person reports whether a message was typed by a person in Slack's own
// client, where text and blocks say the same and only Slack attaches anything.
// What an app posts in a person's name carries the app's ids.
func person(v value) bool {
	return v.First("bot_id", "app_id") == "" && !v.Get("bot_profile").Object() && v.At("subtype") != "bot_message" && v.At("user") != ""
}

// editTime returns when a message was last edited, or zero.
func editTime(v value) earshot.Time {
	t, err := earshot.ParseTime(v.Get("edited").At("ts"))
	if err != nil {
		return 0
	}
	return t
}

// activity returns what a root tells of its replies: nil where it has none, and 0
// where it has some and does not tell how many, or when the last was said. The last
// one is not told everywhere, but may stand in the list of replies that a notice or an
// export has.
func activity(v value) *earshot.Activity {
	count := v.Get("reply_count")
	thread := v.At("thread_ts")
	if thread != "" && thread != v.At("ts") || thread == "" && count.Int() <= 0 {
		return nil
	}
	a := &earshot.Activity{}
	switch n := count.Int(); {
	case n > 0 && n <= 1<<30:
		a.Count = int(n)
	case count.Text == "0":
		return nil // all were deleted
	}
	a.Last, _ = earshot.ParseTime(v.At("latest_reply"))
	for _, x := range v.Get("replies").List {
		if t, err := earshot.ParseTime(x.At("ts")); err == nil && isTS(x.At("ts")) {
			a.Last = max(a.Last, t)
		}
	}
	return a
}

// replied fills in what a reply notice tells of the root.
func (r *reader) replied(d *DecodedMessage, root value) {
	d.Kind, d.Reason = Ignored, ReplyNotice
	ts := root.At("ts")
	if t, err := earshot.ParseTime(ts); err == nil && isTS(ts) {
		d.Message = earshot.Message{ID: earshot.MessageID(ts), Time: t, Replies: activity(root)}
	}
}

// reactions reads emoji names and counts, in Slack's order, and who gave them. Of many
// people Slack names some (docs.slack.dev, reactions.get).
func (r *reader) reactions(list value) ([]earshot.Reaction, *earshot.Reactors) {
	var out []earshot.Reaction
	var by earshot.Reactors
	for _, x := range list.List {
		name := oneLine(strings.Trim(x.At("name"), ":"))
		n := x.Get("count").Int()
		if n <= 0 || n > 1<<30 {
			n = int64(len(x.Get("users").List))
		}
		if name == "" || n == 0 || !r.more() {
			continue
		}
		out = append(out, earshot.Reaction{Name: name, Count: int(n)})
		for _, u := range x.Get("users").List {
			if id := authorID(u.Str()); id != "" && r.more() {
				by.List = append(by.List, earshot.Reactor{Emoji: name, ID: id})
			}
		}
	}
	if by.List == nil {
		return out, nil
	}
	return out, &by
}

// workspaceID and channelID return an id, or "" for what cannot be one. Some
// events carry a channel as an object.
func workspaceID(s string) earshot.WorkspaceID {
	if !isID(s) {
		return ""
	}
	return earshot.WorkspaceID(s)
}

// clientID returns the sender's own id of a message, or "" where it cannot be
// one.
func clientID(m value) string {
	if s := m.At("client_msg_id"); isID(s) {
		return s
	}
	return ""
}

func channelID(v value) earshot.ChannelID {
	if s := cmp.Or(v.Str(), v.At("id")); isID(s) {
		return earshot.ChannelID(s)
	}
	return ""
}

// isTS reports whether s is a Slack ts: seconds, a dot, a fraction. It is an
// id, so a time in another form does not do.
func isTS(s string) bool {
	t, err := earshot.ParseTime(s)
	return err == nil && t != 0 && strings.Trim(s, "0123456789.") == ""
}
