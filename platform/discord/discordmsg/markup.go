package discordmsg

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// maxLabel bounds the label of a mention, in characters.
const maxLabel = 80

// markup is Discord's markup in angle brackets (Discord's documentation, Message
// Formatting).
var markup = regexp.MustCompile(`<(?:@!?([0-9]{1,20})|@&([0-9]{1,20})|#([0-9]{1,20})|a?:([A-Za-z0-9_~]{1,64}):[0-9]{1,20}|t:(-?[0-9]{1,13})(?::([tTdDfFsSR]))?|/([^<>:\n]{1,100}):[0-9]{1,20})>`)

// mentionedPeople are those whom a message names, with their names, and whom its text
// mentions.
type mentionedPeople struct {
	names Names
	known map[string]string
	there map[string]string // channels that the message names itself, such as those of another server
	told  []earshot.AuthorID
}

// people reads the users that a message lists as mentioned.
func (r *reader) people(v value) *mentionedPeople {
	p := &mentionedPeople{names: r.names, known: map[string]string{}, there: map[string]string{}}
	for _, u := range r.list(v, "mentions") {
		if a := r.user(u, u.Get("member")); a.ID != "" && r.more() {
			p.known[string(a.ID)] = a.Name
		}
	}
	for _, c := range r.list(v, "mention_channels") {
		if id := snowflake(c.At("id")); id != "" && r.more() {
			p.there[id] = oneLine(c.At("name"))
		}
	}
	return p
}

// mention adds an id to those that are mentioned.
func (p *mentionedPeople) mention(id string) {
	if !slices.Contains(p.told, earshot.AuthorID(id)) && len(p.told) < maxElements {
		p.told = append(p.told, earshot.AuthorID(id))
	}
}

// mentions returns whom a message mentions: in its text, and those whom Discord lists
// beside it, such as the author of the message that it replies to.
func (p *mentionedPeople) mentions(v value) []earshot.AuthorID {
	for _, u := range v.Get("mentions").List {
		if id := snowflake(u.At("id")); id != "" && p.known[id] != "" {
			p.mention(id)
		}
	}
	for _, x := range v.Get("mention_roles").List {
		if p.own(x.Str()) {
			p.mention(p.names.Self)
		}
	}
	return p.told
}

// own reports whether a role is the bot's own.
func (p *mentionedPeople) own(role string) bool {
	return p.names.Self != "" && p.names.OwnRole != nil && isSnowflake(role) && p.names.OwnRole(role)
}

// stored turns a text in Discord's form into the form that is kept, and remembers
// whom it mentions.
func (p *mentionedPeople) stored(s string) string { return p.rewrite(s, true) }

// quoted does the same for what a message quotes: nobody is mentioned by that.
func (p *mentionedPeople) quoted(s string) string { return p.rewrite(s, false) }

func (p *mentionedPeople) rewrite(s string, mention bool) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			b.WriteString(s[at:])
			break
		}
		b.WriteString(s[at : at+i])
		at += i
		rest := s[at:min(len(s), at+160)]
		found := markup.FindStringSubmatchIndex(rest)
		if found == nil || found[0] != 0 {
			if opensMention(s[at+1:]) {
				b.WriteString("&lt;")
			} else {
				b.WriteByte('<')
			}
			at++
			continue
		}
		group := func(n int) string {
			if found[2*n] < 0 {
				return ""
			}
			return rest[found[2*n]:found[2*n+1]]
		}
		b.WriteString(p.span(group, rest[:found[1]], mention))
		at += found[1]
	}
	return b.String()
}

// span resolves one span of markup, whose parts are the groups of the pattern.
func (p *mentionedPeople) span(group func(int) string, all string, mention bool) string {
	if id := group(1); id != "" {
		if mention {
			p.mention(id)
		}
		return "<@" + id + formatLabel(p.user(id)) + ">"
	}
	if id := group(2); id != "" {
		name := ""
		if p.names.Role != nil {
			name = cleanLabel(p.names.Role(id))
		}
		switch {
		case p.own(id) && mention:
			p.mention(p.names.Self)
			return "<@" + p.names.Self + formatLabel(cmp.Or(p.user(p.names.Self), name)) + ">"
		case name != "":
			return "@" + strings.TrimPrefix(name, "@")
		}
		return "@role"
	}
	if id := group(3); id != "" {
		name := ""
		if p.names.Channel != nil {
			name = p.names.Channel(id)
		}
		return "<#" + id + formatLabel(cmp.Or(name, p.there[id])) + ">"
	}
	if name := group(4); name != "" {
		return ":" + name + ":"
	}
	if seconds := group(5); seconds != "" {
		return formatMoment(seconds, group(6), all)
	}
	return "/" + group(7)
}

// user returns the name of a user, or "".
func (p *mentionedPeople) user(id string) string {
	if name := p.known[id]; name != "" {
		return name
	}
	if p.names.User != nil {
		return p.names.User(id)
	}
	return ""
}

// formatMoment writes a time of Discord's markup, which every reader sees in a zone of
// their own, in UTC. R, "in two hours", is a time too: it says nothing later.
func formatMoment(seconds, style, all string) string {
	var n int64
	for _, c := range strings.TrimPrefix(seconds, "-") {
		n = n*10 + int64(c-'0')
	}
	if strings.HasPrefix(seconds, "-") {
		n = -n
	}
	t := time.Unix(n, 0).UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return all
	}
	if style == "d" || style == "D" {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04 UTC")
}

// opensMention reports whether s, after a literal <, would be read as a mention. Characters
// that a reader does not see do not hide one: who shows the text may remove them.
func opensMention(s string) bool {
	for _, r := range s {
		if r == '@' {
			return true
		}
		if r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Mn) {
			return false
		}
	}
	return false
}

// escapeMarkup returns a name, in which Discord shows markup as it is written, in the form
// that is kept: it mentions nobody.
func escapeMarkup(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '<' && opensMention(s[i+1:]) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// formatLabel writes a label after its bar, or nothing.
func formatLabel(s string) string {
	if s = cleanLabel(s); s == "" {
		return ""
	}
	return "|" + s
}

// cleanLabel makes a label of a name: it cannot close its span or open another.
func cleanLabel(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>|", r)
	}), " ")
	return tolerant.CutRunes(s, maxLabel)
}
