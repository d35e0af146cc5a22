package mcpclient

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/secret"
)

// A strainer removes from what a server says what it must not bring along.
type strainer struct{ secrets *strings.Replacer }

// secretNames are what the names of variables that hold secrets contain.
var secretNames = []string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "DSN"}

// leastSecret is how long a text must be to be struck out: a shorter one stands in many
// words by chance.
const leastSecret = 6

// newStrainer returns a strainer that knows the secrets of a server.
func newStrainer(s Server) strainer {
	known := map[string]bool{}
	add := func(text string) {
		quoted, _ := json.Marshal(text) // a text is always JSON
		for _, form := range []string{text, strings.Trim(string(quoted), `"`), url.QueryEscape(text)} {
			if len(form) >= leastSecret {
				known[form] = true
			}
		}
	}
	for _, x := range s.Secrets {
		add(x.Reveal())
	}
	for _, value := range s.Headers {
		add(value)
		if _, after, ok := strings.Cut(value, " "); ok { // behind Bearer or Basic
			add(strings.TrimSpace(after))
		}
	}
	if s.OAuth != nil {
		add(s.OAuth.Secret.Reveal())
	}
	for name, value := range s.Env {
		upper := strings.ToUpper(name)
		if slices.ContainsFunc(secretNames, func(w string) bool { return strings.Contains(upper, w) }) {
			add(value)
		}
	}
	list := slices.Sorted(maps.Keys(known))
	slices.SortStableFunc(list, func(x, y string) int { return len(y) - len(x) }) // the longest first
	var pairs []string
	for _, text := range list {
		pairs = append(pairs, text, secret.Hidden)
	}
	return strainer{strings.NewReplacer(pairs...)}
}

// text returns a text without secrets, escape sequences and characters that nobody sees,
// of most bytes at the most; cut says whether there was more. Secrets are removed last
// too: what cleaning joins may be one.
func (x strainer) text(s string, most int) (clean string, cut bool) {
	if bound := 4*most + 64; len(s) > bound { // cleaning shortens, and is not for 16 MiB
		s, cut = s[:bound], true
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\x1b\u009b") {
		s = ansi.Strip(s)
	}
	s = x.secrets.Replace(assemble.Clean(s))
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s, cut = s[:most], true
	}
	return s, cut
}

// line returns a text as one line of at most most characters.
func (x strainer) line(s string, most int) string {
	s, cut := x.text(s, 4*most)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > most {
		s, cut = string(runes[:most-1]), true
	}
	if cut {
		s += "…"
	}
	return s
}

// err returns the text of an error as one line without secrets and addresses.
func (x strainer) err(err error) string { return x.line(secret.Hide(err).Error(), 300) }
