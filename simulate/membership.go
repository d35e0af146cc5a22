package simulate

import (
	"fmt"
	"slices"
)

// Rename changes the name of a channel.
func (s *Slack) Rename(channel, name string) { check(s.rename(channel, name)) }

func (s *Slack) rename(channel, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || c.Kind == DM || name == "" {
		return fmt.Errorf("there is no channel %q to name %q", channel, name)
	}
	c.previous = append([]string{c.Name}, c.previous...)
	c.Name = name
	if c.has(s.o.App.UserID) && s.granted(c.scope("read")) {
		kind := "channel_rename"
		if c.Kind == Private {
			kind = "group_rename"
		}
		s.emit(object{"type": kind, "event_ts": s.now(), "channel": object{
			"id": c.ID, "is_channel": c.Kind == Public, "is_mpim": c.Kind == GroupDM, "name": name, "name_normalized": name, "created": c.Created,
		}})
	}
	return nil
}

// Join makes a user, or the app itself, enter a channel.
func (s *Slack) Join(channel, user string) { check(s.join(channel, user)) }

func (s *Slack) join(channel, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || s.user(user) == nil {
		return fmt.Errorf("there is no channel %q for %q to join", channel, user)
	}
	s.joined(c, user)
	return nil
}

// joined tells of a person who came, as channel_join in the channel and as
// member_joined_channel.
func (s *Slack) joined(c *channel, user string) {
	if c.has(user) {
		return
	}
	c.Members = append(c.Members, user)
	s.subtype(c, user, "channel_join", "<@"+user+"> has joined the channel")
	if c.has(s.o.App.UserID) && s.granted(c.scope("read")) {
		s.emit(object{"type": "member_joined_channel", "user": user, "channel": c.ID, "channel_type": c.letter(), "team": s.o.Team.ID, "event_ts": s.now()})
	}
}

// letter is the channel_type of membership events: C or G.
func (c *channel) letter() string {
	if c.Kind == Public {
		return "C"
	}
	return "G"
}

// subtype puts Slack's own line into a channel.
func (s *Slack) subtype(c *channel, user, kind, text string) {
	m := &message{ts: s.stamp(c), body: object{"subtype": kind, "user": user, "text": text}}
	c.add(m)
	s.tellNew(c, m)
}

// Leave makes a user, or the app, leave a channel. The app gets channel_left then, as
// after Kick.
func (s *Slack) Leave(channel, user string) { check(s.left(channel, user, user)) }

// Kick makes by remove a user, or the app, from a channel.
func (s *Slack) Kick(channel, user, by string) { check(s.left(channel, user, by)) }

func (s *Slack) left(channel, user, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || !c.has(user) {
		return fmt.Errorf("%q is in no channel %q to leave", user, channel)
	}
	c.Members = slices.DeleteFunc(slices.Clone(c.Members), func(id string) bool { return id == user })
	readable := s.granted(c.scope("read"))
	if user == s.o.App.UserID {
		kind := "channel_left"
		if c.Kind == Private {
			kind = "group_left"
		}
		if readable {
			s.emit(object{"type": kind, "channel": c.ID, "actor_id": by, "event_ts": s.now()})
		}
		return nil
	}
	s.subtype(c, user, "channel_leave", "<@"+user+"> has left the channel")
	if readable && c.has(s.o.App.UserID) {
		s.emit(object{"type": "member_left_channel", "user": user, "channel": c.ID, "channel_type": c.letter(), "team": s.o.Team.ID, "event_ts": s.now()})
	}
	return nil
}

// ChangeID gives a private channel another id, as Slack does when it is shared with
// another organisation: channel_id_changed is sent, and only the new id is known from
// then on. It returns that.
func (s *Slack) ChangeID(channel string) string {
	id, err := s.changeID(channel)
	check(err)
	return id
}

func (s *Slack) changeID(channel string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || c.Kind != Private {
		return "", fmt.Errorf("there is no private channel %q to give another id", channel)
	}
	s.lastID++
	old := c.ID
	c.ID = fmt.Sprintf("C0MOVED%d", s.lastID)
	if c.has(s.o.App.UserID) && s.granted(c.scope("read")) {
		s.emit(object{"type": "channel_id_changed", "old_channel_id": old, "new_channel_id": c.ID, "event_ts": s.now()})
	}
	return c.ID, nil
}
