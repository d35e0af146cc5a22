package discord

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A PostedMessage is a message that somebody posts.
type PostedMessage struct {
	Channel string // a channel, a thread or a direct message
	User    string // a user's id, or a webhook's
	Text    string // as Discord writes it: <@…>, <#…>, <:name:id>

	Reply    string // the message that it replies to, which is mentioned
	Silent   bool   // the reply does not mention whom it replies to
	Name     string // under which a webhook posts; "" is the webhook's
	Files    []File
	Embeds   []any
	Stickers []string // their names
	Poll     any      // as Discord's JSON has it
	Flags    int
	Fields   map[string]any // put into the JSON as they are
	Mute     bool           // the bot gets no event, as for what was said while it was away
	At       time.Time      // when it was said; zero is now. Ids are never smaller than those before.
}

// Say posts a message and returns its id.
func (s *Discord) Say(channel, user, text string) string {
	return s.Post(PostedMessage{Channel: channel, User: user, Text: text})
}

// Reply posts a reply to a message, which mentions its author, and returns its id.
func (s *Discord) Reply(channel, to, user, text string) string {
	return s.Post(PostedMessage{Channel: channel, Reply: to, User: user, Text: text})
}

// Upload posts files and returns the message's id.
func (s *Discord) Upload(channel, user, text string, files ...File) string {
	return s.Post(PostedMessage{Channel: channel, User: user, Text: text, Files: files})
}

// Post posts a message with any of the fields of Said, and returns its id.
func (s *Discord) Post(d PostedMessage) string {
	id, err := s.say(d)
	check(err)
	return id
}

func (s *Discord) say(d PostedMessage) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[d.Channel]
	if c == nil {
		return "", errNoChannel(d.Channel)
	}
	if c.Type == Forum || c.Type == Category {
		return "", fmt.Errorf("nobody can post in %q: it is a forum or a category", d.Channel)
	}
	m, err := s.compose(c, d)
	if err != nil {
		return "", err
	}
	s.publish(c, m, d.Mute)
	return m.id, nil
}

// compose makes the message of a Said.
func (s *Discord) compose(c *channel, d PostedMessage) (*message, error) {
	m := &message{channel: c.ID, author: d.User, content: d.Text, embeds: slices.Clone(d.Embeds), poll: givenPoll(d.Poll), flags: d.Flags, fields: maps.Clone(d.Fields)}
	if w := s.webhook(d.User); w != nil {
		m.webhook, m.name = w.ID, cmp.Or(d.Name, w.Name)
	} else if s.user(d.User) == nil {
		return nil, fmt.Errorf("there is no user or webhook %q", d.User)
	}
	if d.Reply != "" {
		if c.message(d.Reply) == nil {
			return nil, fmt.Errorf("%w: %q in %s to reply to", errNoMessage, d.Reply, c.ID)
		}
		m.kind, m.reply = typeReply, &reference{c.Guild, c.ID, d.Reply}
	}
	m.id = s.newID()
	if !d.At.IsZero() {
		m.id = s.idIn(c, d.At)
	}
	for _, f := range d.Files {
		m.files = append(m.files, s.attach(c.ID, f))
	}
	for _, name := range d.Stickers {
		m.stickers = append(m.stickers, object{"id": s.newID(), "name": name, "format_type": 1})
	}
	s.mentions(c, m, nil, !d.Silent)
	return m, nil
}

// idIn is an id of a moment that a channel does not have yet.
func (s *Discord) idIn(c *channel, at time.Time) string {
	n := number(Snowflake(at))
	for c.message(fmtInt(n)) != nil || s.byID[fmtInt(n)] != nil {
		n++
	}
	return fmtInt(n)
}

// publish posts m, and tells the bot unless it is away.
func (s *Discord) publish(c *channel, m *message, mute bool) {
	if !mute {
		s.post(c, m)
		return
	}
	if c.thread != nil {
		m.position = c.thread.sent
	}
	c.add(m)
}

// Edit has a message say something else.
func (s *Discord) Edit(channel, id, text string) { check(s.edit(channel, id, text)) }

func (s *Discord) edit(channel, id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	m.content, m.edited = text, s.o.Now()
	s.mentions(c, m, nil, m.ping)
	s.tellChanged(c, m)
	return nil
}

// Embed adds the preview of a link to a message. The update that is sent is no edit.
func (s *Discord) Embed(channel, id string, embeds ...any) { check(s.embed(channel, id, embeds...)) }

func (s *Discord) embed(channel, id string, embeds ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	if m.flags&flagSuppressEmbeds != 0 {
		return nil
	}
	m.embeds = append(m.embeds, embeds...)
	s.tellChanged(c, m)
	return nil
}

// SuppressEmbeds takes the embeds of a message away, as its author does.
func (s *Discord) SuppressEmbeds(channel, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	check(err)
	m.flags, m.embeds = m.flags|flagSuppressEmbeds, nil
	s.tellChanged(c, m)
}

// Delete deletes messages, one by one.
func (s *Discord) Delete(channel string, ids ...string) {
	for _, id := range ids {
		check(s.delete(channel, id))
	}
}

func (s *Discord) delete(channel, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	s.remove(c, m.id)
	return nil
}

// BulkDelete deletes messages at once, as a moderator's bot does: one event.
func (s *Discord) BulkDelete(channel string, ids ...string) { check(s.bulk(channel, ids)) }

func (s *Discord) bulk(channel string, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[channel]
	if c == nil {
		return errNoChannel(channel)
	}
	if len(ids) < 2 {
		return fmt.Errorf("a bulk delete is of two messages at least")
	}
	s.remove(c, ids...)
	return nil
}

// React adds a reaction: a character, or name:id.
func (s *Discord) React(channel, id, user, emoji string) {
	check(s.reacts(channel, id, user, emoji, true))
}

// Unreact removes a reaction.
func (s *Discord) Unreact(channel, id, user, emoji string) {
	check(s.reacts(channel, id, user, emoji, false))
}

func (s *Discord) reacts(channel, id, user, emoji string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	if s.user(user) == nil {
		return errNoUser(user)
	}
	s.react(c, m, user, emoji, on)
	return nil
}

// ClearReactions removes the reactions with an emoji, "" for all of them.
func (s *Discord) ClearReactions(channel, id, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	check(err)
	s.clear(c, m, emoji)
}

// Forward forwards a message into a channel, and returns the forward's id.
func (s *Discord) Forward(channel, user, from, id string) string {
	out, err := s.forwards(channel, user, from, id)
	check(err)
	return out
}

func (s *Discord) forwards(channel, user, from, id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[channel]
	if c == nil {
		return "", errNoChannel(channel)
	}
	in, what, err := s.find(from, id)
	if err != nil {
		return "", err
	}
	m, err := s.compose(c, PostedMessage{Channel: channel, User: user})
	if err != nil {
		return "", err
	}
	s.share(m, in, what)
	s.post(c, m)
	return m.id, nil
}

// proxyApp is the application whose webhooks post for people.
const proxyApp = "1100000000000000009"

// Type has a person type.
func (s *Discord) Type(channel, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[channel]
	if c == nil {
		check(errNoChannel(channel))
	}
	s.tellTyping(c, user)
}
