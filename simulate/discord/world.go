package discord

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
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

// A Role is one of a guild. A new one is the lowest but for @everyone.
type Role struct {
	ID            string // "" makes one
	Guild         string // "" is the first
	Name          string
	Permissions   int64
	Bot           string // the bot that Discord made the role for, if any
	Color         int    // red, green and blue, of a byte each; 0 is none
	Hoist         bool   // its members stand apart in the list
	Unmentionable bool   // only who may mention everyone mentions it
	Position      int    // 0 is 1; of two in one position the older is higher
}

// A Member is a user in a guild.
type Member struct {
	User, Nick string
	Roles      []string
	Joined     time.Time
	Timeout    time.Time // until when they may not speak; zero is no timeout
	Mute, Deaf bool      // in voice channels, by a moderator
}

type guild struct {
	Guild
	roles    []*Role
	members  []*Member
	emojis   []*emoji
	stickers []*sticker
	bans     []ban
	invites  []*invite
	commands []*registered // in order
	audit    []auditEntry
	down     bool // not available, as in an outage
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
	Stage              = 13
	Forum              = 15
	Media              = 16
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
	Channel    // Private, Members and ReadOnly are overwrites
	overwrites []overwrite
	position   int
	settings   object // what else was set of it, as Discord's JSON has it
	messages   []*message
	thread     *thread // nil where it is none
	people     []string
	last       string // the newest message's id, also when it was deleted
	pinned     time.Time
}

// A thread is what a channel is beyond that.
type thread struct {
	owner     string
	members   []threadMember
	archived  bool
	archiving time.Time
	locked    bool
	tags      []string // of a post of a forum
	sent      int      // messages, deleted ones too
}

type threadMember struct {
	user   string
	joined time.Time
}

// A Webhook posts under names of its own.
type Webhook struct {
	ID, Channel, Name, Token string

	bot    bool // the bot under test made it, and owns it
	avatar any  // a hash, nil for none
}

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
	n.roles = append(n.roles, &Role{ID: g.ID, Guild: g.ID, Name: "@everyone", Permissions: everyoneMayBasic, Unmentionable: true})
	own := &Role{ID: s.newID(), Guild: g.ID, Name: s.o.App.Name, Permissions: s.o.App.Permissions, Bot: s.o.App.UserID, Unmentionable: true, Position: 1}
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
	s.addRole(g, &r)
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
	ch := &channel{Channel: c}
	if c.Private {
		ch.close(s.guild(c.Guild), c.Members...)
	}
	if c.ReadOnly {
		ch.silence(true)
	}
	s.put(ch)
	s.tell(event{kind: "CHANNEL_CREATE", guild: c.Guild, intents: guildsIntent, data: sameForAll(s.eventJSON(ch))})
	return ch, nil
}

func (s *Discord) put(c *channel) {
	c.position = len(s.channels)
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
	return fake.Find(s.users, func(u *User) bool { return u.ID == id })
}

func (s *Discord) guild(id string) *guild {
	return fake.Find(s.guilds, func(g *guild) bool { return g.ID == id })
}

func (g *guild) member(user string) *Member {
	if g == nil {
		return nil
	}
	return fake.Find(g.members, func(m *Member) bool { return m.User == user })
}

func (g *guild) role(id string) *Role {
	return fake.Find(g.roles, func(r *Role) bool { return r.ID == id })
}

func (s *Discord) webhook(id string) *Webhook {
	return fake.Find(s.webhooks, func(w *Webhook) bool { return w.ID == id })
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

func (t *thread) has(user string) bool {
	return t != nil && slices.ContainsFunc(t.members, func(m threadMember) bool { return m.user == user })
}
