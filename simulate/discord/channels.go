package discord

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of channels (Discord's documentation, Channel Resource).
const (
	maxChannels   = 500 // of a guild
	maxInCategory = 50
	maxTopic      = 1024
	maxPostTopic  = 4096 // of a forum
	maxTags       = 20
	maxOverwrites = 1000
)

var (
	errMostChannels  = &apiError{status: 400, code: 30013, message: "Maximum number of guild channels reached (500)"}
	errNoOverwrite   = &apiError{status: 404, code: 10009, message: "Unknown Overwrite"}
	errNotInDMs      = &apiError{status: 403, code: 50003, message: "Cannot execute action on a DM channel"}
	errNoTag         = &apiError{status: 404, code: 10087, message: "Unknown Tag"}
	errOnlyAnnounced = &apiError{status: 400, code: 50068, message: "Invalid message type"}
)

// A setting is a field of a channel that is kept as it is, once it is of its kind.
type setting func(v any) bool

func isBool(v any) bool { _, ok := v.(bool); return ok }

func within(least, most int) setting {
	return func(v any) bool {
		n, ok := v.(json.Number)
		i, err := n.Int64()
		return ok && err == nil && int(i) >= least && int(i) <= most
	}
}

func isText(v any) bool {
	text, ok := v.(string)
	return ok && utf8.RuneCountInString(text) <= maxFieldText
}

const maxFieldText = 100

// channelSettings are those of channels, and threadSettings those of threads.
var (
	channelSettings = map[string]setting{
		"nsfw": isBool, "rate_limit_per_user": within(0, 21600), "bitrate": within(8000, 384000), "user_limit": within(0, 10000),
		"rtc_region": isText, "video_quality_mode": within(1, 2), "default_auto_archive_duration": within(60, 10080),
		"default_thread_rate_limit_per_user": within(0, 21600), "default_sort_order": within(0, 1), "default_forum_layout": within(0, 2), "flags": within(0, 1<<20),
	}
	threadSettings = map[string]setting{"rate_limit_per_user": within(0, 21600), "auto_archive_duration": within(60, 10080), "invitable": isBool, "flags": within(0, 1<<20)}
)

// readSettings puts the settings of a call into a channel's; null takes one away.
func readSettings(r *request, known map[string]setting, into object) error {
	for _, k := range slices.Sorted(maps.Keys(known)) {
		v, has := r.body[k]
		if !has {
			continue
		}
		if v == nil {
			delete(into, k) // as if it had never been set
			continue
		}
		if !known[k](v) {
			return invalid(k, "BASE_TYPE_CHOICES", "Value is not of the field.")
		}
		into[k] = v
	}
	return nil
}

func (s *Discord) createChannel(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageChannels); err != nil {
		return 0, nil, err
	}
	kind := r.int("type")
	if !slices.Contains([]int{Text, Voice, Category, Announcement, Stage, Forum, Media}, kind) {
		return 0, nil, invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {0, 2, 4, 5, 13, 14, 15, 16}.")
	}
	n := 0
	for _, c := range s.channels {
		if c.Guild == g.ID && c.thread == nil {
			n++
		}
	}
	if n >= maxChannels {
		return 0, nil, errMostChannels
	}
	c := &channel{Channel: Channel{ID: s.newID(), Guild: g.ID, Type: kind}, position: n}
	if err := s.readChannel(r, g, c, true); err != nil {
		return 0, nil, err
	}
	at := c.position
	s.put(c)
	if r.body["position"] != nil {
		c.position = at
	}
	s.tellChannel("CREATE", c)
	s.audit(g, r, auditChannelCreate, c.ID, nil)
	return http.StatusCreated, s.channelJSON(c), nil
}

// readChannel reads what a call says of a channel. Names of text channels have no
// spaces and no capitals.
func (s *Discord) readChannel(r *request, g *guild, c *channel, isNew bool) error {
	if v, has := r.body["name"]; has || isNew {
		name := str(v)
		if n := utf8.RuneCountInString(name); n < 1 || n > 100 {
			return invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		}
		if c.Type != Voice && c.Type != Category && c.Type != Stage {
			name = strings.ToLower(strings.Join(strings.Fields(name), "-"))
		}
		c.Name = name
	}
	if v, has := r.body["topic"]; has {
		most := maxTopic
		if c.Type == Forum || c.Type == Media {
			most = maxPostTopic
		}
		if c.Topic = str(v); utf8.RuneCountInString(c.Topic) > most {
			return invalid("topic", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
		}
	}
	if v, has := r.body["parent_id"]; has {
		if err := s.readParent(idOf(v), c); err != nil {
			return err
		}
		if isNew && r.body["permission_overwrites"] == nil && c.Parent != "" {
			c.overwrites = slices.Clone(s.byID[c.Parent].overwrites)
		}
	}
	if v := r.body["position"]; v != nil {
		if c.position = whole(v); c.position < 0 || c.position > 1<<20 {
			return invalid("position", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 0.")
		}
	}
	if v, ok := r.body["permission_overwrites"].([]any); ok {
		if err := s.readOverwrites(v, g, c); err != nil {
			return err
		}
	}
	if kind := r.body["type"]; kind != nil && !isNew && whole(kind) != c.Type {
		if c.Type != Text && c.Type != Announcement || whole(kind) != Text && whole(kind) != Announcement {
			return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {0, 5}.")
		}
		c.Type = whole(kind)
	}
	c.settings = maps.Clone(c.settings)
	if c.settings == nil {
		c.settings = object{}
	}
	if v, ok := r.body["available_tags"].([]any); ok {
		tags, err := s.readTags(v)
		if err != nil {
			return err
		}
		c.settings["available_tags"] = tags
	}
	if v, has := r.body["default_reaction_emoji"]; has {
		o, _ := v.(object)
		if c.settings["default_reaction_emoji"] = nil; o != nil {
			c.settings["default_reaction_emoji"] = object{"emoji_id": nilIfEmpty(idOf(o["emoji_id"])), "emoji_name": nilIfEmpty(str(o["emoji_name"]))}
		}
	}
	return readSettings(r, channelSettings, c.settings)
}

func (s *Discord) readParent(id string, c *channel) error {
	if c.Parent = id; id == "" {
		return nil
	}
	in := s.byID[id]
	if in == nil || in.Type != Category || in.Guild != c.Guild || c.Type == Category {
		return invalid("parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist")
	}
	n := 0
	for _, o := range s.channels {
		if o.Parent == id && o != c && o.ID != c.ID {
			n++
		}
	}
	if n >= maxInCategory {
		return invalid("parent_id", "CHANNEL_PARENT_MAX_CHANNELS", "Maximum number of channels in category reached (50)")
	}
	return nil
}

// readTags reads a forum's tags; a new one gets an id.
func (s *Discord) readTags(list []any) ([]any, error) {
	if len(list) > maxTags {
		return nil, invalid("available_tags", "BASE_TYPE_MAX_LENGTH", "Must be 20 or fewer in length.")
	}
	tags := []any{}
	for i, v := range list {
		o, _ := v.(object)
		name, id := str(o["name"]), idOf(o["id"])
		if n := utf8.RuneCountInString(name); n < 1 || n > 50 {
			return nil, invalid(fmt.Sprintf("available_tags.%d.name", i), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 50 in length.")
		}
		if number(id) == 0 {
			id = s.newID()
		}
		moderated, _ := o["moderated"].(bool)
		tags = append(tags, object{"id": id, "name": name, "moderated": moderated, "emoji_id": nilIfEmpty(idOf(o["emoji_id"])), "emoji_name": nilIfEmpty(str(o["emoji_name"]))})
	}
	return tags, nil
}

// readOverwrites replaces a channel's overwrites. The bot allows and denies only what it
// may do itself.
func (s *Discord) readOverwrites(list []any, g *guild, c *channel) error {
	if len(list) > maxOverwrites {
		return invalid("permission_overwrites", "BASE_TYPE_MAX_LENGTH", "Must be 1000 or fewer in length.")
	}
	var all []overwrite
	for _, v := range list {
		o, _ := v.(object)
		x, err := s.readOverwrite(o, idOf(o["id"]), g)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(o overwrite) bool { return o.id == x.id }) {
			all = append(all, x)
		}
	}
	c.overwrites = all
	return nil
}

func (s *Discord) readOverwrite(o object, id string, g *guild) (overwrite, error) {
	x := overwrite{id: id, kind: asInt(o["type"])}
	if g.role(id) == nil && g.member(id) == nil || x.kind != forRole && x.kind != forMember {
		return x, errNoOverwrite
	}
	for key, into := range map[string]*int64{"allow": &x.allow, "deny": &x.deny} {
		if o[key] == nil {
			continue
		}
		p, err := parsePermissions(key, o[key])
		if err != nil {
			return x, err
		}
		*into = p
	}
	if (x.allow|x.deny)&^g.base(g.member(s.o.App.UserID)) != 0 {
		return x, errPermissions
	}
	return x, nil
}

// updateChannel changes a channel, or a thread.
func (s *Discord) updateChannel(r *request, c *channel) (int, any, error) {
	switch {
	case c.Type == DM:
		return 0, nil, errNotInDMs
	case c.thread != nil:
		return s.updateThread(r, c)
	}
	if err := s.may(c, manageChannels); err != nil {
		return 0, nil, err
	}
	g := s.guild(c.Guild)
	if r.body["permission_overwrites"] != nil {
		if err := s.may(c, manageRoles); err != nil {
			return 0, nil, err
		}
	}
	next := *c
	if err := s.readChannel(r, g, &next, false); err != nil {
		return 0, nil, err
	}
	saw := s.sees(c, s.o.App.UserID)
	*c = next
	s.tellSeen(c, saw)
	s.audit(g, r, auditChannelUpdate, c.ID, nil)
	return 0, s.channelJSON(c), nil
}

// tellSeen tells of a channel's change, and of its threads where the bot has not seen it
// before.
func (s *Discord) tellSeen(c *channel, saw bool) {
	s.tellChannel("UPDATE", c)
	if !saw && s.sees(c, s.o.App.UserID) {
		s.tellThreads(c)
	}
}

func (s *Discord) deleteChannel(r *request, c *channel) (int, any, error) {
	if c.Type == DM {
		return 0, s.channelJSON(c), nil // it is closed, and there when somebody writes again
	}
	need := int64(manageChannels)
	if c.thread != nil {
		need = manageThreads
	}
	if err := s.may(c, need); err != nil {
		return 0, nil, err
	}
	o := s.channelJSON(c)
	s.dropChannel(c)
	s.audit(s.guild(c.Guild), r, auditChannelDelete, c.ID, nil)
	return 0, o, nil
}

// moveChannels gives channels other positions and categories.
func (s *Discord) moveChannels(r *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageChannels); err != nil {
		return 0, nil, err
	}
	list, err := r.items(maxChannels)
	if err != nil {
		return 0, nil, err
	}
	for _, o := range list {
		c := s.byID[idOf(o["id"])]
		if c == nil || c.Guild != g.ID || c.thread != nil {
			return 0, nil, errUnknownChannel
		}
		next := *c
		if v := o["position"]; v != nil {
			next.position = whole(v)
		}
		if v, has := o["parent_id"]; has {
			if err := s.readParent(idOf(v), &next); err != nil {
				return 0, nil, err
			}
		}
		if lock, _ := o["lock_permissions"].(bool); lock && next.Parent != "" {
			next.overwrites = slices.Clone(s.byID[next.Parent].overwrites)
		}
		*c = next
		s.tellChannel("UPDATE", c)
	}
	return http.StatusNoContent, nil, nil
}

// SetOverwrite allows and denies permissions in a channel, to a role or a member; with
// neither, the overwrite goes. The bot hears of it.
func (s *Discord) SetOverwrite(id, of string, allow, deny int64) {
	check(s.setOverwrite(id, of, allow, deny))
}

func (s *Discord) setOverwrite(id, of string, allow, deny int64) error {
	return s.changeChannel(id, func(c *channel) {
		kind := forMember
		if s.guild(c.Guild).role(of) != nil {
			kind = forRole
		}
		o := c.overwriteOf(of, kind)
		o.allow, o.deny = allow&everyPermission, deny&everyPermission
		c.overwrites = slices.DeleteFunc(c.overwrites, func(o overwrite) bool { return o.allow == 0 && o.deny == 0 })
	})
}

// ownOverwrite is the channel of a call about its overwrites, which the bot must be able
// to change.
func (s *Discord) ownOverwrite(r *request) (*channel, error) {
	c, err := s.visible(r)
	if err != nil {
		return nil, err
	}
	if c.Type == DM || c.thread != nil {
		return nil, errWrongType
	}
	return c, s.may(c, manageRoles)
}

func (s *Discord) putOverwrite(r *request, c *channel) (int, any, error) {
	x, err := s.readOverwrite(r.body, r.params["overwrite"], s.guild(c.Guild))
	if err != nil {
		return 0, nil, err
	}
	if len(c.overwrites) >= maxOverwrites {
		return 0, nil, invalid("permission_overwrites", "BASE_TYPE_MAX_LENGTH", "Must be 1000 or fewer in length.")
	}
	saw := s.sees(c, s.o.App.UserID)
	*c.overwriteOf(x.id, x.kind) = x
	s.tellSeen(c, saw)
	s.audit(s.guild(c.Guild), r, auditOverwriteUpdate, c.ID, s.overwriteOptions(c, x))
	return http.StatusNoContent, nil, nil
}

// overwriteOptions say in the audit log of whom an overwrite is.
func (s *Discord) overwriteOptions(c *channel, x overwrite) object {
	o := object{"id": x.id, "type": strconv.Itoa(x.kind)}
	if r := s.guild(c.Guild).role(x.id); r != nil {
		o["role_name"] = r.Name
	}
	return o
}

func (s *Discord) deleteOverwrite(r *request, c *channel) (int, any, error) {
	i := slices.IndexFunc(c.overwrites, func(o overwrite) bool { return o.id == r.params["overwrite"] })
	if i < 0 {
		return 0, nil, errNoOverwrite
	}
	saw, x := s.sees(c, s.o.App.UserID), c.overwrites[i]
	c.overwrites = slices.Delete(slices.Clone(c.overwrites), i, i+1)
	s.tellSeen(c, saw)
	s.audit(s.guild(c.Guild), r, auditOverwriteDelete, c.ID, s.overwriteOptions(c, x))
	return http.StatusNoContent, nil, nil
}

// crosspost publishes a message of an announcement channel to those who follow it.
func (s *Discord) crosspost(_ *request, c *channel, m *message) (int, any, error) {
	need := int64(sendMessages)
	if m.author != s.o.App.UserID {
		need |= manageMessages
	}
	if err := s.may(c, need); err != nil {
		return 0, nil, err
	}
	if c.Type != Announcement {
		return 0, nil, errWrongType
	}
	if m.flags&flagCrossposted != 0 {
		return 0, nil, &apiError{status: 400, code: 40033, message: "This message has already been crossposted"}
	}
	if m.system() {
		return 0, nil, errOnlyAnnounced
	}
	m.flags |= flagCrossposted
	s.tellChanged(c, m)
	return 0, s.messageJSON(m, s.rest()), nil
}

// follow has a channel get what an announcement channel publishes: it gets a webhook.
func (s *Discord) follow(r *request, c *channel) (int, any, error) {
	to := s.byID[idOf(r.body["webhook_channel_id"])]
	switch {
	case c.Type != Announcement:
		return 0, nil, errWrongType
	case to == nil || to.Guild == "" || to.thread != nil:
		return 0, nil, errUnknownChannel
	}
	if err := s.may(to, manageWebhooks); err != nil {
		return 0, nil, err
	}
	w, err := s.addWebhook(to.ID, c.Name)
	if err != nil {
		return 0, nil, err
	}
	s.tellWebhooks(to)
	return 0, object{"channel_id": c.ID, "webhook_id": w.ID}, nil
}
