package assemble

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/earshot-ai/earshot"
)

// maxName is how many graphemes of a name are shown.
const maxName = 40

// reserved are the words that stand at the start of a line for something else
// than a speaker, folded.
var reserved = []string{
	"system", "user", "assistant", "you", "thread", "standalone", "question", "current question",
	"previous conversation", "since your last message", "summary", "channel",
}

// names gives every author one name that nobody else has.
type names struct {
	self     earshot.Identity
	selfName string
	botWord  string                      // " (bot)" or " (agent)"
	byID     map[earshot.AuthorID]string // nil: nobody but the agent is known, and mentions of others stay as they are
}

// newNames names the authors of msgs, which are those at or before the anchor
// in the order of Position; an author goes by the newest name. Where two would
// look alike, or one looks like the agent or a reserved word, a number is
// added, in the order of author id. Names that held has used stay.
func newNames(self earshot.Identity, bots string, msgs []*msg, held *heldNames) *names {
	n := &names{self: self, selfName: cleanName(self.Name), botWord: " (" + bots + ")", byID: map[earshot.AuthorID]string{}}
	if n.selfName == "" {
		n.selfName = firstOf(cleanName(string(self.ID)), "agent")
	}
	type named struct {
		id         earshot.AuthorID
		base, held string
	}
	var authors []named
	index := map[earshot.AuthorID]int{}
	seen := map[earshot.Author]bool{} // from the newest back, an author's first name is the one
	for _, m := range slices.Backward(msgs) {
		if self.Is(m.Author.ID) || seen[m.Author] {
			continue
		}
		seen[m.Author] = true
		key := authorKey(m.Author)
		i, ok := index[key]
		if !ok {
			i = len(authors)
			index[key] = i
			authors = append(authors, named{id: key})
		}
		if authors[i].base == "" {
			authors[i].base = m.Author.Name
		}
	}
	for i := range authors {
		a := &authors[i]
		a.base = firstOf(firstOf(cleanName(a.base), cleanName(string(a.id))), "unknown")
		a.held = held.name(a.id, a.base)
	}
	slices.SortFunc(authors, func(a, b named) int { return cmp.Compare(a.id, b.id) })
	taken := map[string]bool{foldName(n.selfName): true}
	for _, a := range authors {
		if f := foldName(a.held); a.held != "" && !taken[f] {
			n.byID[a.id] = a.held
			taken[f] = true
		}
	}
	for _, a := range authors {
		if n.byID[a.id] != "" {
			continue
		}
		name := a.base
		if f := foldName(name); strings.HasPrefix(f, "thread (") || strings.HasPrefix(f, "standalone (") {
			name += " (1)" // so that it is no heading of the window
		}
		for k := 2; taken[foldName(name)] || isReserved(name); k++ {
			name = a.base + " (" + strconv.Itoa(k) + ")"
		}
		n.byID[a.id] = name
		taken[foldName(name)] = true
	}
	return n
}

// authorKey tells authors apart: by id, or by name where a platform gave none.
func authorKey(a earshot.Author) earshot.AuthorID {
	if a.ID == "" {
		return earshot.AuthorID("\x00" + a.Name)
	}
	return a.ID
}

// name returns the author's name without a label's suffix.
func (n *names) name(a earshot.Author) string {
	if n.self.Is(a.ID) {
		return n.selfName
	}
	return n.byID[authorKey(a)]
}

// label returns what stands before the colon: the name, and for another bot
// the word that says so.
func (n *names) label(a earshot.Author) string {
	name := n.name(a)
	if a.Kind == earshot.Bot && !n.self.Is(a.ID) {
		return name + n.botWord
	}
	return name
}

// mentioned returns the name of somebody who is mentioned: the agent, an
// author, or whatever the platform's label says.
func (n *names) mentioned(id earshot.AuthorID, label string) string {
	if n.self.Is(id) {
		return n.selfName
	}
	if name, ok := n.byID[id]; ok {
		return name
	}
	return firstOf(strings.TrimPrefix(label, "@"), string(id))
}

// cleanName makes a name of s: one line, no colon of any shape, no bracket or
// tag at its start, at most 40 graphemes.
func cleanName(s string) string {
	if !isPlain(s) || strings.ContainsAny(s, ":[<&\n\t") || strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") || strings.Contains(s, "  ") || len(s) > maxName {
		s = strings.Map(func(r rune) rune {
			switch r {
			case ':', '：', '︓', '﹕', '꞉', '∶', '։', '׃', '܃', '܄':
				return ' '
			}
			return r
		}, oneLine(s, 4*maxName))
		if strings.HasPrefix(s, "[") {
			s = strings.NewReplacer("[", "(", "]", ")").Replace(s)
		}
		s = escapeTags(strings.TrimSpace(s))
		s = oneLine(s, maxName)
	}
	return s
}

// foldName returns the form in which two names look the same: NFKC, case
// folded, letters of other scripts that are drawn like Latin ones as these, and
// without joiners and selectors, which can often not be seen.
func foldName(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if l, ok := drawnAlike[r]; ok {
			return l
		}
		if r == zwj || r == zwnj || isSelector(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s))))
}

// drawnAlike are the lower-case Cyrillic, Greek and Armenian letters that are
// drawn like a Latin one in most typefaces, after the Unicode consortium's list
// of confusables (UTS #39).
var drawnAlike = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'ӏ': 'l', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's',
	'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'в': 'b', 'к': 'k', 'м': 'm', 'н': 'h', 'т': 't',
	'α': 'a', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'υ': 'u', 'χ': 'x', 'γ': 'y', 'τ': 't', 'η': 'n',
	'օ': 'o', 'հ': 'h', 'ո': 'n', 'ս': 'u', 'ց': 'g', 'զ': 'q', 'ı': 'i',
}

// isReserved reports whether a name could be read as something else.
func isReserved(name string) bool {
	f := foldName(name)
	return slices.Contains(reserved, f) ||
		strings.HasSuffix(f, "(bot)") || strings.HasSuffix(f, "(agent)") || strings.HasSuffix(f, "(edited)")
}

// heldNames finds the names that a recorded session has used, so that they
// stay: a session is never rewritten.
type heldNames struct {
	session string // all of its user text
	shown   map[earshot.AuthorID][]*msg
	self    *names // knows the agent only, and keeps other mentions as they are
	bots    string
}

// newHeldNames looks at the messages that the session has shown as they are.
func newHeldNames(self earshot.Identity, session []earshot.SessionEntry, bots string, shown []*msg) *heldNames {
	var b strings.Builder
	for _, e := range session {
		if e.Role == earshot.User {
			b.WriteString("\n")
			b.WriteString(e.Text)
		}
	}
	h := &heldNames{session: b.String(), shown: map[earshot.AuthorID][]*msg{}, bots: " (" + bots + ")"}
	h.self = newNames(self, bots, nil, nil)
	h.self.byID = nil
	for _, m := range shown {
		key := authorKey(m.Author)
		h.shown[key] = append(h.shown[key], m)
	}
	return h
}

// name returns the name by which the session knows an author, or "" when it
// does not say.
func (h *heldNames) name(id earshot.AuthorID, base string) string {
	if h == nil || !strings.Contains(h.session, base) {
		return ""
	}
	if name := h.inJSON(id); name != "" {
		return name
	}
	if !strings.Contains(h.session, base+" (") {
		if len(h.shown[id]) > 0 {
			return h.inText(id, base, 1)
		}
		return ""
	}
	return h.inText(id, base, 99)
}

// inJSON looks for the author object of typed JSON, which names the id.
func (h *heldNames) inJSON(id earshot.AuthorID) string {
	prefix := `"user_id":` + quoteJSON(string(id)) + `,"display_name":`
	_, rest, ok := strings.Cut(h.session, prefix)
	if !ok {
		return ""
	}
	return unquoteJSON(rest)
}

// inText looks for a line that begins with the name, numbered up to most, and
// goes on with what the author said.
func (h *heldNames) inText(id earshot.AuthorID, base string, most int) string {
	for _, m := range h.shown[id] {
		first := h.beginning(m)
		if first == "" {
			continue
		}
		for k := 1; k <= most; k++ {
			name := base
			if k > 1 {
				name += " (" + strconv.Itoa(k) + ")"
			}
			label := name
			if m.Author.Kind == earshot.Bot {
				label += h.bots
			}
			edited := ""
			if m.Edited != 0 {
				edited = "(edited) "
			}
			line := label + ": " + edited + first
			if strings.Contains(h.session, "\n"+line) || strings.Contains(h.session, "\n  "+line) ||
				strings.Contains(h.session, "\nstandalone ("+label+"):\n  "+edited+first) {
				return name
			}
		}
	}
	return ""
}

// beginning returns the start of what m said as the session has it: up to the
// first line break, and up to a mention of anybody but the agent, whose name
// may have been another then.
func (h *heldNames) beginning(m *msg) string {
	text := h.self.resolveMentions(clean(m.Text))
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text, _, _ = strings.Cut(text, "<@")
	return firstGraphemes(escapeTags(text), 60)
}
