package assemble

import (
	"cmp"
	"fmt"
	"slices"
)

// A fitPlan is what fit has decided besides the blocks.
type fitPlan struct {
	guide   bool   // the guide has room
	place   string // "" when there is none
	subject string // likewise
	summary string // its lines, "" when there is none
	media   mediaPlan
	session int // tokens
}

// fit divides the budget: first gap lines and headers, then the sections in the
// order of their fillRank. Anchor, thread root and instructions are never cut;
// where they exceed the limit, the error is ErrBudgetTooSmall. Where there is no
// room for them, guide and place are left out.
func (t *turn) fit(session int) (*fitPlan, error) {
	p := &fitPlan{guide: true, session: session}
	need, framed, err := t.requiredTokens()
	if err != nil {
		return nil, err
	}
	limit := t.in.Budget.Limit
	guide := t.countGuide()
	switch {
	case t.later:
		if need += guide + session; need > limit {
			return nil, ErrBudgetTooSmall
		}
	case need+guide <= limit:
		need += guide
	default:
		p.guide = false
		t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("guide: no room under the limit of %d tokens; the model is not told what is data and what is not", limit)})
	}
	if !t.later {
		for _, s := range t.sections {
			if s.kind.reserve != nil {
				need += s.kind.reserve(t, p, limit-need)
			}
		}
	}
	room := max(0, min(t.in.Budget.Tokens-framed, limit-need))
	room -= t.fitGaps(room)
	room -= t.fitHeaders(room)
	t.fitSections(p, room)
	t.countLeft()
	for _, m := range t.live {
		if m.withheld && m.reason != reasonUntrusted { // no block counts it
			m.verdict, m.reason, m.section = isOut, reasonUntrusted, nil
		}
		if !t.isSpoken(m) {
			m.out(nil, reasonSystem)
		}
		m.out(nil, reasonOther)
	}
	t.noteOmitted()
	return p, nil
}

// requiredTokens returns how many tokens are needed whatever the budget is: the question,
// the instructions, the thread's root, and framed, what stands around it.
func (t *turn) requiredTokens() (need, framed int, err error) {
	need = t.questionCost() + t.countInstructions()
	for _, b := range t.blocks {
		if b.root != nil {
			framed += b.layout.frameCost(t, b)
			need += b.layout.rootCost(t, b.root)
		}
	}
	need += framed
	if limit := t.in.Budget.Limit; need > limit {
		return 0, 0, fmt.Errorf("%w: the question, the thread's root and the instructions need %d tokens, the limit is %d; raise budget.limit", ErrBudgetTooSmall, need, limit)
	}
	return need, framed, nil
}

// countInstructions is what the operator's text costs, with the line before it.
func (t *turn) countInstructions() int {
	if t.in.Instructions == "" {
		return 0
	}
	return 1 + t.countLines(t.in.Instructions)
}

// fitGaps drops the gap lines that the budget cannot hold; the result's notes
// keep them.
func (t *turn) fitGaps(room int) int {
	used := 0
	for _, b := range t.blocks {
		b.gaps = slices.DeleteFunc(b.gaps, func(line string) bool {
			n := t.tok(line) + 1
			if used+n > room {
				return true
			}
			used += n
			return false
		})
	}
	return used
}

// fitHeaders reserves what stands around each block. A block whose frame does
// not fit is skipped, and gives back what its gap lines took. The block with the
// thread's root is there for any budget.
func (t *turn) fitHeaders(room int) int {
	used := 0
	for _, b := range t.blocks {
		if b.root != nil || b.layout.empty(t, b) {
			continue
		}
		n := b.layout.frameCost(t, b)
		if used+n <= room {
			used += n
			b.frame = n
			continue
		}
		b.skipped = true
		for _, line := range b.gaps {
			used -= t.tok(line) + 1
		}
		b.gaps = nil
	}
	return used
}

// fitSections gives each section its part of the room, in the order of fillRank.
func (t *turn) fitSections(p *fitPlan, room int) {
	byRank := slices.Clone(t.sections)
	slices.SortStableFunc(byRank, func(x, y turnSection) int { return cmp.Compare(x.kind.fillRank, y.kind.fillRank) })
	choseLate := false // a block that is filled has chosen what others may have as candidates
	for _, s := range byRank {
		switch {
		case s.block != nil:
			if choseLate {
				s.block.dropShown()
			}
			room -= t.fill(s.block, room)
			choseLate = choseLate || s.kind.choosesLate
		case s.kind.fit != nil:
			room -= s.kind.fit(t, s.Section, p, room)
		}
	}
}

// fill keeps the newest of the block's candidates that fit into room, and
// returns what they cost.
func (t *turn) fill(b *block, room int) int {
	frame := 0
	if b.kind.choosesLate {
		frame = t.chooseLate(b, room)
		room -= frame
	}
	if b.skipped && b.root == nil {
		b.dropOldest(len(b.cands), reasonBudget)
		return t.skip(b, room)
	}
	used := b.layout.fill(t, b, room)
	b.used = used
	if root := b.root; root != nil {
		i, _ := slices.BinarySearchFunc(b.kept, root, byPosition)
		b.kept = slices.Insert(slices.Clone(b.kept), i, root)
		t.keep(b, root, b.layout.rootCost(t, root))
	}
	if len(b.kept) == 0 && b.total > 0 && len(b.gaps) == 0 {
		b.skipped = true
		return t.skip(b, room+b.frame) - b.frame
	}
	return used + frame
}

// chooseLate picks the candidates of a block that chooses late, and returns what
// its frame costs beyond what [turn.fitHeaders] has reserved without them.
func (t *turn) chooseLate(b *block, room int) int {
	reserved := 0
	if len(b.gaps) > 0 {
		reserved = b.layout.frameCost(t, b)
	}
	b.kind.choose(t, b)
	frame := max(0, b.layout.frameCost(t, b)-reserved)
	line := b.withheldLine()
	if line != "" {
		b.gaps = append(b.gaps, line)
		frame += t.tok(line) + 1
	} else if len(b.cands) == 0 {
		frame = 0
	}
	b.skipped = frame > room
	if b.skipped {
		b.gaps = slices.DeleteFunc(b.gaps, func(g string) bool { return g == line })
		return 0
	}
	return frame
}

// skip puts one line in place of a block of which nothing fits, if that fits.
func (t *turn) skip(b *block, room int) int {
	n := t.tok(t.skippedLine(b, b.total)) + 1
	if b.counted = b.total > 0 && n <= room; !b.counted {
		return 0
	}
	return n
}

// noteOmitted tells the operator how much each section left out.
func (t *turn) noteOmitted() {
	for _, b := range t.blocks {
		if n := b.countOmitted(); n > 0 {
			t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("%s: %d of %d messages were left out", b.kind.name, n, n+len(b.kept))})
		}
		if b.withheld > 0 {
			t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("%s: %d messages are of authors whose words are out by context.trust", b.kind.name, b.withheld)})
		}
	}
}
