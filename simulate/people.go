package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// A PostedMessage is a message that a user or another app's bot posts.
type PostedMessage struct {
	Channel string
	User    string // a user's id, or a bot's for what a bot without a user posts
	Text    string // as Slack writes it: <@U…>, <https://…|label>, &amp;
	Thread  string // the ts of the root; "" for the top level

	Broadcast   bool     // a reply that the channel sees too
	Files       []string // ids of AddFile: a file_share
	Blocks      []any    // nil makes those of a person
	Attachments []any
	Username    string // another name for a bot's post
	ClientID    string // client_msg_id; "" makes one for a person
	workflow    bool
	Mute        bool      // the app gets no event, as for what was said before it was installed
	At          time.Time // when it was said; zero is now. Later messages of the channel are later all the same.
}

// Say posts a message at the top level of a channel, and returns its ts.
func (s *Slack) Say(channel, user, text string) string {
	return s.Post(PostedMessage{Channel: channel, User: user, Text: text})
}

// Form has a workflow post what a person filled into its form, as Workflow Builder does:
// without a user, under the workflow's name. It returns the message's ts.
func (s *Slack) Form(channel, workflow, text string) string {
	ts, err := s.form(channel, workflow, text)
	check(err)
	return ts
}

func (s *Slack) form(channel, workflow, text string) (string, error) {
	return s.say(PostedMessage{Channel: channel, User: s.AddBot(Bot{Name: workflow}), Text: text, Blocks: richText(text), workflow: true})
}

// Reply posts a reply in the thread of root, and returns its ts.
func (s *Slack) Reply(channel, root, user, text string) string {
	return s.Post(PostedMessage{Channel: channel, Thread: root, User: user, Text: text})
}

// Broadcast posts a reply in the thread of root that also appears in the channel
// (thread_broadcast), and returns its ts.
func (s *Slack) Broadcast(channel, root, user, text string) string {
	return s.Post(PostedMessage{Channel: channel, Thread: root, User: user, Text: text, Broadcast: true})
}

// Upload has a person share files, and returns the message's ts.
func (s *Slack) Upload(channel, user, text string, files ...string) string {
	return s.Post(PostedMessage{Channel: channel, User: user, Text: text, Files: files})
}

// Post posts a message with any of the fields of Said, and returns its ts.
func (s *Slack) Post(d PostedMessage) string {
	ts, err := s.say(d)
	check(err)
	return ts
}

func (s *Slack) say(d PostedMessage) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(d.Channel)
	if c == nil {
		return "", fmt.Errorf("there is no channel %q", d.Channel)
	}
	if d.Thread != "" && c.message(d.Thread) == nil {
		return "", fmt.Errorf("there is no message %q in %s to reply to", d.Thread, d.Channel)
	}
	m := &message{root: d.Thread, body: object{"text": d.Text, "team": s.o.Team.ID}}
	if d.At.IsZero() {
		m.ts = s.stamp(c)
	} else if m.ts = TS(d.At); c.message(m.ts) != nil {
		return "", fmt.Errorf("%s has a message at %s already", d.Channel, m.ts)
	}
	if err := s.sign(m, d); err != nil {
		return "", err
	}
	if d.Attachments != nil {
		m.body["attachments"] = d.Attachments
	}
	if d.Broadcast && d.Thread != "" {
		m.body["subtype"] = "thread_broadcast"
	}
	if err := s.share(m, d.Files); err != nil {
		return "", err
	}
	c.add(m)
	if !d.Mute {
		s.tellNew(c, m)
	}
	return m.ts, nil
}

// sign says in m who wrote it.
func (s *Slack) sign(m *message, d PostedMessage) error {
	m.body["blocks"] = d.Blocks
	if b := s.bot(d.User); b != nil {
		m.body["subtype"], m.body["bot_id"], m.body["app_id"] = "bot_message", b.ID, b.AppID
		m.body["username"] = cmp.Or(d.Username, b.Name)
		if d.workflow {
			m.body["workflow_id"] = "Wf" + b.ID[1:]
		}
		if d.Blocks == nil {
			delete(m.body, "blocks")
		}
		return nil
	}
	u := s.user(d.User)
	if u == nil {
		return fmt.Errorf("there is no user or bot %q", d.User)
	}
	m.body["user"] = u.ID
	if u.Team != "" {
		m.body["team"], m.body["user_team"], m.body["source_team"] = u.Team, u.Team, u.Team
	}
	if b := s.bot(u.bot); b != nil {
		s.signBot(m, b)
	} else {
		m.body["client_msg_id"] = d.ClientID
		if d.ClientID == "" {
			m.body["client_msg_id"] = s.uuid()
		}
	}
	if d.Blocks == nil {
		setBlocks(m.body, richText(d.Text))
	}
	return nil
}

// setBlocks puts blocks into a body, or takes them out where there are none.
func setBlocks(body object, blocks []any) {
	delete(body, "blocks")
	if len(blocks) > 0 {
		body["blocks"] = blocks
	}
}

// signBot says in m that an app wrote it.
func (s *Slack) signBot(m *message, b *Bot) {
	m.body["bot_id"], m.body["app_id"] = b.ID, b.AppID
	profile := s.botJSON(b)
	delete(profile, "user_id")
	profile["team_id"] = s.o.Team.ID
	m.body["bot_profile"] = profile
}

// uuid makes an id of the form that client_msg_id has.
func (s *Slack) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", s.rng.Uint32(), s.rng.Uint32()&0xffff, s.rng.Uint32()&0xfff, s.rng.Uint32()&0xfff, s.rng.Uint64()&0xffffffffffff)
}

// Edit changes a message's text, as its author does.
func (s *Slack) Edit(channel, ts, text string) { check(s.edit(channel, ts, text)) }

func (s *Slack) edit(channel, ts, text string) error {
	return s.change(channel, ts, func(c *channelChange) {
		c.body["text"] = text
		setBlocks(c.body, richText(text))
		c.body["edited"] = object{"user": cmp.Or(c.author, str(c.body["bot_id"])), "ts": c.stamp}
	})
}

// UnfurlEdit makes Slack add a link preview to a message: the event is
// message_changed, although nobody has edited the message.
func (s *Slack) UnfurlEdit(channel, ts, link, title, text string) {
	check(s.unfurl(channel, ts, link, title, text))
}

func (s *Slack) unfurl(channel, ts, link, title, text string) error {
	site := link
	if u, err := url.Parse(link); err == nil && u.Host != "" {
		site = u.Host
	}
	return s.attach(channel, ts, object{
		"from_url": link, "original_url": link, "service_name": site, "service_icon": "https://example.com/favicon.ico",
		"title": title, "title_link": link, "text": text, "fallback": site + ": " + title,
	})
}

// UnfurlAs makes another app add a link preview to a message (chat.unfurl). author is
// the name in the preview.
func (s *Slack) UnfurlAs(bot, channel, ts, link, author, text string) {
	s.mu.Lock()
	b := s.bot(bot)
	s.mu.Unlock()
	if b == nil {
		check(fmt.Errorf("there is no bot %q", bot))
	}
	check(s.attach(channel, ts, object{
		"app_unfurl_url": link, "from_url": link, "is_app_unfurl": true, "bot_id": b.ID, "app_id": b.AppID,
		"author_name": author, "text": text, "fallback": text,
	}))
}

// attach adds an attachment to a message without an edit.
func (s *Slack) attach(channel, ts string, a object) error {
	return s.change(channel, ts, func(c *channelChange) {
		list, _ := c.body["attachments"].([]any)
		a["id"] = len(list) + 1
		c.body["attachments"] = append(slices.Clone(list), a)
	})
}

// Forward posts a message that shares another one, of any channel, and returns its
// ts.
func (s *Slack) Forward(channel, user, text, from, ts string) string {
	id, err := s.forward(channel, user, text, from, ts)
	check(err)
	return id
}

func (s *Slack) forward(channel, user, text, from, ts string) (string, error) {
	s.mu.Lock()
	a, err := s.shared(from, ts)
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	return s.say(PostedMessage{Channel: channel, User: user, Text: text, Attachments: []any{a}})
}

// shared is the attachment that Slack makes of a message that is shared. A
// conversation without a public name is "Slack Conversation" in its footer.
func (s *Slack) shared(channel, ts string) (object, error) {
	c, m, err := s.find(channel, ts)
	if err != nil {
		return nil, err
	}
	link, footer := s.permalink(c, m), "Slack Conversation"
	if c.Kind == Public {
		footer = "#" + c.Name
	}
	posted := "Posted in "
	if m.root != "" {
		posted = "Thread in "
	}
	if c.Kind == Public || m.root != "" {
		footer = posted + footer
	}
	a := object{
		"id": 1, "ts": m.ts, "channel_id": c.ID, "channel_team": s.o.Team.ID, "is_msg_unfurl": true, "is_share": true,
		"from_url": link, "original_url": link, "text": m.text(), "footer": footer, "color": "D0D0D0", "mrkdwn_in": []any{"text"},
		"message_blocks": []any{object{"team": s.o.Team.ID, "channel": c.ID, "ts": m.ts, "message": object{"blocks": m.body["blocks"]}}},
	}
	if m.root != "" {
		a["is_reply_unfurl"] = true
	}
	name := str(m.body["username"])
	if u := s.user(m.author()); u != nil {
		name = u.RealName
		a["author_id"], a["author_subname"] = u.ID, cmp.Or(u.DisplayName, u.RealName)
		a["author_link"] = "https://" + s.o.Team.Domain + ".slack.com/team/" + u.ID
	}
	a["author_name"] = name
	at, _ := micros(m.ts)
	a["fallback"] = "[" + time.UnixMicro(at).UTC().Format("January 2, 2006 3:04 PM") + "] " + name + ": " + m.text()
	if files, ok := m.body["files"]; ok {
		a["files"] = files
	}
	return a, nil
}

// A channelChange is a message while it is changed.
type channelChange struct {
	body   object // a copy that takes the place of the message's
	author string
	stamp  string // the ts of the change
}

// change changes a message and tells of it as message_changed.
func (s *Slack) change(channel, ts string, how func(*channelChange)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, ts)
	if err != nil {
		return err
	}
	s.changeMessage(c, m, how)
	return nil
}

func (s *Slack) changeMessage(c *channel, m *message, how func(*channelChange)) {
	before := c.view(m, true)
	now := &channelChange{body: maps.Clone(m.body), author: m.author(), stamp: s.stamp(c)}
	how(now)
	m.body = now.body
	s.tellChanged(c, m, before, now.stamp)
}

// Delete deletes a message. A root with replies stays as a tombstone, which goes with
// its last reply.
func (s *Slack) Delete(channel, ts string) { check(s.delete(channel, ts)) }

// DeleteRoot is Delete of a message with replies, so that a tombstone stays. It panics
// where the message has none.
func (s *Slack) DeleteRoot(channel, ts string) {
	s.mu.Lock()
	c, _, err := s.find(channel, ts)
	if err == nil && len(c.threads[ts]) == 0 {
		err = fmt.Errorf("%s in %s has no replies: it would not leave a tombstone", ts, channel)
	}
	s.mu.Unlock()
	check(err)
	s.Delete(channel, ts)
}

func (s *Slack) delete(channel, ts string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, ts)
	if err == nil {
		s.deleteMessage(c, m)
	}
	return err
}

func (s *Slack) deleteMessage(c *channel, m *message) {
	if len(c.threads[m.ts]) > 0 {
		s.changeMessage(c, m, func(now *channelChange) {
			now.body = object{"subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT", "hidden": true}
		})
		return
	}
	before := c.view(m, true)
	c.remove(m)
	s.tellDeleted(c, m, before)
	if root := c.message(m.root); root != nil && root.is("tombstone") && len(c.threads[root.ts]) == 0 {
		s.deleteMessage(c, root)
	}
}

// outsider adds somebody who is no member of the workspace to a channel, which is then
// shared with their organisation where they have one.
func (s *Slack) outsider(channelID string, u User) (any, error) {
	id := s.AddUser(u)
	s.mu.Lock()
	for _, c := range s.channels {
		if c.ID == channelID {
			c.Shared = c.Shared || u.Team != ""
		}
	}
	s.mu.Unlock()
	return object{"user": id}, s.join(channelID, id)
}
