package simulate

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a message, in characters.
const (
	maxText   = 40_000
	maxUpdate = 4_000 // of chat.update's text
)

// target returns the channel that a post goes to: by id, by name, or the DM
// of a person.
func (s *Slack) target(r *request) (*channel, error) {
	to := strings.TrimPrefix(r.args["channel"], "#")
	c := s.channel(to)
	if c == nil && s.user(to) != nil {
		c = s.openDM([]string{to, s.o.App.UserID})
	}
	for _, o := range s.channels {
		if c == nil && to != "" && o.Name == to {
			c = o
		}
	}
	switch {
	case c == nil || c.Kind != Public && !c.has(s.o.App.UserID):
		return nil, fail("channel_not_found")
	case !c.has(s.o.App.UserID):
		return nil, fail("not_in_channel")
	case c.Archived:
		return nil, fail("is_archived")
	}
	return c, nil
}

// content reads what a post says into a body.
func (r *request) content(body object, most int) error {
	text, markdown := r.args["text"], r.args["markdown_text"]
	blocks, err := r.list("blocks", "invalid_blocks_format")
	if err != nil {
		return err
	}
	attachments, err := r.list("attachments", "invalid_attachments")
	if err != nil {
		return err
	}
	switch {
	case markdown != "" && (text != "" || blocks != nil):
		return fail("markdown_text_conflict")
	case text == "" && markdown == "" && len(blocks) == 0 && len(attachments) == 0:
		return fail("no_text")
	case utf8.RuneCountInString(text) > most || utf8.RuneCountInString(markdown) > maxMarkdown:
		return fail("msg_too_long")
	}
	if err := checkBlocks(blocks); err != nil {
		return err
	}
	body["text"] = text
	delete(body, "attachments")
	if markdown != "" {
		body["text"] = markdown
	}
	if blocks == nil {
		blocks = richText(str(body["text"]))
	}
	setBlocks(body, blocks)
	if attachments != nil {
		body["attachments"] = attachments
	}
	return r.metadata(body)
}

// metadata reads a message's metadata. Without any, what there is stays.
func (r *request) metadata(body object) error {
	text := r.args["metadata"]
	if text == "" {
		return nil
	}
	var m struct {
		Type    string `json:"event_type"`
		Payload object `json:"event_payload"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return fail("invalid_metadata_format")
	}
	if m.Type == "" && m.Payload == nil {
		delete(body, "metadata")
		return nil
	}
	if m.Type == "" || m.Payload == nil {
		return fail("invalid_metadata_schema")
	}
	body["metadata"] = object{"event_type": m.Type, "event_payload": m.Payload}
	return nil
}

// list reads an argument that is a JSON list, nil where it is missing.
func (r *request) list(key, otherwise string) ([]any, error) {
	text := r.args[key]
	if text == "" {
		return nil, nil
	}
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, fail(otherwise)
	}
	return list, nil
}

// chatPost answers chat.postMessage. A reply to a message that is no longer
// there goes to the channel; one to a reply goes to its thread.
func (s *Slack) chatPost(r *request, c *channel) (object, error) {
	m := &message{body: object{"team": s.o.Team.ID}}
	if err := r.content(m.body, maxText); err != nil {
		return nil, err
	}
	if name := r.args["username"]; name != "" {
		m.body["subtype"], m.body["username"] = "bot_message", name
	}
	s.postAs(c, m, r.args["thread_ts"])
	if m.root != "" && r.bool("reply_broadcast") {
		m.body["subtype"] = "thread_broadcast"
	}
	s.tellNew(c, m)
	return object{"channel": c.ID, "ts": m.ts, "message": c.view(m, true)}, nil
}

// postAs puts a message of the app into a channel or a thread.
func (s *Slack) postAs(c *channel, m *message, thread string) {
	m.ts, m.root = s.stamp(c), s.rootOf(c, thread)
	s.signBot(m, s.bot(s.o.App.BotID))
	if !m.is("bot_message") {
		m.body["user"] = s.o.App.UserID
	}
	c.add(m)
	delete(s.statuses, place{c.ID, m.root})
}

// rootOf is the thread that a thread_ts means, "" where it means none.
func (s *Slack) rootOf(c *channel, thread string) string {
	m := c.message(thread)
	switch {
	case m == nil:
		return ""
	case m.root != "":
		return m.root
	}
	return m.ts
}

// findOwnMessage returns what finds the app's own message that a call names.
func findOwnMessage(otherwise string) func(*Slack, *request) (*channel, *message, error) {
	return func(s *Slack, r *request) (*channel, *message, error) {
		c := s.channel(r.args["channel"])
		if c == nil || !c.has(s.o.App.UserID) {
			return nil, nil, fail("channel_not_found")
		}
		m := c.message(r.args["ts"])
		switch {
		case m == nil || m.is("tombstone"):
			return nil, nil, fail("message_not_found")
		case m.body["bot_id"] != s.o.App.BotID:
			return nil, nil, fail(otherwise)
		}
		return c, m, nil
	}
}

// chatUpdate answers chat.update. The message counts as edited once its text is another.
// Blocks that an app has made stay where the call has none
// (github.com/slack-go/slack/issues/1214).
func (s *Slack) chatUpdate(r *request, c *channel, m *message) (object, error) {
	if m.streaming {
		return nil, fail("streaming_state_conflict")
	}
	body := object{}
	if err := r.content(body, maxUpdate); err != nil {
		return nil, err
	}
	s.changeMessage(c, m, func(now *channelChange) {
		if now.body["text"] != body["text"] {
			now.body["edited"] = object{"user": s.o.App.UserID, "ts": now.stamp}
		}
		keys := []string{"text", "attachments"}
		if r.args["blocks"] != "" || r.args["markdown_text"] != "" || !ofApp(now.body["blocks"]) {
			keys = append(keys, "blocks")
		}
		if r.args["metadata"] != "" {
			keys = append(keys, "metadata")
		}
		for _, k := range keys {
			delete(now.body, k)
			if v, ok := body[k]; ok {
				now.body[k] = v
			}
		}
	})
	return object{"channel": c.ID, "ts": m.ts, "text": m.text(), "message": c.view(m, true)}, nil
}

// ofApp reports whether blocks are more than what Slack makes of a text.
func ofApp(blocks any) bool {
	list, _ := blocks.([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		b, _ := v.(object)
		return b["type"] != "rich_text"
	})
}

func (s *Slack) chatDelete(_ *request, c *channel, m *message) (object, error) {
	s.deleteMessage(c, m)
	return object{"channel": c.ID, "ts": m.ts}, nil
}

func (s *Slack) chatPermalink(r *request, c *channel) (object, error) {
	m := c.message(r.args["message_ts"])
	if m == nil {
		return nil, fail("message_not_found")
	}
	return object{"channel": c.ID, "permalink": s.permalink(c, m)}, nil
}

// permalink is the address of a message.
func (s *Slack) permalink(c *channel, m *message) string {
	link := "https://" + s.o.Team.Domain + ".slack.com/archives/" + c.ID + "/p" + strings.Replace(m.ts, ".", "", 1)
	if m.root != "" {
		link += "?thread_ts=" + m.root + "&cid=" + c.ID
	}
	return link
}

// An Ephemeral is a message that only one user sees, until they reload.
type Ephemeral struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
	User    string `json:"user"`
	TS      string `json:"ts"`
	Text    string `json:"text"`
}

// chatEphemeral answers chat.postEphemeral. Nobody else, and no event, tells
// of such a message.
func (s *Slack) chatEphemeral(r *request, c *channel) (object, error) {
	if !c.has(r.args["user"]) {
		return nil, fail("user_not_in_channel")
	}
	body := object{}
	if err := r.content(body, maxText); err != nil {
		return nil, err
	}
	ts := s.stamp(c)
	s.ephemerals = append(s.ephemerals, Ephemeral{c.ID, s.rootOf(c, r.args["thread_ts"]), r.args["user"], ts, str(body["text"])})
	return object{"message_ts": ts}, nil
}
