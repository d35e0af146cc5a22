package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (s *Slack) authTest(r *request) (object, error) {
	a, t := s.o.App, s.o.Team
	o := object{"url": "https://" + t.Domain + ".slack.com/", "team": t.Name, "team_id": t.ID, "is_enterprise_install": false}
	if r.token == a.AppToken {
		o["app_id"], o["app_name"] = a.ID, a.Name
		return o, nil
	}
	o["user"], o["user_id"], o["bot_id"] = a.Name, a.UserID, a.BotID
	return o, nil
}

func (s *Slack) teamInfo(r *request) (object, error) {
	t := s.o.Team
	if id := r.args["team"]; id != "" && id != t.ID {
		return nil, fail("team_not_found")
	}
	return object{"team": object{
		"id": t.ID, "name": t.Name, "domain": t.Domain, "email_domain": "example.com",
		"icon": object{"image_34": "https://avatars.example.com/34.png", "image_default": true},
	}}, nil
}

func (s *Slack) botsInfo(r *request) (object, error) {
	b := s.bot(r.args["bot"])
	if b == nil {
		return nil, fail("bot_not_found")
	}
	return object{"bot": s.botJSON(b)}, nil
}

// usersInfo answers for a bot's user too, and for several at once.
func (s *Slack) usersInfo(r *request) (object, error) {
	if ids := r.args["users"]; ids != "" {
		list := []any{}
		for id := range strings.SplitSeq(ids, ",") {
			u := s.user(id)
			if u == nil {
				return nil, fail("user_not_found")
			}
			list = append(list, s.userJSON(u))
		}
		return object{"users": list}, nil
	}
	u := s.user(r.args["user"])
	if u == nil {
		return nil, fail("user_not_found")
	}
	return object{"user": s.userJSON(u)}, nil
}

func (s *Slack) usersList(r *request) (object, error) {
	list := []any{}
	for _, u := range s.users {
		list = append(list, s.userJSON(u))
	}
	page, next, err := pageOf(r, list, 1000)
	if err != nil {
		return nil, err
	}
	return object{"members": page, "cache_ts": s.o.Now().Unix(), "response_metadata": object{"next_cursor": next}}, nil
}

func (s *Slack) usergroupsList(r *request) (object, error) {
	list := []any{}
	for _, g := range s.groups {
		o := object{
			"id": g.ID, "team_id": s.o.Team.ID, "is_usergroup": true, "name": g.Name, "handle": g.Handle, "description": "",
			"is_external": false, "date_create": 1700000000, "date_update": 1700000000, "date_delete": 0, "auto_type": nil,
			"created_by": "USLACKBOT", "updated_by": "USLACKBOT", "deleted_by": nil,
			"prefs": object{"channels": []any{}, "groups": []any{}},
		}
		if r.bool("include_count") {
			o["user_count"] = len(g.Users)
		}
		if r.bool("include_users") {
			o["users"] = anys(g.Users)
		}
		list = append(list, o)
	}
	return object{"usergroups": list}, nil
}

func (s *Slack) reactionsGet(r *request) (object, error) {
	c, m, err := s.item(r, "timestamp")
	if err != nil {
		return nil, err
	}
	return object{"type": "message", "channel": c.ID, "message": c.view(m, false)}, nil
}

func (s *Slack) reactionsAdd(r *request) (object, error) { return s.reacts(r, true) }

func (s *Slack) reactionsRemove(r *request) (object, error) { return s.reacts(r, false) }

func (s *Slack) reacts(r *request, on bool) (object, error) {
	c, m, err := s.item(r, "timestamp")
	if err != nil {
		return nil, err
	}
	emoji := strings.Trim(r.args["name"], ":")
	if emoji == "" {
		return nil, fail("invalid_name")
	}
	if err := s.reactTo(c, m, s.o.App.UserID, emoji, on); err != nil {
		return nil, fail(err.Error())
	}
	return object{}, nil
}

// item returns the message that a call names.
func (s *Slack) item(r *request, key string) (*channel, *message, error) {
	c, err := s.readable(r)
	if err != nil {
		return nil, nil, err
	}
	m := c.message(r.args[key])
	if m == nil {
		return nil, nil, fail("message_not_found")
	}
	return c, m, nil
}

// Rename has a channel get another name.
func (s *Slack) Rename(channel, name string) { check(s.rename(channel, name)) }

func (s *Slack) rename(channel, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || c.Kind == DM || name == "" {
		return fmt.Errorf("there is no channel %q to name %q", channel, name)
	}
	c.previous = append([]string{c.Name}, c.previous...)
	c.Name = name
	if c.has(s.o.App.UserID) && s.granted(c.scope("read")) {
		kind := "channel_rename"
		if c.Kind == Private {
			kind = "group_rename"
		}
		s.emit(object{"type": kind, "event_ts": s.now(), "channel": object{
			"id": c.ID, "is_channel": c.Kind == Public, "is_mpim": c.Kind == GroupDM, "name": name, "name_normalized": name, "created": c.Created,
		}})
	}
	return nil
}

// Join has a person, or the app itself, enter a channel.
func (s *Slack) Join(channel, user string) { check(s.join(channel, user)) }

func (s *Slack) join(channel, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || s.user(user) == nil {
		return fmt.Errorf("there is no channel %q for %q to join", channel, user)
	}
	s.joined(c, user)
	return nil
}

// joined tells of a person who came, as channel_join in the channel and as
// member_joined_channel.
func (s *Slack) joined(c *channel, user string) {
	if c.has(user) {
		return
	}
	c.Members = append(c.Members, user)
	s.subtype(c, user, "channel_join", "<@"+user+"> has joined the channel")
	if c.has(s.o.App.UserID) && s.granted(c.scope("read")) {
		s.emit(object{"type": "member_joined_channel", "user": user, "channel": c.ID, "channel_type": c.letter(), "team": s.o.Team.ID, "event_ts": s.now()})
	}
}

// letter is the channel_type of membership events: C or G.
func (c *channel) letter() string {
	if c.Kind == Public {
		return "C"
	}
	return "G"
}

// subtype puts Slack's own line into a channel.
func (s *Slack) subtype(c *channel, user, kind, text string) {
	m := &message{ts: s.stamp(c), body: object{"subtype": kind, "user": user, "text": text}}
	c.add(m)
	s.tellNew(c, m)
}

// Leave has a person go. The app that leaves is told by channel_left, as is
// one that was put out: see Kick.
func (s *Slack) Leave(channel, user string) { check(s.left(channel, user, user)) }

// Kick has somebody put a person, or the app, out of a channel.
func (s *Slack) Kick(channel, user, by string) { check(s.left(channel, user, by)) }

func (s *Slack) left(channel, user, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || !c.has(user) {
		return fmt.Errorf("%q is in no channel %q to leave", user, channel)
	}
	c.Members = slices.DeleteFunc(slices.Clone(c.Members), func(id string) bool { return id == user })
	readable := s.granted(c.scope("read"))
	if user == s.o.App.UserID {
		kind := "channel_left"
		if c.Kind == Private {
			kind = "group_left"
		}
		if readable {
			s.emit(object{"type": kind, "channel": c.ID, "actor_id": by, "event_ts": s.now()})
		}
		return nil
	}
	s.subtype(c, user, "channel_leave", "<@"+user+"> has left the channel")
	if readable && c.has(s.o.App.UserID) {
		s.emit(object{"type": "member_left_channel", "user": user, "channel": c.ID, "channel_type": c.letter(), "team": s.o.Team.ID, "event_ts": s.now()})
	}
	return nil
}

// ChangeUser has a person change their names. Empty ones stay.
func (s *Slack) ChangeUser(user, realName, displayName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(user)
	if u == nil {
		check(fail("user_not_found"))
	}
	if realName != "" {
		u.RealName = realName
	}
	if displayName != "" {
		u.DisplayName = displayName
	}
	u.fields = maps.Clone(u.fields)
	delete(u.fields, "profile") // what an export said of the old names
	delete(u.fields, "real_name")
	if s.granted("users:read") {
		s.emit(object{"type": "user_change", "user": s.userJSON(u), "cache_ts": s.o.Now().Unix(), "event_ts": s.now()})
	}
}

// Uninstall has somebody remove the app: its tokens work no longer.
func (s *Slack) Uninstall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = true
	s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []any{}, "bot": []any{s.o.App.UserID}}, "event_ts": s.now()})
	s.emit(object{"type": "app_uninstalled", "event_ts": s.now()})
}

// OpenHome has a person open the app's DM. With an agent's view that is how a
// conversation starts.
func (s *Slack) OpenHome(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.openDM([]string{user, s.o.App.UserID})
	tab := "home"
	if s.o.App.AgentView {
		tab = "messages"
	}
	s.emit(object{"type": "app_home_opened", "user": user, "channel": c.ID, "tab": tab, "event_ts": s.now()})
	return c.ID
}

// LookAt has a person, in the app's DM, look at a channel beside it. An app
// without an agent's view is not told.
func (s *Slack) LookAt(user, channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.o.App.AgentView {
		return
	}
	c := s.openDM([]string{user, s.o.App.UserID})
	s.emit(object{
		"type": "app_context_changed", "user": user, "channel": c.ID, "event_ts": s.now(),
		"context": object{"entities": []any{object{"type": "slack#/types/channel_id", "value": channel, "team_id": s.o.Team.ID}}},
	})
}
