package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// A block is a section that shows messages, on its way from candidates to what
// is kept.
type block struct {
	Section
	cands   []*msg   // in the order of Position, must not among them
	must    *msg     // the thread's root: never dropped, never cut
	gaps    []string // lines that say what could not be loaded
	kept    []*msg   // what is shown, must included, in the order of Position
	total   int      // how many there are in all, with what is stored but not loaded
	from    earshot.Time
	to      earshot.Time // the range of what is stored, where the input says it
	left    bool         // nothing fits: one line in place of the block
	earlier bool         // a line counts what was left out
}

// omitted is how many messages there are that the block does not show.
func (b *block) omitted() int { return b.total - len(b.kept) }

// choose makes a block of each of the turn's sections that show messages and
// picks its candidates, in the order in which sections own a message: what is
// a candidate of an earlier one is none of a later one. The transcript's are
// picked when the thread's block is filled, because it may hold what that
// block has left out.
func (t *turn) choose() {
	t.blocks = map[SectionName]*block{}
	for _, name := range fillOrder {
		s, ok := t.has(name)
		if !ok {
			continue
		}
		b := &block{Section: s}
		t.blocks[name] = b
		switch name {
		case Delta:
			t.chooseDelta(b)
		case Thread:
			t.chooseThread(b)
		case Chain:
			t.chooseChain(b)
		case Recall:
			t.chooseRecall(b)
		case Window:
			if t.isLog() {
				t.chooseTalk(b)
			} else {
				t.chooseWindow(b)
			}
		case Snapshot:
			t.chooseSnapshot(b)
		}
	}
	t.chooseGaps()
}

// fillOrder is the order in which sections get their part of the budget, and
// in which they own messages. Gap lines, headers and the summary come first.
var fillOrder = []SectionName{Delta, Thread, Chain, Transcript, Recall, Window, Snapshot}

// talk reports whether m is something that somebody said. Joins, leaves and
// the like are not.
func (t *turn) talk(m *msg) bool { return m.Author.Kind != earshot.System }

// take adds a message to the block's candidates.
func (b *block) take(m *msg) {
	m.taken = true
	b.cands = append(b.cands, m)
}

// within reports whether m is not older than the section reaches.
func (t *turn) within(s Section, m *msg) bool {
	return s.Minutes == 0 || m.Time >= t.anchor.Time-earshot.Time(s.Minutes)*60_000_000
}

// fresh reports whether a later turn may show m: not shown in this revision,
// no recorded own reply, and known since the cursor or said after the last
// turn's anchor. A sequence of 0 is unknown and counts as new: the manifest
// decides. Otherwise fresh says why m is out.
func (t *turn) fresh(m *msg) bool {
	revision, shown := t.shown[m.ID]
	switch {
	case t.recorded[m.ID] && t.in.Identity.Is(m.Author.ID):
		m.out("", reasonOwn)
		return false
	case shown && revision >= m.Edited:
		m.out("", reasonShown)
		return false
	}
	since := m.Position().Compare(t.last)
	if m.Seq != 0 && m.Seq <= t.in.Conversation.Cursor && (t.last.IsZero() || since < 0) {
		m.out("", reasonConsidered)
		return false
	}
	m.late = since < 0 && !shown
	if m.late && t.anchor.Root() == "" && m.Position().Compare(t.first) < 0 {
		m.out("", reasonLate) // said before this conversation began
		return false
	}
	return true
}

// chooseDelta takes what is fresh in this conversation, and edits of whatever
// the session shows. An edited root counts among the messages and is kept
// whole.
func (t *turn) chooseDelta(b *block) {
	mine := t.conversation()
	root := t.root()
	for _, m := range t.live {
		if m.taken || !mine(m) && !t.editedSince(m) || !t.talk(m) && m != root || !t.fresh(m) {
			continue
		}
		if !t.within(b.Section, m) {
			m.out(Delta, reasonCap)
		} else if m == root {
			b.must, m.taken = m, true
		} else {
			b.take(m)
		}
	}
	t.countStored(b, t.storedKey(), true)
	b.cap(Delta)
}

// editedSince reports whether the session shows an older revision of m.
func (t *turn) editedSince(m *msg) bool {
	revision, shown := t.shown[m.ID]
	return shown && revision < m.Edited
}

// chooseThread takes the anchor's thread.
func (t *turn) chooseThread(b *block) {
	root := t.anchor.Root()
	if root == "" {
		return
	}
	b.must = t.root()
	mine := inThread(root)
	for _, m := range t.live {
		switch {
		case m == b.must:
			m.taken = true
		case m.taken || !mine(m) || !t.talk(m):
		case !t.within(b.Section, m):
			m.taken = true
			m.out(Thread, reasonCap)
		default:
			b.take(m)
		}
	}
	t.countStored(b, root, false)
	b.cap(Thread)
}

// chooseChain takes what the anchor's reply reference leads to.
func (t *turn) chooseChain(b *block) {
	for _, m := range t.ancestors(t.anchor, len(t.upto)) {
		if !m.taken && t.within(b.Section, m) {
			b.take(m)
		}
	}
	slices.SortFunc(b.cands, func(x, y *msg) int { return x.Position().Compare(y.Position()) })
	b.total = len(b.cands)
	b.cap(Chain)
}

// chooseTranscript takes the conversation's turns: at the channel's top level,
// all that is said there. What the thread's block shows is not repeated.
func (t *turn) chooseTranscript(b *block) {
	mine := func(m *msg) bool { return m.Root() == "" }
	key := earshot.MessageID("")
	if root := t.anchor.Root(); root != "" {
		mine, key = inThread(root), root
	}
	for _, m := range t.live {
		if !mine(m) || m.verdict != undecided && m.reason != reasonCap && m.reason != reasonBudget {
			continue
		}
		switch {
		case b.AddressedOnly && !t.addressed(m):
			m.out(Transcript, reasonAddressed)
		case !t.within(b.Section, m):
			m.out(Transcript, reasonCap)
		default:
			b.take(m)
		}
	}
	if key == "" {
		t.chooseAnswers(b)
	}
	if b.AddressedOnly {
		b.total = len(b.cands) // how many of the rest were addressed is not known
	} else {
		t.countStored(b, key, false)
	}
	b.cap(Transcript)
}

// chooseAnswers adds to questions of the top level the answers that recorded
// turns gave in their threads.
func (t *turn) chooseAnswers(b *block) {
	answers := map[earshot.MessageID]*msg{}
	for _, turn := range t.in.Conversation.Turns {
		if len(turn.Replies) > 0 {
			if a := t.find(turn.Replies[0]); a != nil && t.isAnswer(a) && a.Position().Compare(t.anchor.Position()) < 0 {
				answers[turn.Anchor] = a
			}
		}
	}
	for _, q := range slices.Clone(b.cands) {
		a := answers[q.ID]
		if a != nil && !a.taken && (a.verdict == undecided || a.reason == reasonAddressed) && t.within(b.Section, a) {
			a.verdict = undecided
			b.take(a)
		}
	}
	slices.SortFunc(b.cands, func(x, y *msg) int { return x.Position().Compare(y.Position()) })
}

// addressed reports whether m concerns the agent: it wrote it, is mentioned in
// it, or answered it. In a DM everything does.
func (t *turn) addressed(m *msg) bool {
	return t.in.Channel.Kind == earshot.KindDM || t.in.Identity.Is(m.Author.ID) ||
		mentionsSelf(t.in.Identity, m.Message) || t.answered[m.ID]
}

// chooseSnapshot takes the anchor's neighbours at the channel's top level.
func (t *turn) chooseSnapshot(b *block) {
	for _, m := range t.live {
		if m.taken || m.Root() != "" || m.ID == t.anchor.Root() || !t.talk(m) {
			continue
		}
		if !t.within(b.Section, m) {
			m.out(Snapshot, reasonCap)
			continue
		}
		b.take(m)
	}
	b.total = len(b.cands)
	b.cap(Snapshot)
}

// cap keeps the newest candidates up to the section's limit, the root counted.
func (b *block) cap(name SectionName) {
	n := b.Messages
	if b.must != nil {
		n--
	}
	n = max(n, 0)
	if over := len(b.cands) - n; over > 0 {
		for _, m := range b.cands[:over] {
			m.out(name, reasonCap)
		}
		b.cands = b.cands[over:]
	}
}

// storedKey returns under which thread the input counts what is stored of the
// anchor's conversation.
func (t *turn) storedKey() earshot.MessageID { return t.anchor.Root() }

// countStored sets how many messages the block could show if all that is
// stored were loaded. The input's count is of the whole thread, the anchor and
// what is loaded included. In a later turn what the manifest holds and is not
// loaded is no news.
func (t *turn) countStored(b *block, thread earshot.MessageID, later bool) {
	b.total = len(b.cands)
	if b.must != nil {
		b.total++
	}
	for _, s := range t.in.Stored {
		if s.Thread != thread || thread == "" && t.in.Channel.Kind != earshot.KindDM {
			continue
		}
		mine := inThread(thread)
		rest := s.Count
		for _, m := range t.upto {
			if !m.Deleted && (thread == "" || mine(m)) {
				rest--
			}
		}
		if later {
			for id := range t.shown {
				if t.find(id) == nil {
					rest--
				}
			}
			for id := range t.recorded {
				if _, ok := t.shown[id]; !ok && t.find(id) == nil {
					rest--
				}
			}
		}
		if rest > 0 {
			b.total += rest
			b.from, b.to = s.From, s.To
		}
	}
}
