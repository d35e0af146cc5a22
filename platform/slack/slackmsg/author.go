package slackmsg

import (
	"cmp"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// Names looks up what messages do not contain. A nil function knows nothing. For the
// same id a function must return the same for the length of one call of Decode.
type Names struct {
	// User returns an author of the users list, by user id or bot id.
	User func(earshot.AuthorID) (earshot.Author, bool)
	// Channel returns a channel's name without #, or "".
	Channel func(earshot.ChannelID) string
	// Group returns a user group's name without @, or "".
	Group func(id string) string
}

func (n Names) user(id earshot.AuthorID) (earshot.Author, bool) {
	if n.User == nil || id == "" {
		return earshot.Author{}, false
	}
	return n.User(id)
}

// maxName bounds, in bytes, a name that has to serve as an id.
const maxName = 200

// slackbot is the user id of Slack's own bot in every workspace.
const slackbot = "USLACKBOT"

// Author reads an entry of users.json, users.list or users.info: the name that people
// see, the full name where it differs, the time zone, and whether it is a bot. bot is
// its bot id, "" where it has none; team is its workspace. ok is false where raw is
// no user.
func Author(raw []byte) (a earshot.Author, bot earshot.AuthorID, team earshot.WorkspaceID, ok bool) {
	v, _, err := parse(raw)
	if err != nil || !v.Object() {
		return earshot.Author{}, "", "", false
	}
	return readAuthor(v)
}

func readAuthor(v value) (a earshot.Author, bot earshot.AuthorID, team earshot.WorkspaceID, ok bool) {
	if !isID(v.At("id")) {
		return earshot.Author{}, "", "", false
	}
	p := v.Get("profile")
	a = earshot.Author{ID: earshot.AuthorID(v.At("id")), Name: v.At("id"), Kind: earshot.Human}
	a.Name = firstLine(a.Name, p.At("display_name"), p.At("real_name"), v.At("real_name"), v.At("name"))
	a.FullName = fullName(a.Name, cmp.Or(p.At("real_name"), v.At("real_name")))
	a.Zone = zone(v.At("tz"))
	if v.Get("is_bot").Bool() || a.ID == slackbot {
		a.Kind, a.Zone = earshot.Bot, "" // every bot has the workspace's
	}
	a.Standing = standing(v)
	return a, authorID(p.At("bot_id")), earshot.WorkspaceID(v.At("team_id")), true
}

// standing returns what a user, or the profile in a message, tells of how far somebody
// belongs to the workspace. A team's id says more: only who knows the workspace can
// compare it.
func standing(v value) earshot.Standing {
	switch {
	case v.Get("is_stranger").Bool():
		return earshot.External
	case v.Get("is_restricted").Bool(), v.Get("is_ultra_restricted").Bool():
		return earshot.Guest
	}
	return ""
}

// fullName returns a real name where it says more than the name that is shown.
func fullName(name, real string) string {
	if real = oneLine(real); real != name {
		return real
	}
	return ""
}

// zone returns the name of a time zone, or "" for what cannot be one. "Local"
// would be the machine's.
func zone(s string) string {
	ok := len(s) <= 64 && s != "Local" && !strings.Contains(s, "..") && !strings.HasPrefix(s, "/")
	for i := 0; i < len(s); i++ {
		ok = ok && (isIDByte(s[i]) || s[i] == '/' || s[i] == '+')
	}
	if !ok {
		return ""
	}
	return s
}

// author says who wrote a message.
//
// A user id wins over a bot id: an app that posts as its bot user has both.
// Whether such a user is a person is asked of the users list first, because an
// app can post in a person's name. Without a user the author is the bot id; a
// bot known by its name only gets an id that no Slack id can equal.
func (r *reader) author(m value) earshot.Author {
	user := authorID(m.At("user"))
	name := oneLine(m.At("username"))
	profile, botProfile := m.Get("user_profile"), m.Get("bot_profile")
	bot := cmp.Or(authorID(m.At("bot_id")), authorID(botProfile.At("id")))
	a := earshot.Author{ID: user, Kind: earshot.Human}
	if user == "" {
		a = earshot.Author{ID: bot, Kind: earshot.Bot}
		if bot == "" && name != "" {
			a.ID = earshot.AuthorID("username:" + tolerant.CutBytes(name, maxName))
		}
	}
	known, ok := r.names.user(a.ID)
	switch {
	case ok:
		a.Kind = known.Kind
	case a.ID == slackbot, bot != "":
		a.Kind = earshot.Bot
	}
	if system(m.At("subtype")) {
		a.Kind = earshot.System
	}
	names := []string{name, known.Name, botProfile.At("name"), profile.At("display_name"), profile.At("real_name"), profile.At("name")}
	if user != "" {
		names = append([]string{known.Name}, names...)
	}
	a.Name = firstLine("", names...)
	if user != "" {
		a.Standing, a.Team = known.Standing, known.Team
		if a.Standing == "" {
			a.Standing = standing(profile)
		}
		a.FullName = fullName(a.Name, cmp.Or(known.FullName, profile.At("real_name")))
	}
	if a.Name == "" {
		a.Name, a.FullName = string(a.ID), ""
	}
	return a
}

// authorID returns s where it can be an id, else "".
func authorID(s string) earshot.AuthorID {
	if !isID(s) {
		return ""
	}
	return earshot.AuthorID(s)
}

// oneLine makes a name of s: no line breaks, no entities, a bounded length.
func oneLine(s string) string {
	return tolerant.CutRunes(strings.Join(strings.Fields(plain(s)), " "), 2*maxLabel)
}

// firstLine returns the first of the names that is not empty on one line.
func firstLine(otherwise string, names ...string) string {
	for _, s := range names {
		if s = oneLine(s); s != "" {
			return s
		}
	}
	return otherwise
}

// system reports whether a subtype is Slack's own note rather than something
// that was said.
func system(subtype string) bool {
	switch subtype {
	case "pinned_item", "unpinned_item", "bot_add", "bot_remove", "bot_enable", "bot_disable",
		"reminder", "reminder_add", "reminder_delete", "app_conversation_join", "app_conversation_leave",
		"joiner_notification", "joiner_notification_for_inviter", "sh_room_created", "sh_room_shared",
		"huddle_thread", "tabbed_canvas_updated", "document_mention", "assistant_app_thread":
		return true
	}
	return strings.HasPrefix(subtype, "channel_") || strings.HasPrefix(subtype, "group_") || strings.HasPrefix(subtype, "mpdm_")
}
