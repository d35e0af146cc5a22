package discord

import (
	"net/http"
	"slices"
	"strings"
)

// operations are the API as far as it is here. More specific paths win over others.
var operations []route

func init() { //nolint:gochecknoinits // the list's functions use the list
	operations = []route{
		{op: "get_gateway", method: "GET", path: "/gateway", open: true, run: (*Discord).getGateway},
		{op: "get_bot_gateway", method: "GET", path: "/gateway/bot", run: (*Discord).getBotGateway},
		{op: "get_my_user", method: "GET", path: "/users/@me", run: (*Discord).getMyUser},
		{op: "get_user", method: "GET", path: "/users/{user}", run: (*Discord).getUser},
		{op: "list_my_guilds", method: "GET", path: "/users/@me/guilds", run: (*Discord).listMyGuilds},
		{op: "leave_guild", method: "DELETE", path: "/users/@me/guilds/{guild}", run: onFound((*Discord).ownGuild, (*Discord).leaveGuild)},
		{op: "create_dm", method: "POST", path: "/users/@me/channels", run: (*Discord).createDM},
		{op: "get_my_application", method: "GET", path: "/applications/@me", run: (*Discord).getApplication},
		{op: "get_my_oauth2_application", method: "GET", path: "/oauth2/applications/@me", run: (*Discord).getApplication},
		{op: "list_application_commands", method: "GET", path: "/applications/{application}/commands", run: onFound((*Discord).ownApplication, (*Discord).listCommands)},
		{op: "create_application_command", method: "POST", path: "/applications/{application}/commands", run: onFound((*Discord).ownApplication, (*Discord).createCommand)},
		{op: "bulk_set_application_commands", method: "PUT", path: "/applications/{application}/commands", run: onFound((*Discord).ownApplication, (*Discord).setCommands)},
		{op: "get_application_command", method: "GET", path: "/applications/{application}/commands/{command}", run: onFound((*Discord).ownCommand, (*Discord).getCommand)},
		{op: "update_application_command", method: "PATCH", path: "/applications/{application}/commands/{command}", run: onFound((*Discord).ownCommand, (*Discord).updateCommand)},
		{op: "delete_application_command", method: "DELETE", path: "/applications/{application}/commands/{command}", run: onFound((*Discord).ownCommand, (*Discord).deleteCommand)},

		{op: "get_guild", method: "GET", path: "/guilds/{guild}", run: onFound((*Discord).ownGuild, (*Discord).getGuild)},
		{op: "list_guild_channels", method: "GET", path: "/guilds/{guild}/channels", run: onFound((*Discord).ownGuild, (*Discord).listGuildChannels)},
		{op: "list_guild_roles", method: "GET", path: "/guilds/{guild}/roles", run: onFound((*Discord).ownGuild, (*Discord).listGuildRoles)},
		{op: "list_guild_members", method: "GET", path: "/guilds/{guild}/members", run: onFound((*Discord).ownGuild, (*Discord).listGuildMembers)},
		{op: "get_guild_member", method: "GET", path: "/guilds/{guild}/members/{user}", run: onFound((*Discord).ownGuild, (*Discord).getGuildMember)},
		{op: "get_active_guild_threads", method: "GET", path: "/guilds/{guild}/threads/active", run: onFound((*Discord).ownGuild, (*Discord).activeThreads)},

		{op: "get_channel", method: "GET", path: "/channels/{channel}", run: onFound((*Discord).visible, (*Discord).getChannel)},
		{op: "update_channel", method: "PATCH", path: "/channels/{channel}", run: onFound((*Discord).visible, (*Discord).updateChannel)},
		{op: "delete_channel", method: "DELETE", path: "/channels/{channel}", run: onFound((*Discord).visible, (*Discord).deleteChannel)},
		{op: "trigger_typing_indicator", method: "POST", path: "/channels/{channel}/typing", run: onFound((*Discord).visible, (*Discord).typing)},
		{op: "list_messages", method: "GET", path: "/channels/{channel}/messages", run: onFound((*Discord).visible, (*Discord).listMessages)},
		{op: "get_message", method: "GET", path: "/channels/{channel}/messages/{message}", run: onMessage((*Discord).getMessage)},
		{op: "create_message", method: "POST", path: "/channels/{channel}/messages", run: onFound((*Discord).visible, (*Discord).createMessage)},
		{op: "update_message", method: "PATCH", path: "/channels/{channel}/messages/{message}", run: onMessage((*Discord).updateMessage)},
		{op: "delete_message", method: "DELETE", path: "/channels/{channel}/messages/{message}", run: onMessage((*Discord).deleteMessage)},
		{op: "bulk_delete_messages", method: "POST", path: "/channels/{channel}/messages/bulk-delete", run: onFound((*Discord).visible, (*Discord).bulkDelete)},

		{op: "add_my_message_reaction", method: "PUT", path: "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", run: (*Discord).addReaction},
		{op: "delete_my_message_reaction", method: "DELETE", path: "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", run: (*Discord).deleteReaction},
		{op: "delete_user_message_reaction", method: "DELETE", path: "/channels/{channel}/messages/{message}/reactions/{emoji}/{user}", run: (*Discord).deleteReaction},
		{op: "list_message_reactions_by_emoji", method: "GET", path: "/channels/{channel}/messages/{message}/reactions/{emoji}", run: (*Discord).listReactions},
		{op: "delete_all_message_reactions_by_emoji", method: "DELETE", path: "/channels/{channel}/messages/{message}/reactions/{emoji}", run: onMessage((*Discord).clearReactions)},
		{op: "delete_all_message_reactions", method: "DELETE", path: "/channels/{channel}/messages/{message}/reactions", run: onMessage((*Discord).clearReactions)},

		{op: "create_thread_from_message", method: "POST", path: "/channels/{channel}/messages/{message}/threads", run: onMessage((*Discord).createThreadFrom)},
		{op: "create_thread", method: "POST", path: "/channels/{channel}/threads", run: onFound((*Discord).visible, (*Discord).createThread)},
		{op: "list_thread_members", method: "GET", path: "/channels/{channel}/thread-members", run: onFound((*Discord).ownThread, (*Discord).listThreadMembers)},
		{op: "get_thread_member", method: "GET", path: "/channels/{channel}/thread-members/{user}", run: onFound((*Discord).ownThread, (*Discord).getThreadMember)},
		{op: "join_thread", method: "PUT", path: "/channels/{channel}/thread-members/@me", run: onFound((*Discord).ownThread, (*Discord).joinThread)},
		{op: "leave_thread", method: "DELETE", path: "/channels/{channel}/thread-members/@me", run: onFound((*Discord).ownThread, (*Discord).leaveThread)},
		{op: "add_thread_member", method: "PUT", path: "/channels/{channel}/thread-members/{user}", run: onFound((*Discord).ownThread, (*Discord).joinThread)},
		{op: "delete_thread_member", method: "DELETE", path: "/channels/{channel}/thread-members/{user}", run: onFound((*Discord).ownThread, (*Discord).leaveThread)},
		{op: "list_public_archived_threads", method: "GET", path: "/channels/{channel}/threads/archived/public", run: onFound((*Discord).visible, (*Discord).archivedThreads)},
		{op: "list_private_archived_threads", method: "GET", path: "/channels/{channel}/threads/archived/private", run: onFound((*Discord).visible, (*Discord).archivedThreads)},
		{op: "list_my_private_archived_threads", method: "GET", path: "/channels/{channel}/users/@me/threads/archived/private", run: onFound((*Discord).visible, (*Discord).archivedThreads)},

		{op: "list_channel_webhooks", method: "GET", path: "/channels/{channel}/webhooks", run: onFound((*Discord).visible, (*Discord).listWebhooks)},
		{op: "create_webhook", method: "POST", path: "/channels/{channel}/webhooks", run: onFound((*Discord).visible, (*Discord).createWebhook)},
		{op: "get_webhook", method: "GET", path: "/webhooks/{webhook}", run: (*Discord).getWebhook},
		{op: "create_interaction_response", method: "POST", path: "/interactions/{interaction}/{token}/callback", open: true, run: (*Discord).answerInteraction},
		{op: "execute_webhook", method: "POST", path: "/webhooks/{webhook}/{token}", open: true, run: (*Discord).executeWebhook},
	}
}

func (s *Discord) getGateway(*request) (int, any, error) {
	return 0, object{"url": s.GatewayURL()}, nil
}

func (s *Discord) getBotGateway(*request) (int, any, error) {
	return 0, object{"url": s.GatewayURL(), "shards": s.o.Shards, "session_start_limit": object{
		"total": 1000, "remaining": max(1000-s.identifies, 0), "reset_after": 14400000, "max_concurrency": 1,
	}}, nil
}

func (s *Discord) getMyUser(*request) (int, any, error) {
	o := s.userJSON(s.o.App.UserID)
	o["verified"], o["mfa_enabled"], o["email"], o["flags"], o["locale"] = true, true, nil, 0, "en-US"
	return 0, o, nil
}

func (s *Discord) getUser(r *request) (int, any, error) {
	if s.user(r.params["user"]) == nil {
		return 0, nil, errUnknownUser
	}
	return 0, s.userJSON(r.params["user"]), nil
}

func (s *Discord) listMyGuilds(*request) (int, any, error) {
	list := []any{}
	for _, g := range s.guilds {
		if m := g.member(s.o.App.UserID); m != nil {
			list = append(list, object{
				"id": g.ID, "name": g.Name, "icon": nil, "banner": nil, "owner": false, "permissions": fmtInt(g.base(m)), "features": []any{},
			})
		}
	}
	return 0, list, nil
}

// base are a member's permissions in the whole guild.
func (g *guild) base(m *Member) int64 {
	p := g.roles[0].Permissions
	for _, id := range m.Roles {
		if r := g.role(id); r != nil {
			p |= r.Permissions
		}
	}
	return p
}

func (s *Discord) leaveGuild(_ *request, g *guild) (int, any, error) {
	s.removeBot(g)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) createDM(r *request) (int, any, error) {
	id, _ := r.text("recipient_id")
	if s.user(id) == nil || id == s.o.App.UserID {
		return 0, nil, &apiError{status: 400, code: 50033, message: "Invalid Recipient(s)"}
	}
	return 0, s.channelJSON(s.openDM(id)), nil
}

func (s *Discord) getApplication(*request) (int, any, error) {
	var endpoint any
	if at := s.o.App.InteractionsURL; at != "" {
		endpoint = at
	}
	return 0, object{
		"id": s.o.App.ID, "name": s.o.App.Name, "icon": nil, "description": "", "summary": "", "type": nil, "bot_public": true,
		"bot_require_code_grant": false, "verify_key": strings.Repeat("0", 64), "flags": s.appFlags(), "hook": true, "redirect_uris": []any{},
		"bot": s.userJSON(s.o.App.UserID), "owner": object{"id": "1100000000000000003", "username": "owner", "discriminator": "0", "avatar": nil, "public_flags": 0, "flags": 0, "global_name": nil, "primary_guild": nil},
		"team": nil, "approximate_guild_count": len(s.guilds), "interactions_endpoint_url": endpoint, "role_connections_verification_url": nil,
		"event_webhooks_url": nil, "event_webhooks_status": 1, "integration_types_config": object{"0": object{}}, "is_monetized": false,
		"flags_new": fmtInt(int64(s.appFlags())), "approximate_user_install_count": 0, "approximate_user_authorization_count": 0,
		"explicit_content_filter": 0, "eligible_oauth2_scopes": []any{},
	}, nil
}

// ownGuild is the guild of a call, which the bot must be in.
func (s *Discord) ownGuild(r *request) (*guild, error) {
	g := s.guild(r.params["guild"])
	if g == nil || g.member(s.o.App.UserID) == nil {
		return nil, errUnknownGuild
	}
	return g, nil
}

func (s *Discord) getGuild(r *request, g *guild) (int, any, error) {
	o := s.guildJSON(g)
	if r.query.Get("with_counts") == "true" {
		o["approximate_member_count"], o["approximate_presence_count"] = len(g.members), 1
	}
	return 0, o, nil
}

func (s *Discord) listGuildChannels(_ *request, g *guild) (int, any, error) {
	list := []any{}
	for _, c := range s.channels {
		if c.Guild == g.ID && c.thread == nil && s.sees(c, s.o.App.UserID) {
			list = append(list, s.channelJSON(c))
		}
	}
	return 0, list, nil
}

func (s *Discord) listGuildRoles(_ *request, g *guild) (int, any, error) {
	return 0, s.guildJSON(g)["roles"], nil
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

func (s *Discord) getGuildMember(r *request, g *guild) (int, any, error) {
	m := g.member(r.params["user"])
	if m == nil {
		if s.user(r.params["user"]) == nil {
			return 0, nil, errUnknownUser
		}
		return 0, nil, errUnknownMember
	}
	return 0, s.fullMember(m), nil
}

// visible is the channel of a call. Discord tells those who do not see a channel that
// they lack access to it.
func (s *Discord) visible(r *request) (*channel, error) {
	c := s.byID[r.params["channel"]]
	if c == nil {
		return nil, errUnknownChannel
	}
	if !s.sees(c, s.o.App.UserID) {
		return nil, errAccess
	}
	return c, nil
}

func (s *Discord) getChannel(_ *request, c *channel) (int, any, error) {
	return 0, s.channelJSON(c), nil
}

// updateChannel renames a channel, or archives and renames a thread.
func (s *Discord) updateChannel(r *request, c *channel) (int, any, error) {
	if c.thread == nil && s.permissions(c, s.o.App.UserID)&(1<<4) == 0 || c.Type == DM {
		return 0, nil, errPermissions
	}
	if name, ok := r.text("name"); ok && name != "" {
		c.Name = name
	}
	if v, ok := r.body["archived"].(bool); ok && c.thread != nil {
		c.thread.archived, c.thread.archiving = v, s.o.Now()
	}
	s.tellChannel("UPDATE", c)
	return 0, s.channelJSON(c), nil
}

func (s *Discord) deleteChannel(_ *request, c *channel) (int, any, error) {
	if s.permissions(c, s.o.App.UserID)&(1<<4) == 0 || c.Type == DM {
		return 0, nil, errPermissions
	}
	o := s.channelJSON(c)
	s.dropChannel(c)
	return 0, o, nil
}

func (s *Discord) typing(_ *request, c *channel) (int, any, error) {
	if !s.maySend(c) {
		return 0, nil, errPermissions
	}
	return http.StatusNoContent, nil, nil
}

// maySend reports whether the bot may post: in a thread by a permission of its own.
func (s *Discord) maySend(c *channel) bool {
	need := int64(sendMessages)
	if c.thread != nil {
		need = sendInThreads
	}
	return s.permissions(c, s.o.App.UserID)&need != 0
}

func (s *Discord) listWebhooks(_ *request, c *channel) (int, any, error) {
	if s.permissions(c, s.o.App.UserID)&manageWebhooks == 0 {
		return 0, nil, errPermissions
	}
	list := []any{}
	for _, w := range s.webhooks {
		if w.Channel == c.ID {
			list = append(list, s.webhookJSON(w))
		}
	}
	return 0, list, nil
}

func (s *Discord) createWebhook(r *request, c *channel) (int, any, error) {
	if s.permissions(c, s.o.App.UserID)&manageWebhooks == 0 {
		return 0, nil, errPermissions
	}
	name, _ := r.text("name")
	w, err := s.addWebhook(c.ID, name)
	if err != nil {
		return 0, nil, err
	}
	return 0, s.webhookJSON(w), nil
}

func (s *Discord) getWebhook(r *request) (int, any, error) {
	w := s.webhook(r.params["webhook"])
	if w == nil {
		return 0, nil, errUnknownWebhook
	}
	return 0, s.webhookJSON(w), nil
}

func (s *Discord) webhookJSON(w *Webhook) object {
	return object{
		"id": w.ID, "type": 1, "name": w.Name, "avatar": nil, "channel_id": w.Channel, "guild_id": s.byID[w.Channel].Guild,
		"application_id": nil, "token": w.Token, "url": s.APIURL() + "/webhooks/" + w.ID + "/" + w.Token,
	}
}

// executeWebhook posts under a webhook. The answer is the message where the caller
// waits for it. The application's id stands for the webhook of an interaction.
func (s *Discord) executeWebhook(r *request) (int, any, error) {
	if r.params["webhook"] == s.o.App.ID {
		return s.followUp(r)
	}
	w := s.webhook(r.params["webhook"])
	if w == nil {
		return 0, nil, errUnknownWebhook
	}
	if w.Token != r.params["token"] {
		return 0, nil, &apiError{status: 401, code: 50027, message: "Invalid Webhook Token"}
	}
	c := s.byID[w.Channel]
	if id := r.query.Get("thread_id"); id != "" {
		if c = s.byID[id]; c == nil || c.Parent != w.Channel {
			return 0, nil, errUnknownChannel
		}
	}
	m := &message{channel: c.ID, author: w.ID, webhook: w.ID, name: w.Name}
	if name, _ := r.text("username"); name != "" {
		m.name = name
	}
	if err := s.fill(c, m, r); err != nil {
		return 0, nil, err
	}
	s.post(c, m)
	if r.query.Get("wait") != "true" {
		return http.StatusNoContent, nil, nil
	}
	return 0, s.messageJSON(m, view{content: true}), nil
}
