package assemble

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// reserved are words that begin a line in a prompt and are not a speaker's name.
var reserved = []string{
	"system", "user", "assistant", "you", "me", "thread", "standalone", "question", "current question",
	"previous conversation", "since your last message", "summary", "channel",
}

// uniqueNames are the unique names of all authors.
type uniqueNames struct {
	self     earshot.Identity
	selfName string
	asker    EmojiAsker                  // who asks, where that is by an emoji
	botWord  string                      // " (bot)" or " (agent)"
	byID     map[earshot.AuthorID]string // of all authors but the agent
	inUse    map[earshot.AuthorID]bool   // whose name the session uses
	renamed  map[earshot.AuthorID]string // of those, who goes by another name now

	keepsIDs bool // a mention of whom nobody knows the name stays as it is stored

	standings map[earshot.AuthorID]knownStanding // of those who are no members
	lanes     map[earshot.AuthorID]earshot.Lane  // of those who are not in [earshot.LaneFull]
}

// An authorName is an author whose name is being chosen.
type authorName struct {
	id         earshot.AuthorID
	base, full string
	standing   knownStanding
	twin       bool // another name looks the same as base, or base is reserved
}

// newNames names the authors of msgs, which are in the order of Position, those who are
// mentioned, and who asks by an emoji. Those
// whom the session names keep that name, if it obeys the rules. The others get
// their newest name; where two look alike, their full names if these differ, else
// the later by id a number. A name that looks like the agent's or is reserved gets
// a number too.
func newNames(self earshot.Identity, bots string, msgs []*msg, mentioned []MentionedPerson, asker EmojiAsker, session []earshot.SessionName) *uniqueNames {
	n := &uniqueNames{self: self, selfName: cleanName(self.Name), asker: asker, botWord: " (" + bots + ")",
		byID: map[earshot.AuthorID]string{}, standings: map[earshot.AuthorID]knownStanding{}, inUse: map[earshot.AuthorID]bool{}, renamed: map[earshot.AuthorID]string{}}
	if n.selfName == "" {
		n.selfName = firstOf(cleanName(string(self.ID)), "agent")
	}
	memo := map[string][2]string{}
	taken := newLooks(memo)
	taken.add(n.selfName)
	for _, h := range session {
		if n.inUse[h.ID] || self.Is(h.ID) || h.Name != cleanName(h.Name) || h.Name == "" || isReserved(h.Name) || taken.has(h.Name) {
			continue
		}
		n.byID[h.ID], n.inUse[h.ID] = h.Name, true
		taken.add(h.Name)
	}
	authors := n.authors(msgs, mentioned)
	shorts, fulls := newLooks(memo), newLooks(memo)
	for i := range authors {
		shorts.add(authors[i].base)
		if s := authors[i].standing; s.is != "" {
			n.standings[authors[i].id] = s
		}
	}
	for i := range authors {
		a := &authors[i]
		if fulls.add(firstOf(a.full, a.base)); n.inUse[a.id] {
			continue
		}
		if a.twin = shorts.count(a.base) > 1 || taken.has(a.base) || isReserved(a.base); !a.twin {
			n.byID[a.id] = a.base
			taken.add(a.base)
		}
	}
	for _, a := range authors {
		switch {
		case !a.twin || n.inUse[a.id]:
		case a.full != "" && fulls.count(a.full) == 1 && !taken.has(a.full) && !isReserved(a.full):
			n.byID[a.id] = a.full
			taken.add(a.full)
		default:
			n.byID[a.id] = taken.number(a.base)
		}
	}
	for _, a := range authors {
		if kept := n.byID[a.id]; n.inUse[a.id] && kept != a.base && kept != a.full && !strings.HasPrefix(kept, a.base+" (") {
			n.renamed[a.id] = taken.number(a.base)
		}
	}
	return n
}

// authors returns the authors of msgs, those who gave their reactions, those who are
// mentioned and who asks by an emoji, without the agent, in the order of id.
func (n *uniqueNames) authors(msgs []*msg, mentioned []MentionedPerson) []authorName {
	var list []authorName
	index := map[earshot.AuthorID]int{}
	done := earshot.AuthorID("\x00\x00") // the author of the message before; this is nobody's id
	for _, m := range slices.Backward(msgs) {
		if m.Author.ID == done || m.Deleted || m.withheld || n.self.Is(m.Author.ID) {
			continue
		}
		id := authorKey(m.Author)
		i, ok := index[id]
		if !ok {
			i = len(list)
			index[id] = i
			list = append(list, authorName{id: id})
		}
		if a := &list[i]; a.base == "" {
			a.base, a.full, a.standing = m.Author.Name, m.Author.FullName, standingOf(m.Author)
		}
		if m.Author.ID != "" && list[i].base != "" {
			done = id
		}
	}
	besides := func(id earshot.AuthorID, name, full string) {
		if _, known := index[id]; !known && name != "" && !n.self.Is(id) {
			index[id] = len(list)
			list = append(list, authorName{id: id, base: name, full: full})
		}
	}
	for _, p := range mentioned {
		besides(p.ID, p.Name, p.FullName)
	}
	for _, m := range slices.Backward(msgs) {
		for _, r := range m.Reactions {
			for _, x := range reactorsOf(m.Message, r) {
				if !m.Deleted {
					besides(x.ID, x.Name, "")
				}
			}
		}
	}
	if _, known := index[n.asker.ID]; !known && n.asker.Emoji != "" && !n.self.Is(n.asker.ID) {
		list = append(list, authorName{id: n.asker.ID, base: n.asker.Name})
	}
	for i := range list {
		a := &list[i]
		a.base, a.full = noHeading(firstOf(firstOf(cleanName(a.base), cleanName(string(a.id))), "unknown")), noHeading(cleanName(a.full))
	}
	slices.SortFunc(list, func(a, b authorName) int { return strings.Compare(string(a.id), string(b.id)) })
	return list
}

// authorKey is the same for all messages of one author: the id, or the name where
// the platform gives no id.
func authorKey(a earshot.Author) earshot.AuthorID {
	if a.ID == "" {
		return earshot.AuthorID("\x00" + a.Name)
	}
	return a.ID
}

// name returns the author's name without a label's suffix.
func (n *uniqueNames) name(a earshot.Author) string {
	if n.self.Is(a.ID) {
		return n.selfName
	}
	return n.byID[authorKey(a)]
}

// label returns what stands before the colon: the name, and behind another bot's
// the word that marks bots.
func (n *uniqueNames) label(a earshot.Author) string {
	name := n.name(a)
	if a.Kind == earshot.Bot && !n.self.Is(a.ID) {
		return name + n.botWord
	}
	return name
}

// labels returns the label with the author's marks, and text with only that of words that
// are inert.
func (n *uniqueNames) labels(a earshot.Author) (text, marked string) {
	text, s := n.label(a), n.standing(a)
	switch {
	case s.inert && a.Kind == earshot.Bot:
		text = strings.TrimSuffix(text, ")") + ", " + string(earshot.LaneInert) + ")"
		return text, text
	case s.inert:
		return text + inertMark, text + s.mark()
	}
	return text, text + s.mark()
}

// A knownStanding is how far an author belongs here, and if that is elsewhere, the
// organisation's name as prompts show it; and whether the author's words are inert.
type knownStanding struct {
	is    earshot.Standing
	team  string
	inert bool
}

// standingOf reads an author's standing. An organisation's name, which people choose, has
// no bracket in it.
func standingOf(a earshot.Author) (s knownStanding) {
	switch a.Standing {
	case earshot.Guest:
		s.is = a.Standing
	case earshot.External:
		s.is = a.Standing
		s.team = cleanName(strings.Map(func(r rune) rune {
			if isBracket(r) != 0 {
				return ' '
			}
			return r
		}, cleanName(a.Team)))
	}
	return s
}

// inertMark stands behind whose words are inert, wherever they are named.
const inertMark = " (" + string(earshot.LaneInert) + ")"

// mark is what stands behind a label, "" for a member whose words are not inert.
func (s knownStanding) mark() string {
	if s.is == "" {
		if s.inert {
			return inertMark
		}
		return ""
	}
	m := string(s.is)
	if s.team != "" {
		m = s.team + ", " + m
	}
	if s.inert {
		m += ", " + string(earshot.LaneInert)
	}
	return " (" + m + ")"
}

// standing returns an author's standing, as the newest of their messages that has a name
// tells it. Other programs are marked as what they are.
func (n *uniqueNames) standing(a earshot.Author) knownStanding {
	var s knownStanding
	if a.Kind != earshot.Bot {
		s = n.standings[authorKey(a)]
	}
	_, s.inert = n.lanes[authorKey(a)]
	return s
}

// mentionedName returns the name of a mentioned user: of the agent, of who is known by a
// name, or the label in the mention, else the id.
func (n *uniqueNames) mentionedName(id earshot.AuthorID, label string) string {
	if n.self.Is(id) {
		return n.selfName
	}
	if name, ok := n.byID[id]; ok {
		return name
	}
	return firstOf(strings.TrimPrefix(label, "@"), string(id))
}

// newNames returns the names that a turn uses for the first time in its epoch, in
// the order of id: of the authors of the messages shown, of those whom these
// quote or who reacted to them, of those who are mentioned in them or in texts, and of
// who asks by an emoji.
func (n *uniqueNames) newNames(shown []*msg, texts ...string) []earshot.SessionName {
	used := map[earshot.AuthorID]bool{}
	if n.asker.Emoji != "" {
		used[n.asker.ID] = true
	}
	for _, m := range shown {
		used[authorKey(m.Author)] = true
		texts = append(texts, m.Text)
		for _, s := range m.Shared {
			used[s.ID] = true
			texts = append(texts, s.Text, s.Place)
		}
		for _, r := range m.Reactions {
			for _, x := range reactorsOf(m.Message, r) {
				used[x.ID] = true
			}
		}
	}
	for _, text := range texts {
		for {
			_, rest, ok := strings.Cut(text, "<@")
			if !ok {
				break
			}
			if end := strings.IndexAny(rest[:min(len(rest), maxMarkup)], ">|"); end > 0 {
				used[earshot.AuthorID(strings.TrimLeft(rest[:end], "!&"))] = true
			}
			text = rest
		}
	}
	var out []earshot.SessionName
	for id := range used {
		if name, ok := n.byID[id]; ok && !n.inUse[id] {
			out = append(out, earshot.SessionName{ID: id, Name: name})
		}
	}
	slices.SortFunc(out, func(a, b earshot.SessionName) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// lookCounts counts names by how they look: see [lookForms].
type lookCounts struct {
	counts map[string]int
	next   map[string]int       // by look, the lowest number that may be free
	memo   map[string][2]string // the looks of names that were asked for
}

func newLooks(memo map[string][2]string) lookCounts {
	return lookCounts{map[string]int{}, map[string]int{}, memo}
}

// of returns the looks of a name.
func (l lookCounts) of(name string) (one, two string) {
	if m, ok := l.memo[name]; ok {
		return m[0], m[1]
	}
	one, two = lookForms(name)
	l.memo[name] = [2]string{one, two}
	return one, two
}

// add counts a name, once under each of its looks.
func (l lookCounts) add(name string) { l.put(l.of(name)) }

func (l lookCounts) put(one, two string) {
	l.counts[one]++
	if two != one {
		l.counts[two]++
	}
}

// count returns how many of the names that were added look like name.
func (l lookCounts) count(name string) int {
	one, two := l.of(name)
	return max(l.counts[one], l.counts[two])
}

func (l lookCounts) has(name string) bool { return l.count(name) > 0 }

// maxSuffix is how many characters a number takes behind a name.
const maxSuffix = len(" (100000)")

// number returns base, or where that is taken or reserved base with the lowest
// free number, and adds it. A skeleton is made letter by letter, so that of a name
// with a number it is the name's and then the number's.
func (l lookCounts) number(base string) string {
	if !l.has(base) && !isReserved(base) {
		l.add(base)
		return base
	}
	short := base
	if len(base) > maxName-maxSuffix {
		short = firstGraphemes(base, maxName-maxSuffix)
	}
	one, two := l.of(short)
	for k := max(2, l.next[one]); ; k++ {
		suffix := " (" + strconv.Itoa(k) + ")"
		tail := skeleton(suffix)
		a, b := one+strings.ToLower(tail), two+tail
		if l.counts[a]+l.counts[b] == 0 {
			l.next[one] = k + 1
			l.put(a, b)
			return short + suffix
		}
	}
}
