package assemble

import "slices"

// fillLog keeps the newest messages of a block in time order that fit. Where
// they do not fit whole, long ones are cut before any is left out.
func (t *turn) fillLog(b *block, room int) int {
	n, used := t.newest(b, room, 0)
	if n > 0 {
		n, used = t.newest(b, room, b.Cut)
	}
	for _, m := range b.cands[:n] {
		m.out(b.Section.Section, reasonBudget)
	}
	b.cands = b.cands[n:]
	b.kept = b.cands
	return used
}

// newest returns how many of a block's candidates do not fit with at most limit
// tokens each (0: whole), and what the others cost, the lines of their days
// included.
func (t *turn) newest(b *block, room, limit int) (left, used int) {
	var newer [2]*msg // news, and what became known late: they stand apart
	for i, m := range slices.Backward(b.cands) {
		d := t.detailed(m, t.limitOf(m, limit))
		n, apart := d.cost, 0
		if m.late {
			apart = 1
		}
		if o := newer[apart]; o == nil || t.when.day(o.Time) != t.when.day(m.Time) {
			n += t.dayCost(m)
		}
		if used+n > room {
			return i + 1, used
		}
		used += n
		newer[apart] = m
		t.show(b, m, d)
	}
	return 0, used
}

// limitOf is how many tokens a message may have where those of its section may
// have limit.
func (t *turn) limitOf(m *msg, limit int) int {
	if limit > 0 && m == t.asked {
		return max(limit, askerCut)
	}
	return limit
}

// show records that a block shows m, and how.
func (t *turn) show(b *block, m *msg, d *detail) {
	t.keep(b, m, d.cost)
	m.detail = d
	if !d.whole {
		m.verdict = isCut
	}
}

// dayCost is what the line of a day costs, or the day in a head.
func (t *turn) dayCost(m *msg) int { return t.tok("["+t.when.date(m.Time)+"]") + 1 }

// lacksCost is what the line costs that counts a root's replies.
func (t *turn) lacksCost(root *msg) int {
	return t.tok("+ 888,888 replies not shown, thread ") + t.tok(string(root.ID)) + 1
}

// chooseTalk takes the channel's newest talk; in a later turn what was said
// since the last one and is not shown yet. What became known late is no news.
func (t *turn) chooseTalk(b *block) {
	for _, m := range t.live {
		switch {
		case m.taken || m.verdict != undecided || !t.talk(m) || t.later && !t.news(m):
		case !t.within(b.Section, m):
			m.out(Window, reasonCap)
		default:
			b.take(m)
		}
	}
	b.total = len(b.cands)
	if !t.later {
		b.total += t.unloaded()
	}
	if over := len(b.cands) - b.Look; over > 0 {
		for _, m := range b.cands[:over] {
			m.out(Window, reasonCap)
		}
		b.cands = b.cands[over:]
	}
}

// unloaded is how many of the channel's messages are stored and not in the
// input.
func (t *turn) unloaded() int {
	for _, s := range t.in.Stored {
		if s.Thread == "" {
			n := s.Count
			for _, m := range t.upto {
				if !m.Deleted {
					n--
				}
			}
			return max(0, n)
		}
	}
	return 0
}

// news reports whether m was said since the last turn and is not shown;
// otherwise it says why m is out.
func (t *turn) news(m *msg) bool {
	switch since := m.Position().Compare(t.last); {
	case t.recorded[m.ID] && t.in.Identity.Is(m.Author.ID):
		m.out("", reasonOwn)
	case t.seen(m):
		m.out("", reasonShown)
	case t.last.IsZero() && (m.Seq == 0 || m.Seq > t.in.Conversation.Cursor), !t.last.IsZero() && since > 0:
		return true
	case m.Seq == 0 || m.Seq > t.in.Conversation.Cursor:
		m.out("", reasonLate)
	default:
		m.out("", reasonConsidered)
	}
	return false
}

// findAsked finds the asker's last message before the question.
func (t *turn) findAsked() {
	for _, m := range slices.Backward(t.live) {
		if authorKey(m.Author) == authorKey(t.anchor.Author) {
			t.asked = m
			return
		}
	}
}
