package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/links"
)

// relate finds who answers whom. It guesses only where a section of the policy
// asks for it.
func (t *turn) relate() {
	if slices.ContainsFunc(t.sections, func(s turnSection) bool { return s.Link == LinkAuto }) {
		t.guessLinks()
	}
}

// parent returns the id of what m answers: its reply reference, else its
// thread's root, else a guess, else "". A reply in a thread whose reference leads
// nowhere stays in its thread.
func (t *turn) parent(m *msg) earshot.MessageID {
	root := m.Root()
	if m.ReplyTo != "" && m.ReplyTo != m.ID && (root == "" || m.ReplyTo == root || !t.deadEnd(m.ReplyTo)) {
		return m.ReplyTo
	}
	if root != "" {
		return root
	}
	return t.guessed[m.ID]
}

// deadEnd reports whether nothing is known of what a message answers: it is not
// loaded, stands after the anchor, or is a tombstone.
func (t *turn) deadEnd(id earshot.MessageID) bool {
	m := t.find(id)
	return m == nil || t.afterEnd(m) || m.Deleted && m.ReplyTo == "" && m.Root() == ""
}

// tree returns the id at the top of m's tree, which need not be loaded. Where
// references lead round in a circle, the earliest message of it is the top.
func (t *turn) tree(m *msg) earshot.MessageID {
	if m.tree != "" {
		return m.tree
	}
	var few [8]*msg
	path := few[:0]
	var top earshot.MessageID
	for at := m; ; {
		if at.tree != "" {
			top = at.tree
			break
		}
		if at.walked {
			top = slices.MinFunc(path[slices.Index(path, at):], byPosition).ID
			break
		}
		at.walked = true
		path = append(path, at)
		top = at.ID
		up := t.parent(at)
		if up == "" {
			break
		}
		top = up
		if at = t.find(up); at == nil || t.afterEnd(at) {
			break
		}
	}
	for _, on := range path {
		on.tree, on.walked = top, false
	}
	return top
}

// afterEnd reports whether m was said after the question was asked.
func (t *turn) afterEnd(m *msg) bool { return m.Position().Compare(t.end) > 0 }

// ancestors returns the messages above m, nearest first: what its reply reference
// points to, and so on up. A part of a split answer that has no reference itself
// leads to where the other parts do. Guesses are not followed.
func (t *turn) ancestors(m *msg) []*msg {
	var out []*msg
	seen := map[earshot.MessageID]bool{m.ID: true}
	for at := m; ; {
		up := t.find(t.above(at))
		if up == nil || seen[up.ID] || t.afterEnd(up) {
			return out
		}
		seen[up.ID] = true
		out = append(out, up)
		at = up
	}
}

// above returns m's reply reference, else the first one of the other parts of
// the answer that m is a part of, else "".
func (t *turn) above(m *msg) earshot.MessageID {
	if m.ReplyTo != "" || !t.recorded[m.ID] {
		return m.ReplyTo
	}
	for _, id := range t.in.Conversation.Parts(m.ID) {
		if part := t.find(id); part != nil && part.ReplyTo != "" && !t.afterEnd(part) {
			return part.ReplyTo
		}
	}
	return ""
}

// otherParts returns what belongs to the agent's answers among a chain's messages
// and is not in the chain: the other ids of a recorded answer, and the agent's
// messages that reply to the same message in the same place.
func (t *turn) otherParts(chain []*msg) []*msg {
	type place struct{ replyTo, root earshot.MessageID }
	var out []*msg
	seen := map[earshot.MessageID]bool{t.anchor.ID: true}
	for _, m := range chain {
		seen[m.ID] = true
	}
	add := func(m *msg) {
		if m != nil && !seen[m.ID] && !t.afterEnd(m) {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	answered := map[place]bool{}
	for _, m := range chain {
		if t.recorded[m.ID] {
			for _, id := range t.in.Conversation.Parts(m.ID) {
				add(t.find(id))
			}
		}
		if m.ReplyTo != "" && t.in.Identity.Is(m.Author.ID) {
			answered[place{m.ReplyTo, m.Root()}] = true
		}
	}
	if len(answered) == 0 {
		return out
	}
	for _, m := range t.upTo {
		if m.ReplyTo != "" && t.in.Identity.Is(m.Author.ID) && answered[place{m.ReplyTo, m.Root()}] {
			add(m)
		}
	}
	return out
}

// conversation returns a test for the messages that the agent remembers
// together with the anchor: [ExtentOf], except that recorded turns at a
// channel's top level make that the conversation.
func (t *turn) conversation() func(*msg) bool {
	extent := ExtentOf(t.in.Channel.Kind, t.anchor.Message)
	switch {
	case extent.Replies:
		trees := t.conversationTrees()
		return func(m *msg) bool { return trees[t.tree(m)] || t.recorded[m.ID] || t.answered[m.ID] }
	case extent.Thread == t.anchor.ID && t.later && t.turnsAtTop():
		extent = Extent{TopLevel: true}
	}
	return t.holds(extent)
}

// holds returns a test for the messages of an extent. With the anchor's thread go the
// agent's answers to its root that stand beside it.
func (t *turn) holds(extent Extent) func(*msg) bool {
	answers := t.answersBeside(extent.Thread)
	return func(m *msg) bool { return extent.Holds(m.Message) || slices.Contains(answers, m) }
}

// answersBeside returns the agent's answers to the root of the anchor's thread that
// stand outside of it, as where a person opens a thread below a question that was
// answered at the top level: what replies to it by reference, and in a DM what the
// agent says before anybody else does. Where the root is the agent's own there are none.
func (t *turn) answersBeside(thread earshot.MessageID) []*msg {
	root := t.find(thread)
	if root == nil || root == t.anchor || t.afterEnd(root) || thread != t.anchor.Root() || root.Root() != "" || t.in.Identity.Is(root.Author.ID) {
		return nil
	}
	var out []*msg
	open := t.in.Channel.Kind == earshot.KindDM // nobody else has spoken since
	for _, m := range t.live {
		if m.Position().Compare(root.Position()) <= 0 || m.Root() != "" || !t.isSpoken(m) {
			continue
		}
		own := t.in.Identity.Is(m.Author.ID)
		open = open && own
		if own && (m.ReplyTo == root.ID || open && m.ReplyTo == "") {
			out = append(out, m)
		}
	}
	return out
}

// conversationTrees returns the trees of the anchor, and of the recorded turns'
// anchors and answers: a part of an answer may stand without a reference.
func (t *turn) conversationTrees() map[earshot.MessageID]bool {
	trees := map[earshot.MessageID]bool{t.tree(t.anchor): true}
	add := func(id earshot.MessageID) {
		if m := t.find(id); m != nil && !t.afterEnd(m) {
			id = t.tree(m)
		}
		trees[id] = true
	}
	for _, a := range t.in.Conversation.Turns {
		add(a.Anchor)
		for _, id := range a.Replies {
			add(id)
		}
	}
	return trees
}

// turnsAtTop reports whether a recorded turn's anchor stands at the channel's
// top level.
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
	if m == nil || m == t.anchor || m.Deleted || m.withheld || m.reason == reasonBlank || t.afterEnd(m) {
		return nil
	}
	return m
}

// isAnswer reports whether m is the agent's own answer in a thread. Shown
// outside of the thread an answer is cut short: in the log form always,
// elsewhere where not everything fits.
func (t *turn) isAnswer(m *msg) bool { return m.Root() != "" && t.in.Identity.Is(m.Author.ID) }

// guessReach is how many of the newest messages a guess is made for. It does
// not depend on the window's limits, so that a window that shows more groups
// what it showed before in the same way.
const guessReach = 300

// guessLinks guesses what messages at the top level answer that do not say so
// themselves: a reply reference is a fact, and who begins a thread answers nothing.
// A guess may point into a tree of references.
func (t *turn) guessLinks() {
	var flat []*msg
	for _, m := range slices.Backward(t.live) {
		if len(flat) == guessReach {
			break
		}
		if m.Root() == "" && t.isSpoken(m) && !m.withheld {
			flat = append(flat, m)
		}
	}
	if len(flat) < 2 {
		return
	}
	slices.Reverse(flat)
	number := make(map[earshot.MessageID]int, len(flat))
	for i, m := range flat {
		number[m.ID] = i
	}
	t.guessed = map[earshot.MessageID]earshot.MessageID{}
	linker, replies := links.New(), t.loadedReplies()
	for i, m := range flat {
		if t.parent(m) != "" {
			parent, ok := number[t.parent(m)]
			if !ok || parent >= i {
				parent = links.None
			}
			linker.Follow(m.Message, parent)
			continue
		}
		guess := linker.Next(m.Message)
		begins := replies[m.ID] > 0 || m.Replies != nil && m.Replies.Count > 0
		if guess.Parent != links.None && !begins {
			t.guessed[m.ID] = flat[guess.Parent].ID
		}
	}
}
