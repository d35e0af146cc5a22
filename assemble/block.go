package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// A block is a section of this turn that shows messages: its candidates, and those
// of them that it keeps. A message is a candidate of one block only, but recall may
// have candidates of other blocks.
type block struct {
	Section
	kind   *sectionKind
	layout layout

	cands []*msg   // candidates in the order of Position, without the root
	root  *msg     // the thread's root: never dropped, never cut; nil in most sections
	gaps  []string // lines that say what could not be loaded
	kept  []*msg   // what is shown, the root included, in the order of Position
	total int      // how many messages the section could show, with unloaded
	// unloaded is how many of them are stored and not in the input; from and to are
	// the times of the first and last stored message, 0 where the input does not say.
	unloaded int
	from, to earshot.Time
	left     int // how many of the section's messages the ledger says it left out
	withheld int // how many messages it would show whose authors' words are out
	frame    int // tokens that are reserved for the lines around the messages
	used     int // tokens of the messages that it keeps

	skipped bool // nothing fits: one line stands in place of the block
	counted bool // a line of the block, or in place of it, counts what is left out
}

// countOmitted returns how many of the section's messages stand nowhere in the prompt. It is
// known once all blocks are filled: what another section shows is that section's.
func (b *block) countOmitted() int { return b.left + b.unloaded }

// nothingKept reports whether there is neither a message nor a gap to show.
func (b *block) nothingKept() bool { return len(b.kept) == 0 && len(b.gaps) == 0 }

// lineStands reports whether a line stands in place of the block.
func (b *block) lineStands() bool { return b.skipped && b.counted && b.countOmitted() > 0 }

// rootCount is 1 where the block has the thread's root, else 0.
func (b *block) rootCount() int {
	if b.root != nil {
		return 1
	}
	return 0
}

// take makes m a candidate, or counts it as withheld.
func (b *block) take(m *msg) {
	if m.withheld {
		b.withhold(m)
		return
	}
	m.taken = true
	b.cands = append(b.cands, m)
}

// refuse leaves out a message that is older than the section reaches.
func (b *block) refuse(m *msg) {
	if m.withheld {
		return
	}
	m.out(b.kind, reasonCap)
	b.total++
}

// cap keeps the newest candidates up to the section's limit, the root counted.
func (b *block) cap() {
	b.dropOldest(len(b.cands)-max(b.Messages-b.rootCount(), 0), reasonCap)
}

// dropOldest leaves out the first n candidates; a negative n none. Of recall's
// candidates those that are another block's too are left to that block.
func (b *block) dropOldest(n int, why reason) {
	if n <= 0 {
		return
	}
	for _, m := range b.cands[:n] {
		if b.kind.source != SourceSearch || !m.taken {
			m.out(b.kind, why)
		}
	}
	b.cands = b.cands[n:]
}

// dropShown drops the candidates that a section filled before shows.
func (b *block) dropShown() {
	b.cands = slices.DeleteFunc(b.cands, func(m *msg) bool { return m.verdict == isFull || m.verdict == isCut })
}

// choose picks the candidates of each block. The blocks are asked in the order
// in which they are filled.
func (t *turn) choose() {
	for _, b := range t.blocks {
		if !b.kind.choosesLate {
			b.kind.choose(t, b)
		}
	}
	t.chooseGaps()
	for _, b := range t.blocks {
		if line := b.withheldLine(); line != "" {
			b.gaps = append(b.gaps, line)
		}
	}
	blocks := 0
	for _, b := range t.blocks {
		if b.kind.choosesLate || b.kind.source == SourceNeighbours || b.total+len(b.cands)+len(b.gaps) > 0 {
			blocks++
		}
	}
	t.oneBlock = blocks <= 1
}

// countLeft counts for each section what it has left out. An answer beside the thread
// is no reply in it.
func (t *turn) countLeft() {
	root := t.anchor.Root()
	for _, m := range t.upTo { // news are of messages too that are blank by now
		if m.verdict == isOut && m.section != nil && m.section.name == Thread && m.Root() != root && m.ID != root {
			m.section = nil
			continue
		}
		if m.verdict == isOut && m.section != nil && (m.reason == reasonCap || m.reason == reasonBudget) {
			t.block(m.section.name).left++
		}
	}
}

// isSpoken reports whether a person or a program wrote m. Joins, leaves and the
// like are the platform's own notes.
func (t *turn) isSpoken(m *msg) bool { return m.Author.Kind != earshot.System }

// within reports whether m is not older than the section reaches.
func (t *turn) within(s Section, m *msg) bool {
	return s.Minutes == 0 || m.Time >= t.end.Time-earshot.Time(s.Minutes)*60_000_000
}

// inSession reports whether the session shows m as it is now.
func (t *turn) inSession(m *msg) bool {
	x, ok := t.shown[m.ID]
	return t.later && (ok && x.revision >= m.Edited || t.recorded[m.ID])
}

// fresh reports whether a later turn may show m: the session does not have this
// revision, it is no reply of the agent's that is recorded, and it became known
// since the cursor or stands after the last turn's anchor. A sequence of 0 is
// unknown and counts as new. Where the caller keeps the session, it is what others
// said or edited since it has processed the conversation. Where fresh is false, m is
// out with the reason.
func (t *turn) fresh(m *msg) bool {
	x, shown := t.shown[m.ID]
	switch {
	case t.elsewhere && t.in.Identity.Is(m.Author.ID):
		m.out(nil, reasonOwn)
		return false
	case t.elsewhere && t.processed(m):
		m.out(nil, reasonConsidered)
		return false
	case t.elsewhere:
		return true
	case t.recorded[m.ID] && t.in.Identity.Is(m.Author.ID):
		m.out(nil, reasonOwn)
		return false
	case shown && x.revision >= m.Edited && !t.newsOf(m).isNone():
		m.out(nil, reasonNews) // the section news may show it, in the forms that have it
		return false
	case shown && x.revision >= m.Edited:
		m.out(nil, reasonShown)
		return false
	}
	since := m.Position().Compare(t.last)
	if m.Seq != 0 && m.Seq <= t.in.Conversation.Cursor && (t.last.IsZero() || since < 0) {
		m.out(nil, reasonConsidered)
		return false
	}
	m.late = since < 0 && !shown
	if m.late && t.anchor.Root() == "" && m.Position().Compare(t.first) < 0 {
		m.out(nil, reasonLate) // from before this conversation began
		return false
	}
	return true
}

// processed reports whether the caller that keeps the session has had m as it is now.
func (t *turn) processed(m *msg) bool { return max(m.Time, m.Edited) <= t.in.Conversation.Processed }

// countStored adds what is stored and not in the input to what the block could
// show: of a thread, or with "" of the channel. A later turn's session may show
// some of it.
func (t *turn) countStored(b *block, thread earshot.MessageID) {
	rest, stored := t.notLoaded(thread)
	if t.later {
		rest -= t.shownNotLoaded()
	}
	if rest > 0 {
		b.unloaded, b.from, b.to = rest, stored.From, stored.To
		b.total += rest
	}
}

// notLoaded is how much of a thread, or with "" of the channel, is stored and not
// in the input, and what the input says of it. The stored count includes the
// anchor. Where history is missing, the platform's count may be greater.
func (t *turn) notLoaded(thread earshot.MessageID) (rest int, stored StoredCount) {
	i := slices.IndexFunc(t.in.Stored, func(s StoredCount) bool { return s.Thread == thread })
	if i >= 0 {
		stored = t.in.Stored[i]
	}
	if rest = stored.Count; !t.later {
		rest = max(rest, t.threadSize(thread))
	}
	for _, m := range t.upTo {
		if t.later && t.elsewhere && m.Time <= t.in.Conversation.Processed {
			continue // not counted
		}
		if !m.Deleted && (thread == "" || m.ID == thread || m.Root() == thread) {
			rest--
		}
	}
	return max(0, rest), stored
}

// threadSize returns how many messages a thread has by the platform's count, the root and the
// question included, where some of them could not be loaded. It is 0 where all is
// stored, and where the platform's count may be older than what is missing.
func (t *turn) threadSize(thread earshot.MessageID) int {
	root := t.find(thread)
	if root == nil || root.Replies == nil || root.Replies.Count <= 0 {
		return 0
	}
	last, gap := root.Replies.Last, false
	for _, c := range t.in.Coverage {
		if c.Thread == thread && c.State != earshot.Known && t.mayHide(c) {
			if gap = true; c.To == 0 || c.To > last {
				return 0
			}
		}
	}
	if !gap {
		return 0
	}
	n := 1 + root.Replies.Count
	for _, m := range t.upTo {
		if !m.Deleted && m.Root() == thread && m.Time > last {
			n++
		}
	}
	return n
}

// shownNotLoaded is how many messages the session shows that are not in the
// input.
func (t *turn) shownNotLoaded() int {
	n := 0
	for id := range t.shown {
		if t.find(id) == nil {
			n++
		}
	}
	for id := range t.recorded {
		if _, ok := t.shown[id]; !ok && t.find(id) == nil {
			n++
		}
	}
	return n
}

// byPosition sorts messages into the order in which they were said.
func byPosition(x, y *msg) int { return x.Position().Compare(y.Position()) }
