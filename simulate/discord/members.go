package discord

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxNick    = 32
	maxTimeout = 28 * 24 * time.Hour
)

var errUnknownBan = &apiError{status: 404, code: 10026, message: "Unknown Ban"}

// A ban keeps a user out of a guild.
type ban struct{ user, reason string }

func (b ban) json(s *Discord) object {
	return object{"user": s.userJSON(b.user), "reason": nilIfEmpty(b.reason)}
}

func (s *Discord) listGuildMembers(r *request, g *guild) (int, any, error) {
	if s.o.NoMembers {
		return 0, nil, errAccess
	}
	limit, err := r.limit(1, 1000)
	if err != nil {
		return 0, nil, err
	}
	members := slices.Clone(g.members)
	slices.SortFunc(members, func(a, b *Member) int { return compareIDs(a.User, b.User) })
	list := []any{}
	for _, m := range members {
		if len(list) < limit && compareIDs(m.User, r.query.Get("after")) > 0 {
			list = append(list, s.fullMember(m))
		}
	}
	return 0, list, nil
}

// searchMembers finds those whose name or nickname begins with a text.
func (s *Discord) searchMembers(r *request, g *guild) (int, any, error) {
	limit, err := r.limit(1, 1000)
	if err != nil {
		return 0, nil, err
	}
	query := r.query.Get("query")
	if n := utf8.RuneCountInString(query); n < 1 || n > 100 {
		return 0, nil, invalid("query", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	list := []any{}
	for _, m := range g.members {
		if len(list) < limit && s.named(m, query) {
			list = append(list, s.fullMember(m))
		}
	}
	return 0, list, nil
}

// named reports whether one of a member's names begins with a text.
func (s *Discord) named(m *Member, prefix string) bool {
	u := s.user(m.User)
	return u != nil && slices.ContainsFunc([]string{u.Name, u.GlobalName, m.Nick}, func(name string) bool { return hasPrefixFold(name, prefix) })
}

func (s *Discord) getGuildMember(r *request, g *guild) (int, any, error) {
	m, err := s.memberOf(g, r.params["user"])
	if err != nil {
		return 0, nil, err
	}
	return 0, s.fullMember(m), nil
}

func (s *Discord) getMyMember(_ *request, g *guild) (int, any, error) {
	return 0, s.fullMember(g.member(s.o.App.UserID)), nil
}

// updateMember changes a member's nickname, roles, voice and timeout, each by a
// permission of its own.
func (s *Discord) updateMember(r *request, g *guild) (int, any, error) {
	m, err := s.memberOf(g, r.params["user"])
	if err != nil {
		return 0, nil, err
	}
	if err := s.mayManage(g, m); err != nil {
		return 0, nil, err
	}
	next := *m
	for _, part := range []struct {
		key  string
		need int64
		read func(v any) error
	}{
		{"nick", manageNicks, func(v any) error { return readNick(v, &next) }},
		{"roles", manageRoles, func(v any) error {
			list, _ := v.([]any)
			var err error
			next.Roles, err = s.setRoles(g, m, list)
			return err
		}},
		{"mute", 1 << 22, func(v any) error { next.Mute, _ = v.(bool); return nil }},
		{"deaf", 1 << 23, func(v any) error { next.Deaf, _ = v.(bool); return nil }},
		{"communication_disabled_until", moderateMembers, func(v any) error { return s.readTimeout(g, v, &next) }},
	} {
		v, has := r.body[part.key]
		if !has {
			continue
		}
		need := part.need
		if part.key == "nick" && m.User == s.o.App.UserID {
			need = changeNick
		}
		if err := s.mayIn(g, need); err != nil {
			return 0, nil, err
		}
		if err := part.read(v); err != nil {
			return 0, nil, err
		}
	}
	s.changeMember(g, m, func() { *m = next })
	s.audit(g, r, auditMemberUpdate, m.User, nil)
	return 0, s.fullMember(m), nil
}

func (s *Discord) updateMyMember(r *request, g *guild) (int, any, error) {
	inner := *r
	inner.params = map[string]string{"user": s.o.App.UserID}
	return s.updateMember(&inner, g)
}

func readNick(v any, m *Member) error {
	nick, ok := v.(string)
	if !ok && v != nil || utf8.RuneCountInString(nick) > maxNick {
		return invalid("nick", "BASE_TYPE_MAX_LENGTH", "Must be 32 or fewer in length.")
	}
	m.Nick = strings.TrimSpace(nick)
	return nil
}

// readTimeout reads until when a member may not speak: at most 28 days, and nobody who
// is an administrator.
func (s *Discord) readTimeout(g *guild, v any, m *Member) error {
	m.Timeout = time.Time{}
	if v == nil {
		return nil
	}
	until, err := time.Parse(time.RFC3339, str(v))
	if err != nil || until.Sub(s.o.Now()) > maxTimeout {
		return invalid("communication_disabled_until", "INVALID_COMMUNICATION_DISABLED_TIMESTAMP", "Communication disabled timestamp must be within 28 days.")
	}
	if g.base(m)&administrator != 0 {
		return errPermissions
	}
	m.Timeout = until
	return nil
}

func (s *Discord) kickMember(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, kickMembers); err != nil {
		return 0, nil, err
	}
	m, err := s.memberOf(g, r.params["user"])
	if err == nil {
		err = s.mayManage(g, m)
	}
	if err == nil && m.User == s.o.App.UserID {
		err = errPermissions // it leaves by a call of its own
	}
	if err != nil {
		return 0, nil, err
	}
	if err := s.leave(g.ID, m.User); err != nil {
		return 0, nil, err
	}
	s.audit(g, r, auditKick, m.User, nil)
	return http.StatusNoContent, nil, nil
}

func (g *guild) ban(user string) int {
	return slices.IndexFunc(g.bans, func(b ban) bool { return b.user == user })
}

func (s *Discord) listBans(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, banMembers); err != nil {
		return 0, nil, err
	}
	limit, err := r.limit(1000, 1000)
	if err != nil {
		return 0, nil, err
	}
	list := []any{}
	for _, b := range g.bans {
		if len(list) < limit && compareIDs(b.user, r.query.Get("after")) > 0 {
			list = append(list, b.json(s))
		}
	}
	return 0, list, nil
}

func (s *Discord) getBan(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, banMembers); err != nil {
		return 0, nil, err
	}
	i := g.ban(r.params["user"])
	if i < 0 {
		return 0, nil, errUnknownBan
	}
	return 0, g.bans[i].json(s), nil
}

// banUser keeps a user out, who need not be a member, and deletes what they said in the
// last seconds where that is asked for.
func (s *Discord) banUser(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, banMembers); err != nil {
		return 0, nil, err
	}
	id := r.params["user"]
	if s.user(id) == nil {
		return 0, nil, errUnknownUser
	}
	if m := g.member(id); m != nil {
		if err := s.mayManage(g, m); err != nil {
			return 0, nil, err
		}
		if id == s.o.App.UserID {
			return 0, nil, errPermissions
		}
		if err := s.leave(g.ID, id); err != nil {
			return 0, nil, err
		}
	}
	if g.ban(id) >= 0 {
		return http.StatusNoContent, nil, nil
	}
	g.bans = append(g.bans, ban{id, r.reason})
	s.forgetWords(g, id, min(time.Duration(max(r.int("delete_message_seconds"), 0))*time.Second, 7*24*time.Hour))
	s.tellBan("ADD", g, id)
	s.audit(g, r, auditBan, id, nil)
	return http.StatusNoContent, nil, nil
}

// forgetWords deletes what a user said in a guild in the last time.
func (s *Discord) forgetWords(g *guild, user string, last time.Duration) {
	since := s.o.Now().Add(-last)
	for _, c := range s.channels {
		var ids []string
		for _, m := range c.messages {
			if c.Guild == g.ID && m.author == user && last > 0 && Time(m.id).After(since) {
				ids = append(ids, m.id)
			}
		}
		if len(ids) > 0 {
			s.remove(c, ids...)
		}
	}
}

func (s *Discord) unbanUser(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, banMembers); err != nil {
		return 0, nil, err
	}
	i := g.ban(r.params["user"])
	if i < 0 {
		return 0, nil, errUnknownBan
	}
	g.bans = slices.Delete(g.bans, i, i+1)
	s.tellBan("REMOVE", g, r.params["user"])
	s.audit(g, r, auditUnban, r.params["user"], nil)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) tellBan(what string, g *guild, user string) {
	s.tell(event{kind: "GUILD_BAN_" + what, guild: g.ID, intents: moderationIntent, data: sameForAll(object{"guild_id": g.ID, "user": s.userJSON(user)})})
}
