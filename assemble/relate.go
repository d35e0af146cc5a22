package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// relate finds how messages hang together. Links are guessed only where the
// policy asks for it.
func (t *turn) relate() {
	if t.in.Policy.GuessLinks {
		t.guessLinks()
	}
}

// parent returns the id that m answers in the forest: its reply reference,
// else its thread's root, else a guess, else "".
func (t *turn) parent(m *msg) earshot.MessageID {
	if m.ReplyTo != "" && m.ReplyTo != m.ID {
		return m.ReplyTo
	}
	if r := m.Root(); r != "" {
		return r
	}
	return t.guessed[m.ID]
}

// tree returns the id at the top of m's tree, which need not be loaded.
func (t *turn) tree(m *msg) earshot.MessageID {
	if t.trees == nil {
		t.trees = map[earshot.MessageID]earshot.MessageID{}
	}
	var path []earshot.MessageID
	var top earshot.MessageID
	for at := m; ; {
		if known, ok := t.trees[at.ID]; ok {
			top = known
			break
		}
		t.trees[at.ID] = at.ID // also ends a circle
		path = append(path, at.ID)
		top = at.ID
		up := t.parent(at)
		if up == "" {
			break
		}
		top = up
		if at = t.find(up); at == nil || at.Position().Compare(t.anchor.Position()) > 0 {
			break
		}
	}
	for _, id := range path {
		t.trees[id] = top
	}
	return top
}

// ancestors returns up to n messages that m answers, nearest first: what a
// reply reference points to, and so on up. Deleted and blank ones are passed
// over.
func (t *turn) ancestors(m *msg, n int) []*msg {
	var out []*msg
	seen := map[earshot.MessageID]bool{m.ID: true}
	for at := m; len(out) < n; {
		id := at.ReplyTo
		if id == "" && at.Root() == "" {
			id = t.guessed[at.ID]
		}
		up := t.find(id)
		if up == nil || seen[up.ID] || up.Position().Compare(t.anchor.Position()) > 0 {
			break
		}
		seen[up.ID] = true
		if up.verdict == undecided {
			out = append(out, up)
		}
		at = up
	}
	return out
}

// conversation returns a test for the messages that the agent remembers
// together with the anchor: its thread; in a DM the top level; where earlier
// turns stand at the channel's top level, that; a reply's tree; or nothing but
// what the anchor itself starts.
func (t *turn) conversation() func(*msg) bool {
	a := t.anchor
	if root := a.Root(); root != "" {
		return inThread(root)
	}
	top := func(m *msg) bool { return m.Root() == "" }
	switch {
	case t.in.Channel.Kind == earshot.KindDM:
		return top
	case a.ReplyTo != "":
		tree := t.tree(a)
		return func(m *msg) bool { return t.tree(m) == tree || t.recorded[m.ID] || t.answered[m.ID] }
	case t.later && t.turnsAtTop():
		return top
	}
	return inThread(a.ID)
}

func inThread(root earshot.MessageID) func(*msg) bool {
	return func(m *msg) bool { return m.ID == root || m.Root() == root }
}

// turnsAtTop reports whether a recorded turn's anchor stands at the channel's
// top level: then that is the conversation.
func (t *turn) turnsAtTop() bool {
	for _, a := range t.in.Conversation.Turns {
		if m := t.find(a.Anchor); m != nil && m != t.anchor && m.Root() == "" && m.ReplyTo == "" {
			return true
		}
	}
	return false
}

// root returns the anchor's thread root where it is loaded and can be shown.
func (t *turn) root() *msg {
	m := t.find(t.anchor.Root())
	if m == nil || m == t.anchor || m.Deleted || m.reason == reasonBlank || m.Position().Compare(t.anchor.Position()) > 0 {
		return nil
	}
	return m
}

// How far back a guess looks.
const (
	guessMessages = 60
	guessSpan     = 3600_000_000 // an hour in microseconds
)

// guessLinks gives messages without a reference one: a message that begins
// with a name and a colon or comma, or with a mention, answers what that person
// said last, within 60 messages and an hour.
func (t *turn) guessLinks() {
	t.guessed = map[earshot.MessageID]earshot.MessageID{}
	type said struct {
		m  *msg
		at int
	}
	last := map[string]said{}
	for i, m := range append(slices.Clip(t.live), t.anchor) {
		if m.ReplyTo == "" && m.Root() == "" {
			for _, who := range t.addressees(m) {
				s, ok := last[who]
				if ok && i-s.at <= guessMessages && m.Time-s.m.Time <= guessSpan && authorKey(s.m.Author) != authorKey(m.Author) {
					t.guessed[m.ID] = s.m.ID
					break
				}
			}
		}
		s := said{m, i}
		last[foldName(cleanName(m.Author.Name))] = s
		last["\x00"+string(m.Author.ID)] = s
	}
}

// addressees returns the keys under which guessLinks knows whom a message is
// addressed to.
func (t *turn) addressees(m *msg) []string {
	text := strings.TrimSpace(m.Text)
	if rest, ok := strings.CutPrefix(text, "<@"); ok {
		if end := strings.IndexAny(rest, ">|"); end > 0 {
			return []string{"\x00" + strings.TrimPrefix(rest[:end], "!")}
		}
		return nil
	}
	end := strings.IndexAny(text, ":,\n")
	if end <= 0 || end > 4*maxName || text[end] == '\n' {
		return nil
	}
	return []string{foldName(cleanName(strings.TrimPrefix(text[:end], "@")))}
}
