package reply

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
)

// Guard makes a model's text safe to post, whatever the model was talked into.
// An address that links does not allow is put in code ticks, where no client
// links or fetches it; a link or an image that hides such an address is taken
// apart. Of mentions only those of people stay who may be mentioned, as <@id>; those of
// others become names, those of groups and of everybody plain words.
func Guard(text string, links *Links, people *People) string {
	text, marked := people.mark(assemble.Clean(text))
	text = withoutMentions(text)
	text = splitMentions(splitLinks(text, links))
	code := findFences(text)
	ticks := tickRun(text, code)
	var b strings.Builder
	at := 0
	for _, a := range findAddresses(text) {
		if links.allows(text[a[0]:a[1]]) || inRanges(code, a[0]) {
			continue
		}
		b.WriteString(text[at:a[0]])
		if a[0] > 0 && strings.IndexByte("`\\", text[a[0]-1]) >= 0 {
			b.WriteByte(' ') // else the ticks join a run before them, or are escaped
		}
		b.WriteString(ticks + truncate(people.write(text[a[0]:a[1]], marked, false), maxInert) + ticks)
		if a[1] < len(text) && text[a[1]] == '`' {
			b.WriteByte(' ')
		}
		at = a[1]
	}
	return people.write(b.String()+text[at:], marked, true)
}

// maxInert is how many bytes are shown of an address in code ticks. An address
// that is longer than a post would be cut, and its parts would be clickable.
const maxInert = 300

// truncate cuts s to at most n bytes and marks the cut with "…".
func truncate(s string, n int) string {
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
	withDigits  = regexp.MustCompile(`<(?:a?(:[A-Za-z0-9_~]{1,64}:)|(/[^<>:\n]{1,100}):)[0-9]{1,20}>`) // an emoji or a command, on Discord
	labelled    = regexp.MustCompile(`^<[@!#]&?[^|>]*\|([^>]*)>$`)
)

// withoutMentions removes the marks that make a name a mention. The name stays.
func withoutMentions(text string) string {
	text = withDigits.ReplaceAllString(text, "$1$2")
	text = userMention.ReplaceAllStringFunc(text, func(s string) string {
		if m := labelled.FindStringSubmatch(s); m != nil && m[1] != "" {
			return strings.TrimLeft(m[1], "@!#<")
		}
		switch { // a raw id says nothing to a person
		case strings.HasPrefix(s, "<!subteam"), strings.HasPrefix(s, "<@&"):
			return "a group"
		case strings.HasPrefix(s, "<#"):
			return "a channel"
		}
		return strings.Trim(s, "<>@!#&^")
	})
	for { // removing one mark may form another
		next := massMention.ReplaceAllString(text, "$1")
		if next == text {
			return splitMentions(text)
		}
		text = next
	}
}

// splitMentions puts a space into what reads as a mention, also where taking a link apart
// has formed one.
func splitMentions(text string) string {
	text = strings.NewReplacer("<@", "< @", "<!", "< !").Replace(text)
	return massMention.ReplaceAllStringFunc(text, func(s string) string {
		_, n := utf8.DecodeRuneInString(s)
		return s[:n] + " " + s[n:]
	})
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)?`)
	defined    = regexp.MustCompile(`(?m)\]:`)
	slackLink  = regexp.MustCompile(`<([^<>|\s]+)\|([^<>\n]*)>`)
)

// splitLinks writes a link whose target is not allowed as its words followed by
// the bare target, which [Guard] then puts in ticks.
func splitLinks(text string, l *Links) string {
	text = slackLink.ReplaceAllStringFunc(text, func(s string) string {
		m := slackLink.FindStringSubmatch(s)
		if l.allows(m[1]) {
			return s
		}
		return m[2] + " (" + m[1] + ")"
	})
	text = inlineLink.ReplaceAllStringFunc(text, func(s string) string {
		target := strings.Trim(strings.TrimSpace(inlineLink.FindStringSubmatch(s)[1]), "<>")
		if l.allows(target) {
			return s
		}
		return "] " + s[1:]
	})
	text = strings.ReplaceAll(text, "](", "] (")
	text = joinLinks(text, l)
	return defined.ReplaceAllString(text, "] :")
}

// spaced is a Markdown link with a space between its words and its target.
var spaced = regexp.MustCompile(`\] (\(([^()\s]*)\))`)

// joinLinks removes that space where the target is allowed.
func joinLinks(text string, l *Links) string {
	return spaced.ReplaceAllStringFunc(text, func(s string) string {
		m := spaced.FindStringSubmatch(s)
		if l.allows(m[2]) {
			return "]" + m[1]
		}
		return s
	})
}

// inRanges reports whether an offset lies within one of the ranges.
func inRanges(ranges [][2]int, at int) bool {
	return slices.ContainsFunc(ranges, func(x [2]int) bool { return x[0] <= at && at < x[1] })
}

// MayLink reports whether a text may contain a link. Where it is false, [Guard]
// needs no Links.
func MayLink(text string) bool {
	return len(findAddresses(text)) > 0 || strings.Contains(text, "](") || strings.Contains(text, "<")
}
