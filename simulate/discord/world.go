package discord

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An object is JSON as Discord writes it.
type object = map[string]any

// A User is a person, or a bot.
type User struct {
	ID         string // "" makes one
	Name       string // the username; "" is made from the id
	GlobalName string // the display name; may be empty
	Bot        bool
	NoDMs      bool   // takes no direct messages from the bot under test
	Nick       string // in the first guild, which the user is made a member of
	Outside    bool   // is not made a member of the first guild
}

// A Guild is a server.
type Guild struct{ ID, Name string }

// A Role is one of a guild.
type Role struct {
	ID          string // "" makes one
	Guild       string // "" is the first
	Name        string
	Permissions int64
	Bot         string // the bot that Discord made the role for, if any
}

// A Member is a user in a guild.
type Member struct {
	User, Nick string
	Roles      []string
	Joined     time.Time
}

type guild struct {
	Guild
	roles   []*Role
	members []*Member
	down    bool // not available, as in an outage
}

// The types of channels.
const (
	Text               = 0
	DM                 = 1
	Voice              = 2
	Category           = 4
	Announcement       = 5
	AnnouncementThread = 10
	PublicThread       = 11
	PrivateThread      = 12
	Forum              = 15
)

// A Channel is one of a guild, or a direct message.
type Channel struct {
	ID      string // "" makes one
	Guild   string // "" is the first
	Type    int    // Text, Voice, Category, Announcement or Forum
	Name    string
	Topic   string
	Parent  string   // a category
	Private bool     // only Members see it: @everyone is denied VIEW_CHANNEL
	Members []string // users, or roles
	// ReadOnly denies SEND_MESSAGES, in threads too, to @everyone.
	ReadOnly bool
}

// A channel is a Channel or a thread, with what was said in it, in the order of ids.
type channel struct {
	Channel
	messages []*message
	thread   *thread // nil where it is none
	people   []string
	last     string // the newest message's id, also when it was deleted
}

// A thread is what a channel is beyond that.
type thread struct {
	owner     string
	members   []threadMember
	archived  bool
	archiving time.Time
	locked    bool
	sent      int // messages, deleted ones too
	tags      []string
}

type threadMember struct {
	user   string
	joined time.Time
}

// A Webhook posts under names of its own.
type Webhook struct {
	ID, Channel, Name, Token string
}

// Permissions that count here, by Discord's names.
const (
	addReactions     = 1 << 6
	administrator    = 1 << 3
	viewChannel      = 1 << 10
	sendMessages     = 1 << 11
	manageMessages   = 1 << 13
	embedLinks       = 1 << 14
	attachFiles      = 1 << 15
	readHistory      = 1 << 16
	mentionEveryone  = 1 << 17
	manageWebhooks   = 1 << 29
	manageThreads    = 1 << 34
	createThreads    = 1 << 35
	createPrivate    = 1 << 36
	sendInThreads    = 1 << 38
	everyoneMayBasic = viewChannel | sendMessages | embedLinks | attachFiles | readHistory | addReactions | createThreads | createPrivate | sendInThreads | 1<<18 | 1<<26
)

// AddGuild adds a guild that the bot is in, and returns its id. The bot hears of it.
func (s *Discord) AddGuild(g Guild) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addGuild(g).ID
}

func (s *Discord) addGuild(g Guild) *guild {
	g.ID = cmp.Or(g.ID, s.newID())
	n := &guild{Guild: g}
	// The role of everybody has the guild's id; that of the bot is made when it joins.
	n.roles = append(n.roles, &Role{ID: g.ID, Guild: g.ID, Name: "@everyone", Permissions: everyoneMayBasic})
	own := &Role{ID: s.newID(), Guild: g.ID, Name: s.o.App.Name, Permissions: 0, Bot: s.o.App.UserID}
	n.roles = append(n.roles, own)
	n.members = append(n.members, &Member{User: s.o.App.UserID, Joined: s.o.Now(), Roles: []string{own.ID}})
	s.guilds = append(s.guilds, n)
	s.tellGuild(n)
	return n
}

// AddUser adds a person or another bot and returns the id. Two may have the same
// display name.
func (s *Discord) AddUser(u User) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.ID = cmp.Or(u.ID, s.newID())
	u.Name = cmp.Or(u.Name, "user"+u.ID)
	s.users = append(s.users, &u)
	if !u.Outside {
		check(s.join(s.Guild(), Member{User: u.ID, Nick: u.Nick}))
	}
	return u.ID
}

// AddRole adds a role and returns its id.
func (s *Discord) AddRole(r Role) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ID, r.Guild = cmp.Or(r.ID, s.newID()), cmp.Or(r.Guild, s.Guild())
	g := s.guild(r.Guild)
	if g == nil {
		check(fmt.Errorf("there is no guild %q", r.Guild))
	}
	g.roles = append(g.roles, &r)
	s.tell(event{kind: "GUILD_ROLE_CREATE", guild: g.ID, intents: guildsIntent, data: same(object{"guild_id": g.ID, "role": roleJSON(g, &r)})})
	return r.ID
}

// AddChannel adds a channel and returns its id. The bot hears of it.
func (s *Discord) AddChannel(c Channel) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, err := s.addChannel(c)
	check(err)
	return ch.ID
}

func (s *Discord) addChannel(c Channel) (*channel, error) {
	c.Guild, c.ID = cmp.Or(c.Guild, s.Guild()), cmp.Or(c.ID, s.newID())
	if s.guild(c.Guild) == nil {
		return nil, fmt.Errorf("there is no guild %q", c.Guild)
	}
	if s.byID[c.ID] != nil {
		return nil, fmt.Errorf("there is a channel %q already", c.ID)
	}
	c.Members = slices.Clone(c.Members)
	ch := &channel{Channel: c}
	s.put(ch)
	s.tell(event{kind: "CHANNEL_CREATE", guild: c.Guild, intents: guildsIntent, data: same(s.eventJSON(ch))})
	return ch, nil
}

func (s *Discord) put(c *channel) {
	s.channels = append(s.channels, c)
	s.byID[c.ID] = c
}

// AddWebhook adds a webhook to a channel and returns it.
func (s *Discord) AddWebhook(channel, name string) Webhook {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.addWebhook(channel, name)
	check(err)
	return *w
}

func (s *Discord) addWebhook(channel, name string) (*Webhook, error) {
	if s.byID[channel] == nil {
		return nil, errNoChannel(channel)
	}
	w := &Webhook{ID: s.newID(), Channel: channel, Name: name}
	w.Token = "simulated-webhook-" + w.ID
	s.webhooks = append(s.webhooks, w)
	return w, nil
}

// OpenDM returns the id of the bot's direct messages with a user.
func (s *Discord) OpenDM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user(user) == nil {
		check(errNoUser(user))
	}
	return s.openDM(user).ID
}

// openDM tells no one: since version 8 of the API, bots get no event of a new DM.
func (s *Discord) openDM(user string) *channel {
	for _, c := range s.channels {
		if c.Type == DM && slices.Contains(c.people, user) {
			return c
		}
	}
	c := &channel{Channel: Channel{ID: s.newID(), Type: DM}, people: []string{user}}
	s.put(c)
	return c
}

func errNoChannel(id string) error { return fmt.Errorf("there is no channel %q", id) }
func errNoUser(id string) error    { return fmt.Errorf("there is no user %q", id) }

var errNoMessage = errors.New("there is no such message")

func (s *Discord) user(id string) *User {
	if i := slices.IndexFunc(s.users, func(u *User) bool { return u.ID == id }); i >= 0 {
		return s.users[i]
	}
	return nil
}

func (s *Discord) guild(id string) *guild {
	if i := slices.IndexFunc(s.guilds, func(g *guild) bool { return g.ID == id }); i >= 0 {
		return s.guilds[i]
	}
	return nil
}

func (g *guild) member(user string) *Member {
	if g == nil {
		return nil
	}
	if i := slices.IndexFunc(g.members, func(m *Member) bool { return m.User == user }); i >= 0 {
		return g.members[i]
	}
	return nil
}

func (g *guild) role(id string) *Role {
	if i := slices.IndexFunc(g.roles, func(r *Role) bool { return r.ID == id }); i >= 0 {
		return g.roles[i]
	}
	return nil
}

func (s *Discord) webhook(id string) *Webhook {
	if i := slices.IndexFunc(s.webhooks, func(w *Webhook) bool { return w.ID == id }); i >= 0 {
		return s.webhooks[i]
	}
	return nil
}

// find returns a channel and one of its messages.
func (s *Discord) find(channel, id string) (*channel, *message, error) {
	c := s.byID[channel]
	if c == nil {
		return nil, nil, errNoChannel(channel)
	}
	m := c.message(id)
	if m == nil {
		return nil, nil, fmt.Errorf("%w: %q in %s", errNoMessage, id, channel)
	}
	return c, m, nil
}

func (c *channel) message(id string) *message {
	i, ok := slices.BinarySearchFunc(c.messages, number(id), func(m *message, n int64) int { return cmp.Compare(number(m.id), n) })
	if !ok {
		return nil
	}
	return c.messages[i]
}

// add puts a message where its id belongs.
func (c *channel) add(m *message) {
	i, _ := slices.BinarySearchFunc(c.messages, number(m.id), func(m *message, n int64) int { return cmp.Compare(number(m.id), n) })
	c.messages = slices.Insert(c.messages, i, m)
	if number(m.id) > number(c.last) {
		c.last = m.id
	}
	if c.thread != nil {
		c.thread.sent++
	}
}

// permissions are those of a user in a channel (Discord's documentation,
// Permissions).
func (s *Discord) permissions(c *channel, user string) int64 {
	if c.Type == DM {
		return everyoneMayBasic
	}
	g := s.guild(c.Guild)
	m := g.member(user)
	if m == nil {
		return 0
	}
	p := g.roles[0].Permissions
	for _, id := range m.Roles {
		if r := g.role(id); r != nil {
			p |= r.Permissions
		}
	}
	if p&administrator != 0 {
		return -1
	}
	in := c
	if c.thread != nil {
		in = s.byID[c.Parent]
		if in == nil {
			return 0
		}
	}
	if in.ReadOnly {
		p &^= sendMessages | sendInThreads
	}
	if in.Private {
		p &^= viewChannel
		if slices.ContainsFunc(in.Members, func(id string) bool { return id == user || slices.Contains(m.Roles, id) }) {
			p |= viewChannel
		}
	}
	if p&viewChannel == 0 {
		return 0 // who does not see a channel can do nothing in it
	}
	return p
}

// sees reports whether a user sees a channel. A private thread is seen by who is in
// it, and by who may manage threads.
func (s *Discord) sees(c *channel, user string) bool {
	if c.Type == DM {
		return user == s.o.App.UserID || slices.Contains(c.people, user)
	}
	p := s.permissions(c, user)
	if c.Type == PrivateThread && !c.thread.has(user) && p&manageThreads == 0 {
		return false
	}
	return p&viewChannel != 0
}

// overwrites are what makes a channel private or read-only, as Discord writes it.
func (s *Discord) overwrites(c *channel) []any {
	list := []any{}
	var deny int64
	if c.Private {
		deny |= viewChannel
	}
	if c.ReadOnly {
		deny |= sendMessages | sendInThreads
	}
	if deny != 0 {
		list = append(list, object{"id": c.Guild, "type": 0, "allow": "0", "deny": fmt.Sprint(deny)})
	}
	if c.Private {
		for _, id := range c.Members {
			kind := 1
			if s.guild(c.Guild).role(id) != nil {
				kind = 0
			}
			list = append(list, object{"id": id, "type": kind, "allow": fmt.Sprint(viewChannel), "deny": "0"})
		}
	}
	return list
}

func (t *thread) has(user string) bool {
	return t != nil && slices.ContainsFunc(t.members, func(m threadMember) bool { return m.user == user })
}

// userJSON is a user as every object shows it.
func (s *Discord) userJSON(id string) object {
	u := s.user(id)
	if u == nil {
		return object{"id": id, "username": "Deleted User", "discriminator": "0000", "global_name": nil, "avatar": nil, "public_flags": 0, "flags": 0, "primary_guild": nil}
	}
	o := object{
		"id": u.ID, "username": u.Name, "discriminator": "0", "global_name": nil, "avatar": nil, "public_flags": 0, "flags": 0,
		"avatar_decoration_data": nil, "primary_guild": nil, "clan": nil, "collectibles": nil, "display_name_styles": nil,
	}
	if u.GlobalName != "" {
		o["global_name"] = u.GlobalName
	}
	if u.Bot {
		o["bot"] = true
	}
	return o
}

// memberJSON is a member without its user, as messages have it.
func memberJSON(m *Member) object {
	o := object{
		"roles": anys(m.Roles), "nick": nil, "avatar": nil, "banner": nil, "joined_at": stamp(m.Joined), "premium_since": nil,
		"deaf": false, "mute": false, "flags": 0, "pending": false, "communication_disabled_until": nil,
	}
	if m.Nick != "" {
		o["nick"] = m.Nick
	}
	return o
}

func (s *Discord) fullMember(m *Member) object {
	o := memberJSON(m)
	o["user"] = s.userJSON(m.User)
	return o
}

func roleJSON(g *guild, r *Role) object {
	o := object{
		"id": r.ID, "name": r.Name, "description": nil, "permissions": fmt.Sprint(r.Permissions), "position": slices.Index(g.roles, r),
		"color": 0, "colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
		"hoist": false, "managed": r.Bot != "", "mentionable": r.Bot == "", "icon": nil, "unicode_emoji": nil, "flags": 0,
	}
	if r.Bot != "" {
		o["tags"] = object{"bot_id": r.Bot}
	}
	return o
}

// eventJSON is a channel as events have it. Of one that the bot does not see, it tells
// that it is there and where (Discord's documentation, Obfuscated Channels; for all
// bots since November 2026).
func (s *Discord) eventJSON(c *channel) object {
	o := s.channelJSON(c)
	if c.thread != nil || c.Type == DM || c.Type == Category || s.sees(c, s.o.App.UserID) {
		return o
	}
	o["name"], o["flags"] = "___hidden___", 1<<17
	o["permission_overwrites"] = []any{object{"id": c.Guild, "type": 0, "allow": "0", "deny": fmt.Sprint(viewChannel)}}
	for _, k := range []string{"topic", "last_message_id"} {
		if _, has := o[k]; has {
			o[k] = nil
		}
	}
	return o
}

// channelJSON is a channel or a thread as the API has it.
func (s *Discord) channelJSON(c *channel) object {
	if c.Type == DM {
		o := object{"id": c.ID, "type": DM, "last_message_id": nilIfEmpty(c.last), "flags": 0, "recipients": []any{}}
		for _, id := range c.people {
			o["recipients"] = append(o["recipients"].([]any), s.userJSON(id))
		}
		return o
	}
	o := object{
		"id": c.ID, "type": c.Type, "guild_id": c.Guild, "name": c.Name, "parent_id": nilIfEmpty(c.Parent), "flags": 0,
	}
	if c.thread != nil {
		s.threadFields(o, c)
		return o
	}
	o["position"], o["permission_overwrites"] = slices.Index(s.channels, c), s.overwrites(c)
	if c.Type == Category {
		return o
	}
	o["topic"], o["nsfw"], o["rate_limit_per_user"], o["last_message_id"] = nilIfEmpty(c.Topic), false, 0, nilIfEmpty(c.last)
	switch c.Type {
	case Voice:
		o["bitrate"], o["user_limit"], o["rtc_region"] = 64000, 0, nil
		delete(o, "topic")
	case Forum:
		o["available_tags"], o["default_reaction_emoji"], o["default_sort_order"], o["default_forum_layout"] = []any{}, nil, nil, 0
		o["template"] = ""
	}
	return o
}

func (s *Discord) threadFields(o object, c *channel) {
	t := c.thread
	o["owner_id"], o["last_message_id"], o["rate_limit_per_user"] = t.owner, nilIfEmpty(c.last), 0
	count := t.sent
	if c.message(c.ID) != nil || s.byID[c.Parent] != nil && s.byID[c.Parent].Type == Forum {
		count-- // a post's first message is not counted
	}
	o["message_count"], o["total_message_sent"], o["member_count"] = max(count, 0), max(count, 0), min(len(t.members), 50)
	meta := object{
		"archived": t.archived, "auto_archive_duration": 4320, "archive_timestamp": stamp(t.archiving), "locked": t.locked,
		"create_timestamp": stamp(Time(c.ID)),
	}
	if c.Type == PrivateThread {
		meta["invitable"] = true
	}
	o["thread_metadata"] = meta
	if len(t.tags) > 0 {
		o["applied_tags"] = anys(t.tags)
	}
	if i := slices.IndexFunc(t.members, func(m threadMember) bool { return m.user == s.o.App.UserID }); i >= 0 {
		o["member"] = object{"id": c.ID, "user_id": s.o.App.UserID, "join_timestamp": stamp(t.members[i].joined), "flags": 1}
	}
}

func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// anys are values as JSON lists hold them; never nil, so that an empty list is
// written as one.
func anys[T any](list []T) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// str is a string of decoded JSON, "" for anything else.
func str(v any) string {
	text, _ := v.(string)
	return strings.ToValidUTF8(text, "�")
}
