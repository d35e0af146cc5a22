package simulate

import (
	"fmt"
	"maps"
)

// ChangeUser changes a user's names, and sends user_change. Empty ones stay.
func (s *Slack) ChangeUser(user, realName, displayName string) {
	check(s.changeUser(user, realName, displayName))
}

func (s *Slack) changeUser(user, realName, displayName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(user)
	if u == nil {
		return fmt.Errorf("there is no user %q", user)
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
	return nil
}

// Uninstall has somebody remove the app: its tokens work no longer.
func (s *Slack) Uninstall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = true
	s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []any{}, "bot": []any{s.o.App.UserID}}, "event_ts": s.now()})
	s.emit(object{"type": "app_uninstalled", "event_ts": s.now()})
}

// OpenHome makes a user open the app's DM: app_home_opened, with which a conversation
// begins for an app with AgentView.
func (s *Slack) OpenHome(user string) string {
	channel, err := s.openHome(user)
	check(err)
	return channel
}

func (s *Slack) openHome(user string) (channel string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user(user) == nil {
		return "", fmt.Errorf("there is no user %q", user)
	}
	c := s.openDM([]string{user, s.o.App.UserID})
	tab := "home"
	if s.o.App.AgentView {
		tab = "messages"
	}
	s.emit(object{"type": "app_home_opened", "user": user, "channel": c.ID, "tab": tab, "event_ts": s.now()})
	return c.ID, nil
}

// LookAt makes a user look at a channel beside the app's DM. Only an app with AgentView
// gets an event.
func (s *Slack) LookAt(user, channel string) { check(s.lookAt(user, channel)) }

func (s *Slack) lookAt(user, channel string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user(user) == nil || s.channel(channel) == nil {
		return fmt.Errorf("there is no channel %q for %q to look at", channel, user)
	}
	if !s.o.App.AgentView {
		return nil
	}
	c := s.openDM([]string{user, s.o.App.UserID})
	s.emit(object{
		"type": "app_context_changed", "user": user, "channel": c.ID, "event_ts": s.now(),
		"context": object{"entities": []any{object{"type": "slack#/types/channel_id", "value": channel, "team_id": s.o.Team.ID}}},
	})
	return nil
}
