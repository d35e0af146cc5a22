package bot

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
)

// guard makes a reply safe to post, whatever the model was talked into. An
// address that nobody here has written stands in code ticks, where no client
// makes a link of it or fetches it; a link or an image that hides one is taken
// apart; and nobody is mentioned.
func guard(text string, l links) string {
	text = mute(assemble.Clean(text))
	text = apart(text, l)
	code := fences(text)
	ticks := tickRun(text, code)
	var b strings.Builder
	at := 0
	for _, a := range addresses(text) {
		if l.live(text[a[0]:a[1]]) || inside(code, a[0]) {
			continue
		}
		b.WriteString(text[at:a[0]])
		if a[0] > 0 && strings.IndexByte("`\\", text[a[0]-1]) >= 0 {
			b.WriteByte(' ') // or it would be one run of ticks, or one that is escaped
		}
		b.WriteString(ticks + cutTo(text[a[0]:a[1]], maxDead) + ticks)
		if a[1] < len(text) && text[a[1]] == '`' {
			b.WriteByte(' ')
		}
		at = a[1]
	}
	return b.String() + text[at:]
}

// maxDead is how many bytes of an address are shown that is not live. What is
// longer than a post would be cut, and be live in parts.
const maxDead = 300

// cutTo cuts s to at most n bytes, and says so.
func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

var (
	userMention = regexp.MustCompile(`<[@!#][^<>\n]{0,200}>`)
	massMention = regexp.MustCompile(`(?i)[@＠﹫](here|channel|everyone|all|group|team|online)\b`)
	labelled    = regexp.MustCompile(`^<[@!#]&?[^|>]*\|([^>]*)>$`)
)

// mute takes the marks out of a text that would call people.
func mute(text string) string {
	text = userMention.ReplaceAllStringFunc(text, func(s string) string {
		if m := labelled.FindStringSubmatch(s); m != nil && m[1] != "" {
			return strings.TrimLeft(m[1], "@!#<")
		}
		return strings.Trim(s, "<>@!#&^")
	})
	for { // what is left may have closed up
		next := massMention.ReplaceAllString(text, "$1")
		if next == text {
			return strings.NewReplacer("<@", "< @", "<!", "< !").Replace(text)
		}
		text = next
	}
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)?`)
	defined    = regexp.MustCompile(`(?m)\]:`)
	slackLink  = regexp.MustCompile(`<([^<>|\s]+)\|([^<>\n]*)>`)
)

// apart takes links apart whose target may not stay live: the words, then the
// target as an address.
func apart(text string, l links) string {
	text = slackLink.ReplaceAllStringFunc(text, func(s string) string {
		m := slackLink.FindStringSubmatch(s)
		if l.live(m[1]) {
			return s
		}
		return m[2] + " (" + m[1] + ")"
	})
	text = inlineLink.ReplaceAllStringFunc(text, func(s string) string {
		target := strings.Trim(strings.TrimSpace(inlineLink.FindStringSubmatch(s)[1]), "<>")
		if l.live(target) {
			return s
		}
		return "] " + s[1:]
	})
	text = strings.ReplaceAll(text, "](", "] (")
	text = restore(text, l)
	return defined.ReplaceAllString(text, "] :")
}

// spaced is a link that was taken apart.
var spaced = regexp.MustCompile(`\] (\(([^()\s]*)\))`)

// restore joins again the links whose target may stay live.
func restore(text string, l links) string {
	return spaced.ReplaceAllStringFunc(text, func(s string) string {
		m := spaced.FindStringSubmatch(s)
		if l.live(m[2]) {
			return "]" + m[1]
		}
		return s
	})
}

var (
	scheme = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]{0,30}:/{1,}|\b(?:mailto|tel|sms|javascript|data|vbscript|file|blob|about|slack|discord|skype|magnet|geo|xmpp|sip|callto):|www\.|//)[^\s<>|"'` + "`" + `()\[\]{}]*`)
	domain = regexp.MustCompile(`(?i)(?:[\p{L}\p{N}_][\p{L}\p{N}_-]*[.。．｡])+(?:xn--[a-z0-9-]+|\p{L}{2,24}|[0-9]{1,3})(?::[0-9]{1,5})?(?:[/?#][^\s<>|"'` + "`" + `()\[\]{}]*)?`)
	mail   = regexp.MustCompile(`(?i)[a-z0-9._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,24}`)
)

// topLevel are endings by which a bare name is taken for an address.
var topLevel = strings.Fields("com net org edu gov mil int info biz name io ai dev app co me tv cc xyz site online top shop store tech cloud link click live news blog page wiki " +
	"eu us uk de fr nl ru cn jp kr br au ca ch at be es it pl se no fi dk ie in za mx ar ua tr il gg ly gl to ws su zip mov onion local internal")

// addresses returns where the addresses stand in a text, in order, as byte
// offsets. A name with a dot is one if it goes on with a path, or ends as sites
// do.
func addresses(text string) [][2]int {
	if !strings.ContainsAny(text, ".:/。．｡") {
		return nil // each has one of them
	}
	var all [][2]int
	for _, r := range []*regexp.Regexp{scheme, mail, domain} {
		for _, at := range r.FindAllStringIndex(text, -1) {
			s := strings.TrimRight(text[at[0]:at[1]], ".,;:!?*_~…")
			if s == "" || s == "//" || strings.EqualFold(s, "www") || r == domain && !isSite(s) {
				continue
			}
			all = append(all, [2]int{at[0], at[0] + len(s)})
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return b[1] - a[1]
	})
	var out [][2]int
	for _, at := range all {
		if n := len(out); n > 0 && at[0] < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], at[1])
			continue
		}
		out = append(out, at)
	}
	return out
}

// isSite reports whether a name with a dot is an address.
func isSite(s string) bool {
	host, rest := s, ""
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		host, rest = s[:i], s[i:]
	}
	host, port, _ := strings.Cut(host, ":")
	labels := strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' })
	last := strings.ToLower(labels[len(labels)-1])
	digits := strings.Trim(last, "0123456789") == ""
	if digits {
		return len(labels) == 4 && (rest != "" || port != "")
	}
	return rest != "" || slices.Contains(topLevel, last) || strings.HasPrefix(last, "xn--")
}

func inside(list [][2]int, at int) bool {
	return slices.ContainsFunc(list, func(x [2]int) bool { return x[0] <= at && at < x[1] })
}
