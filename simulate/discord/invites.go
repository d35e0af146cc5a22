package discord

import (
	"slices"
	"time"
)

const maxInvites = 1000

var errUnknownInvite = &apiError{status: 404, code: 10006, message: "Unknown Invite"}

// An invite leads to a channel.
type invite struct {
	code, channel, user string
	maxAge, maxUses     int // seconds; 0 of both is no limit
	temporary           bool
	at                  time.Time
}

func (s *Discord) inviteJSON(g *guild, i *invite) object {
	o := object{
		"type": 0, "code": i.code, "guild": object{
			"id": g.ID, "name": g.Name, "splash": nil, "banner": nil, "description": nil, "icon": nil, "features": []any{}, "verification_level": 0,
			"vanity_url_code": nil, "nsfw_level": 0, "nsfw": false, "premium_subscription_count": 0, "premium_tier": 0,
		}, "guild_id": g.ID, "channel": nil, "inviter": s.userJSON(i.user), "expires_at": nil,
		"uses": 0, "max_uses": i.maxUses, "max_age": i.maxAge, "temporary": i.temporary, "created_at": stamp(i.at), "is_contact": false, "flags": 0,
	}
	if c := s.byID[i.channel]; c != nil {
		o["channel"] = object{"id": c.ID, "name": c.Name, "type": c.Type}
	}
	if i.maxAge > 0 {
		o["expires_at"] = stamp(i.at.Add(time.Duration(i.maxAge) * time.Second))
	}
	return o
}

// currentInvites are a guild's that have not expired.
func (s *Discord) currentInvites(g *guild) []*invite {
	now := s.o.Now()
	g.invites = slices.DeleteFunc(g.invites, func(i *invite) bool {
		return i.maxAge > 0 && !now.Before(i.at.Add(time.Duration(i.maxAge)*time.Second)) || s.byID[i.channel] == nil
	})
	return g.invites
}

func (s *Discord) createInvite(r *request, c *channel) (int, any, error) {
	g := s.guild(c.Guild)
	if g == nil || c.thread != nil {
		return 0, nil, errWrongType
	}
	if err := s.may(c, createInvite); err != nil {
		return 0, nil, err
	}
	i := &invite{channel: c.ID, user: s.o.App.UserID, maxAge: 86400, maxUses: r.int("max_uses"), temporary: r.flag("temporary"), at: s.o.Now()}
	if r.body["max_age"] != nil {
		i.maxAge = r.int("max_age")
	}
	switch {
	case i.maxAge < 0 || i.maxAge > 7*86400:
		return 0, nil, invalid("max_age", "NUMBER_TYPE_MAX", "int value should be less than or equal to 604800.")
	case i.maxUses < 0 || i.maxUses > 100:
		return 0, nil, invalid("max_uses", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
	case len(s.currentInvites(g)) >= maxInvites:
		return 0, nil, &apiError{status: 400, code: 30016, message: "Maximum number of invites reached (1000)"}
	}
	i.code = s.secret()[:8]
	g.invites = append(g.invites, i)
	o := s.inviteJSON(g, i)
	told := object{"channel_id": c.ID}
	for _, k := range []string{"code", "created_at", "guild_id", "inviter", "max_age", "max_uses", "temporary", "uses", "expires_at", "type"} {
		told[k] = o[k]
	}
	s.tell(event{kind: "INVITE_CREATE", guild: g.ID, intents: invitesIntent, data: sameForAll(told)})
	s.audit(g, r, auditInviteCreate, i.code, nil)
	return 0, o, nil
}

// invite is the invite of a call, of any guild that the bot is in.
func (s *Discord) invite(r *request) (*guild, *invite) {
	for _, g := range s.guilds {
		for _, i := range s.currentInvites(g) {
			if i.code == r.params["code"] {
				return g, i
			}
		}
	}
	return nil, nil
}

func (s *Discord) getInvite(r *request) (int, any, error) {
	g, i := s.invite(r)
	if i == nil {
		return 0, nil, errUnknownInvite
	}
	o := s.inviteJSON(g, i)
	for _, k := range []string{"uses", "max_uses", "max_age", "temporary", "created_at"} {
		delete(o, k) // only lists and what makes an invite have these
	}
	if r.asks("with_counts") {
		o["approximate_member_count"], o["approximate_presence_count"] = len(g.members), 1
	}
	return 0, o, nil
}

func (s *Discord) deleteInvite(r *request) (int, any, error) {
	g, i := s.invite(r)
	if i == nil {
		return 0, nil, errUnknownInvite
	}
	if c := s.byID[i.channel]; s.mayIn(g, manageGuild) != nil && s.may(c, manageChannels) != nil {
		return 0, nil, errPermissions
	}
	o := s.inviteJSON(g, i)
	g.invites = slices.DeleteFunc(g.invites, func(x *invite) bool { return x == i })
	s.tell(event{kind: "INVITE_DELETE", guild: g.ID, intents: invitesIntent, data: sameForAll(object{"channel_id": i.channel, "guild_id": g.ID, "code": i.code})})
	s.audit(g, r, auditInviteDelete, i.code, nil)
	return 0, o, nil
}

func (s *Discord) listGuildInvites(_ *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageGuild); err != nil {
		return 0, nil, err
	}
	return 0, s.invitesJSON(g, ""), nil
}

func (s *Discord) listChannelInvites(_ *request, c *channel) (int, any, error) {
	g := s.guild(c.Guild)
	if g == nil {
		return 0, nil, errWrongType
	}
	if err := s.may(c, manageChannels); err != nil {
		return 0, nil, err
	}
	return 0, s.invitesJSON(g, c.ID), nil
}

// invitesJSON are the invites to a channel, "" for all of a guild.
func (s *Discord) invitesJSON(g *guild, channel string) []any {
	list := []any{}
	for _, i := range s.currentInvites(g) {
		if channel == "" || i.channel == channel {
			list = append(list, s.inviteJSON(g, i))
		}
	}
	return list
}
