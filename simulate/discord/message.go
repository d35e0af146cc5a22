package discord

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// The types of messages that are made here.
const (
	typeDefault       = 0
	typeThreadCreated = 18
	typeReply         = 19
	typeChatCommand   = 20
	typeThreadStarter = 21
	typeMenuCommand   = 23
)

// Flags of messages.
const (
	flagCrossposted    = 1 << 0
	flagSuppressEmbeds = 1 << 2
	flagHasThread      = 1 << 5
	flagSilent         = 1 << 12
	flagVoice          = 1 << 13
	flagSnapshot       = 1 << 14
	flagComponents     = 1 << 15
)

// A message is one as Discord keeps it.
type message struct {
	id, channel string
	kind        int
	author      string // a user's id, or a webhook's
	webhook     string // the webhook's id, "" for people and bots
	name        string // under which a webhook posted
	avatar      any    // with which a webhook posted
	content     string
	edited      time.Time
	nonce       any
	flags       int
	tts         bool
	ping        bool // a reply mentions whom it replies to

	users     []string // mentioned, in order
	roles     []string
	everyone  bool
	files     []*File
	embeds    []any
	stickers  []any
	poll      *poll
	parts     []any // components
	reactions []*reaction

	reply     *reference // what it replies to, or the thread that it tells of
	forward   *reference // what it forwards
	snapshots []any
	position  int       // in a thread
	pinned    time.Time // zero where it is not
	fields    object
}

// A reference names a message elsewhere. message is "" for a whole thread.
type reference struct{ guild, channel, message string }

func (r *reference) json(kind int) object {
	o := object{"type": kind, "channel_id": r.channel}
	if r.guild != "" {
		o["guild_id"] = r.guild
	}
	if r.message != "" {
		o["message_id"] = r.message
	}
	return o
}

type reaction struct {
	emoji string // a character, or name:id
	users []string
}

// emojiJSON is an emoji as reactions and their events show it.
func emojiJSON(emoji string) object {
	if name, id, ok := strings.Cut(emoji, ":"); ok {
		return object{"id": id, "name": name}
	}
	return object{"id": nil, "name": emoji}
}

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
)

// mentions finds who is mentioned in a message. allowed is allowed_mentions; nil
// allows all.
func (s *Discord) mentions(c *channel, m *message, allowed object, ping bool) {
	m.users, m.roles, m.everyone, m.ping = nil, nil, false, ping
	allows := func(kind, id string) bool {
		if allowed == nil {
			return true
		}
		parse, _ := allowed["parse"].([]any)
		some, _ := allowed[kind].([]any)
		return slices.Contains(parse, any(kind)) || slices.ContainsFunc(some, func(v any) bool { return idOf(v) == id })
	}
	add := func(id string) {
		if s.user(id) != nil && !slices.Contains(m.users, id) {
			m.users = append(m.users, id)
		}
	}
	for _, found := range userMention.FindAllStringSubmatch(m.content, -1) {
		if allows("users", found[1]) {
			add(found[1])
		}
	}
	if to := s.referenced(m); to != nil && ping && to.webhook == "" {
		add(to.author)
	}
	g := s.guild(c.Guild)
	if g == nil {
		return
	}
	for _, found := range roleMention.FindAllStringSubmatch(m.content, -1) {
		if g.role(found[1]) != nil && allows("roles", found[1]) && !slices.Contains(m.roles, found[1]) {
			m.roles = append(m.roles, found[1])
		}
	}
	if strings.Contains(m.content, "@everyone") || strings.Contains(m.content, "@here") {
		m.everyone = allows("everyone", "") && (m.webhook != "" || m.author != s.o.App.UserID || s.permissions(c, m.author)&mentionEveryone != 0)
	}
}

// referenced is the message that m replies to; nil where there is none or it is gone.
func (s *Discord) referenced(m *message) *message {
	if m.reply == nil || m.reply.message == "" {
		return nil
	}
	c := s.byID[m.reply.channel]
	if c == nil {
		return nil
	}
	return c.message(m.reply.message)
}

// A view is how a message is shown.
type view struct {
	gateway bool // as an event has it: with member and guild_id
	content bool // the bot has the intent of message content
	inner   bool // as the referenced message of another
	nonce   bool // as the answer to the post, or its event
}

// messageJSON is a message as the bot under test gets it.
func (s *Discord) messageJSON(m *message, v view) object {
	c := s.byID[m.channel]
	o := object{
		"id": m.id, "channel_id": m.channel, "type": m.kind, "author": s.authorJSON(m), "content": m.content,
		"timestamp": stamp(Time(m.id)), "edited_timestamp": nil, "tts": m.tts, "mention_everyone": m.everyone,
		"mentions": s.mentionsJSON(c, m, v), "mention_roles": fake.List(m.roles), "attachments": s.attachmentsJSON(m.files),
		"embeds": fake.List(m.embeds), "components": fake.List(m.parts), "pinned": !m.pinned.IsZero(), "flags": m.flags,
	}
	if !m.edited.IsZero() {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.webhook != "" {
		o["webhook_id"] = m.webhook
	}
	if v.nonce && m.nonce != nil {
		o["nonce"] = m.nonce
	}
	if len(m.stickers) > 0 {
		o["sticker_items"] = fake.List(m.stickers)
	}
	if m.poll != nil {
		o["poll"] = m.poll.shown(s.o.App.UserID)
	}
	if list := s.reactionsJSON(m); len(list) > 0 && !v.inner {
		o["reactions"] = list
	}
	if c.thread != nil {
		o["position"] = m.position
	}
	s.referenceJSON(o, m, v)
	if m.flags&flagHasThread != 0 && s.byID[m.id] != nil && m.channel != m.id {
		o["thread"] = s.channelJSON(s.byID[m.id])
	}
	if v.gateway && c.Guild != "" && !v.inner {
		o["guild_id"] = c.Guild
		if who := s.guild(c.Guild).member(m.author); who != nil && m.webhook == "" {
			o["member"] = memberJSON(who)
		}
	}
	if v.gateway && !v.inner {
		o["channel_type"] = c.Type
	}
	maps.Copy(o, m.fields)
	if !v.content && !s.readable(c, m) {
		strip(o)
	}
	return o
}

// readable reports whether the bot gets a message's content without the intent: it is
// its own, in a direct message, or mentions it (Discord's documentation, Message
// Content Intent).
func (s *Discord) readable(c *channel, m *message) bool {
	return c.Type == DM || m.author == s.o.App.UserID || slices.Contains(m.users, s.o.App.UserID)
}

// strip takes out of a message what the intent is for.
func strip(o object) {
	o["content"], o["embeds"], o["attachments"], o["components"] = "", []any{}, []any{}, []any{}
	delete(o, "poll")
	if list, ok := o["message_snapshots"].([]any); ok {
		clean := []any{}
		for _, v := range list {
			shot, _ := v.(object)
			inner, _ := shot["message"].(object)
			inner = maps.Clone(inner)
			strip(inner)
			clean = append(clean, object{"message": inner})
		}
		o["message_snapshots"] = clean
	}
}

func (s *Discord) authorJSON(m *message) object {
	if m.webhook == "" {
		return s.userJSON(m.author)
	}
	return object{
		"id": m.author, "username": m.name, "discriminator": "0000", "global_name": nil, "avatar": m.avatar, "public_flags": 0, "flags": 0,
		"bot": true, "clan": nil, "primary_guild": nil,
	}
}

func (s *Discord) mentionsJSON(c *channel, m *message, v view) []any {
	list := []any{}
	for _, id := range m.users {
		o := s.userJSON(id)
		if v.gateway && c.Guild != "" {
			if who := s.guild(c.Guild).member(id); who != nil {
				o["member"] = memberJSON(who)
			}
		}
		list = append(list, o)
	}
	return list
}

func (s *Discord) reactionsJSON(m *message) []any {
	list := []any{}
	for _, r := range m.reactions {
		n := len(r.users)
		list = append(list, object{
			"emoji": emojiJSON(r.emoji), "count": n, "count_details": object{"burst": 0, "normal": n}, "burst_colors": []any{},
			"me_burst": false, "burst_me": false, "me": slices.Contains(r.users, s.o.App.UserID), "burst_count": 0,
		})
	}
	return list
}

// referenceJSON adds what a message refers to. The message that a reply replies to is
// there, null where it was deleted, and absent where Discord did not look.
func (s *Discord) referenceJSON(o object, m *message, v view) {
	if m.forward != nil {
		o["message_reference"] = m.forward.json(1)
		o["message_snapshots"] = m.snapshots
	}
	if m.reply == nil {
		return
	}
	o["message_reference"] = m.reply.json(0)
	if m.kind != typeReply && m.kind != typeThreadStarter && m.kind != typePinned && m.kind != typePollResult || v.inner {
		return
	}
	o["referenced_message"] = nil
	if to := s.referenced(m); to != nil {
		inner := v
		inner.inner, inner.nonce = true, false
		o["referenced_message"] = s.messageJSON(to, inner)
	}
}

// snapshot is what a forward keeps of a message.
func (s *Discord) snapshot(m *message) object {
	full := s.messageJSON(m, view{content: true, inner: true})
	o := object{}
	for _, k := range []string{
		"type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions", "mention_roles", "components", "sticker_items",
	} {
		if v, ok := full[k]; ok {
			o[k] = v
		}
	}
	return object{"message": o}
}
