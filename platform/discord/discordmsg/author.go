package discordmsg

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// maxName bounds names, in characters. Discord's own bound is 32, and 80 for
// webhooks.
const maxName = 100

// author says who wrote a message.
func (r *reader) author(v value, t int, hook string) earshot.Author {
	u := v.Get("author")
	a := r.user(u, v.Get("member"))
	switch {
	case !u.Object():
		return earshot.Author{}
	case kindOfType(t) == systemNote, u.Get("system").Bool():
		a.Kind = earshot.System
	case hook != "":
		a.Kind, a.ID, a.FullName = earshot.Bot, webhookAuthor(hook, a.Name), ""
	}
	if a.ID == "" {
		r.note("author: no id")
	}
	return a
}

// webhookOf returns the webhook that posted a message. The answer to a command has a
// webhook_id too, that of its application, and the bot's user as author.
func webhookOf(v value) string {
	t := int(v.Get("type").Int())
	if v.Get("interaction_metadata").Object() || v.Get("interaction").Object() || t == typeCommand || t == typeMenuCommand {
		return ""
	}
	return snowflake(v.At("webhook_id"))
}

// webhookAuthor is the id of one of those for whom a webhook speaks. They share the
// webhook, and each has a name of its own.
func webhookAuthor(hook, name string) earshot.AuthorID {
	sum := sha256.Sum256([]byte(name))
	return earshot.AuthorID(hook + "." + hex.EncodeToString(sum[:4]))
}

// user reads a user object, with the member object that has the nickname. Where an
// object does not come with its member, as from the REST API, the names that the
// caller knows come first, because they may have the nickname.
func (r *reader) user(u, member value) earshot.Author {
	a := earshot.Author{ID: earshot.AuthorID(snowflake(u.At("id"))), Kind: earshot.Human}
	if u.Get("bot").Bool() {
		a.Kind = earshot.Bot
	} else if member.Get("flags").Int()&isGuest != 0 {
		a.Standing = earshot.Guest
	}
	known := ""
	if !member.Object() && r.names.User != nil && a.ID != "" {
		known = oneLine(r.names.User(string(a.ID)))
	}
	a.Name = cmp.Or(oneLine(member.At("nick")), known, displayName(u), string(a.ID))
	if full := oneLine(u.At("username")); full != a.Name {
		a.FullName = full
	}
	return a
}

// isGuest is the flag of a member who was let into a voice channel only: IS_GUEST of a guild
// member's flags.
const isGuest = 1 << 4

// displayName is the name that a user goes by where nobody has given a nickname.
func displayName(u value) string {
	return cmp.Or(oneLine(u.At("global_name")), oneLine(u.At("username")))
}

// A Member is somebody in a guild, as events about members tell.
type Member struct {
	Guild  string
	Author earshot.Author
	Roles  []string
}

// ReadMember reads a member object with its user, or a user object. ok is false
// where raw is neither.
func ReadMember(raw []byte) (m Member, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil || !v.Object() {
		return Member{}, false
	}
	u := v.Get("user")
	if !u.Object() {
		u = v
	}
	r := &reader{}
	m = Member{Guild: snowflake(v.At("guild_id")), Author: r.user(u, v)}
	for _, x := range v.Get("roles").List {
		if role := snowflake(x.Str()); role != "" && r.more() {
			m.Roles = append(m.Roles, role)
		}
	}
	return m, m.Author.ID != ""
}

// oneLine makes a name of s: no line breaks, a bounded length.
func oneLine(s string) string {
	return tolerant.CutRunes(strings.Join(strings.Fields(s), " "), maxName)
}
