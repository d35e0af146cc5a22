package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// A logList writes a block of the log form: its messages in time order.
type logList struct{}

func (logList) empty(_ *turn, b *block) bool { return len(b.cands) == 0 && len(b.gaps) == 0 }

func (logList) frameCost(t *turn, b *block) int {
	return t.countLines(logHeader(b.kind.title(t), mostMessages)) + 2
}

func (logList) rootCost(t *turn, root *msg) int {
	return t.entry(root, 0).cost + t.dayCost(root) + t.repliesLineCost(root)
}

// fill keeps the newest messages that fit. Where they do not fit whole, long
// ones are cut before any is left out.
func (logList) fill(t *turn, b *block, room int) int {
	room = min(room, b.Tokens)
	limit := 0
	n, used := t.newest(b, room, limit)
	if n > 0 {
		limit = b.Cut
		n, used = t.newest(b, room, limit)
	}
	b.dropOldest(n, reasonBudget)
	for _, m := range b.cands {
		t.keepEntry(b, m, t.entry(m, t.limitOf(m, limit)))
	}
	b.kept = b.cands
	if b.root != nil {
		b.root.entry = t.entry(b.root, 0)
	}
	return used
}

func (logList) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	t.writeLog(w, b.kind.name, logHeader(b.kind.title(t), b.countOmitted()), b.gaps, inOrder(b.kept))
}

// newest returns how many of a block's candidates do not fit with at most
// limit tokens each (0: whole), and what the others cost, the lines of their
// days included.
func (t *turn) newest(b *block, room, limit int) (left, used int) {
	var newer [2]*msg // of the news, and of what became known late: they stand apart
	for i, m := range slices.Backward(b.cands) {
		n, part := t.entry(m, t.limitOf(m, limit)).cost, 0
		if m.late {
			part = 1
		}
		if o := newer[part]; o == nil || t.when.day(o.Time) != t.when.day(m.Time) {
			n += t.dayCost(m)
		}
		if used+n > room {
			return i + 1, used
		}
		used += n
		newer[part] = m
	}
	return 0, used
}

// limitOf is how many tokens m may have where the messages of its section may
// have limit.
func (t *turn) limitOf(m *msg, limit int) int {
	if limit > 0 && m == t.askersLast {
		return max(limit, askerCut)
	}
	return limit
}

// keepEntry records that a block shows m, and how.
func (t *turn) keepEntry(b *block, m *msg, e *logEntry) {
	t.keep(b, m, e.cost)
	m.entry = e
	if !e.whole {
		m.verdict = isCut
	}
}

// dayCost is what the line of a day costs, or the day in a head.
func (t *turn) dayCost(m *msg) int {
	at := t.when.day(m.Time)
	n, ok := t.dayCosts[at]
	if !ok {
		n = t.tok("["+t.when.date(m.Time)+"]") + 1
		t.dayCosts[at] = n
	}
	return n
}

// repliesLineCost is what the line costs that counts a root's replies.
func (t *turn) repliesLineCost(root *msg) int {
	return t.tok("+ 888,888 replies not shown, thread ") + t.tok(string(root.ID)) + 1
}

// findRenamed finds the newest message of each author whose name is another than the one
// that the session uses: it says so.
func (t *turn) findRenamed() {
	if len(t.names.renamed) == 0 {
		return
	}
	t.newestOf = map[earshot.AuthorID]*msg{}
	for _, m := range t.upTo {
		if key := authorKey(m.Author); t.names.renamed[key] != "" && !m.Deleted {
			t.newestOf[key] = m
		}
	}
}

// findAskersLast finds the asker's last message before the question.
func (t *turn) findAskersLast() {
	for _, m := range slices.Backward(t.live) {
		if authorKey(m.Author) == authorKey(t.anchor.Author) {
			t.askersLast = m
			return
		}
	}
}
