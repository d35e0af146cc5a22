package slackmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// A Callback is what Slack delivers by HTTP or Socket Mode: an event in its envelope
// (docs.slack.dev, Events API).
type Callback struct {
	Type      string // event_callback, url_verification, app_rate_limited
	ID        string // of the delivery: event_id; a delivery that is repeated has the same
	App       string // of the app to which it is delivered: api_app_id
	Token     string // the deprecated verification token: a secret that should not be stored
	Challenge string // of url_verification
	// Teams and Enterprises are where the app is installed, as far as Slack says,
	// and not the author's. Of several installations Slack names one
	// (docs.slack.dev, Events API).
	Teams       []earshot.WorkspaceID
	Enterprises []string
	Shared      bool  // in a channel that another organisation shares
	Minute      int64 // of app_rate_limited: the minute in which events were dropped, in Unix seconds
	Event       Event
}

// An Event is an event without its message. Its type decides which fields are set;
// any of them may be zero.
type Event struct {
	Type    string // such as message, reaction_added
	Subtype string
	// Channel is where it happened: the id, and kind, name, topic and purpose as far
	// as the event has them.
	Channel earshot.Channel
	Moved   earshot.ChannelID // of channel_id_changed: the channel's id from now on
	User    earshot.AuthorID  // who did it, or whom it is about
	Time    earshot.Time      // when it happened

	Item     earshot.MessageID // what was reacted to
	Reaction string

	Author earshot.Author     // of user_change: the new profile
	Bot    earshot.AuthorID   // that author's bot id
	Group  string             // a user group's id
	Handle string             // that group's name, without @
	Users  []earshot.AuthorID // that group's members; nil where they are not told
	Bots   []earshot.AuthorID // whose bot tokens were revoked
	Key    string             // of our own post, in its metadata
	Tab    string             // of app_home_opened: home or messages
	Agent  bool               // only apps with agent_view get such an event
}

// The message metadata that Earshot's own posts carry (docs.slack.dev, Message
// metadata).
const (
	MetadataType  = "earshot_post" // event_type
	MetadataKey   = "key"          // in event_payload: the opaque key of the post
	MetadataWhole = "whole"        // likewise; true once a placeholder was replaced by its answer

	QuestionType = "earshot_question" // event_type of a question that we posted for who asks
	QuestionBy   = "by"               // in event_payload: their id
)

// ReadCallback reads an envelope. The error is ErrTooLarge, ErrSyntax, or
// ErrNotMessage for what is no object.
func ReadCallback(raw []byte) (Callback, error) {
	v, _, err := parse(raw)
	if err != nil {
		return Callback{}, err
	}
	if !v.Object() {
		return Callback{}, fmt.Errorf("%w: not an object", ErrNotMessage)
	}
	c := Callback{
		Type: v.At("type"), ID: tolerant.CutBytes(v.At("event_id"), maxID), Token: v.At("token"), Challenge: tolerant.CutBytes(v.At("challenge"), 4096),
		Shared: v.Get("is_ext_shared_channel").Bool(), Minute: v.Get("minute_rate_limited").Int(),
	}
	if app := v.At("api_app_id"); isID(app) {
		c.App = app
	}
	team := func(of value) {
		if t := workspaceID(of.Str()); t != "" && !slices.Contains(c.Teams, t) {
			c.Teams = append(c.Teams, t)
		}
	}
	team(v.Get("team_id"))
	team(v.Get("context_team_id"))
	for _, a := range v.Get("authorizations").List {
		team(a.Get("team_id"))
		if e := a.At("enterprise_id"); a.Get("is_enterprise_install").Bool() && isID(e) {
			c.Enterprises = append(c.Enterprises, e)
		}
	}
	e := v.Get("event")
	if c.Minute == 0 {
		c.Minute = e.Get("minute_rate_limited").Int()
	}
	if e.Object() {
		c.Event = event(e)
		if c.Event.Channel.ID != "" && c.Shared {
			c.Event.Channel.Shared = true
		}
	}
	return c, nil
}

func event(v value) Event {
	e := Event{Type: v.At("type"), Subtype: v.At("subtype"), Tab: v.At("tab"), User: authorID(v.At("user"))}
	if t, err := earshot.ParseTime(v.At("event_ts")); err == nil && isTS(v.At("event_ts")) {
		e.Time = t
	}
	c, item := v.Get("channel"), v.Get("item")
	e.Channel = channel(c, v.At("channel_type"))
	if e.Channel.ID == "" {
		e.Channel = channel(item.Get("channel"), v.At("channel_type"))
	}
	if e.Channel.ID == "" {
		e.Channel = channel(v.Get("old_channel_id"), "")
		e.Moved = channel(v.Get("new_channel_id"), "").ID
	}
	switch e.Subtype {
	case "channel_topic", "group_topic":
		e.Channel.Topic = text(v.At("topic"))
	case "channel_purpose", "group_purpose":
		e.Channel.Purpose = text(v.At("purpose"))
	case "channel_name", "group_name":
		e.Channel.Name = oneLine(v.At("name"))
	case "channel_convert_to_private":
		e.Channel.Kind = earshot.KindGroup
	}
	if ts := item.At("ts"); isTS(ts) && item.At("type") == "message" {
		e.Item = earshot.MessageID(ts)
	}
	e.Reaction = oneLine(strings.Trim(v.At("reaction"), ":"))
	if u := v.Get("user"); u.Object() {
		e.Author, e.Bot, _, _ = readAuthor(u)
		e.User = e.Author.ID
	}
	if g := v.Get("subteam"); isID(g.At("id")) {
		e.Group, e.Handle = g.At("id"), oneLine(g.First("handle", "name"))
		for _, u := range g.Get("users").List {
			if id := authorID(u.Str()); id != "" {
				e.Users = append(e.Users, id)
			}
		}
	}
	for _, b := range v.Get("tokens").Get("bot").List {
		if id := authorID(b.Str()); id != "" {
			e.Bots = append(e.Bots, id)
		}
	}
	// Slack tells where a person looks with each message to an agent:
	// docs.slack.dev, GenericMessageEvent, app_context.
	e.Agent = e.Type == "app_context_changed" || v.Get("app_context").Object()
	e.Key, _ = key(v)
	if e.Key == "" {
		e.Key, _ = key(v.Get("message"))
	}
	return e
}

// key returns the key that a message of ours carries, and whether it has got
// its last text.
func key(m value) (key string, whole bool) {
	d := m.Get("metadata")
	if d.At("event_type") != MetadataType {
		return "", false
	}
	payload := d.Get("event_payload")
	if key = payload.At(MetadataKey); !isID(key) {
		return "", false
	}
	return key, payload.Get(MetadataWhole).Bool()
}

// askedBy returns who asks what a message of ours says; "" for any other message.
func askedBy(m value) earshot.AuthorID {
	d := m.Get("metadata")
	if d.At("event_type") != QuestionType {
		return ""
	}
	return authorID(d.Get("event_payload").At(QuestionBy))
}

// Key returns the key that an own post has in its metadata, for a message of
// history; "" where it has none.
func Key(raw []byte) string {
	v, _, err := parse(raw)
	if err != nil {
		return ""
	}
	k, _ := key(v)
	return k
}

// Stamp returns only the id and the time of a message, also where Decode fails on the
// rest. ok is false where it has no usable ts.
func Stamp(raw []byte) (id earshot.MessageID, t earshot.Time, ok bool) {
	v, _, err := parse(raw)
	ts := v.At("ts")
	if err != nil || !isTS(ts) {
		return "", 0, false
	}
	t, err = earshot.ParseTime(ts)
	return earshot.MessageID(ts), t, err == nil
}

// Channel reads a channel as it is in conversations.info and in events about
// channels. ok is false where raw is no channel.
func Channel(raw []byte) (c earshot.Channel, ok bool) {
	v, _, err := parse(raw)
	if err != nil || !v.Object() {
		return earshot.Channel{}, false
	}
	c = channel(v, "")
	return c, c.ID != ""
}

// channel reads a channel that is given as an object, or by its id only. kind
// is Slack's channel_type, "" where it was not told; events about members have
// a letter for it.
func channel(v value, kind string) earshot.Channel {
	c := earshot.Channel{Platform: earshot.Slack, ID: channelID(v)}
	if c.ID == "" {
		return earshot.Channel{}
	}
	c.Name = oneLine(v.At("name"))
	c.Topic, c.Purpose = text(v.Get("topic").At("value")), text(v.Get("purpose").At("value"))
	c.Shared = v.Get("is_ext_shared").Bool()
	switch {
	case kind == "im", kind == "app_home", v.Get("is_im").Bool(), c.ID[0] == 'D':
		c.Kind = earshot.KindDM
	case kind == "mpim", kind == "group", kind == "G", v.Get("is_mpim").Bool(), v.Get("is_group").Bool(), v.Get("is_private").Bool(), c.ID[0] == 'G':
		c.Kind = earshot.KindGroup
	case kind == "channel", kind == "C", v.Get("is_channel").Bool():
		c.Kind = earshot.KindChannel
	}
	return c
}

// text makes a topic of s: its markup as in a message, bounded.
func text(s string) string {
	s, _ = Names{}.stored(s)
	return tolerant.CutBytes(s, 4096)
}
