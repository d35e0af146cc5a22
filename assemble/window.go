package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section window shows the channel's newest messages: in the text forms as
// conversations, the newest first, in the log form in time order.
var windowSection = sectionKind{
	name:           Window,
	look:           SectionLook{Means: "what was said lately in the channel", Shown: "among the channel's newest messages", Hue: 1, ANSI: 12},
	limits:         Section{Link: LinkOff, Look: 100, Threads: 5, Messages: 20, Tokens: unbounded, Cut: 300, Share: 15},
	allowed:        func(p Policy) bool { return p.Frame != Preamble && p.Frame != Tags },
	fillRank:       80,
	source:         SourceChannel,
	choose:         (*turn).chooseWindow,
	gaps:           channelGaps,
	refusesForSelf: true,
	showsTrees:     true,
	text:           conversationsBlock{},
	title:          windowTitle,
	log:            windowLog{},
	guide: []sectionGuide{
		{Brackets, 1, guideLine{"- [recent channel context]: what is going on in the channel, the newest thread first.", 19}},
		{Plain, 1, guideLine{"- [recent channel context]: what is going on in the channel, the newest thread first; a message without replies stands alone.", 26}},
	},
}

// windowHeader stands above a window in the text forms.
const windowHeader = "[recent channel context]"

// chooseWindow picks the channel's newest messages.
func (t *turn) chooseWindow(b *block) {
	if t.isLog() {
		t.chooseNewest(b)
	} else {
		t.chooseConversations(b)
	}
}

// chooseConversations picks, of the newest messages that the window looks at,
// those of the conversations of two and more messages with the newest messages,
// and those that stand alone; of these the newest.
func (t *turn) chooseConversations(b *block) {
	forum := t.inForum()
	for _, m := range t.live {
		if forum && !t.ofForum(m) || m.taken || m.verdict != undecided || !t.isSpoken(m) || t.later && !t.fresh(m) {
			continue
		}
		if !t.within(b.Section, m) {
			b.refuse(m)
			continue
		}
		b.take(m)
	}
	b.total += len(b.cands)
	if !t.later {
		t.countChannel(b)
	}
	b.dropOldest(len(b.cands)-b.Look, reasonCap)
	size, shown := map[earshot.MessageID]int{}, map[earshot.MessageID]bool{}
	for _, m := range b.cands {
		size[t.tree(m)]++
	}
	for _, m := range slices.Backward(b.cands) {
		if id := t.tree(m); size[id] > 1 && len(shown) < b.Threads {
			shown[id] = true
		}
	}
	var kept []*msg
	for _, m := range b.cands {
		if id := t.tree(m); size[id] == 1 || shown[id] {
			kept = append(kept, m)
		} else {
			m.out(b.kind, reasonCap)
		}
	}
	b.cands = kept
	b.dropOldest(len(b.cands)-b.Messages, reasonCap)
}

// A group is one tree of the window as it is shown: its messages that are kept,
// in the order of Position.
type group struct {
	id   earshot.MessageID
	msgs []*msg
}

// groups groups messages by tree, the tree with the newest message first.
func (t *turn) groups(msgs []*msg) []group {
	var out []group
	index := map[earshot.MessageID]int{}
	for _, m := range slices.Backward(msgs) {
		id := t.tree(m)
		i, ok := index[id]
		if !ok {
			i = len(out)
			index[id] = i
			out = append(out, group{id: id})
		}
		out[i].msgs = append(out[i].msgs, m)
	}
	for _, g := range out {
		slices.Reverse(g.msgs)
	}
	return out
}

// heading is the line above a group, which says how many replies to its root are
// unread; unread returns that of a root. One message stands alone.
func (t *turn) heading(g group, unread func(*msg) int) string {
	tail := ":"
	for _, m := range g.msgs {
		if n := unread(m); m.Root() == "" && n > 0 {
			tail = ", " + repliesNotShown(n, earshot.MessageID(oneLine(string(m.ID), maxChannelName)))[len(logPlus):] + ":"
		}
	}
	if len(g.msgs) == 1 {
		return "standalone (" + t.label(g.msgs[0]) + ")" + tail
	}
	var who []string
	for _, m := range g.msgs {
		if l := t.label(m); !slices.Contains(who, l) {
			who = append(who, l)
		}
	}
	return "thread (" + strings.Join(who, ", ") + ")" + tail
}

// groupLine is a message in its group: indented by two spaces, its further lines
// by four, and without a label where the heading has it.
func (t *turn) groupLine(g group, m *msg) string {
	text := markEdited(m, t.body(m))
	if len(g.msgs) > 1 {
		text = t.label(m) + ": " + text
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n    ")
}

// groupCost is what a group costs: a blank line, the heading, a line for each
// message and its indents.
func (t *turn) groupCost(g group, cost func(*msg) int) int {
	n := t.tok(t.heading(g, t.replyCount)) + 2
	for _, m := range g.msgs {
		n += cost(m) + 1
	}
	return n
}

// conversationsBlock writes a window in the text forms, its trees one below the
// other.
type conversationsBlock struct{ labelledLayout }

func (conversationsBlock) frameCost(t *turn, _ *block) int { return t.tok(windowHeader) + 2 }

func (conversationsBlock) fill(t *turn, b *block, room int) int {
	room = min(room, b.Tokens)
	whole, line := 0, t.tok(leftOut(b.total))+1
	for _, g := range t.groups(b.cands) {
		whole += t.groupCost(g, t.fullCost)
	}
	if b.counted = b.total > len(b.cands); b.counted {
		whole += line
	}
	if whole <= room {
		b.kept = b.cands
		for _, m := range b.kept {
			t.keep(b, m, t.fullCost(m))
		}
		t.titlesOnly(b)
		return whole
	}
	cost := t.shortAnswers(t.labelledCosts(b).cut)
	used := line
	groups := map[earshot.MessageID]*group{}
	for i, m := range slices.Backward(b.cands) {
		id := t.tree(m)
		g, before := groups[id], 0
		if g == nil {
			g = &group{id: id}
			groups[id] = g
		} else {
			before = t.groupCost(*g, cost)
		}
		g.msgs = append([]*msg{m}, g.msgs...)
		more := t.groupCost(*g, cost) - before
		if used+more > room {
			b.dropOldest(i+1, reasonBudget)
			break
		}
		used += more
	}
	b.kept = b.cands
	for _, m := range b.kept {
		t.keepCut(b, m)
	}
	t.titlesOnly(b)
	if b.counted = b.total > len(b.kept) && len(b.kept) > 0; !b.counted {
		used -= line
	}
	return used
}

func (conversationsBlock) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	w.apart = t.in.Policy.Frame == Plain
	w.add(earshot.User, Window, nextBlock, windowHeader, t.tok(windowHeader)+1)
	t.renderCount(w, b, t.renderGaps(w, b, nextLine))
	for _, g := range t.groups(b.kept) {
		head := t.heading(g, t.repliesLeft)
		w.add(earshot.User, Window, nextBlock, head, t.tok(head)+2)
		for _, m := range g.msgs {
			w.show(m, earshot.User, Window, nextLine, t.groupLine(g, m), 0, int(m.tokens)+1)
		}
	}
	w.apart = t.in.Policy.Frame == Plain
}
