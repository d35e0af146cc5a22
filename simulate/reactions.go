package simulate

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// React adds a user's emoji to a message; Unreact removes it.
func (s *Slack) React(channel, ts, user, emoji string) {
	check(s.react(channel, ts, user, emoji, true))
}

// Unreact takes back what React did.
func (s *Slack) Unreact(channel, ts, user, emoji string) {
	check(s.react(channel, ts, user, emoji, false))
}

var (
	errReacted    = errors.New("already_reacted")
	errNoReaction = errors.New("no_reaction")
)

func (s *Slack) react(channel, ts, user, emoji string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, ts)
	if err != nil {
		return err
	}
	return s.reactTo(c, m, user, emoji, on)
}

func (s *Slack) reactTo(c *channel, m *message, user, emoji string, on bool) error {
	var kept []any
	var people []any
	old, _ := m.body["reactions"].([]any)
	for _, r := range old {
		if o, _ := r.(object); o["name"] == emoji {
			people, _ = o["users"].([]any)
			continue
		}
		kept = append(kept, r)
	}
	had := slices.Contains(people, any(user))
	switch {
	case on && had:
		return errReacted
	case !on && !had:
		return errNoReaction
	case on:
		people = append(slices.Clone(people), user)
	default:
		people = slices.DeleteFunc(slices.Clone(people), func(v any) bool { return v == user })
	}
	if len(people) > 0 {
		kept = append(kept, object{"name": emoji, "users": people, "count": len(people)})
	}
	m.body = maps.Clone(m.body)
	m.body["reactions"] = kept
	if len(kept) == 0 {
		delete(m.body, "reactions")
	}
	s.tellReaction(c, m, user, emoji, on)
	return nil
}

func (s *Slack) reactionsGet(_ *request, c *channel, m *message) (object, error) {
	return object{"type": "message", "channel": c.ID, "message": c.view(m, false)}, nil
}

func (s *Slack) reactionsAdd(r *request, c *channel, m *message) (object, error) {
	return s.reacts(r, c, m, true)
}

func (s *Slack) reactionsRemove(r *request, c *channel, m *message) (object, error) {
	return s.reacts(r, c, m, false)
}

func (s *Slack) reacts(r *request, c *channel, m *message, on bool) (object, error) {
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
func (s *Slack) item(r *request) (*channel, *message, error) {
	c, err := s.readable(r)
	if err != nil {
		return nil, nil, err
	}
	m := c.message(r.args["timestamp"])
	if m == nil {
		return nil, nil, fail("message_not_found")
	}
	return c, m, nil
}
