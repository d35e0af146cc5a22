package slackmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
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
	User    earshot.AuthorID // who did it, or whom it is about

	Item     earshot.MessageID // what was reacted to
	Reaction string

	Author earshot.Author     // of user_change: the new profile
	Bot    earshot.AuthorID   // that author's bot id
	Group  string             // a user group's id
	Handle string             // that group's name, without @
	Bots   []earshot.AuthorID // whose bot tokens were revoked
	Key    string             // of our own post, in its metadata
	Agent  bool               // only apps with agent_view get such an event
}

// The message metadata that Earshot's own posts carry (docs.slack.dev, Message
// metadata).
const (
	MetadataType  = "earshot_post" // event_type
	MetadataKey   = "key"          // in event_payload: the opaque key of the post
	MetadataWhole = "whole"        // likewise; true once a placeholder was replaced by its answer
)

// ReadCallback reads an envelope. The error is ErrTooLarge, ErrSyntax, or
// ErrNotMessage for what is no object.
func ReadCallback(raw []byte) (Callback, error) {
	v, _, err := parse(raw)
	if err != nil {
		return Callback{}, err
	}
	if !v.object() {
		return Callback{}, fmt.Errorf("%w: not an object", ErrNotMessage)
	}
	c := Callback{
		Type: v.at("type"), ID: cutBytes(v.at("event_id"), maxID), Token: v.at("token"), Challenge: cutBytes(v.at("challenge"), 4096),
		Shared: v.get("is_ext_shared_channel").bool(), Minute: v.get("minute_rate_limited").int(),
	}
	if app := v.at("api_app_id"); isID(app) {
		c.App = app
	}
	team := func(of value) {
		if t := workspaceID(of.str()); t != "" && !slices.Contains(c.Teams, t) {
			c.Teams = append(c.Teams, t)
		}
	}
	team(v.get("team_id"))
	team(v.get("context_team_id"))
	for _, a := range v.get("authorizations").list {
		team(a.get("team_id"))
		if e := a.at("enterprise_id"); a.get("is_enterprise_install").bool() && isID(e) {
			c.Enterprises = append(c.Enterprises, e)
		}
	}
	e := v.get("event")
	if c.Minute == 0 {
		c.Minute = e.get("minute_rate_limited").int()
	}
	if e.object() {
		c.Event = event(e)
	}
	return c, nil
}

func event(v value) Event {
	e := Event{Type: v.at("type"), Subtype: v.at("subtype"), User: authorID(v.at("user"))}
	c, item := v.get("channel"), v.get("item")
	e.Channel = channel(c, v.at("channel_type"))
	if e.Channel.ID == "" {
		e.Channel = channel(item.get("channel"), v.at("channel_type"))
	}
	switch e.Subtype {
	case "channel_topic", "group_topic":
		e.Channel.Topic = text(v.at("topic"))
	case "channel_purpose", "group_purpose":
		e.Channel.Purpose = text(v.at("purpose"))
	case "channel_name", "group_name":
		e.Channel.Name = oneLine(v.at("name"))
	case "channel_convert_to_private":
		e.Channel.Kind = earshot.KindGroup
	}
	if ts := item.at("ts"); isTS(ts) && item.at("type") == "message" {
		e.Item = earshot.MessageID(ts)
	}
	e.Reaction = oneLine(strings.Trim(v.at("reaction"), ":"))
	if u := v.get("user"); u.object() {
		e.Author, e.Bot, _, _ = readAuthor(u)
		e.User = e.Author.ID
	}
	if g := v.get("subteam"); isID(g.at("id")) {
		e.Group, e.Handle = g.at("id"), oneLine(g.first("handle", "name"))
	}
	for _, b := range v.get("tokens").get("bot").list {
		if id := authorID(b.str()); id != "" {
			e.Bots = append(e.Bots, id)
		}
	}
	// Slack tells where a person looks with each message to an agent:
	// docs.slack.dev, GenericMessageEvent, app_context.
	e.Agent = e.Type == "app_context_changed" || v.get("app_context").object()
	e.Key, _ = key(v)
	if e.Key == "" {
		e.Key, _ = key(v.get("message"))
	}
	return e
}

// key returns the key that a message of ours carries, and whether it has got
// its last text.
func key(m value) (key string, whole bool) {
	d := m.get("metadata")
	if d.at("event_type") != MetadataType {
		return "", false
	}
	payload := d.get("event_payload")
	if key = payload.at(MetadataKey); !isID(key) {
		return "", false
	}
	return key, payload.get(MetadataWhole).bool()
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
	ts := v.at("ts")
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
	if err != nil || !v.object() {
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
	c.Name = oneLine(v.at("name"))
	c.Topic, c.Purpose = text(v.get("topic").at("value")), text(v.get("purpose").at("value"))
	switch {
	case kind == "im", kind == "app_home", v.get("is_im").bool(), c.ID[0] == 'D':
		c.Kind = earshot.KindDM
	case kind == "mpim", kind == "group", kind == "G", v.get("is_mpim").bool(), v.get("is_group").bool(), v.get("is_private").bool(), c.ID[0] == 'G':
		c.Kind = earshot.KindGroup
	case kind == "channel", kind == "C", v.get("is_channel").bool():
		c.Kind = earshot.KindChannel
	}
	return c
}

// text makes a topic of s: its markup as in a message, bounded.
func text(s string) string {
	s, _ = Names{}.stored(s)
	return cutBytes(s, 4096)
}
