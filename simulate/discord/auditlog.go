package discord

import "strconv"

// The actions of the audit log that are written down here (Discord's documentation,
// Audit Log Events).
const (
	auditGuildUpdate     = 1
	auditChannelCreate   = 10
	auditChannelUpdate   = 11
	auditChannelDelete   = 12
	auditOverwriteUpdate = 14
	auditOverwriteDelete = 15
	auditKick            = 20
	auditBan             = 22
	auditUnban           = 23
	auditMemberUpdate    = 24
	auditMemberRoles     = 25
	auditRoleCreate      = 30
	auditRoleUpdate      = 31
	auditRoleDelete      = 32
	auditInviteCreate    = 40
	auditInviteDelete    = 42
	auditWebhookCreate   = 50
	auditWebhookUpdate   = 51
	auditWebhookDelete   = 52
	auditEmojiCreate     = 60
	auditEmojiUpdate     = 61
	auditEmojiDelete     = 62
	auditMessageDelete   = 72
	auditBulkDelete      = 73
	auditPin             = 74
	auditUnpin           = 75
	auditStickerCreate   = 90
	auditStickerUpdate   = 91
	auditStickerDelete   = 92
)

const (
	maxAudit  = 1000 // entries that a guild keeps
	maxReason = 512  // characters
)

// An auditEntry is what the bot did.
type auditEntry struct {
	id, target, reason string
	action             int
	options            object // what else tells what was done; nil for none
}

// audit writes down what a call has done, with the reason that came with it.
func (s *Discord) audit(g *guild, r *request, action int, target string, options object) {
	if g == nil {
		return
	}
	e := auditEntry{s.newID(), target, r.reason, action, options}
	if g.audit = append(g.audit, e); len(g.audit) > maxAudit {
		g.audit = g.audit[1:]
	}
	o := e.json(s)
	o["guild_id"] = g.ID
	if s.mayIn(g, viewAuditLog) == nil {
		s.tell(event{kind: "GUILD_AUDIT_LOG_ENTRY_CREATE", guild: g.ID, intents: moderationIntent, data: sameForAll(o)})
	}
}

func (e auditEntry) json(s *Discord) object {
	o := object{"id": e.id, "user_id": s.o.App.UserID, "target_id": nilIfEmpty(e.target), "action_type": e.action, "changes": []any{}}
	if e.reason != "" {
		o["reason"] = e.reason
	}
	if e.action == auditInviteCreate || e.action == auditInviteDelete { // an invite has no id, but a code
		o["target_id"], o["changes"] = nil, []any{object{"key": "code", "new_value": e.target}}
	}
	if e.options != nil {
		o["options"] = e.options
	}
	return o
}

// auditLog answers the newest entries first.
func (s *Discord) auditLog(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, viewAuditLog); err != nil {
		return 0, nil, err
	}
	limit, err := r.limit(50, 100)
	if err != nil {
		return 0, nil, err
	}
	kind, _ := strconv.Atoi(r.query.Get("action_type"))
	before := r.query.Get("before")
	list := []any{}
	for i := len(g.audit) - 1; i >= 0 && len(list) < limit; i-- {
		e := g.audit[i]
		if (kind == 0 || e.action == kind) && (before == "" || compareIDs(e.id, before) < 0) {
			list = append(list, e.json(s))
		}
	}
	return 0, object{
		"audit_log_entries": list, "users": []any{s.userJSON(s.o.App.UserID)}, "application_commands": []any{}, "auto_moderation_rules": []any{},
		"guild_scheduled_events": []any{}, "integrations": []any{}, "threads": []any{}, "webhooks": []any{},
	}, nil
}
