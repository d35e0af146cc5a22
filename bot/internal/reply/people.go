package reply

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// People are those whom a reply may name: what they are called, and who of them it may
// mention. The zero value knows nobody. A value is used by one goroutine at a time.
type People struct {
	names map[earshot.AuthorID]string // what each is called
	may   map[earshot.AuthorID]bool   // who may be mentioned
	ids   map[string]earshot.AuthorID // by name in lower case; "" where several have it
	long  []string                    // the names, the longest first
	rooms map[string]string           // what channels are called, by id
}

// Add adds a person with what they are called; the first name is the one that is written.
// may says that a reply may mention them. What is known of a person already stays.
func (p *People) Add(id earshot.AuthorID, may bool, names ...string) {
	if p.names == nil {
		p.names, p.may, p.ids = map[earshot.AuthorID]string{}, map[earshot.AuthorID]bool{}, map[string]earshot.AuthorID{}
	}
	p.may[id] = p.may[id] || may && isPlainID(id)
	before := len(p.long)
	for _, name := range names {
		name = cleanName(name)
		if name == "" {
			continue
		}
		if p.names[id] == "" {
			p.names[id] = name
		}
		key := strings.ToLower(name)
		switch known, ok := p.ids[key]; {
		case !ok:
			p.ids[key] = id
			p.long = append(p.long, key)
		case known != id:
			p.ids[key] = ""
		}
	}
	if len(p.long) == before {
		return
	}
	slices.SortFunc(p.long, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// cleanName returns a name as it may stand in a reply.
func cleanName(name string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "<", "", ">", "", "@", "").Replace(withoutMarks(assemble.Clean(name))))
}

// Learn adds what a message that the model was shown calls those whom it mentions, people and
// channels. Whoever is known by that alone is named, and never mentioned: who writes a
// name must not decide who is called.
func (p *People) Learn(text string) {
	if !strings.Contains(text, "|") {
		return
	}
	for _, m := range labelledID.FindAllStringSubmatch(text, -1) {
		name := cleanName(m[3])
		switch {
		case name == "":
		case m[1] == "#":
			if p.rooms == nil {
				p.rooms = map[string]string{}
			}
			if p.rooms[m[2]] == "" {
				p.rooms[m[2]] = strings.TrimLeft(name, "#")
			}
		default:
			if p.names == nil {
				p.Add("", false)
			}
			if id := earshot.AuthorID(m[2]); p.names[id] == "" {
				p.names[id] = name
			}
		}
	}
}

// isPlainID reports whether an id can stand in a mention.
func isPlainID(id earshot.AuthorID) bool {
	m := userID.FindStringSubmatch("<@" + string(id) + ">")
	return m != nil && m[1] == string(id)
}

// A mark stands in a text for a mention while the text is made safe: a character of the
// private use area, which no text of a model keeps.
const (
	firstMark = '\uE000'
	maxMarks  = 64 // mentions in a reply
)

// withoutMarks removes the characters that are marks.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= firstMark && r < firstMark+maxMarks {
			return -1
		}
		return r
	}, s)
}

var (
	userID   = regexp.MustCompile(`^<@[!]?([A-Za-z0-9_.-]+)(?:\|([^<>\n]*))?>`)
	roomID   = regexp.MustCompile(`^<#([A-Za-z0-9]+)(?:\|[^<>\n]*)?>`)
	codeSpan = regexp.MustCompile("(?s)`+[^`]+`+")
	indented = regexp.MustCompile(`(?m)^(?: {4}|\t).*$`) // may be code
	label    = regexp.MustCompile(`\[[^\[\]\n]*\] ?[(:\[]`)
)

// labelledID is a mention of a person or a channel in the stored form, with the name.
var labelledID = regexp.MustCompile(`<([@#])!?([A-Za-z0-9_.-]+)\|([^<>\n]*)>`)

// mark writes a mark for each mention of somebody who may be mentioned, by id or by name,
// and returns who the marks are. Where a mention cannot stand, as in code, in an address or in
// the words of a link, and for everybody else it is a name.
func (p *People) mark(text string) (string, []earshot.AuthorID) {
	text = withoutMarks(text)
	if !strings.ContainsAny(text, "@#") {
		return text, nil
	}
	var marked []earshot.AuthorID
	closed := noMentions(text)
	var b strings.Builder
	for i := 0; i < len(text); {
		id, name, n := p.at(text, i)
		switch {
		case n == 0:
			_, n = utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+n])
		case p.may[id] && len(marked) < maxMarks && !slices.ContainsFunc(closed, func(x [2]int) bool { return x[0] <= i+n && i <= x[1] }):
			b.WriteRune(firstMark + rune(len(marked)))
			marked = append(marked, id)
		default:
			b.WriteString(name)
		}
		i += n
	}
	return b.String(), marked
}

// at returns who is mentioned at an offset, what a reply says in place of a mention, and
// how many bytes the mention has; 0 for none.
func (p *People) at(text string, i int) (id earshot.AuthorID, name string, n int) {
	if text[i] == '<' {
		if m := roomID.FindStringSubmatch(text[i:]); m != nil && p.rooms[m[1]] != "" {
			return "", "#" + p.rooms[m[1]], len(m[0])
		}
		m := userID.FindStringSubmatch(text[i:])
		if m == nil {
			return "", "", 0
		}
		id = earshot.AuthorID(m[1])
		if name = p.names[id]; name == "" {
			name = strings.TrimLeft(m[2], "@!#")
		}
		if name == "" {
			name = "somebody"
		}
		return id, name, len(m[0])
	}
	if text[i] != '@' {
		return "", "", 0
	}
	if !opensName(text[:i]) {
		return "", "", 0
	}
	rest := text[i+1:]
	for _, key := range p.long {
		if len(rest) < len(key) || strings.ToLower(rest[:len(key)]) != key || goesOn(rest[len(key):]) {
			continue
		}
		if id = p.ids[key]; id == "" || massMention.MatchString("@"+key) {
			return "", "", 0
		}
		return id, text[i : i+1+len(key)], 1 + len(key)
	}
	return "", "", 0
}

// opensName reports whether an @ behind a text may begin a mention by name.
func opensName(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return !isInWord(r) && r != '@' && r != '<'
}

// isInWord reports whether a name cannot end before a character or begin behind it.
func isInWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// goesOn reports whether a word goes on in s, as "-Lena" behind "Anna".
func goesOn(s string) bool {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[n:])
	return isInWord(first) || strings.ContainsRune("-.@/:", first) && isInWord(next)
}

// noMentions returns where no mention can stand: code, addresses, and the words of links.
func noMentions(text string) [][2]int {
	var out [][2]int
	if at := strings.Index(text, "```"); at >= 0 { // where a fence ends is told differently by readers
		out = append(out, [2]int{at, len(text)})
		if code := findFences(text); len(code) > 0 {
			out = code
		}
	}
	if strings.Contains(text, "~~~") {
		return [][2]int{{0, len(text)}}
	}
	for _, r := range []*regexp.Regexp{codeSpan, indented, label, slackLink, inlineLink} {
		for _, at := range r.FindAllStringIndex(text, -1) {
			if !strings.HasPrefix(text[at[0]:], "<@") { // a mention with its name looks like a link
				out = append(out, [2]int{at[0], at[1]})
			}
		}
	}
	for _, at := range findAddresses(text) {
		out = append(out, [2]int{at[0], at[1]})
	}
	return out
}

// write writes mentions, or in code the names, in place of their marks.
func (p *People) write(text string, marked []earshot.AuthorID, mention bool) string {
	for i, id := range marked {
		s := p.names[id]
		if mention {
			s = "<@" + string(id) + ">"
		}
		text = strings.ReplaceAll(text, string(firstMark+rune(i)), s)
	}
	return text
}

var unfinishedMention = regexp.MustCompile(`<(?:[@!#][^<>\n]{0,80})?$`)

// Finished returns a text that is still being written without the mention at its end of
// which a part may be missing: nobody should see an id, and the rest makes another text
// of it, as of "@Anna" with which "@Annabel" or "@Anna Lind" begins.
func (p *People) Finished(text string) string {
	if at := unfinishedMention.FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	for i := len(text) - 1; i >= 0 && text[i] != '\n'; i-- {
		if text[i] == '@' && opensName(text[:i]) && p.mayGoOn(strings.ToLower(text[i+1:])) {
			return text[:i]
		}
	}
	return text
}

// mayGoOn reports whether the end of a text, in lower case, may become a name or, where it
// is one, a longer word.
func (p *People) mayGoOn(end string) bool {
	for _, key := range p.long {
		rest, whole := strings.CutPrefix(end, key)
		if strings.HasPrefix(key, end) || whole && len(rest) == 1 && strings.Contains("-.@/:", rest) {
			return true
		}
	}
	return false
}
