package discord

import (
	"cmp"
	"fmt"
	"slices"
)

// Join makes a user a member of a guild. Of the bot under test, it hears of the guild
// as when it is added to it.
func (s *Discord) Join(guild string, m Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	check(s.join(guild, m))
}

func (s *Discord) join(guild string, m Member) error {
	g := s.guild(guild)
	switch {
	case g == nil:
		return fmt.Errorf("there is no guild %q", guild)
	case s.user(m.User) == nil:
		return errNoUser(m.User)
	case g.member(m.User) != nil:
		return fmt.Errorf("%q is in the guild already", m.User)
	}
	if m.Joined.IsZero() {
		m.Joined = s.o.Now()
	}
	m.Roles = slices.Clone(m.Roles)
	g.members = append(g.members, &m)
	if m.User == s.o.App.UserID {
		s.tellGuild(g)
		return nil
	}
	o := s.fullMember(&m)
	o["guild_id"] = g.ID
	s.tell(event{kind: "GUILD_MEMBER_ADD", guild: g.ID, intents: membersIntent, data: sameForAll(o)})
	return nil
}

// Leave takes a user out of a guild. Of the bot under test, it is removed from the
// guild.
func (s *Discord) Leave(guild, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	check(s.leave(guild, user))
}

func (s *Discord) leave(guild, user string) error {
	g := s.guild(guild)
	if g == nil || g.member(user) == nil {
		return fmt.Errorf("%q is not in the guild %q", user, guild)
	}
	if user == s.o.App.UserID {
		s.removeBot(g)
		return nil
	}
	g.members = slices.DeleteFunc(g.members, func(m *Member) bool { return m.User == user })
	s.tell(event{kind: "GUILD_MEMBER_REMOVE", guild: g.ID, intents: membersIntent, data: sameForAll(object{"guild_id": g.ID, "user": s.userJSON(user)})})
	return nil
}

// removeBot takes the bot out of a guild. Without unavailable, the event says that it
// was removed (Discord's documentation, Guild Delete).
func (s *Discord) removeBot(g *guild) {
	g.members = slices.DeleteFunc(g.members, func(m *Member) bool { return m.User == s.o.App.UserID })
	s.tell(event{kind: "GUILD_DELETE", guild: g.ID, intents: guildsIntent, data: sameForAll(object{"id": g.ID})})
}

// Outage makes a guild unavailable, or available again.
func (s *Discord) Outage(guild string, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guild)
	if g == nil {
		check(fmt.Errorf("there is no guild %q", guild))
	}
	g.down = down
	if down {
		s.tell(event{kind: "GUILD_DELETE", guild: g.ID, intents: guildsIntent, data: sameForAll(object{"id": g.ID, "unavailable": true})})
		return
	}
	s.tellGuild(g)
}

func (s *Discord) renameUser(user, globalName string) error {
	u := s.user(user)
	if u == nil {
		return errNoUser(user)
	}
	u.GlobalName = globalName
	for _, g := range s.guilds {
		if m := g.member(user); m != nil {
			s.tellMember(g, m)
		}
	}
	return nil
}

// SetMember gives a member another nickname and other roles. The bot hears of the
// channels that it sees now, or no longer.
func (s *Discord) SetMember(guild, user, nick string, roles ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guild)
	m := g.member(user)
	if m == nil {
		check(fmt.Errorf("%q is not in the guild %q", user, guild))
	}
	s.changeMember(g, m, func() { m.Nick, m.Roles = nick, slices.Clone(roles) })
}

// tellMember sends GUILD_MEMBER_UPDATE: of the bot itself without any intent.
func (s *Discord) tellMember(g *guild, m *Member) {
	o := s.fullMember(m)
	o["guild_id"] = g.ID
	e := event{kind: "GUILD_MEMBER_UPDATE", guild: g.ID, intents: membersIntent, data: sameForAll(o)}
	if m.User == s.o.App.UserID {
		e.intents = 0
	}
	s.tell(e)
}

// RenameChannel gives a channel or a thread another name.
func (s *Discord) RenameChannel(id, name string) {
	check(s.changeChannel(id, func(c *channel) { c.Name = name }))
}

// LetIn lets a user see a private channel.
func (s *Discord) LetIn(id, user string) {
	check(s.changeChannel(id, func(c *channel) { c.overwriteOf(user, forMember).allow |= viewChannel }))
}

// ShutOut makes a channel private, without a user.
func (s *Discord) ShutOut(id, user string) {
	check(s.changeChannel(id, func(c *channel) {
		if !c.private() {
			g := s.guild(c.Guild)
			c.close(g)
			for _, m := range g.members {
				c.close(g, m.User)
			}
		}
		c.overwrites = slices.DeleteFunc(c.overwrites, func(o overwrite) bool { return o.id == user })
	}))
}

// ReadOnly says whether @everyone may post in a channel.
func (s *Discord) ReadOnly(id string, on bool) {
	check(s.changeChannel(id, func(c *channel) { c.silence(on) }))
}

// changeChannel tells of the change by CHANNEL_UPDATE, also where the bot does not see
// the channel any more.
func (s *Discord) changeChannel(id string, change func(*channel)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[id]
	if c == nil || c.Type == DM {
		return errNoChannel(cmp.Or(id, `""`))
	}
	saw := s.sees(c, s.o.App.UserID)
	change(c)
	s.tellChannel("UPDATE", c)
	if !saw && s.sees(c, s.o.App.UserID) {
		s.tellThreads(c)
	}
	return nil
}

// tellThreads sends the active threads of a channel that the bot sees from now on.
func (s *Discord) tellThreads(c *channel) {
	threads, members := []any{}, []any{}
	for _, th := range s.channels {
		if th.thread != nil && th.Parent == c.ID && !th.thread.archived && s.sees(th, s.o.App.UserID) {
			threads = append(threads, s.channelJSON(th))
			if th.thread.has(s.o.App.UserID) {
				members = append(members, s.threadMemberJSON(th, s.o.App.UserID, false))
			}
		}
	}
	s.tell(event{kind: "THREAD_LIST_SYNC", guild: c.Guild, intents: guildsIntent, data: sameForAll(object{
		"guild_id": c.Guild, "channel_ids": []any{c.ID}, "threads": threads, "members": members,
	})})
}

// RemoveChannel deletes a channel with its threads, or a thread.
func (s *Discord) RemoveChannel(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	check(s.removeChannel(channel))
}

func (s *Discord) removeChannel(id string) error {
	c := s.byID[id]
	if c == nil || c.Type == DM {
		return errNoChannel(id)
	}
	s.dropChannel(c)
	return nil
}

// dropChannel tells of the channel only: bots know that its threads go with it. So do its
// webhooks; the channels of a category are in none then.
func (s *Discord) dropChannel(c *channel) {
	s.channels = slices.DeleteFunc(s.channels, func(o *channel) bool {
		gone := o == c || o.thread != nil && o.Parent == c.ID
		if gone {
			delete(s.byID, o.ID)
		}
		return gone
	})
	s.webhooks = slices.DeleteFunc(s.webhooks, func(w *Webhook) bool { return w.Channel == c.ID })
	s.tellChannel("DELETE", c)
	for _, o := range s.channels {
		if o.Parent == c.ID {
			o.Parent = ""
			s.tellChannel("UPDATE", o)
		}
	}
}
