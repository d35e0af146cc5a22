package discord

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

const maxRoles = 250

var (
	errUnknownRole = &apiError{status: 404, code: 10011, message: "Unknown Role"}
	errInvalidRole = &apiError{status: 400, code: 50028, message: "Invalid Role"}
	errMostRoles   = &apiError{status: 400, code: 30005, message: "Maximum number of guild roles reached (250)"}
)

// SetRole changes a role that is there: all but its id and its guild. The bot hears of
// it, and of the channels that it sees now, or no longer.
func (s *Discord) SetRole(r Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(cmp.Or(r.Guild, s.Guild()))
	if g == nil || g.role(r.ID) == nil {
		check(fmt.Errorf("there is no role %q in the guild %q", r.ID, r.Guild))
	}
	was := g.role(r.ID)
	r.Guild, r.Position = g.ID, was.Position
	s.changeRole(g, was, r)
}

// RemoveRole deletes a role, which its members lose.
func (s *Discord) RemoveRole(guild, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guild)
	if g == nil || g.role(id) == nil || id == g.ID {
		check(fmt.Errorf("there is no role %q in the guild %q to remove", id, guild))
	}
	s.dropRole(g, g.role(id))
}

func (s *Discord) addRole(g *guild, r *Role) {
	r.Guild, r.Position = g.ID, cmp.Or(r.Position, 1)
	g.roles = append(g.roles, r)
	s.tellRole("CREATE", g, r)
}

func (s *Discord) changeRole(g *guild, was *Role, is Role) {
	s.seeAnew(g, func() {
		*was = is
		s.tellRole("UPDATE", g, was)
	})
}

func (s *Discord) dropRole(g *guild, r *Role) {
	s.seeAnew(g, func() {
		g.roles = slices.DeleteFunc(g.roles, func(o *Role) bool { return o == r })
		for _, m := range g.members {
			m.Roles = slices.DeleteFunc(m.Roles, func(id string) bool { return id == r.ID })
		}
		for _, c := range s.channels {
			c.overwrites = slices.DeleteFunc(c.overwrites, func(o overwrite) bool { return o.id == r.ID })
		}
		s.tell(event{kind: "GUILD_ROLE_DELETE", guild: g.ID, intents: guildsIntent, data: sameForAll(object{"guild_id": g.ID, "role_id": r.ID})})
	})
}

func (s *Discord) tellRole(what string, g *guild, r *Role) {
	s.tell(event{kind: "GUILD_ROLE_" + what, guild: g.ID, intents: guildsIntent, data: sameForAll(object{"guild_id": g.ID, "role": roleJSON(r)})})
}

// seeAnew makes a change of who sees what. The bot hears of the channels that it sees
// now, with their threads, and of those that it sees no longer.
func (s *Discord) seeAnew(g *guild, change func()) {
	var seen []*channel
	for _, c := range s.channels {
		if c.Guild == g.ID && c.thread == nil && s.sees(c, s.o.App.UserID) {
			seen = append(seen, c)
		}
	}
	change()
	for _, c := range slices.Clone(s.channels) {
		if c.Guild != g.ID || c.thread != nil || slices.Contains(seen, c) == s.sees(c, s.o.App.UserID) {
			continue
		}
		s.tellChannel("UPDATE", c)
		if !slices.Contains(seen, c) {
			s.tellThreads(c)
		}
	}
}

func roleJSON(r *Role) object {
	o := object{
		"id": r.ID, "name": r.Name, "description": nil, "permissions": fmtInt(r.Permissions), "position": r.Position,
		"color": r.Color, "colors": object{"primary_color": r.Color, "secondary_color": nil, "tertiary_color": nil},
		"hoist": r.Hoist, "managed": r.Bot != "", "mentionable": !r.Unmentionable, "icon": nil, "unicode_emoji": nil, "flags": 0,
	}
	if r.Bot != "" {
		o["tags"] = object{"bot_id": r.Bot}
	}
	return o
}

// rolesJSON are a guild's roles as its lists have them.
func (g *guild) rolesJSON() []any {
	list := []any{}
	for _, r := range g.roles {
		list = append(list, roleJSON(r))
	}
	return list
}

func (s *Discord) listGuildRoles(_ *request, g *guild) (int, any, error) {
	return 0, g.rolesJSON(), nil
}

func (s *Discord) getRole(r *request, g *guild) (int, any, error) {
	role := g.role(r.params["role"])
	if role == nil {
		return 0, nil, errUnknownRole
	}
	return 0, roleJSON(role), nil
}

// readRole reads a role's fields into one. The bot gives only permissions that it has.
func (s *Discord) readRole(r *request, g *guild, into *Role) error {
	if v, has := r.body["name"]; has && v != nil {
		name, ok := v.(string)
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 100 {
			return invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		}
		into.Name = name
	}
	if v, has := r.body["permissions"]; has && v != nil {
		p, err := parsePermissions("permissions", v)
		if err != nil {
			return err
		}
		if p&^into.Permissions&^g.base(g.member(s.o.App.UserID)) != 0 {
			return errPermissions
		}
		into.Permissions = p
	}
	color := r.body["color"]
	if v := r.object("colors")["primary_color"]; v != nil {
		color = v
	}
	if color != nil {
		if into.Color = whole(color); into.Color < 0 || into.Color > 0xffffff {
			return invalid("color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
		}
	}
	if v, ok := r.body["hoist"].(bool); ok {
		into.Hoist = v
	}
	if v, ok := r.body["mentionable"].(bool); ok {
		into.Unmentionable = !v
	}
	return nil
}

// parsePermissions reads a sum of permissions, which is text; old libraries send a
// number.
func parsePermissions(key string, v any) (int64, error) {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(key, "NUMBER_TYPE_COERCE", "Value is not int.")
	}
	return n & everyPermission, nil
}

func (s *Discord) createRole(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageRoles); err != nil {
		return 0, nil, err
	}
	if len(g.roles) >= maxRoles {
		return 0, nil, errMostRoles
	}
	role := &Role{ID: s.newID(), Name: "new role", Permissions: g.roles[0].Permissions, Unmentionable: true}
	if err := s.readRole(r, g, role); err != nil {
		return 0, nil, err
	}
	s.addRole(g, role)
	s.audit(g, r, auditRoleCreate, role.ID, nil)
	return 0, roleJSON(role), nil
}

// ownRole is the role of a call, which must be below the bot's highest.
func (s *Discord) ownRole(r *request, g *guild) (*Role, error) {
	if err := s.mayIn(g, manageRoles); err != nil {
		return nil, err
	}
	role := g.role(r.params["role"])
	switch {
	case role == nil:
		return nil, errUnknownRole
	case role.ID != g.ID && !g.outranks(g.member(s.o.App.UserID), role):
		return nil, errPermissions
	}
	return role, nil
}

func (s *Discord) updateRole(r *request, g *guild) (int, any, error) {
	role, err := s.ownRole(r, g)
	if err != nil {
		return 0, nil, err
	}
	next := *role
	if err := s.readRole(r, g, &next); err != nil {
		return 0, nil, err
	}
	s.changeRole(g, role, next)
	s.audit(g, r, auditRoleUpdate, role.ID, nil)
	return 0, roleJSON(role), nil
}

func (s *Discord) deleteRole(r *request, g *guild) (int, any, error) {
	role, err := s.ownRole(r, g)
	if err != nil {
		return 0, nil, err
	}
	if role.ID == g.ID || role.Bot != "" {
		return 0, nil, errInvalidRole
	}
	s.dropRole(g, role)
	s.audit(g, r, auditRoleDelete, role.ID, nil)
	return http.StatusNoContent, nil, nil
}

// moveRoles gives roles other positions.
func (s *Discord) moveRoles(r *request, g *guild) (int, any, error) {
	list, err := r.items(maxRoles)
	if err != nil {
		return 0, nil, err
	}
	for _, o := range list {
		inner := *r
		inner.params = map[string]string{"role": idOf(o["id"])}
		role, err := s.ownRole(&inner, g)
		switch {
		case err != nil:
			return 0, nil, err
		case role.ID == g.ID:
			return 0, nil, errInvalidRole
		case o["position"] == nil:
			continue
		}
		next := *role
		if next.Position = whole(o["position"]); next.Position < 1 || next.Position > maxRoles {
			return 0, nil, errInvalidRole
		}
		if top := g.top(g.member(s.o.App.UserID)); compareRoles(&next, top) >= 0 {
			return 0, nil, errPermissions // not above itself
		}
		s.changeRole(g, role, next)
	}
	return 0, g.rolesJSON(), nil
}

// roleMembers counts the members of each role.
func (s *Discord) roleMembers(_ *request, g *guild) (int, any, error) {
	counts := object{}
	for _, r := range g.roles[1:] {
		n := 0
		for _, m := range g.members {
			if slices.Contains(m.Roles, r.ID) {
				n++
			}
		}
		counts[r.ID] = n
	}
	return 0, counts, nil
}

func (s *Discord) addMemberRole(r *request, g *guild) (int, any, error) {
	return s.setMemberRole(r, g, true)
}

func (s *Discord) removeMemberRole(r *request, g *guild) (int, any, error) {
	return s.setMemberRole(r, g, false)
}

func (s *Discord) setMemberRole(r *request, g *guild, on bool) (int, any, error) {
	role, err := s.ownRole(r, g)
	if err != nil {
		return 0, nil, err
	}
	m, err := s.memberOf(g, r.params["user"])
	switch {
	case err != nil:
		return 0, nil, err
	case role.ID == g.ID || role.Bot != "":
		return 0, nil, errPermissions // nobody gives or takes these
	case slices.Contains(m.Roles, role.ID) == on:
		return http.StatusNoContent, nil, nil
	}
	roles := slices.DeleteFunc(slices.Clone(m.Roles), func(id string) bool { return id == role.ID })
	if on {
		roles = append(roles, role.ID)
	}
	s.changeMember(g, m, func() { m.Roles = roles })
	s.audit(g, r, auditMemberRoles, m.User, nil)
	return http.StatusNoContent, nil, nil
}

// changeMember changes a member, and tells of it.
func (s *Discord) changeMember(g *guild, m *Member, change func()) {
	s.seeAnew(g, func() {
		change()
		s.tellMember(g, m)
	})
}

// memberOf is a member of a guild that a call names.
func (s *Discord) memberOf(g *guild, id string) (*Member, error) {
	if id == "@me" {
		id = s.o.App.UserID
	}
	m := g.member(id)
	switch {
	case m != nil:
		return m, nil
	case s.user(id) == nil:
		return nil, errUnknownUser
	}
	return nil, errUnknownMember
}

// setRoles gives a member other roles, each of which the bot must be able to give or
// take.
func (s *Discord) setRoles(g *guild, m *Member, list []any) ([]string, error) {
	if len(list) > maxRoles {
		return nil, invalid("roles", "BASE_TYPE_MAX_LENGTH", "Must be 250 or fewer in length.")
	}
	var roles []string
	for _, v := range list {
		id := idOf(v)
		if g.role(id) == nil || id == g.ID {
			return nil, invalid("roles", "INVALID_ROLE", "Invalid Role")
		}
		if !slices.Contains(roles, id) {
			roles = append(roles, id)
		}
	}
	own := g.member(s.o.App.UserID)
	for _, id := range append(slices.Clone(roles), m.Roles...) {
		if r := g.role(id); slices.Contains(roles, id) != slices.Contains(m.Roles, id) && (r.Bot != "" || !g.outranks(own, r)) {
			return nil, errPermissions
		}
	}
	return roles, nil
}

// memberJSON is a member without its user, as messages have it.
func memberJSON(m *Member) object {
	o := object{
		"roles": fake.List(m.Roles), "nick": nilIfEmpty(m.Nick), "avatar": nil, "banner": nil, "joined_at": stamp(m.Joined), "premium_since": nil,
		"deaf": m.Deaf, "mute": m.Mute, "flags": 0, "pending": false, "communication_disabled_until": nil,
	}
	if !m.Timeout.IsZero() {
		o["communication_disabled_until"] = stamp(m.Timeout)
	}
	return o
}
