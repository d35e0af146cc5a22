package slackmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Callback is what Slack delivers, by HTTP or by socket: an event in its
// envelope.
type Callback struct {
	Type      string // event_callback, url_verification, app_rate_limited
	ID        string // of the delivery: event_id
	App       string // for which it is delivered: api_app_id
	Token     string // the old verification token: a secret, which need not be kept
	Challenge string // of url_verification
	// Teams and Enterprises say for whom it is delivered: where the app is
	// installed, as far as Slack tells, and never the author's. Of several
	// installations Slack names one (docs.slack.dev, Events API).
	Teams       []earshot.WorkspaceID
	Enterprises []string
	Shared      bool  // in a channel that another organisation shares
	Minute      int64 // of app_rate_limited: the minute in which events were dropped, in Unix seconds
	Event       Event
}

// An Event is what an event tells besides a message. Which fields are filled
// in depends on its type; none is certain.
type Event struct {
	Type    string // such as message, reaction_added
	Subtype string
	// Channel is where it happened: the id, and of kind, name, topic and
	// purpose what the event tells.
	Channel earshot.Channel
	User    earshot.AuthorID // who did it, or whom it is about

	Item     earshot.MessageID // what was reacted to
	Reaction string

	Author earshot.Author     // whose profile is told
	Bot    earshot.AuthorID   // that author's bot id
	Group  string             // a user group's id
	Handle string             // that group's name, without @
	Bots   []earshot.AuthorID // whose bot tokens were revoked
	Key    string             // of our own post, in its metadata
	Agent  bool               // told to an app with agent_view only
}

// The metadata that our own posts carry.
const (
	MetadataType  = "earshot_post" // event_type
	MetadataKey   = "key"          // in event_payload: the opaque key of the post
	MetadataWhole = "whole"        // likewise, true: a placeholder has got its last text
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

// Key returns the key that our own post carries in its metadata, in a message
// of history, or "".
func Key(raw []byte) string {
	v, _, err := parse(raw)
	if err != nil {
		return ""
	}
	k, _ := key(v)
	return k
}

// Stamp returns the id and time of a message of which nothing else may be
// readable. ok is false where it has none.
func Stamp(raw []byte) (id earshot.MessageID, t earshot.Time, ok bool) {
	v, _, err := parse(raw)
	ts := v.at("ts")
	if err != nil || !isTS(ts) {
		return "", 0, false
	}
	t, err = earshot.ParseTime(ts)
	return earshot.MessageID(ts), t, err == nil
}

// Channel reads a channel as conversations.info and the events about channels
// tell it. ok is false for what is none.
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
