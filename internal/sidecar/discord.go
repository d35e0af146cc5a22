package sidecar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// guildCategory is the type of what groups channels and holds no messages.
const guildCategory = 4

// A discordDispatch is an event as Discord's gateway delivers it. Channel is added by
// the caller: the channel or thread in which it happened, as Discord describes it.
// Nothing else says which channel a thread is in.
type discordDispatch struct {
	Op       int             `json:"op"`
	Type     string          `json:"t"`
	Sequence int64           `json:"s"`
	Data     json.RawMessage `json:"d"`
	Channel  json.RawMessage `json:"channel"`
}

// DiscordEvents stores dispatches of Discord's gateway, each as it came, as Events
// does. The workspace is the guild, "@me" for direct messages. A dispatch that deletes
// several messages counts as one. What says nothing that is kept is Ignored.
func (s *Service) DiscordEvents(ctx context.Context, p access.Principal, raw [][]byte) ([]EventResult, error) {
	if p.ReadOnly || p.Fixed != nil {
		return nil, visible.ReadOnly
	}
	if len(raw) > MaxEvents {
		return nil, visible.InvalidField("events", fmt.Sprintf("has more than %d; send several batches", MaxEvents))
	}
	t := &discordTelling{Service: s, p: p, channels: map[string]discordmsg.ChannelInfo{}, tags: map[string]map[string]string{}}
	last := make([]int, len(raw)) // of the events that a dispatch says, the last
	var events []Event
	for i, data := range raw {
		list, err := t.dispatch(ctx, data, fmt.Sprintf("events[%d]", i))
		if err != nil {
			return nil, err
		}
		events = append(events, list...)
		last[i] = len(events) - 1
	}
	told, err := s.events(ctx, p, events, batch{of: "events"})
	if err != nil {
		return nil, err
	}
	out := make([]EventResult, len(raw))
	for i, at := range last {
		out[i] = told[at]
	}
	return out, nil
}

// A discordTelling reads a batch. channels are those that it has described so far. Guild
// is that of messages that do not name one, as those of history.
type discordTelling struct {
	*Service
	p        access.Principal
	guild    string
	channels map[string]discordmsg.ChannelInfo
	tags     map[string]map[string]string // of forums, by id
}

// dispatch reads one dispatch; it returns at least one event.
func (t *discordTelling) dispatch(ctx context.Context, raw []byte, at string) ([]Event, error) {
	var d discordDispatch
	if err := json.Unmarshal(raw, &d); err != nil || d.Op != 0 || d.Type == "" {
		return nil, visible.InvalidField(at, `is no dispatch of Discord's gateway: it has op 0, t, such as "MESSAGE_CREATE", and d`)
	}
	if len(d.Channel) > 0 {
		c, ok := discordmsg.ReadChannel(d.Channel)
		if !ok {
			return nil, visible.InvalidField(at+".channel", "must be a channel or thread as Discord describes it, with id, type and parent_id")
		}
		t.know(c, d.Channel)
	}
	nothing := []Event{{Type: Nameless}}
	switch d.Type {
	case "THREAD_CREATE", "THREAD_UPDATE":
		return t.thread(ctx, d.Data, at+".channel", nothing)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE":
		list := t.channel(d.Data, nothing)
		list[0].Created = d.Type == "CHANNEL_CREATE" && list[0].Channel.Kind != earshot.KindDM
		return list, nil
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		e, err := t.message(ctx, d.Data, at+".d")
		if d.Type == "MESSAGE_UPDATE" {
			e.Happened = t.now() // the message may be old
		}
		return []Event{e}, err
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		x, ok := discordmsg.ReadDeleteEvent(d.Data)
		if !ok {
			return nothing, nil
		}
		var out []Event
		for _, id := range x.IDs {
			channel, _ := t.locate(x.Guild, x.Channel)
			out = append(out, Event{Type: Deleted, Channel: channel, Of: id})
		}
		return out, nil
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_EMOJI", "MESSAGE_REACTION_REMOVE_ALL":
		x, ok := discordmsg.ReadReaction(d.Data)
		e := Event{Type: Reacted, Of: x.Message, Reaction: x.Emoji, User: x.User, By: -1}
		switch d.Type {
		case "MESSAGE_REACTION_ADD":
			e.By = 1
		case "MESSAGE_REACTION_REMOVE_EMOJI":
			e.User, e.All = "", true
		case "MESSAGE_REACTION_REMOVE_ALL":
			e.User, e.Reaction, e.All = "", "", true
		}
		if !ok || e.User == "" && !e.All || e.Reaction == "" && d.Type != "MESSAGE_REACTION_REMOVE_ALL" {
			return nothing, nil
		}
		e.Channel, _ = t.locate(x.Guild, x.Channel)
		if d.Sequence > 0 { // unique in one session of the gateway only
			e.ID = fmt.Sprintf("%s/%s/%s/%s/%d", d.Type, x.Message, x.User, x.Emoji, d.Sequence)
		}
		return []Event{e}, nil
	}
	return nothing, nil
}

// know remembers a channel or thread of the batch, and a forum's tags.
func (t *discordTelling) know(c discordmsg.ChannelInfo, raw []byte) {
	t.channels[c.ID] = c
	if tags, ok := discordmsg.ReadTags(raw); ok {
		t.tags[c.ID] = tags
	}
}

// thread tells what a thread is called, where the message that it begins with is stored.
// Who may not reach the channel, which the path names, does not learn whether it is.
func (t *discordTelling) thread(ctx context.Context, raw []byte, path string, nothing []Event) ([]Event, error) {
	c, ok := discordmsg.ReadChannel(raw)
	if !ok {
		return nothing, nil
	}
	t.know(c, raw)
	channel, root := t.locate(c.Guild, c.ID)
	if string(root) != c.ID || string(channel.ID) == c.ID {
		return t.channel(raw, nothing), nil
	}
	if _, _, err := t.target(ctx, t.p, channel, path); err != nil {
		return nil, err
	}
	m, err := t.store.Message(ctx, channel.Scope(), root)
	switch {
	case errors.Is(err, earshot.ErrNotFound) || err == nil && m.Deleted:
		return nothing, nil
	case err != nil:
		return nil, err
	}
	if m.Subject = t.subject(c, m.Subject); m.Subject == nil {
		return nothing, nil
	}
	m.Mentions, m.Reactions, m.Shared, m.Files, m.Metadata = nil, nil, nil, nil, nil // what is stored stays
	return []Event{{Type: Said, Channel: channel, Message: m, Happened: t.now(), Known: true}}, nil
}

// subject returns what a thread is called now. Tags of a forum that the batch does not
// describe are as they were.
func (t *discordTelling) subject(c discordmsg.ChannelInfo, was *earshot.Subject) *earshot.Subject {
	tags, known := t.tags[c.Parent]
	x := c.Subject(t.channels[c.Parent].Type == discordmsg.GuildForum, tags)
	if x == nil {
		return nil
	}
	x.AsOf = t.now()
	if was != nil {
		x.Post = x.Post || was.Post
		if c.Applied != "" && !known {
			x.Tags = was.Tags
		}
	}
	return x
}

// channel keeps what a dispatch says of a channel. A thread is none of Earshot's.
func (t *discordTelling) channel(raw []byte, nothing []Event) []Event {
	c, ok := discordmsg.ReadChannel(raw)
	if !ok {
		return nothing
	}
	t.know(c, raw)
	if id, _ := c.Where(); string(id) != c.ID || c.Type == guildCategory {
		return nothing
	}
	return []Event{{Type: Named, Channel: c.Earshot(c.Guild)}}
}

// locate returns the channel in which the messages of a Discord channel are kept, and
// their thread.
func (t *discordTelling) locate(guild, id string) (earshot.Channel, earshot.MessageID) {
	c, ok := t.channels[id]
	if !ok {
		out := earshot.Channel{Platform: earshot.Discord, Workspace: discordmsg.Workspace(guild), ID: earshot.ChannelID(id)}
		if guild == "" {
			out.Kind = earshot.KindDM
		}
		return out, ""
	}
	own, thread := c.Where()
	if string(own) == c.ID {
		return c.Earshot(guild), thread
	}
	out := earshot.Channel{Platform: earshot.Discord, Workspace: discordmsg.Workspace(guild), ID: own}
	if parent, ok := t.channels[string(own)]; ok {
		out = parent.Earshot(guild)
	}
	return out, thread
}

// message reads a message or an edit. An update that is no whole message, such as a
// preview that was added, says nothing that is kept. The path is that of the message.
func (t *discordTelling) message(ctx context.Context, raw []byte, at string) (Event, error) {
	d, err := discordmsg.Decode(raw, discordmsg.Names{})
	if err != nil {
		return Event{}, visible.InvalidField(at, "is no message that can be read")
	}
	channel, thread := t.locate(cmp.Or(d.Guild, t.guild), d.Channel)
	if d, err = discordmsg.Decode(raw, t.discordNames(ctx, channel)); err != nil {
		return Event{}, visible.InvalidField(at, "is no message that can be read")
	}
	m := d.Message
	switch {
	case d.Channel == "":
		return Event{}, visible.InvalidField(at+".channel_id", "is required")
	case d.Starter && d.Referenced != nil && d.Referenced.Whole:
		m, thread = d.Referenced.Message, ""
	case d.Starter, !d.Whole:
		return Event{Type: Nameless}, nil
	case thread == m.ID:
		c := t.channels[d.Channel]
		m.Text = discordmsg.PrependTitle(c.Name, m.Text)
		stored, err := t.store.Message(ctx, channel.Scope(), m.ID)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return Event{}, err
		}
		if m.Subject = t.subject(c, stored.Subject); m.Subject != nil {
			m.Subject.Post = true // only a forum's posts begin with a message of their own id
		}
		thread = ""
	}
	m.Thread = thread
	return Event{Type: Said, Channel: channel, Message: m}, nil
}

// discordNames looks names up that a message does not have.
func (s *Service) discordNames(ctx context.Context, c earshot.Channel) discordmsg.Names {
	return discordmsg.Names{
		User: func(id string) string {
			list, err := s.store.Authors(ctx, c.Platform, c.Workspace, earshot.AuthorID(id))
			if err != nil || len(list) != 1 {
				return ""
			}
			return list[0].Name
		},
		Channel: func(id string) string {
			found, err := s.store.Channel(ctx, earshot.Scope{Platform: c.Platform, Workspace: c.Workspace, Channel: earshot.ChannelID(id)})
			if err != nil {
				return ""
			}
			return found.Name
		},
	}
}
