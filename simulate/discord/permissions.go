package discord

import (
	"fmt"
	"slices"
)

// Permissions that count here, by Discord's names.
const (
	addReactions     = 1 << 6
	administrator    = 1 << 3
	viewChannel      = 1 << 10
	sendMessages     = 1 << 11
	manageMessages   = 1 << 13
	embedLinks       = 1 << 14
	attachFiles      = 1 << 15
	readHistory      = 1 << 16
	mentionEveryone  = 1 << 17
	manageWebhooks   = 1 << 29
	manageThreads    = 1 << 34
	createThreads    = 1 << 35
	createPrivate    = 1 << 36
	sendInThreads    = 1 << 38
	everyoneMayBasic = viewChannel | sendMessages | embedLinks | attachFiles | readHistory | addReactions | createThreads | createPrivate | sendInThreads | 1<<18 | 1<<26
)

// permissions are those of a user in a channel (Discord's documentation,
// Permissions).
func (s *Discord) permissions(c *channel, user string) int64 {
	if c.Type == DM {
		return everyoneMayBasic
	}
	g := s.guild(c.Guild)
	m := g.member(user)
	if m == nil {
		return 0
	}
	p := g.roles[0].Permissions
	for _, id := range m.Roles {
		if r := g.role(id); r != nil {
			p |= r.Permissions
		}
	}
	if p&administrator != 0 {
		return -1
	}
	in := c
	if c.thread != nil {
		in = s.byID[c.Parent]
		if in == nil {
			return 0
		}
	}
	if in.ReadOnly {
		p &^= sendMessages | sendInThreads
	}
	if in.Private {
		p &^= viewChannel
		if slices.ContainsFunc(in.Members, func(id string) bool { return id == user || slices.Contains(m.Roles, id) }) {
			p |= viewChannel
		}
	}
	if p&viewChannel == 0 {
		return 0 // who does not see a channel can do nothing in it
	}
	return p
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

// overwrites are what makes a channel private or read-only, as Discord writes it.
func (s *Discord) overwrites(c *channel) []any {
	list := []any{}
	var deny int64
	if c.Private {
		deny |= viewChannel
	}
	if c.ReadOnly {
		deny |= sendMessages | sendInThreads
	}
	if deny != 0 {
		list = append(list, object{"id": c.Guild, "type": 0, "allow": "0", "deny": fmt.Sprint(deny)})
	}
	if c.Private {
		for _, id := range c.Members {
			kind := 1
			if s.guild(c.Guild).role(id) != nil {
				kind = 0
			}
			list = append(list, object{"id": id, "type": kind, "allow": fmt.Sprint(viewChannel), "deny": "0"})
		}
	}
	return list
}
