package discord

import (
	"encoding/json"
	"slices"

	"github.com/disgoorg/disgo/discord"

	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// bits are permissions as Discord writes them: a number in a string.
type bits int64

func (b *bits) UnmarshalJSON(raw []byte) error {
	var p discord.Permissions
	err := json.Unmarshal(raw, &p)
	*b = bits(p)
	return err
}

// An overwrite changes what a role or a member may do in one channel.
type overwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"` // 0 a role's, 1 a member's
	Allow bits   `json:"allow"`
	Deny  bits   `json:"deny"`
}

// A member is what a guild grants to somebody.
type member struct {
	id       string
	owner    bool // of the guild
	timedOut bool
	roles    []string // besides @everyone
}

// timedOutMay is what is left to a member who is timed out (Discord's documentation,
// Permissions for Timed Out Members).
const timedOutMay = discord.PermissionViewChannel | discord.PermissionReadMessageHistory

// permitted computes what a member may do in a channel of a guild, as Discord does
// (Permissions, Permission Overwrites): the roles' permissions, then the channel's
// overwrites of @everyone, of all roles together, and of the member. The owner and who has
// Administrator may do everything. Nobody can do anything in a channel that they do not
// see. The overwrites of a thread are its parent's.
func permitted(guild string, roles map[string]discord.Permissions, who member, over []overwrite) discord.Permissions {
	has := roles[guild] // the role of everybody has the guild's id
	for _, id := range who.roles {
		has |= roles[id]
	}
	if who.owner || has.Has(discord.PermissionAdministrator) {
		return discord.PermissionsAll
	}
	var allow, deny, allowSelf, denySelf discord.Permissions
	for _, o := range over {
		a, d := discord.Permissions(o.Allow), discord.Permissions(o.Deny)
		switch {
		case o.Type == 0 && o.ID == guild:
			has = has&^d | a
		case o.Type == 0 && slices.Contains(who.roles, o.ID):
			allow, deny = allow|a, deny|d
		case o.Type == 1 && o.ID == who.id:
			allowSelf, denySelf = a, d
		}
	}
	has = has&^deny | allow
	has = has&^denySelf | allowSelf
	if who.timedOut {
		has &= timedOutMay
	}
	if !has.Has(discord.PermissionViewChannel) {
		return 0
	}
	return has
}

// watched are the permissions of which the bot says that it has lost them.
const watched = permissions

// A channelRights is what a channel changes of what a guild grants.
type channelRights struct {
	over []overwrite
	has  discord.Permissions // computed last
	lost discord.Permissions // of watched: it had them and does not any more
}

// rights are what the bot may do in the channels of a guild.
type rights struct {
	self     member
	channels map[string]*channelRights // those of a guild, without threads
}

// readOverwrites reads the overwrites of a channel object; ok is false for a thread, which has
// none, and for a category, whose channels have copies of its own.
func readOverwrites(raw []byte) (id string, over []overwrite, ok bool) {
	var c struct {
		ID   string            `json:"id"`
		Type int               `json:"type"`
		Over []json.RawMessage `json:"permission_overwrites"`
	}
	if json.Unmarshal(raw, &c) != nil || c.ID == "" || c.Type == guildCategory || (discordmsg.Channel{Type: c.Type}).Thread() {
		return "", nil, false
	}
	for _, raw := range c.Over {
		var o overwrite
		if json.Unmarshal(raw, &o) == nil {
			over = append(over, o)
		}
	}
	return c.ID, over, true
}
