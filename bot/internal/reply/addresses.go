package reply

import (
	"regexp"
	"slices"
	"strings"
)

var (
	scheme = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]{0,30}:/{1,}|\b(?:mailto|tel|sms|javascript|data|vbscript|file|blob|about|slack|discord|skype|magnet|geo|xmpp|sip|callto):|www\.|//)[^\s<>|"'` + "`" + `()\[\]{}]*`)
	domain = regexp.MustCompile(`(?i)(?:[\p{L}\p{N}_][\p{L}\p{N}_-]*[.。．｡])+(?:xn--[a-z0-9-]+|\p{L}{2,24}|[0-9]{1,3})(?::[0-9]{1,5})?(?:[/?#][^\s<>|"'` + "`" + `()\[\]{}]*)?`)
	mail   = regexp.MustCompile(`(?i)[a-z0-9._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,24}`)
)

// topLevel are the endings by which a name without a path is taken for an
// address.
var topLevel = strings.Fields("com net org edu gov mil int info biz name io ai dev app co me tv cc xyz site online top shop store tech cloud link click live news blog page wiki " +
	"eu us uk de fr nl ru cn jp kr br au ca ch at be es it pl se no fi dk ie in za mx ar ua tr il gg ly gl to ws su zip mov onion local internal")

// findAddresses returns the byte ranges of the addresses in a text, in order and
// without overlaps. A name with a dot counts when a path follows it, or when it
// ends in a top-level domain.
func findAddresses(text string) [][2]int {
	if !strings.ContainsAny(text, ".:/。．｡") {
		return nil // every address contains one of these
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
