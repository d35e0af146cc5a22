package discord

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// userJSON is a user as every object shows it.
func (s *Discord) userJSON(id string) object {
	u := s.user(id)
	if u == nil {
		return object{"id": id, "username": "Deleted User", "discriminator": "0000", "global_name": nil, "avatar": nil, "public_flags": 0, "flags": 0, "primary_guild": nil}
	}
	o := object{
		"id": u.ID, "username": u.Name, "discriminator": "0", "global_name": nil, "avatar": nil, "public_flags": 0, "flags": 0,
		"avatar_decoration_data": nil, "primary_guild": nil, "clan": nil, "collectibles": nil, "display_name_styles": nil,
	}
	if u.GlobalName != "" {
		o["global_name"] = u.GlobalName
	}
	if u.Bot {
		o["bot"] = true
	}
	return o
}

func (s *Discord) fullMember(m *Member) object {
	o := memberJSON(m)
	o["user"] = s.userJSON(m.User)
	return o
}

// eventJSON is a channel as events have it. Of one that the bot does not see, it tells
// that it is there and where (Discord's documentation, Obfuscated Channels; for all
// bots since November 2026).
func (s *Discord) eventJSON(c *channel) object {
	o := s.channelJSON(c)
	if c.thread != nil || c.Type == DM || c.Type == Category || s.sees(c, s.o.App.UserID) {
		return o
	}
	o["name"], o["flags"] = "___hidden___", 1<<17
	o["permission_overwrites"] = []any{object{"id": c.Guild, "type": 0, "allow": "0", "deny": fmt.Sprint(viewChannel)}}
	for _, k := range []string{"topic", "last_message_id"} {
		if _, has := o[k]; has {
			o[k] = nil
		}
	}
	return o
}

// channelJSON is a channel or a thread as the API has it.
func (s *Discord) channelJSON(c *channel) object {
	if c.Type == DM {
		o := object{"id": c.ID, "type": DM, "last_message_id": nilIfEmpty(c.last), "flags": 0, "recipients": []any{}}
		for _, id := range c.people {
			o["recipients"] = append(o["recipients"].([]any), s.userJSON(id))
		}
		return o
	}
	o := object{
		"id": c.ID, "type": c.Type, "guild_id": c.Guild, "name": c.Name, "parent_id": nilIfEmpty(c.Parent), "flags": 0,
	}
	if c.thread != nil {
		s.threadFields(o, c)
		return o
	}
	o["position"], o["permission_overwrites"] = c.position, c.overwritesJSON()
	if c.Type == Category {
		return o
	}
	o["topic"], o["nsfw"], o["rate_limit_per_user"], o["last_message_id"] = nilIfEmpty(c.Topic), false, 0, nilIfEmpty(c.last)
	switch c.Type {
	case Voice:
		o["bitrate"], o["user_limit"], o["rtc_region"] = 64000, 0, nil
		delete(o, "topic")
	case Forum, Media:
		o["available_tags"], o["default_reaction_emoji"], o["default_sort_order"], o["default_forum_layout"] = []any{}, nil, nil, 0
		o["template"] = ""
	}
	maps.Copy(o, c.settings)
	return o
}

func (s *Discord) threadFields(o object, c *channel) {
	t := c.thread
	o["owner_id"], o["last_message_id"], o["rate_limit_per_user"] = t.owner, nilIfEmpty(c.last), 0
	count := t.sent
	if c.message(c.ID) != nil || s.byID[c.Parent] != nil && s.byID[c.Parent].Type == Forum {
		count-- // a post's first message is not counted
	}
	o["message_count"], o["total_message_sent"], o["member_count"] = max(count, 0), max(count, 0), min(len(t.members), 50)
	meta := object{
		"archived": t.archived, "auto_archive_duration": 4320, "archive_timestamp": stamp(t.archiving), "locked": t.locked,
		"create_timestamp": stamp(Time(c.ID)),
	}
	if c.Type == PrivateThread {
		meta["invitable"] = true
	}
	for k, v := range c.settings {
		switch k {
		case "auto_archive_duration", "invitable":
			meta[k] = v
		default:
			o[k] = v
		}
	}
	o["thread_metadata"] = meta
	if in := s.byID[c.Parent]; in != nil && (in.Type == Forum || in.Type == Media) {
		o["applied_tags"] = fake.List(t.tags)
	}
	if i := slices.IndexFunc(t.members, func(m threadMember) bool { return m.user == s.o.App.UserID }); i >= 0 {
		o["member"] = object{"id": c.ID, "user_id": s.o.App.UserID, "join_timestamp": stamp(t.members[i].joined), "flags": 1}
	}
}

func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// str is a string of decoded JSON, "" for anything else.
func str(v any) string {
	text, _ := v.(string)
	return strings.ToValidUTF8(text, "�")
}

// idOf is an id of decoded JSON: text, or a number, which Discord takes too.
func idOf(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return str(v)
}
