package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A checkedChannel is what a check reads of a channel.
type checkedChannel struct {
	ID         string `json:"id"`
	Type       int    `json:"type"`
	Guild      string `json:"guild_id"`
	Parent     string `json:"parent_id"`
	Name       string `json:"name"`
	Overwrites []struct {
		ID    string `json:"id"`
		Type  int    `json:"type"` // 0 a role's, 1 a member's
		Allow bits   `json:"allow"`
		Deny  bits   `json:"deny"`
	} `json:"permission_overwrites"`
}

// bits are permissions as Discord writes them: a number in a string.
type bits int64

func (b *bits) UnmarshalJSON(raw []byte) error {
	var p discord.Permissions
	err := json.Unmarshal(raw, &p)
	*b = bits(p)
	return err
}

func (x checkedChannel) isThread() bool {
	return discordmsg.Channel{Type: x.Type}.Thread()
}

// channel looks at what the bot may do in a channel, and posts there.
func (c *checking) channel(ctx context.Context, id string, h *hearing) {
	var x checkedChannel
	err := c.ask(ctx, &x, rest.GetChannel, nil, id)
	what := "channel " + id
	switch {
	case refusedThere(err):
		c.Say(what, check.Bad, err.Error(), "nothing is heard there", "copy the channel's id with Developer Mode on; in a private channel, add the bot or its role under Edit Channel, Permissions")
		return
	case err != nil:
		c.Say(what, check.Unknown, err.Error(), "", "")
		return
	}
	name := "#" + x.Name
	if x.Name == "" {
		name = id
	}
	c.Good(what, "it is "+name)
	c.permissions(ctx, x, name)
	switch x.Type {
	case discordmsg.GuildForum, discordmsg.GuildMedia:
		c.Say("posting in "+name, check.Unknown, "not tried, because a post of a forum cannot be removed again without a moderator's permission", "", "name a thread of it")
		return
	case 4: // a category
		c.Say("posting in "+name, check.Bad, "it is a category, in which nothing is said", "", "name a channel of it")
		return
	}
	c.post(ctx, x, name, h)
}

// A permissionNeed is a permission, and what it is for.
type permissionNeed struct {
	permission discord.Permissions
	name       string
	state      check.State // without it
	costs      string
}

// needs are what the bot has to be permitted in a channel.
func (c *checking) needs(x checkedChannel) []permissionNeed {
	list := []permissionNeed{
		{discord.PermissionViewChannel, "View Channel", check.Bad, "nothing is heard there"},
		{discord.PermissionReadMessageHistory, "Read Message History", check.Poor, "what was said before the bot listened is not known, and an answer cannot be a reply"},
	}
	if !x.isThread() {
		list = append(list, permissionNeed{discord.PermissionSendMessages, "Send Messages", check.Bad, "nothing can be answered there"})
	}
	list = append(list, permissionNeed{discord.PermissionSendMessagesInThreads, "Send Messages in Threads", check.Poor, "nothing can be answered in threads"})
	list = append(list, permissionNeed{discord.PermissionAddReactions, "Add Reactions", check.Poor, "who asked while the bot was away does not learn it"})
	list = append(list, permissionNeed{discord.PermissionAttachFiles, "Attach Files", check.Poor, "with answer.send_file no file can be sent"})
	if c.o.Thread == ThreadOnMention && !x.isThread() {
		list = append(list, permissionNeed{discord.PermissionCreatePublicThreads, "Create Public Threads", check.Poor, "with discord.thread: on_mention answers stay in the channel"})
	}
	return list
}

// permissions tells what the bot lacks in a channel.
func (c *checking) permissions(ctx context.Context, x checkedChannel, name string) {
	if x.Guild == "" {
		return // direct messages have none
	}
	has, err := c.permitted(ctx, x)
	if err != nil {
		c.Say("permissions in "+name, check.Unknown, err.Error(), "", "")
		return
	}
	lacks := false
	for _, n := range c.needs(x) {
		if !has.Has(n.permission) {
			lacks = true
			c.Say(n.name+" in "+name, n.state, "missing", n.costs, "give the bot's role "+n.name+" there, or invite the bot again by the invite link")
		}
	}
	if !lacks {
		c.Good("permissions in "+name, fmt.Sprintf("all %d are there", len(c.needs(x))))
	}
}

// permitted computes the bot's permissions in a channel, as Discord does (Permissions,
// Permission Overwrites). Those of a thread are its parent's.
func (c *checking) permitted(ctx context.Context, x checkedChannel) (discord.Permissions, error) {
	if x.isThread() {
		guild := x.Guild
		if err := c.ask(ctx, &x, rest.GetChannel, nil, x.Parent); err != nil {
			return 0, err
		}
		x.Guild = guild
	}
	var roles []struct {
		ID          string `json:"id"`
		Permissions bits   `json:"permissions"`
	}
	if err := c.ask(ctx, &roles, rest.GetRoles, nil, x.Guild); err != nil {
		return 0, err
	}
	self := string(c.user)
	var member struct {
		Roles []string `json:"roles"`
	}
	if err := c.ask(ctx, &member, rest.GetMember, nil, x.Guild, self); err != nil {
		return 0, err
	}
	var has bits
	for _, r := range roles {
		if r.ID == x.Guild || slices.Contains(member.Roles, r.ID) { // the guild's own is @everyone
			has |= r.Permissions
		}
	}
	if discord.Permissions(has).Has(discord.PermissionAdministrator) {
		return discord.PermissionsAll, nil
	}
	var allow, deny, allowSelf, denySelf bits
	for _, o := range x.Overwrites {
		switch {
		case o.Type == 0 && o.ID == x.Guild:
			has = has&^o.Deny | o.Allow
		case o.Type == 0 && slices.Contains(member.Roles, o.ID):
			allow, deny = allow|o.Allow, deny|o.Deny
		case o.Type == 1 && o.ID == self:
			allowSelf, denySelf = o.Allow, o.Deny
		}
	}
	has = has&^deny | allow
	return discord.Permissions(has&^denySelf | allowSelf), nil
}

// post posts in a channel, waits for the event, looks whether history shows the post,
// and removes it.
func (c *checking) post(ctx context.Context, x checkedChannel, name string, h *hearing) {
	body := newMessage{Content: check.Text, Flags: suppressEmbeds, Mentions: allowedMentions{Parse: []string{}}}
	raw, err := c.client.Call(ctx, rest.CreateMessage, []any{x.ID}, nil, body)
	what := "posting in " + name
	if refusedThere(err) {
		c.Say(what, check.Bad, err.Error(), "nothing can be answered there", "give the bot's role Send Messages there, in a thread Send Messages in Threads")
		return
	}
	var posted struct {
		ID string `json:"id"`
	}
	if err == nil && (json.Unmarshal(raw, &posted) != nil || posted.ID == "") {
		err = fmt.Errorf("%w with the id of the post", discordapi.ErrNotAnswered)
	}
	if err != nil {
		c.Say(what, check.Unknown, err.Error(), "a message of this check may stay there", "look, and remove it by hand")
		return
	}
	c.Good(what, "a message was posted")
	c.delivery(ctx, posted.ID, name, h)
	c.history(ctx, x.ID, name)
	if _, err := c.client.Call(ctx, rest.DeleteMessage, []any{x.ID, posted.ID}, nil, nil); err != nil {
		c.Say("removing in "+name, check.Poor, err.Error(), "the message of this check stays", "remove it by hand")
		return
	}
	c.Good("removing in "+name, "the message is gone again")
}

// delivery waits for the event of a post.
func (c *checking) delivery(ctx context.Context, id, name string, h *hearing) {
	what := "events of " + name
	if !h.up() {
		c.Say(what, check.Unknown, "there is no connection to the gateway", "", "")
		return
	}
	h.messages.Await(ctx, id, c.request.Patience, c.Report, check.Finding{
		What: what, Costs: "nothing is heard there",
		Remedy: "give the bot's role View Channel there; with several processes, see that discord.shards is the same for all",
	})
}

// history looks whether history shows a post. Without the permission Discord shows an
// empty channel, not an error (Get Channel Messages).
func (c *checking) history(ctx context.Context, channel, name string) {
	what := "history of " + name
	const costs, remedy = "what was said before the bot listened is not known", "give the bot's role Read Message History there"
	var list []struct {
		ID string `json:"id"`
	}
	err := c.ask(ctx, &list, rest.GetMessages, url.Values{"limit": {"10"}}, channel)
	switch {
	case refusedThere(err):
		c.Say(what, check.Poor, err.Error(), costs, remedy)
	case err != nil:
		c.Say(what, check.Unknown, err.Error(), "", "")
	case len(list) == 0:
		c.Say(what, check.Poor, "it is shown as empty", costs, remedy)
	default:
		c.Good(what, "it can be read")
	}
}
