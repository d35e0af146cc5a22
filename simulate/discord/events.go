package discord

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// Intents, by Discord's names.
const (
	guildsIntent          = 1 << 0
	membersIntent         = 1 << 1
	moderationIntent      = 1 << 2
	expressionsIntent     = 1 << 3
	webhooksIntent        = 1 << 5
	invitesIntent         = 1 << 6
	presencesIntent       = 1 << 8
	messagesIntent        = 1 << 9
	reactionsIntent       = 1 << 10
	typingIntent          = 1 << 11
	directIntent          = 1 << 12
	directReactionsIntent = 1 << 13
	directTypingIntent    = 1 << 14
	contentIntent         = 1 << 15
	pollsIntent           = 1 << 24
	directPollsIntent     = 1 << 25
	allIntents            = 1<<26 - 1 - 1<<22 - 1<<23 - 1<<17 - 1<<18 - 1<<19
)

// An event is one for those sessions that want it.
type event struct {
	kind    string
	guild   string // "" for direct messages
	intents int    // one of them is enough; 0 is for all
	data    func(*session) any
}

// sameForAll returns an event that all sessions get alike.
func sameForAll(data any) func(*session) any { return func(*session) any { return data } }

// An Event is one that was put on its way to one session.
type Event struct {
	Type     string          `json:"type"`
	Session  string          `json:"session"`
	Sequence int64           `json:"sequence"` // 0 for one that never got any
	Data     json.RawMessage `json:"data"`
	At       time.Time       `json:"at"`
	Fault    FaultKind       `json:"fault,omitempty"` // the fault that it met
}

// tell sends an event to the sessions that want it.
func (s *Discord) tell(e event) {
	for _, x := range slices.Clone(s.sessions) {
		if !x.wants(s, e) {
			continue
		}
		data := e.data(x)
		if data == nil {
			continue
		}
		body, err := json.Marshal(data)
		check(err) // events are made of JSON values
		s.route(x, e.kind, body)
	}
}

// wants reports whether an event is for a session: by its intents, and by its shard.
func (x *session) wants(s *Discord, e event) bool {
	if e.intents != 0 && x.intents&e.intents == 0 {
		return false
	}
	if e.guild == "" {
		return x.shard == 0
	}
	if s.guild(e.guild).member(s.o.App.UserID) == nil && e.kind != "GUILD_DELETE" {
		return false
	}
	return int(number(e.guild)>>22%int64(x.shards)) == x.shard
}

// messageEvent is an event of a message, for those who see it.
func (s *Discord) messageEvent(kind string, c *channel, data func(*session) any) {
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	e := event{kind: kind, guild: c.Guild, intents: messagesIntent, data: data}
	if c.Type == DM {
		e.intents = directIntent
	}
	s.tell(e)
}

func (s *Discord) tellNew(c *channel, m *message) {
	s.messageEvent("MESSAGE_CREATE", c, func(x *session) any {
		return s.messageJSON(m, view{gateway: true, content: x.content(), nonce: true})
	})
}

// tellChanged sends the full object, as Discord does since November 2024.
func (s *Discord) tellChanged(c *channel, m *message) {
	s.messageEvent("MESSAGE_UPDATE", c, func(x *session) any {
		return s.messageJSON(m, view{gateway: true, content: x.content()})
	})
}

// tellDeleted tells the id only, as Discord does.
func (s *Discord) tellDeleted(c *channel, id string) {
	o := object{"channel_id": c.ID, "id": id}
	if c.Guild != "" {
		o["guild_id"] = c.Guild
	}
	s.messageEvent("MESSAGE_DELETE", c, sameForAll(o))
}

func (s *Discord) tellBulk(c *channel, ids []string) {
	o := object{"channel_id": c.ID, "ids": fake.List(ids)}
	if c.Guild != "" {
		o["guild_id"] = c.Guild
	}
	s.messageEvent("MESSAGE_DELETE_BULK", c, sameForAll(o))
}

// tellReaction sends MESSAGE_REACTION_ADD, _REMOVE, _REMOVE_ALL or _REMOVE_EMOJI.
func (s *Discord) tellReaction(kind string, c *channel, m *message, user, emoji string) {
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	o := object{"channel_id": c.ID, "message_id": m.id}
	if emoji != "" {
		o["emoji"] = emojiJSON(emoji)
	}
	if user != "" {
		o["user_id"], o["burst"], o["type"] = user, false, 0
	}
	if c.Guild != "" {
		o["guild_id"] = c.Guild
	}
	if kind == "MESSAGE_REACTION_ADD" {
		o["message_author_id"] = m.author
		if who := s.guild(c.Guild).member(user); who != nil {
			o["member"] = s.fullMember(who)
		}
	}
	e := event{kind: kind, guild: c.Guild, intents: reactionsIntent, data: sameForAll(o)}
	if c.Type == DM {
		e.intents = directReactionsIntent
	}
	s.tell(e)
}

func (s *Discord) tellTyping(c *channel, user string) {
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	o := object{"channel_id": c.ID, "user_id": user, "timestamp": s.o.Now().Unix()}
	e := event{kind: "TYPING_START", guild: c.Guild, intents: typingIntent, data: sameForAll(o)}
	if c.Type == DM {
		e.intents = directTypingIntent
	} else {
		o["guild_id"] = c.Guild
		if who := s.guild(c.Guild).member(user); who != nil {
			o["member"] = s.fullMember(who)
		}
	}
	s.tell(e)
}

// tellChannel sends CHANNEL_CREATE, _UPDATE or _DELETE, or the same of a thread.
func (s *Discord) tellChannel(what string, c *channel) {
	if c.thread == nil {
		s.tell(event{kind: "CHANNEL_" + what, guild: c.Guild, intents: guildsIntent, data: sameForAll(s.eventJSON(c))})
		return
	}
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	o := s.eventJSON(c)
	switch what {
	case "CREATE":
		o["newly_created"] = true
	case "DELETE":
		o = object{"id": c.ID, "guild_id": c.Guild, "parent_id": c.Parent, "type": c.Type}
	}
	s.tell(event{kind: "THREAD_" + what, guild: c.Guild, intents: guildsIntent, data: sameForAll(o)})
}

// tellGuild sends GUILD_CREATE, as after an identify and when the bot joins.
func (s *Discord) tellGuild(g *guild) {
	s.tell(event{kind: "GUILD_CREATE", guild: g.ID, intents: guildsIntent, data: func(x *session) any { return s.guildCreate(g, x) }})
}

// guildCreate has all channels, and the threads that the bot sees. Members are only
// the bot's own, unless it has the intents of members and of presences.
func (s *Discord) guildCreate(g *guild, x *session) any {
	o := s.guildJSON(g)
	o["joined_at"], o["large"], o["unavailable"], o["member_count"] = stamp(g.member(s.o.App.UserID).Joined), false, false, len(g.members)
	channels, threads, members := []any{}, []any{}, []any{}
	for _, c := range s.channels {
		switch {
		case c.Guild != g.ID:
		case c.thread == nil:
			channels = append(channels, s.eventJSON(c))
		case !c.thread.archived && s.sees(c, s.o.App.UserID):
			threads = append(threads, s.eventJSON(c))
		}
	}
	for _, m := range g.members {
		if m.User == s.o.App.UserID || x.intents&membersIntent != 0 && x.intents&presencesIntent != 0 {
			members = append(members, s.fullMember(m))
		}
	}
	o["channels"], o["threads"], o["members"] = channels, threads, members
	for _, k := range []string{"presences", "voice_states", "stage_instances", "guild_scheduled_events", "soundboard_sounds"} {
		o[k] = []any{}
	}
	return o
}

// guildJSON is a guild as GET /guilds/{id} has it.
func (s *Discord) guildJSON(g *guild) object {
	return object{
		"id": g.ID, "name": g.Name, "icon": nil, "splash": nil, "discovery_splash": nil, "owner_id": s.owner(g), "description": nil, "banner": nil,
		"afk_channel_id": nil, "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"roles": g.rolesJSON(), "emojis": s.emojisJSON(g), "stickers": s.stickersJSON(g), "features": []any{}, "mfa_level": 0, "application_id": nil, "system_channel_id": nil,
		"system_channel_flags": 0, "rules_channel_id": nil, "vanity_url_code": nil, "premium_tier": 0, "premium_subscription_count": 0,
		"preferred_locale": "en-US", "public_updates_channel_id": nil, "nsfw_level": 0, "premium_progress_bar_enabled": false,
		"safety_alerts_channel_id": nil, "home_header": nil, "hub_type": nil, "region": "deprecated", "nsfw": false,
		"incidents_data": nil, "widget_enabled": false, "widget_channel_id": nil, "max_members": 500000, "max_presences": nil, "max_video_channel_users": 25, "max_stage_video_channel_users": 50,
	}
}

// owner is who owns a guild: its first person.
func (s *Discord) owner(g *guild) string {
	for _, m := range g.members {
		if u := s.user(m.User); u != nil && !u.Bot {
			return m.User
		}
	}
	return "1100000000000000003"
}
