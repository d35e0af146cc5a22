package discord

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Limits of a message.
const (
	maxContent = 2000 // characters
	maxNonce   = 25
	maxFiles   = 10
	maxPage    = 100
	maxBulk    = 100
	bulkAge    = 14 * 24 * time.Hour
)

// A nonce is one that makes a post the same for a while.
type nonce struct {
	author, channel, nonce, message string
	at                              time.Time
}

func fmtInt(n int64) string { return strconv.FormatInt(n, 10) }

func compareIDs(a, b string) int { return cmp.Compare(number(a), number(b)) }

// rest is how the API shows messages.
func (s *Discord) rest() view { return view{content: !s.o.NoMessageContent} }

// createMessage posts as the bot. With enforce_nonce, a post whose nonce was used by
// the bot in the last minutes is answered with the message that was made then.
func (s *Discord) createMessage(r *request, c *channel) (int, any, error) {
	switch {
	case c.Type == Category || c.Type == Forum || c.Type == Media:
		return 0, nil, errWrongType
	case c.Type == DM && slices.ContainsFunc(c.people, func(id string) bool { u := s.user(id); return u != nil && u.NoDMs }):
		return 0, nil, errNoDMs
	case !s.maySend(c), len(r.files) > 0 && s.may(c, attachFiles) != nil, r.object("poll") != nil && s.may(c, sendPolls) != nil,
		r.object("message_reference") != nil && s.may(c, readHistory) != nil:
		return 0, nil, errPermissions
	case c.thread != nil && c.thread.locked:
		return 0, nil, errArchived
	}
	m := &message{channel: c.ID, author: s.o.App.UserID}
	if err := s.fill(c, m, r); err != nil {
		return 0, nil, err
	}
	key := nonceText(m.nonce)
	if key != "" && r.flag("enforce_nonce") {
		if old := s.same(key); old != nil {
			return 0, s.messageJSON(old, view{content: true, nonce: true}), nil
		}
	}
	s.post(c, m)
	if key != "" {
		s.nonces = append(s.nonces, nonce{m.author, c.ID, key, m.id, s.o.Now()})
	}
	return 0, s.messageJSON(m, view{content: true, nonce: true}), nil
}

// same is the bot's message that was posted with a nonce in the last minutes; nil for
// none.
func (s *Discord) same(key string) *message {
	now := s.o.Now()
	s.nonces = slices.DeleteFunc(s.nonces, func(n nonce) bool { return now.Sub(n.at) >= s.o.NonceFor })
	for _, n := range s.nonces {
		if n.nonce == key && n.author == s.o.App.UserID {
			if c := s.byID[n.channel]; c != nil {
				return c.message(n.message)
			}
		}
	}
	return nil
}

// fill reads what a post says into a message.
func (s *Discord) fill(c *channel, m *message, r *request) error {
	text, ok := r.text("content")
	if !ok {
		return invalid("content", "BASE_TYPE_STRING", "Could not interpret value as string.")
	}
	if utf8.RuneCountInString(text) > maxContent {
		return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	m.content = text
	switch v := r.body["nonce"].(type) {
	case nil:
	case string:
		if utf8.RuneCountInString(v) > maxNonce {
			return invalid("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		}
		if v != "" {
			m.nonce = v
		}
	case json.Number:
		m.nonce = v
	default:
		return invalid("nonce", "BASE_TYPE_STRING", "Could not interpret value as string.")
	}
	m.parts, m.tts = r.list("components"), r.flag("tts")
	m.flags |= r.int("flags") & (flagSuppressEmbeds | flagSilent | flagComponents | flagVoice)
	var err error
	if m.embeds, err = checkEmbeds(r.list("embeds")); err != nil {
		return err
	}
	if err := checkComponents(m.parts, m.flags&flagComponents != 0); err != nil {
		return err
	}
	if o := r.object("poll"); o != nil {
		if m.poll, err = s.readPoll(o); err != nil {
			return err
		}
	}
	if m.stickers, err = s.stickersOf(c, r); err != nil {
		return err
	}
	if m.flags&flagComponents != 0 && (m.content != "" || len(m.embeds) > 0 || m.poll != nil || len(m.stickers) > 0) {
		return invalid("flags", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content', 'embeds', 'stickers' and 'poll' fields cannot be used when using MessageFlags.IS_COMPONENTS_V2")
	}
	if err := s.refer(c, m, r.object("message_reference")); err != nil {
		return err
	}
	if m.empty() && len(r.files) == 0 {
		return errEmpty
	}
	if err := s.attachAll(c, m, r); err != nil {
		return err
	}
	allowed := r.object("allowed_mentions")
	ping := true
	if allowed != nil {
		ping, _ = allowed["replied_user"].(bool)
	}
	s.mentions(c, m, allowed, ping)
	return nil
}

// empty reports whether a message shows nothing.
func (m *message) empty() bool {
	return m.content == "" && len(m.embeds) == 0 && len(m.parts) == 0 && len(m.files) == 0 && m.forward == nil && m.poll == nil && len(m.stickers) == 0
}

// attachAll gives a message the files of a call, with the descriptions that stand beside
// them. Of the files that it had it keeps those that the call lists by id, all where it
// lists none.
func (s *Discord) attachAll(c *channel, m *message, r *request) error {
	list, listed := r.body["attachments"].([]any)
	var kept []*File
	if !listed {
		kept = m.files
	}
	about := map[int]object{}
	for _, v := range list {
		o, _ := v.(object)
		id := fmt.Sprint(o["id"])
		if i := slices.IndexFunc(m.files, func(f *File) bool { return f.id == id }); i >= 0 {
			kept = append(kept, m.files[i])
		} else if n, err := strconv.Atoi(id); err == nil {
			about[n] = o
		}
	}
	if len(kept)+len(r.files) > maxFiles {
		return invalid("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	for i, f := range r.files {
		o := about[i]
		if f.key >= 0 {
			o = about[f.key]
		}
		f.Name, f.Description = cmp.Or(str(o["filename"]), f.Name), str(o["description"])
		if utf8.RuneCountInString(f.Description) > 1024 {
			return invalid("attachments.description", "BASE_TYPE_MAX_LENGTH", "Must be 1024 or fewer in length.")
		}
		if n, ok := o["duration_secs"].(json.Number); ok && m.flags&flagVoice != 0 {
			secs, _ := n.Float64()
			f.Voice = time.Duration(min(max(secs, 0), 86400) * float64(time.Second))
		}
		kept = append(kept, s.attach(c.ID, f))
	}
	m.files = kept
	return nil
}

// refer makes of a message a reply or a forward. A reply to a message that is gone is
// an error, unless fail_if_not_exists is false: then it is no reply.
func (s *Discord) refer(c *channel, m *message, ref object) error {
	if ref == nil {
		return nil
	}
	id, in := idOf(ref["message_id"]), cmp.Or(idOf(ref["channel_id"]), c.ID)
	kind, _ := ref["type"].(json.Number)
	to := s.byID[in]
	if kind == "1" {
		if to == nil || !s.sees(to, s.o.App.UserID) || to.message(id) == nil {
			return invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
		}
		s.share(m, to, to.message(id))
		return nil
	}
	if in != c.ID {
		return invalid("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", "Cannot reply to a message in a different channel")
	}
	old := c.message(id)
	if old == nil {
		if v, ok := ref["fail_if_not_exists"].(bool); ok && !v {
			return nil
		}
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	if !slices.Contains([]int{typeDefault, typeReply, typeChatCommand, typeMenuCommand}, old.kind) {
		return invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
	}
	m.kind, m.reply = typeReply, &reference{c.Guild, c.ID, id}
	return nil
}

// share makes of m a forward of another message: what it says stays as it is now.
func (s *Discord) share(m *message, from *channel, what *message) {
	m.forward = &reference{from.Guild, from.ID, what.id}
	m.flags |= flagSnapshot
	m.snapshots = []any{s.snapshot(what)}
	if what.snapshots != nil { // a forward of a forward shows the first message
		m.snapshots = what.snapshots
	}
}

// post puts a message into its channel now, and tells of it. In a thread, who posts
// becomes a member; an archived one is opened.
func (s *Discord) post(c *channel, m *message) {
	if m.id == "" {
		m.id = s.newID()
	}
	if t := c.thread; t != nil {
		m.position = t.sent
		if t.archived && !t.locked && !m.system() {
			t.archived, t.archiving = false, s.o.Now()
			s.tellChannel("UPDATE", c)
		}
	}
	c.add(m)
	if c.thread != nil && m.webhook == "" {
		s.enter(c, append([]string{m.author}, m.users...)...)
	}
	s.tellNew(c, m)
	if m.poll != nil && !m.poll.over && !m.poll.ends.IsZero() {
		s.awaitEnd(c, m)
	}
}

// updateMessage edits one of the bot's own. Of others, the bot may only suppress the
// embeds, where it may manage messages.
func (s *Discord) updateMessage(r *request, c *channel, m *message) (int, any, error) {
	if c.thread != nil && c.thread.archived {
		return 0, nil, errArchived
	}
	if m.author != s.o.App.UserID {
		if _, only := r.body["flags"]; !only || len(r.body) > 1 {
			return 0, nil, errForeign
		}
		if s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
			return 0, nil, errPermissions
		}
	}
	return s.change(r, c, m)
}

// change edits a message with what a call names of it.
func (s *Discord) change(r *request, c *channel, m *message) (int, any, error) {
	next := *m
	if err := s.amend(r, c, &next, m.author != s.o.App.UserID && m.webhook == ""); err != nil {
		return 0, nil, err
	}
	*m = next
	s.tellChanged(c, m)
	return 0, s.messageJSON(m, view{content: true}), nil
}

// amend reads an edit into a message. Of somebody else's only the embeds are suppressed.
func (s *Discord) amend(r *request, c *channel, m *message, foreign bool) error {
	if _, has := r.body["flags"]; has {
		m.flags = m.flags&^flagSuppressEmbeds | r.int("flags")&(flagSuppressEmbeds|flagComponents)
	}
	if foreign {
		if m.flags&flagSuppressEmbeds != 0 {
			m.embeds = nil
		}
		return nil
	}
	if m.poll != nil {
		return errPollEdits
	}
	if err := amendText(r, m); err != nil {
		return err
	}
	for _, key := range []string{"content", "embeds", "components", "attachments"} {
		if _, has := r.body[key]; has || len(r.files) > 0 {
			m.edited = s.o.Now()
		}
	}
	if err := s.attachAll(c, m, r); err != nil {
		return err
	}
	if m.empty() {
		return errEmpty
	}
	allowed, ping := r.object("allowed_mentions"), m.ping
	if allowed != nil {
		ping, _ = allowed["replied_user"].(bool)
	}
	s.mentions(c, m, allowed, ping)
	return nil
}

// amendText reads what an edit says of a message's text, embeds and components.
func amendText(r *request, m *message) (err error) {
	if _, has := r.body["content"]; has {
		text, ok := r.text("content")
		if !ok {
			return invalid("content", "BASE_TYPE_STRING", "Could not interpret value as string.")
		}
		if utf8.RuneCountInString(text) > maxContent {
			return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
		}
		m.content = text
	}
	if _, has := r.body["embeds"]; has {
		if m.embeds, err = checkEmbeds(r.list("embeds")); err != nil {
			return err
		}
	}
	if _, has := r.body["components"]; has {
		m.parts = r.list("components")
		return checkComponents(m.parts, m.flags&flagComponents != 0)
	}
	return nil
}

func (s *Discord) deleteMessage(r *request, c *channel, m *message) (int, any, error) {
	if m.author != s.o.App.UserID && s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	if slices.Contains(undeletable, m.kind) {
		return 0, nil, errSystem
	}
	s.remove(c, m.id)
	if m.author != s.o.App.UserID {
		s.audit(s.guild(c.Guild), r, auditMessageDelete, m.author, object{"channel_id": c.ID, "count": "1"})
	}
	return http.StatusNoContent, nil, nil
}

// bulkDelete deletes 2 to 100 messages. Ids that are none are left out; messages that
// are older than two weeks are an error.
func (s *Discord) bulkDelete(r *request, c *channel) (int, any, error) {
	if c.Type == DM || s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	var ids []string
	for _, v := range r.list("messages") {
		ids = append(ids, idOf(v))
	}
	if len(ids) < 2 || len(ids) > maxBulk {
		return 0, nil, &apiError{status: 400, code: 50016, message: "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete"}
	}
	for _, id := range ids {
		if s.o.Now().Sub(Time(id)) > bulkAge {
			return 0, nil, &apiError{status: 400, code: 50034, message: "A message provided was too old to bulk delete"}
		}
	}
	s.remove(c, ids...)
	s.audit(s.guild(c.Guild), r, auditBulkDelete, c.ID, object{"count": strconv.Itoa(len(ids))})
	return http.StatusNoContent, nil, nil
}

// undeletable are the types of messages that nobody deletes (Discord's documentation,
// Message Types).
var undeletable = []int{1, 2, 3, 4, 5, 14, 15, 16, 17, typeThreadStarter}

// remove deletes messages and tells of those that were there, in one event.
func (s *Discord) remove(c *channel, ids ...string) {
	var gone []string
	for _, id := range ids {
		if i := slices.IndexFunc(c.messages, func(m *message) bool { return m.id == id }); i >= 0 {
			c.messages = slices.Delete(c.messages, i, i+1)
			gone = append(gone, id)
		}
	}
	switch {
	case len(ids) == 1 && len(gone) == 1:
		s.tellDeleted(c, gone[0])
	case len(gone) > 0:
		s.tellBulk(c, gone)
	}
}
