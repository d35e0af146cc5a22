package discord

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var customEmoji = regexp.MustCompile(`^\w+:\d+$`)

// emoji is the emoji of a call: a character, or name:id.
func (r *request) emoji() (string, error) {
	e := r.params["emoji"]
	for _, c := range e {
		if c > 0x7f || customEmoji.MatchString(e) {
			return e, nil
		}
	}
	return "", errUnknownEmoji
}

// has reports whether the bot can use an emoji: one of everybody's, of its guilds, or of
// its own.
func (s *Discord) has(name string) bool {
	_, id, custom := strings.Cut(name, ":")
	if !custom {
		return true
	}
	is := func(e *emoji) bool { return e.id == id }
	for _, g := range s.guilds {
		if g.member(s.o.App.UserID) != nil && slices.ContainsFunc(g.emojis, is) {
			return true
		}
	}
	return slices.ContainsFunc(s.emojis, is)
}

// reaction is the message and the emoji of a call.
func (s *Discord) reaction(r *request) (*channel, *message, string, error) {
	c, m, err := s.one(r)
	if err != nil {
		return nil, nil, "", err
	}
	emoji, err := r.emoji()
	return c, m, emoji, err
}

func (s *Discord) addReaction(r *request) (int, any, error) {
	c, m, emoji, err := s.reaction(r)
	if err != nil {
		return 0, nil, err
	}
	p := s.permissions(c, s.o.App.UserID)
	there := slices.ContainsFunc(m.reactions, func(o *reaction) bool { return o.emoji == emoji })
	switch {
	case p&readHistory == 0 || p&addReactions == 0 && !there:
		return 0, nil, errPermissions
	case !there && !s.has(emoji):
		return 0, nil, errUnknownEmoji
	case !there && len(m.reactions) >= maxReactions:
		return 0, nil, &apiError{status: 400, code: 30010, message: "Maximum number of reactions reached (20)"}
	}
	s.react(c, m, s.o.App.UserID, emoji, true)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) deleteReaction(r *request) (int, any, error) {
	c, m, emoji, err := s.reaction(r)
	if err != nil {
		return 0, nil, err
	}
	user := r.params["user"]
	if user == "" {
		user = s.o.App.UserID
	} else if s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	s.react(c, m, user, emoji, false)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) listReactions(r *request) (int, any, error) {
	_, m, emoji, err := s.reaction(r)
	if err != nil {
		return 0, nil, err
	}
	limit, err := r.limit(25, maxPage)
	if err != nil {
		return 0, nil, err
	}
	list := []any{}
	for _, o := range m.reactions {
		if o.emoji != emoji {
			continue
		}
		users := slices.Clone(o.users)
		slices.SortFunc(users, compareIDs)
		for _, id := range users {
			if len(list) < limit && compareIDs(id, r.query.Get("after")) > 0 {
				list = append(list, s.userJSON(id))
			}
		}
	}
	return 0, list, nil
}

// clearReactions removes all reactions, or those with one emoji.
func (s *Discord) clearReactions(r *request, c *channel, m *message) (int, any, error) {
	if s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	emoji := ""
	if r.params["emoji"] != "" {
		var err error
		if emoji, err = r.emoji(); err != nil {
			return 0, nil, err
		}
	}
	s.clear(c, m, emoji)
	return http.StatusNoContent, nil, nil
}

// react adds or removes a reaction. What was there already causes no event.
func (s *Discord) react(c *channel, m *message, user, emoji string, on bool) {
	i := slices.IndexFunc(m.reactions, func(o *reaction) bool { return o.emoji == emoji })
	if on {
		if i < 0 {
			m.reactions = append(m.reactions, &reaction{emoji: emoji})
			i = len(m.reactions) - 1
		}
		if o := m.reactions[i]; !slices.Contains(o.users, user) {
			o.users = append(o.users, user)
			s.tellReaction("MESSAGE_REACTION_ADD", c, m, user, emoji)
		}
		return
	}
	if i < 0 || !slices.Contains(m.reactions[i].users, user) {
		return
	}
	o := m.reactions[i]
	o.users = slices.DeleteFunc(o.users, func(id string) bool { return id == user })
	if len(o.users) == 0 {
		m.reactions = slices.Delete(m.reactions, i, i+1)
	}
	s.tellReaction("MESSAGE_REACTION_REMOVE", c, m, user, emoji)
}

// clear removes the reactions with an emoji, "" for all.
func (s *Discord) clear(c *channel, m *message, emoji string) {
	if emoji == "" {
		m.reactions = nil
		s.tellReaction("MESSAGE_REACTION_REMOVE_ALL", c, m, "", "")
		return
	}
	m.reactions = slices.DeleteFunc(m.reactions, func(o *reaction) bool { return o.emoji == emoji })
	s.tellReaction("MESSAGE_REACTION_REMOVE_EMOJI", c, m, "", emoji)
}
