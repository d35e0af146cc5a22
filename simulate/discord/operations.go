package discord

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// operations are the API as far as it is here.
var operations []route

func init() { //nolint:gochecknoinits // the list's functions use the list
	operations = []route{
		{op: "get_gateway", method: "GET", path: "/gateway", open: true, run: (*Discord).getGateway},
		{op: "get_bot_gateway", method: "GET", path: "/gateway/bot", run: (*Discord).getBotGateway},
		{op: "get_my_user", method: "GET", path: "/users/@me", run: (*Discord).getMyUser},
		{op: "update_my_user", method: "PATCH", path: "/users/@me", run: (*Discord).updateMyUser},
		{op: "get_user", method: "GET", path: "/users/{user}", run: (*Discord).getUser},
		{op: "list_my_guilds", method: "GET", path: "/users/@me/guilds", run: (*Discord).listMyGuilds},
		{op: "get_my_guild_member", method: "GET", path: "/users/@me/guilds/{guild}/member", run: onFound((*Discord).ownGuild, (*Discord).getMyMember)},
		{op: "leave_guild", method: "DELETE", path: "/users/@me/guilds/{guild}", run: onFound((*Discord).ownGuild, (*Discord).leaveGuild)},
		{op: "create_dm", method: "POST", path: "/users/@me/channels", run: (*Discord).createDM},
		{op: "get_sticker", method: "GET", path: "/stickers/{sticker}", run: (*Discord).getSticker},
		{op: "list_sticker_packs", method: "GET", path: "/sticker-packs", run: (*Discord).listPacks},
		{op: "list_voice_regions", method: "GET", path: "/voice/regions", run: (*Discord).listRegions},
		{op: "invite_resolve", method: "GET", path: "/invites/{code}", open: true, run: (*Discord).getInvite},
		{op: "invite_revoke", method: "DELETE", path: "/invites/{code}", run: (*Discord).deleteInvite},
		{op: "get_my_application", method: "GET", path: "/applications/@me", run: (*Discord).getApplication},
		{op: "get_my_oauth2_application", method: "GET", path: "/oauth2/applications/@me", run: (*Discord).getApplication},
		{op: "list_application_commands", method: "GET", path: "/applications/{application}/commands", run: onFound((*Discord).ownCommands, (*Discord).listCommands)},
		{op: "create_application_command", method: "POST", path: "/applications/{application}/commands", run: onFound((*Discord).ownCommands, (*Discord).createCommand)},
		{op: "bulk_set_application_commands", method: "PUT", path: "/applications/{application}/commands", run: onFound((*Discord).ownCommands, (*Discord).setCommands)},
		{op: "get_application_command", method: "GET", path: "/applications/{application}/commands/{command}", run: onCommand((*Discord).getCommand)},
		{op: "update_application_command", method: "PATCH", path: "/applications/{application}/commands/{command}", run: onCommand((*Discord).updateCommand)},
		{op: "delete_application_command", method: "DELETE", path: "/applications/{application}/commands/{command}", run: onCommand((*Discord).deleteCommand)},
		{op: "list_guild_application_commands", method: "GET", path: "/applications/{application}/guilds/{guild}/commands", run: onFound((*Discord).ownCommands, (*Discord).listCommands)},
		{op: "create_guild_application_command", method: "POST", path: "/applications/{application}/guilds/{guild}/commands", run: onFound((*Discord).ownCommands, (*Discord).createCommand)},
		{op: "bulk_set_guild_application_commands", method: "PUT", path: "/applications/{application}/guilds/{guild}/commands", run: onFound((*Discord).ownCommands, (*Discord).setCommands)},
		{op: "get_guild_application_command", method: "GET", path: "/applications/{application}/guilds/{guild}/commands/{command}", run: onCommand((*Discord).getCommand)},
		{op: "update_guild_application_command", method: "PATCH", path: "/applications/{application}/guilds/{guild}/commands/{command}", run: onCommand((*Discord).updateCommand)},
		{op: "delete_guild_application_command", method: "DELETE", path: "/applications/{application}/guilds/{guild}/commands/{command}", run: onCommand((*Discord).deleteCommand)},
		{op: "list_application_emojis", method: "GET", path: "/applications/{application}/emojis", run: onFound((*Discord).ownApplication, (*Discord).listAppEmojis)},
		{op: "create_application_emoji", method: "POST", path: "/applications/{application}/emojis", run: onFound((*Discord).ownApplication, (*Discord).createAppEmoji)},
		{op: "get_application_emoji", method: "GET", path: "/applications/{application}/emojis/{emoji}", run: onFound((*Discord).ownApplication, (*Discord).getAppEmoji)},
		{op: "update_application_emoji", method: "PATCH", path: "/applications/{application}/emojis/{emoji}", run: onFound((*Discord).ownApplication, (*Discord).updateAppEmoji)},
		{op: "delete_application_emoji", method: "DELETE", path: "/applications/{application}/emojis/{emoji}", run: onFound((*Discord).ownApplication, (*Discord).deleteAppEmoji)},

		{op: "get_guild", method: "GET", path: "/guilds/{guild}", run: onFound((*Discord).ownGuild, (*Discord).getGuild)},
		{op: "list_guild_channels", method: "GET", path: "/guilds/{guild}/channels", run: onFound((*Discord).ownGuild, (*Discord).listGuildChannels)},
		{op: "list_guild_roles", method: "GET", path: "/guilds/{guild}/roles", run: onFound((*Discord).ownGuild, (*Discord).listGuildRoles)},
		{op: "list_guild_members", method: "GET", path: "/guilds/{guild}/members", run: onFound((*Discord).ownGuild, (*Discord).listGuildMembers)},
		{op: "update_guild", method: "PATCH", path: "/guilds/{guild}", run: onFound((*Discord).ownGuild, (*Discord).updateGuild)},
		{op: "get_guild_preview", method: "GET", path: "/guilds/{guild}/preview", run: onFound((*Discord).ownGuild, (*Discord).getPreview)},
		{op: "list_guild_audit_log_entries", method: "GET", path: "/guilds/{guild}/audit-logs", run: onFound((*Discord).ownGuild, (*Discord).auditLog)},
		{op: "create_guild_channel", method: "POST", path: "/guilds/{guild}/channels", run: onFound((*Discord).ownGuild, (*Discord).createChannel)},
		{op: "bulk_update_guild_channels", method: "PATCH", path: "/guilds/{guild}/channels", run: onFound((*Discord).ownGuild, (*Discord).moveChannels)},
		{op: "create_guild_role", method: "POST", path: "/guilds/{guild}/roles", run: onFound((*Discord).ownGuild, (*Discord).createRole)},
		{op: "bulk_update_guild_roles", method: "PATCH", path: "/guilds/{guild}/roles", run: onFound((*Discord).ownGuild, (*Discord).moveRoles)},
		{op: "get_guild_role", method: "GET", path: "/guilds/{guild}/roles/{role}", run: onFound((*Discord).ownGuild, (*Discord).getRole)},
		{op: "update_guild_role", method: "PATCH", path: "/guilds/{guild}/roles/{role}", run: onFound((*Discord).ownGuild, (*Discord).updateRole)},
		{op: "delete_guild_role", method: "DELETE", path: "/guilds/{guild}/roles/{role}", run: onFound((*Discord).ownGuild, (*Discord).deleteRole)},
		{op: "guild_role_member_counts", method: "GET", path: "/guilds/{guild}/roles/member-counts", run: onFound((*Discord).ownGuild, (*Discord).roleMembers)},
		{op: "search_guild_members", method: "GET", path: "/guilds/{guild}/members/search", run: onFound((*Discord).ownGuild, (*Discord).searchMembers)},
		{op: "update_my_guild_member", method: "PATCH", path: "/guilds/{guild}/members/@me", run: onFound((*Discord).ownGuild, (*Discord).updateMyMember)},
		{op: "update_guild_member", method: "PATCH", path: "/guilds/{guild}/members/{user}", run: onFound((*Discord).ownGuild, (*Discord).updateMember)},
		{op: "delete_guild_member", method: "DELETE", path: "/guilds/{guild}/members/{user}", run: onFound((*Discord).ownGuild, (*Discord).kickMember)},
		{op: "add_guild_member_role", method: "PUT", path: "/guilds/{guild}/members/{user}/roles/{role}", run: onFound((*Discord).ownGuild, (*Discord).addMemberRole)},
		{op: "delete_guild_member_role", method: "DELETE", path: "/guilds/{guild}/members/{user}/roles/{role}", run: onFound((*Discord).ownGuild, (*Discord).removeMemberRole)},
		{op: "list_guild_bans", method: "GET", path: "/guilds/{guild}/bans", run: onFound((*Discord).ownGuild, (*Discord).listBans)},
		{op: "get_guild_ban", method: "GET", path: "/guilds/{guild}/bans/{user}", run: onFound((*Discord).ownGuild, (*Discord).getBan)},
		{op: "ban_user_from_guild", method: "PUT", path: "/guilds/{guild}/bans/{user}", run: onFound((*Discord).ownGuild, (*Discord).banUser)},
		{op: "unban_user_from_guild", method: "DELETE", path: "/guilds/{guild}/bans/{user}", run: onFound((*Discord).ownGuild, (*Discord).unbanUser)},
		{op: "list_guild_emojis", method: "GET", path: "/guilds/{guild}/emojis", run: onFound((*Discord).ownGuild, (*Discord).listEmojis)},
		{op: "create_guild_emoji", method: "POST", path: "/guilds/{guild}/emojis", run: onFound((*Discord).ownGuild, (*Discord).createEmoji)},
		{op: "get_guild_emoji", method: "GET", path: "/guilds/{guild}/emojis/{emoji}", run: onFound((*Discord).ownGuild, (*Discord).getEmoji)},
		{op: "update_guild_emoji", method: "PATCH", path: "/guilds/{guild}/emojis/{emoji}", run: onFound((*Discord).ownGuild, (*Discord).updateEmoji)},
		{op: "delete_guild_emoji", method: "DELETE", path: "/guilds/{guild}/emojis/{emoji}", run: onFound((*Discord).ownGuild, (*Discord).deleteEmoji)},
		{op: "list_guild_stickers", method: "GET", path: "/guilds/{guild}/stickers", run: onFound((*Discord).ownGuild, (*Discord).listStickers)},
		{op: "create_guild_sticker", method: "POST", path: "/guilds/{guild}/stickers", run: onFound((*Discord).ownGuild, (*Discord).createSticker)},
		{op: "get_guild_sticker", method: "GET", path: "/guilds/{guild}/stickers/{sticker}", run: onFound((*Discord).ownGuild, (*Discord).getGuildSticker)},
		{op: "update_guild_sticker", method: "PATCH", path: "/guilds/{guild}/stickers/{sticker}", run: onFound((*Discord).ownGuild, (*Discord).updateSticker)},
		{op: "delete_guild_sticker", method: "DELETE", path: "/guilds/{guild}/stickers/{sticker}", run: onFound((*Discord).ownGuild, (*Discord).deleteSticker)},
		{op: "list_guild_invites", method: "GET", path: "/guilds/{guild}/invites", run: onFound((*Discord).ownGuild, (*Discord).listGuildInvites)},
		{op: "get_guild_webhooks", method: "GET", path: "/guilds/{guild}/webhooks", run: onFound((*Discord).ownGuild, (*Discord).listGuildWebhooks)},
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

		{op: "list_pins", method: "GET", path: "/channels/{channel}/messages/pins", run: onFound((*Discord).visible, (*Discord).listPins)},
		{op: "create_pin", method: "PUT", path: "/channels/{channel}/messages/pins/{message}", run: onMessage((*Discord).createPin)},
		{op: "delete_pin", method: "DELETE", path: "/channels/{channel}/messages/pins/{message}", run: onMessage((*Discord).deletePin)},
		{op: "deprecated_list_pins", method: "GET", path: "/channels/{channel}/pins", run: onFound((*Discord).visible, (*Discord).oldPins)},
		{op: "deprecated_create_pin", method: "PUT", path: "/channels/{channel}/pins/{message}", run: onMessage((*Discord).createPin)},
		{op: "deprecated_delete_pin", method: "DELETE", path: "/channels/{channel}/pins/{message}", run: onMessage((*Discord).deletePin)},
		{op: "crosspost_message", method: "POST", path: "/channels/{channel}/messages/{message}/crosspost", run: onMessage((*Discord).crosspost)},
		{op: "follow_channel", method: "POST", path: "/channels/{channel}/followers", run: onFound((*Discord).visible, (*Discord).follow)},
		{op: "get_answer_voters", method: "GET", path: "/channels/{channel}/polls/{message}/answers/{answer}", run: onMessage((*Discord).answerVoters)},
		{op: "poll_expire", method: "POST", path: "/channels/{channel}/polls/{message}/expire", run: onMessage((*Discord).expirePoll)},
		{op: "set_channel_permission_overwrite", method: "PUT", path: "/channels/{channel}/permissions/{overwrite}", run: onFound((*Discord).ownOverwrite, (*Discord).putOverwrite)},
		{op: "delete_channel_permission_overwrite", method: "DELETE", path: "/channels/{channel}/permissions/{overwrite}", run: onFound((*Discord).ownOverwrite, (*Discord).deleteOverwrite)},
		{op: "list_channel_invites", method: "GET", path: "/channels/{channel}/invites", run: onFound((*Discord).visible, (*Discord).listChannelInvites)},
		{op: "create_channel_invite", method: "POST", path: "/channels/{channel}/invites", run: onFound((*Discord).visible, (*Discord).createInvite)},

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
		{op: "create_interaction_response", method: "POST", path: "/interactions/{interaction}/{token}/callback", open: true, run: (*Discord).answerInteraction},
		{op: "get_webhook", method: "GET", path: "/webhooks/{webhook}", run: onFound((*Discord).ownWebhook, (*Discord).getWebhook)},
		{op: "update_webhook", method: "PATCH", path: "/webhooks/{webhook}", run: onFound((*Discord).ownWebhook, (*Discord).updateWebhook)},
		{op: "delete_webhook", method: "DELETE", path: "/webhooks/{webhook}", run: onFound((*Discord).ownWebhook, (*Discord).deleteWebhook)},
		{op: "get_webhook_by_token", method: "GET", path: "/webhooks/{webhook}/{token}", open: true, run: onFound((*Discord).tokenWebhook, (*Discord).getWebhookByToken)},
		{op: "update_webhook_by_token", method: "PATCH", path: "/webhooks/{webhook}/{token}", open: true, run: onFound((*Discord).tokenWebhook, (*Discord).updateWebhookByToken)},
		{op: "delete_webhook_by_token", method: "DELETE", path: "/webhooks/{webhook}/{token}", open: true, run: onFound((*Discord).tokenWebhook, (*Discord).deleteWebhook)},
		{op: "execute_webhook", method: "POST", path: "/webhooks/{webhook}/{token}", open: true, run: (*Discord).executeWebhook},
		{op: "get_original_webhook_message", method: "GET", path: "/webhooks/{webhook}/{token}/messages/@original", open: true, run: webhookMessage((*Discord).getWebhookMessage, (*Discord).getPrivate)},
		{op: "update_original_webhook_message", method: "PATCH", path: "/webhooks/{webhook}/{token}/messages/@original", open: true, run: webhookMessage((*Discord).updateWebhookMessage, (*Discord).changePrivate)},
		{op: "delete_original_webhook_message", method: "DELETE", path: "/webhooks/{webhook}/{token}/messages/@original", open: true, run: webhookMessage((*Discord).deleteWebhookMessage, (*Discord).deletePrivate)},
		{op: "get_webhook_message", method: "GET", path: "/webhooks/{webhook}/{token}/messages/{message}", open: true, run: webhookMessage((*Discord).getWebhookMessage, (*Discord).getPrivate)},
		{op: "update_webhook_message", method: "PATCH", path: "/webhooks/{webhook}/{token}/messages/{message}", open: true, run: webhookMessage((*Discord).updateWebhookMessage, (*Discord).changePrivate)},
		{op: "delete_webhook_message", method: "DELETE", path: "/webhooks/{webhook}/{token}/messages/{message}", open: true, run: webhookMessage((*Discord).deleteWebhookMessage, (*Discord).deletePrivate)},
	}
	for i, r := range operations {
		operations[i].segments = strings.Split(strings.Trim(r.path, "/"), "/")
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

func (s *Discord) getMyUser(*request) (int, any, error) { return 0, s.ownJSON(), nil }

// ownJSON is the bot's user as it sees itself.
func (s *Discord) ownJSON() object {
	o := s.userJSON(s.o.App.UserID)
	o["verified"], o["mfa_enabled"], o["email"], o["flags"], o["locale"] = true, true, nil, 0, "en-US"
	return o
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

func (s *Discord) leaveGuild(_ *request, g *guild) (int, any, error) {
	s.removeBot(g)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) createDM(r *request) (int, any, error) {
	id := idOf(r.body["recipient_id"])
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

// updateMyUser renames the bot's user.
func (s *Discord) updateMyUser(r *request) (int, any, error) {
	if v, has := r.body["username"]; has {
		name := str(v)
		if n := utf8.RuneCountInString(name); n < 2 || n > 32 {
			return 0, nil, invalid("username", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 32 in length.")
		}
		s.user(s.o.App.UserID).Name = name
	}
	s.tell(event{kind: "USER_UPDATE", data: func(*session) any { return s.ownJSON() }})
	return s.getMyUser(r)
}

// listPacks answers that there are no stickers of Discord's own.
func (s *Discord) listPacks(*request) (int, any, error) {
	return 0, object{"sticker_packs": []any{}}, nil
}

func (s *Discord) listRegions(*request) (int, any, error) {
	return 0, []any{object{"id": "simulated", "name": "Simulated", "optimal": true, "deprecated": false, "custom": false}}, nil
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
	if r.asks("with_counts") {
		o["approximate_member_count"], o["approximate_presence_count"] = len(g.members), 1
	}
	return 0, o, nil
}

// updateGuild renames a guild, and keeps no other setting.
func (s *Discord) updateGuild(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageGuild); err != nil {
		return 0, nil, err
	}
	if v, has := r.body["name"]; has {
		name := str(v)
		if n := utf8.RuneCountInString(name); n < 2 || n > 100 {
			return 0, nil, invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 100 in length.")
		}
		g.Name = name
	}
	s.tell(event{kind: "GUILD_UPDATE", guild: g.ID, intents: guildsIntent, data: sameForAll(s.guildJSON(g))})
	s.audit(g, r, auditGuildUpdate, g.ID, nil)
	return 0, s.guildJSON(g), nil
}

func (s *Discord) getPreview(_ *request, g *guild) (int, any, error) {
	return 0, object{
		"id": g.ID, "name": g.Name, "icon": nil, "description": nil, "home_header": nil, "splash": nil, "discovery_splash": nil, "features": []any{},
		"approximate_member_count": len(g.members), "approximate_presence_count": 1, "emojis": s.emojisJSON(g), "stickers": s.stickersJSON(g),
	}, nil
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

func (s *Discord) typing(_ *request, c *channel) (int, any, error) {
	if !s.maySend(c) {
		return 0, nil, errPermissions
	}
	s.tellTyping(c, s.o.App.UserID)
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
