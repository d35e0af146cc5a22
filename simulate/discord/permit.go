package discord

import (
	"fmt"
	"slices"
)

// Permit gives a role other permissions; the role of everybody has its guild's id. Bots
// hear of the role, and not of the channels that it hides or shows.
func (s *Discord) Permit(role string, permissions int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guilds {
		if r := g.role(role); r != nil {
			r.Permissions = permissions
			s.tell(event{kind: "GUILD_ROLE_UPDATE", guild: g.ID, intents: guildsIntent, data: sameForAll(object{"guild_id": g.ID, "role": roleJSON(g, r)})})
			return
		}
	}
	check(fmt.Errorf("there is no role %q", role))
}

// DropRole removes a role from its guild and from its members.
func (s *Discord) DropRole(role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guilds {
		if g.role(role) == nil {
			continue
		}
		g.roles = slices.DeleteFunc(g.roles, func(r *Role) bool { return r.ID == role })
		for _, m := range g.members {
			m.Roles = slices.DeleteFunc(m.Roles, func(id string) bool { return id == role })
		}
		s.tell(event{kind: "GUILD_ROLE_DELETE", guild: g.ID, intents: guildsIntent, data: sameForAll(object{"guild_id": g.ID, "role_id": role})})
		return
	}
	check(fmt.Errorf("there is no role %q", role))
}
