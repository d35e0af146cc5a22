package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// SlackEvents stores deliveries of Slack's Events API, each as it came, as Events
// does. The workspace is the one that Slack names. What says nothing that is kept is
// Ignored.
func (s *Service) SlackEvents(ctx context.Context, p access.Principal, raw [][]byte) ([]EventResult, error) {
	if p.ReadOnly || p.Fixed != nil {
		return nil, visible.ReadOnly
	}
	if len(raw) > MaxEvents {
		return nil, visible.InvalidField("events", fmt.Sprintf("has more than %d; send several batches", MaxEvents))
	}
	events := make([]Event, 0, len(raw))
	for i, data := range raw {
		e, err := s.slackEvent(ctx, p, data, fmt.Sprintf("events[%d]", i))
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return s.inOrder(ctx, p, events)
}

// inOrder stores the events of deliveries. What comes before a channel gets another id is
// stored before, and what comes after it after.
func (s *Service) inOrder(ctx context.Context, p access.Principal, events []Event) ([]EventResult, error) {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Type == Moved })
	if i < 0 {
		return s.events(ctx, p, events, batch{of: "events"})
	}
	told, err := s.events(ctx, p, events[:i], batch{of: "events"})
	if err != nil {
		return nil, err
	}
	one, err := s.move(ctx, p, events[i])
	if err != nil {
		return nil, err
	}
	rest, err := s.inOrder(ctx, p, events[i+1:])
	return slices.Concat(told, []EventResult{one}, rest), err
}

// move gives a channel its new id. A caller who does not reach that moves nothing.
func (s *Service) move(ctx context.Context, p access.Principal, e Event) (EventResult, error) {
	to := e.Channel.Scope()
	to.Channel = e.To
	if !p.Sees(to) {
		return EventResult{Change: Ignored}, nil
	}
	switch err := s.store.MoveChannel(ctx, e.Channel.Scope(), e.To); {
	case errors.Is(err, earshot.ErrConflict):
		return EventResult{Change: Ignored}, nil // what is stored of both cannot be joined
	case err != nil:
		return EventResult{}, fmt.Errorf("move a channel: %w", err)
	}
	return EventResult{Channel: to, Change: earshot.Updated}, nil
}

// slackEvent reads one delivery.
func (s *Service) slackEvent(ctx context.Context, p access.Principal, raw []byte, at string) (Event, error) {
	c, err := slackmsg.ReadCallback(raw)
	switch {
	case err != nil:
		return Event{}, visible.InvalidField(at, "is no delivery of Slack's Events API")
	case c.Type == "url_verification":
		return Event{}, visible.InvalidField(at, "is Slack's check of a URL; answer it where Slack sends its events, and pass on what has the type event_callback")
	case c.Type != "event_callback":
		return Event{}, visible.InvalidField(at+".type", "must be event_callback: pass on the whole delivery, not only its event")
	case len(c.Teams) == 0:
		return Event{}, visible.InvalidField(at+".team_id", "is required")
	}
	e := Event{Type: Nameless, ID: c.ID, Channel: c.Event.Channel, Of: c.Event.Item, Reaction: c.Event.Reaction, Happened: c.Event.Time}
	switch c.Event.Type {
	case "user_change", "user_profile_changed":
		return slackProfile(p, c)
	}
	if e.Channel.ID == "" {
		return e, nil
	}
	e.Channel.Platform = earshot.Slack
	if e.Channel.Workspace, err = s.slackTeam(ctx, p, c); err != nil {
		return Event{}, err
	}
	switch c.Event.Type {
	case "message", "app_mention":
		return s.slackMessage(ctx, e, raw, c.Event.Agent, at+".event")
	case "reaction_added", "reaction_removed":
		if e.User = c.Event.User; e.Of != "" && e.Reaction != "" && e.User != "" {
			e.Type, e.By, e.At = Reacted, 1, c.Event.Time
			if c.Event.Type == "reaction_removed" {
				e.By = -1
			}
		}
	case "channel_id_changed":
		if c.Event.Moved != "" {
			e.Type, e.To = Moved, c.Event.Moved
		}
	case "channel_rename", "group_rename", "channel_created":
		e.Type, e.Created = Named, c.Event.Type == "channel_created"
	}
	return e, nil
}

// slackProfile reads who somebody is now.
func slackProfile(p access.Principal, c slackmsg.Callback) (Event, error) {
	e := Event{Type: Nameless, Author: c.Event.Author, Channel: earshot.Channel{Platform: earshot.Slack}}
	at := slices.IndexFunc(c.Teams, p.Reach.HasWorkspace)
	if at < 0 {
		return e, visible.Absent
	}
	if e.Channel.Workspace = c.Teams[at]; e.Author.ID != "" && e.Author.Name != "" {
		e.Type, e.Author.AsOf = Profiled, c.Event.Time
	}
	return e, nil
}

// slackTeam returns the workspace of a delivery. Of several, as in channels that are
// shared, it is the one in which the caller has the channel, else the first that it
// reaches.
func (s *Service) slackTeam(ctx context.Context, p access.Principal, c slackmsg.Callback) (earshot.WorkspaceID, error) {
	first := earshot.WorkspaceID("")
	for _, team := range c.Teams {
		at := earshot.Scope{Platform: earshot.Slack, Workspace: team, Channel: c.Event.Channel.ID}
		if !p.Sees(at) {
			continue
		}
		if first == "" {
			first = team
		}
		if len(c.Teams) == 1 {
			break
		}
		_, err := s.store.Channel(ctx, at)
		if err == nil {
			return team, nil
		}
		if !errors.Is(err, earshot.ErrNotFound) {
			return "", err
		}
	}
	if first == "" {
		return "", visible.Absent
	}
	return first, nil
}

// slackMessage reads a message, an edit, a deletion, or what else Slack tells of a
// message. The path is that of the message.
func (s *Service) slackMessage(ctx context.Context, e Event, raw []byte, agent bool, at string) (Event, error) {
	d, err := slackmsg.Decode(raw, s.slackNames(ctx, e.Channel))
	if err != nil {
		return Event{}, visible.InvalidField(at, "is no message that can be read")
	}
	m := d.Message
	switch {
	case m.ID == "":
		return e, nil
	case d.Kind == slackmsg.Delete:
		e.Type, e.Of = Deleted, m.ID
		return e, nil
	case d.Reason == slackmsg.ReplyNotice:
		// It has nothing but the count of replies: the rest is as it is stored.
		old, err := s.store.Message(ctx, e.Channel.Scope(), m.ID)
		if errors.Is(err, earshot.ErrNotFound) || err == nil && old.Deleted || m.Replies == nil {
			return e, nil
		}
		if err != nil {
			return Event{}, err
		}
		old.Replies, old.Mentions, old.Reactions, old.Files = m.Replies, nil, nil, nil
		m = old
	case d.Key != "" && m.Author.Kind == earshot.Bot:
		m.Edited = 0 // an answer in its placeholder's stead is no edit
	}
	if e.Channel.Kind == earshot.KindDM && m.Root() == "" {
		m.Thread = ""
		if agent {
			m.Thread = m.ID // each begins a thread
		}
	}
	e.Type, e.Message = Said, m
	return e, nil
}

// slackNames looks names up that Slack leaves out of its events. One that cannot be
// read counts as unknown.
func (s *Service) slackNames(ctx context.Context, c earshot.Channel) slackmsg.Names {
	return slackmsg.Names{
		User: func(id earshot.AuthorID) (earshot.Author, bool) {
			list, err := s.store.Authors(ctx, c.Platform, c.Workspace, id)
			if err != nil || len(list) != 1 || list[0].Name == "" {
				return earshot.Author{}, false
			}
			return list[0], true
		},
		Channel: func(id earshot.ChannelID) string {
			found, err := s.store.Channel(ctx, earshot.Scope{Platform: c.Platform, Workspace: c.Workspace, Channel: id})
			if err != nil {
				return ""
			}
			return found.Name
		},
	}
}
