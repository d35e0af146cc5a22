package discord

import (
	"fmt"
	"maps"
	"slices"
)

// Thread starts a thread from a message and returns its id, which is the message's.
// Without a message, it starts one that has none.
func (s *Discord) Thread(channel, id, user, name string) string {
	out, err := s.startThread(channel, id, user, name, PublicThread)
	check(err)
	return out
}

// PrivateThread starts a private thread with these members beside its owner, and
// returns its id.
func (s *Discord) PrivateThread(channel, user, name string, members ...string) string {
	out, err := s.startThread(channel, "", user, name, PrivateThread)
	check(err)
	for _, id := range members {
		check(s.enterThread(out, id))
	}
	return out
}

func (s *Discord) startThread(channel, id, user, name string, kind int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[channel]
	switch {
	case c == nil:
		return "", errNoChannel(channel)
	case c.Type != Text && c.Type != Announcement:
		return "", fmt.Errorf("channel %q has no threads", channel)
	case s.user(user) == nil:
		return "", errNoUser(user)
	case id == "":
		th := s.newThread(c, "", kind, user, name)
		s.startEmpty(c, th)
		return th.ID, nil
	}
	m := c.message(id)
	if m == nil {
		return "", fmt.Errorf("%w: %q in %s", errNoMessage, id, channel)
	}
	if m.flags&flagHasThread != 0 {
		return "", fmt.Errorf("message %q has a thread already", id)
	}
	th := s.newThread(c, m.id, PublicThread, user, name)
	s.startFrom(c, m, th)
	return th.ID, nil
}

// EnterThread adds a person, or the bot, to a thread.
func (s *Discord) EnterThread(thread, user string) { check(s.enterThread(thread, user)) }

func (s *Discord) enterThread(thread, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[thread]
	if c == nil || c.thread == nil {
		return fmt.Errorf("there is no thread %q", thread)
	}
	if s.guild(c.Guild).member(user) == nil {
		return fmt.Errorf("%q is not in the guild", user)
	}
	s.enter(c, user)
	return nil
}

// LeaveThread takes a person, or the bot, out of a thread.
func (s *Discord) LeaveThread(thread, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[thread]
	if c == nil || c.thread == nil {
		check(fmt.Errorf("there is no thread %q", thread))
	}
	s.leaveThreadOf(c, user)
}

// Archive archives a thread, or opens it again.
func (s *Discord) Archive(thread string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[thread]
	if c == nil || c.thread == nil {
		check(fmt.Errorf("there is no thread %q", thread))
	}
	c.thread.archived, c.thread.archiving = on, s.o.Now()
	s.tellChannel("UPDATE", c)
}

// Open has a person post in a forum: a thread of the title, whose first message, of
// the same id, is the text. It returns that id.
func (s *Discord) Open(forum, user, title, text string, files ...File) string {
	id, err := s.open(PostedMessage{Channel: forum, User: user, Text: text, Files: files}, title)
	check(err)
	return id
}

func (s *Discord) open(d PostedMessage, title string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[d.Channel]
	if c == nil || c.Type != Forum {
		return "", fmt.Errorf("there is no forum %q", d.Channel)
	}
	if s.user(d.User) == nil {
		return "", errNoUser(d.User)
	}
	m, err := s.compose(c, d)
	if err != nil {
		return "", err
	}
	th := s.newThread(c, "", PublicThread, d.User, title)
	s.begun(th)
	s.firstPost(th, m)
	return th.ID, nil
}

// Proxy has a person post, and a webhook of the channel post the same under a name
// and delete the original, as PluralKit and others do. It returns both ids.
func (s *Discord) Proxy(channel, user, text, name string) (original, proxied string) {
	original, proxied, err := s.proxy(PostedMessage{Channel: channel, User: user, Text: text}, name)
	check(err)
	return original, proxied
}

func (s *Discord) proxy(d PostedMessage, name string) (original, proxied string, err error) {
	if original, err = s.say(d); err != nil {
		return "", "", err
	}
	s.mu.Lock()
	c := s.byID[d.Channel]
	at := d.Channel
	if c.thread != nil {
		at = c.Parent
	}
	var w *Webhook
	if i := slices.IndexFunc(s.webhooks, func(w *Webhook) bool { return w.Channel == at && w.Name == "proxy" }); i >= 0 {
		w = s.webhooks[i]
	} else if w, err = s.addWebhook(at, "proxy"); err != nil {
		s.mu.Unlock()
		return "", "", err
	}
	s.mu.Unlock()
	d.User, d.Name = w.ID, name
	d.Fields = maps.Clone(d.Fields)
	if d.Fields == nil {
		d.Fields = map[string]any{}
	}
	// Messages of a webhook that an application owns have its id (Message Object).
	d.Fields["application_id"] = proxyApp
	if proxied, err = s.say(d); err != nil {
		return "", "", err
	}
	return original, proxied, s.delete(d.Channel, original)
}
