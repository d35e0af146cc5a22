package discord

import (
	"cmp"
	"slices"
)

// Permissions that count here, by Discord's names.
const (
	createInvite      = 1 << 0
	kickMembers       = 1 << 1
	banMembers        = 1 << 2
	administrator     = 1 << 3
	manageChannels    = 1 << 4
	manageGuild       = 1 << 5
	addReactions      = 1 << 6
	viewAuditLog      = 1 << 7
	viewChannel       = 1 << 10
	sendMessages      = 1 << 11
	manageMessages    = 1 << 13
	embedLinks        = 1 << 14
	attachFiles       = 1 << 15
	readHistory       = 1 << 16
	mentionEveryone   = 1 << 17
	externalEmojis    = 1 << 18
	changeNick        = 1 << 26
	manageNicks       = 1 << 27
	manageRoles       = 1 << 28
	manageWebhooks    = 1 << 29
	manageExpressions = 1 << 30
	useCommands       = 1 << 31
	manageThreads     = 1 << 34
	createThreads     = 1 << 35
	createPrivate     = 1 << 36
	externalStickers  = 1 << 37
	sendInThreads     = 1 << 38
	moderateMembers   = 1 << 40
	createExpressions = 1 << 43
	sendPolls         = 1 << 49
	pinMessages       = 1 << 51

	everyoneMayBasic = viewChannel | sendMessages | embedLinks | attachFiles | readHistory | addReactions | createThreads | createPrivate | sendInThreads | externalEmojis | changeNick | useCommands | sendPolls
	directMay        = everyoneMayBasic | pinMessages | externalStickers

	// everyPermission are all that Discord has, as an administrator has them.
	everyPermission = 1<<53 - 1
)

// AllPermissions are those of a bot that may do everything but see what a channel's
// overwrites hide: all but ADMINISTRATOR, as an invitation can ask for them.
const AllPermissions int64 = everyPermission &^ administrator

// The types of overwrites.
const (
	forRole   = 0
	forMember = 1
)

// An overwrite allows and denies permissions in a channel, to a role or to a member.
type overwrite struct {
	id          string
	kind        int
	allow, deny int64
}

// base are a member's permissions in the whole guild.
func (g *guild) base(m *Member) int64 {
	p := g.roles[0].Permissions
	for _, id := range m.Roles {
		if r := g.role(id); r != nil {
			p |= r.Permissions
		}
	}
	if p&administrator != 0 {
		return everyPermission
	}
	return p
}

// permissions are those of a user in a channel, a thread's those in its channel
// (Discord's documentation, Permissions).
func (s *Discord) permissions(c *channel, user string) int64 {
	if c.Type == DM {
		return directMay
	}
	g := s.guild(c.Guild)
	m := g.member(user)
	if m == nil {
		return 0
	}
	p := g.base(m)
	if p == everyPermission {
		return p
	}
	in := c
	if c.thread != nil {
		if in = s.byID[c.Parent]; in == nil {
			return 0
		}
	}
	p = in.overwritten(p, g.ID, m)
	if m.silenced(s) {
		p &= viewChannel | readHistory
	}
	if p&viewChannel == 0 {
		return 0 // who does not see a channel can do nothing in it
	}
	return p
}

// overwritten are permissions after a channel's overwrites: of @everyone, then of the
// member's roles together, then of the member.
func (c *channel) overwritten(p int64, everyone string, m *Member) int64 {
	var allow, deny, ownAllow, ownDeny int64
	for _, o := range c.overwrites {
		switch {
		case o.id == everyone:
			p = p&^o.deny | o.allow
		case o.kind == forMember && o.id == m.User:
			ownAllow, ownDeny = o.allow, o.deny
		case o.kind == forRole && slices.Contains(m.Roles, o.id):
			allow, deny = allow|o.allow, deny|o.deny
		}
	}
	p = p&^deny | allow
	return p&^ownDeny | ownAllow
}

// silenced reports whether a member is timed out.
func (m *Member) silenced(s *Discord) bool { return s.o.Now().Before(m.Timeout) }

// may refuses a call that needs permissions in a channel which the bot does not have.
func (s *Discord) may(c *channel, need int64) error {
	if s.permissions(c, s.o.App.UserID)&need != need {
		return errPermissions
	}
	return nil
}

// mayIn refuses a call that needs permissions in a guild which the bot does not have.
func (s *Discord) mayIn(g *guild, need int64) error {
	if m := g.member(s.o.App.UserID); m == nil || g.base(m)&need != need {
		return errPermissions
	}
	return nil
}

// sees reports whether a user sees a channel. A private thread is seen by who is in
// it, and by who may manage threads.
func (s *Discord) sees(c *channel, user string) bool {
	if c.Type == DM {
		return user == s.o.App.UserID || slices.Contains(c.people, user)
	}
	p := s.permissions(c, user)
	if c.Type == PrivateThread && !c.thread.has(user) && p&manageThreads == 0 {
		return false
	}
	return p&viewChannel != 0
}

// outranks reports whether a member's highest role is above a role. Of two in one
// position the older is higher (Discord's documentation, Permission Hierarchy).
func (g *guild) outranks(m *Member, r *Role) bool {
	top := g.top(m)
	return top != nil && compareRoles(top, r) > 0
}

// top is a member's highest role; nil where there is none but @everyone.
func (g *guild) top(m *Member) (top *Role) {
	for _, id := range m.Roles {
		if r := g.role(id); r != nil && (top == nil || compareRoles(r, top) > 0) {
			top = r
		}
	}
	return top
}

func compareRoles(a, b *Role) int {
	return cmp.Or(cmp.Compare(a.Position, b.Position), compareIDs(b.ID, a.ID))
}

// mayManage refuses what the bot does to a member who stands as high as itself, or
// owns the guild.
func (s *Discord) mayManage(g *guild, m *Member) error {
	if m.User == s.o.App.UserID {
		return nil
	}
	if top := g.top(m); m.User == s.owner(g) || top != nil && !g.outranks(g.member(s.o.App.UserID), top) {
		return errPermissions
	}
	return nil
}

// overwriteOf is a channel's overwrite of a role or a member, which is made where there
// is none.
func (c *channel) overwriteOf(id string, kind int) *overwrite {
	i := slices.IndexFunc(c.overwrites, func(o overwrite) bool { return o.id == id })
	if i < 0 {
		c.overwrites = append(c.overwrites, overwrite{id: id, kind: kind})
		i = len(c.overwrites) - 1
	}
	return &c.overwrites[i]
}

// close hides a channel from all but some.
func (c *channel) close(g *guild, some ...string) {
	c.overwriteOf(g.ID, forRole).deny |= viewChannel
	for _, id := range some {
		kind := forMember
		if g.role(id) != nil {
			kind = forRole
		}
		c.overwriteOf(id, kind).allow |= viewChannel
	}
}

// private reports whether @everyone does not see a channel.
func (c *channel) private() bool {
	return slices.ContainsFunc(c.overwrites, func(o overwrite) bool { return o.id == c.Guild && o.deny&viewChannel != 0 })
}

// silence says whether @everyone may post in a channel, and in its threads.
func (c *channel) silence(on bool) {
	o := c.overwriteOf(c.Guild, forRole)
	if on {
		o.deny |= sendMessages | sendInThreads
	} else {
		o.deny &^= sendMessages | sendInThreads
	}
	c.overwrites = slices.DeleteFunc(c.overwrites, func(o overwrite) bool { return o.allow == 0 && o.deny == 0 && o.id == c.Guild })
}

// overwritesJSON are a channel's overwrites as Discord writes them.
func (c *channel) overwritesJSON() []any {
	list := []any{}
	for _, o := range c.overwrites {
		list = append(list, object{"id": o.id, "type": o.kind, "allow": fmtInt(o.allow), "deny": fmtInt(o.deny)})
	}
	return list
}
