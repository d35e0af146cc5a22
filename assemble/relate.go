package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/links"
)

// relate finds how messages hang together. Links are guessed only where the
// policy's window asks for it.
func (t *turn) relate() {
	t.trees, t.guessed = nil, nil
	if w, ok := t.has(Window); ok && w.Link == LinkAuto {
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
// over. A guess is no reference.
func (t *turn) ancestors(m *msg, n int) []*msg {
	var out []*msg
	seen := map[earshot.MessageID]bool{m.ID: true}
	for at := m; len(out) < n; {
		up := t.find(at.ReplyTo)
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

// guessReach is how many of the newest messages a guess is made for. It does
// not depend on the window's limits, so that a window that shows more groups
// what it showed before in the same way.
const guessReach = 300

// guessLinks gives flat talk parents where nothing says who answers whom: no
// loaded message up to the anchor has a reply reference. What a platform says
// always wins: replies in threads are left as they are, and so is what begins
// a thread.
func (t *turn) guessLinks() {
	var flat []*msg
	for _, m := range t.upto {
		if m.ReplyTo != "" {
			return
		}
	}
	for _, m := range slices.Backward(t.live) {
		if len(flat) == guessReach {
			break
		}
		if m.Root() == "" && t.talk(m) {
			flat = append(flat, m)
		}
	}
	if len(flat) < 2 {
		return
	}
	slices.Reverse(flat)
	t.guessed = map[earshot.MessageID]earshot.MessageID{}
	linker, threads := links.New(), t.repliesHere()
	for _, m := range flat {
		guess := linker.Next(m.Message)
		begins := threads[m.ID] > 0 || m.Replies != nil && m.Replies.Count > 0
		if guess.Parent != links.None && !begins {
			t.guessed[m.ID] = flat[guess.Parent].ID
		}
	}
}

// why is the reason as the ledger writes it, with a mark on what a window
// shows where it does by a guess.
func (t *turn) why(m *msg) string {
	why := m.why()
	if m.reason == noReason && (m.section == Window || m.section == Recall) && t.guessed[m.ID] != "" {
		why += ", guessed"
	}
	return why
}
