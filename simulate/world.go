package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// An object is JSON as Slack writes it.
type object = map[string]any

// A User is a person, or the face of a bot.
type User struct {
	ID          string // "" makes one
	Name        string // the handle
	RealName    string // "" is Name
	DisplayName string // may be empty, as in Slack
	TZ          string // "" is Europe/Amsterdam
	Guest       bool
	Deleted     bool
	Team        string // another workspace's id: a stranger in a shared channel, as with Slack Connect
	TeamName    string // that workspace's name

	bot    string // the bot that it is the face of
	fields object // what an export has of it
}

// A Bot is the bot of another app.
type Bot struct {
	ID     string // "" makes one
	AppID  string // "" makes one
	UserID string // "" where the bot has no user, as an incoming webhook
	Name   string
}

// A UserGroup is what <!subteam^ID> mentions.
type UserGroup struct {
	ID, Handle, Name string
	Users            []string
}

// A Kind is the kind of a conversation.
type Kind string

// The kinds of conversation, by Slack's channel_type.
const (
	Public  Kind = "channel"
	Private Kind = "group"
	DM      Kind = "im"
	GroupDM Kind = "mpim"
)

// A Channel is a conversation of any kind.
type Channel struct {
	ID       string // "" makes one
	Name     string // "" for a DM
	Kind     Kind   // "" is Public
	Topic    string
	Purpose  string
	Creator  string
	Created  int64 // in seconds; 0 is now
	Members  []string
	Archived bool
	Shared   bool // with another organisation, by Slack Connect
}

// A channel is a Channel with what was said in it. The messages are in order
// of their ts, and a reply is in its thread's too.
type channel struct {
	Channel
	previous []string // earlier names
	messages []*message
	threads  map[string][]*message // replies by root
	last     int64                 // the newest ts, in microseconds
}

// newID makes an id of Slack's form that was not used before.
func (s *Slack) newID(prefix string) string {
	s.lastID++
	return fmt.Sprintf("%s0SIM%05d", prefix, s.lastID)
}

// AddUser adds a person and returns the id. Two may have the same name.
func (s *Slack) AddUser(u User) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.ID = cmp.Or(u.ID, s.newID("U"))
	u.Name = cmp.Or(u.Name, strings.ToLower(u.ID))
	u.RealName = cmp.Or(u.RealName, u.Name)
	s.users = append(s.users, &u)
	return u.ID
}

// AddBot adds another app's bot and returns the bot's id.
func (s *Slack) AddBot(b Bot) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.ID, b.AppID = cmp.Or(b.ID, s.newID("B")), cmp.Or(b.AppID, s.newID("A"))
	s.bots = append(s.bots, &b)
	if b.UserID != "" && s.user(b.UserID) == nil {
		s.users = append(s.users, &User{ID: b.UserID, Name: b.Name, RealName: b.Name, bot: b.ID})
	}
	return b.ID
}

// AddGroup adds a user group and returns the id.
func (s *Slack) AddGroup(g UserGroup) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.ID = cmp.Or(g.ID, s.newID("S"))
	g.Name = cmp.Or(g.Name, g.Handle)
	g.Users = slices.Clone(g.Users)
	s.groups = append(s.groups, &g)
	return g.ID
}

// AddChannel adds a conversation and returns its id. No event is sent.
func (s *Slack) AddChannel(c Channel) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addChannel(c).ID
}

func (s *Slack) addChannel(c Channel) *channel {
	c.Kind = cmp.Or(c.Kind, Public)
	prefix := "C"
	if c.Kind == DM {
		prefix = "D"
	}
	c.ID = cmp.Or(c.ID, s.newID(prefix))
	c.Created = cmp.Or(c.Created, s.o.Now().Unix())
	c.Members = slices.Clone(c.Members)
	if len(c.Members) > 0 {
		c.Creator = cmp.Or(c.Creator, c.Members[0])
	}
	ch := &channel{Channel: c, threads: map[string][]*message{}}
	s.channels = append(s.channels, ch)
	return ch
}

// OpenDM returns the id of the app's DM with a user, and adds it where there is none.
func (s *Slack) OpenDM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user(user) == nil {
		check(fmt.Errorf("there is no user %q", user))
	}
	return s.openDM([]string{user, s.o.App.UserID}).ID
}

// openDM returns the conversation of just these people.
func (s *Slack) openDM(people []string) *channel {
	people = slices.Compact(slices.Sorted(slices.Values(people)))
	for _, c := range s.channels {
		if (c.Kind == DM || c.Kind == GroupDM) && slices.Equal(slices.Sorted(slices.Values(c.Members)), people) {
			return c
		}
	}
	if len(people) <= 2 {
		return s.addChannel(Channel{Kind: DM, Members: people})
	}
	return s.addChannel(Channel{Kind: GroupDM, Members: people, Name: "mpdm-" + strings.ToLower(strings.Join(people, "--")) + "-1"})
}

func (s *Slack) user(id string) *User {
	return fake.Find(s.users, func(u *User) bool { return u.ID == id })
}

func (s *Slack) bot(id string) *Bot {
	return fake.Find(s.bots, func(b *Bot) bool { return b.ID == id })
}

func (s *Slack) channel(id string) *channel {
	return fake.Find(s.channels, func(c *channel) bool { return c.ID == id })
}

// find returns a channel and one of its messages.
func (s *Slack) find(channel, ts string) (*channel, *message, error) {
	c := s.channel(channel)
	if c == nil {
		return nil, nil, fmt.Errorf("there is no channel %q", channel)
	}
	m := c.message(ts)
	if m == nil {
		return nil, nil, fmt.Errorf("there is no message %q in %s", ts, channel)
	}
	return c, m, nil
}

func (c *channel) has(user string) bool { return slices.Contains(c.Members, user) }

var errNoChannel = errors.New("there is no such channel")

// userJSON is a user as users.info and user_change show it.
func (s *Slack) userJSON(u *User) object {
	o := object{
		"id": u.ID, "team_id": s.o.Team.ID, "name": u.Name, "deleted": u.Deleted, "color": "9f69e7", "real_name": u.RealName,
		"tz": cmp.Or(u.TZ, "Europe/Amsterdam"), "tz_label": "Central European Time", "tz_offset": 3600,
		"is_admin": false, "is_owner": false, "is_primary_owner": false, "is_restricted": u.Guest,
		"is_ultra_restricted": false, "is_bot": u.bot != "", "is_app_user": false, "updated": 1700000000,
		"is_email_confirmed": true, "who_can_share_contact_card": "EVERYONE",
	}
	profile := object{
		"title": "", "phone": "", "skype": "", "real_name": u.RealName, "real_name_normalized": u.RealName,
		"display_name": u.DisplayName, "display_name_normalized": u.DisplayName, "status_text": "", "status_emoji": "",
		"status_expiration": 0, "avatar_hash": "g00000000000", "team": s.o.Team.ID,
		"image_24": "https://avatars.example.com/24.png", "image_72": "https://avatars.example.com/72.png",
	}
	if u.bot != "" {
		profile["bot_id"] = u.bot
		if b := s.bot(u.bot); b != nil {
			profile["api_app_id"] = b.AppID
		}
	}
	if p, ok := u.fields["profile"].(object); ok {
		maps.Copy(profile, p)
	}
	maps.Copy(o, u.fields)
	o["profile"] = profile
	if u.Team != "" {
		o["team_id"], profile["team"], o["is_stranger"] = u.Team, u.Team, true
	}
	return o
}

// botJSON is a bot as bots.info shows it.
func (s *Slack) botJSON(b *Bot) object {
	o := object{
		"id": b.ID, "deleted": false, "name": b.Name, "updated": 1700000000, "app_id": b.AppID,
		"icons": object{"image_36": "https://avatars.example.com/36.png", "image_48": "https://avatars.example.com/48.png", "image_72": "https://avatars.example.com/72.png"},
	}
	if b.UserID != "" {
		o["user_id"] = b.UserID
	}
	return o
}

// channelJSON is a conversation as conversations.info shows it to the app.
func (s *Slack) channelJSON(c *channel) object {
	if c.Kind == DM {
		o := object{
			"id": c.ID, "created": c.Created, "is_im": true, "is_org_shared": false, "is_archived": c.Archived,
			"context_team_id": s.o.Team.ID, "updated": c.Created * 1000, "user": "", "is_user_deleted": false,
			"last_read": "0000000000.000000", "is_open": true, "priority": 0,
		}
		for _, id := range c.Members {
			if id != s.o.App.UserID {
				o["user"] = id
			}
		}
		return o
	}
	about := func(text string) object { return object{"value": text, "creator": c.Creator, "last_set": c.Created} }
	o := object{
		"id": c.ID, "name": c.Name, "name_normalized": c.Name, "is_channel": c.Kind == Public, "is_group": c.Kind == Private,
		"is_im": false, "is_mpim": c.Kind == GroupDM, "is_private": c.Kind != Public, "created": c.Created,
		"creator": c.Creator, "is_archived": c.Archived, "is_general": c.Name == "general", "unlinked": 0, "is_shared": false,
		"is_frozen": false, "is_org_shared": false, "is_ext_shared": c.Shared, "is_pending_ext_shared": false,
		"pending_shared": []any{}, "pending_connected_team_ids": []any{}, "shared_team_ids": []any{s.o.Team.ID},
		"context_team_id": s.o.Team.ID, "updated": c.Created * 1000, "parent_conversation": nil,
		"is_member": c.has(s.o.App.UserID), "topic": about(c.Topic), "purpose": about(c.Purpose),
		"previous_names": fake.List(c.previous),
	}
	if c.Kind == GroupDM {
		o["is_open"] = true
	}
	return o
}
