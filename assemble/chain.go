package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// The section chain shows what the anchor replies to, what that replies to, and
// so on, as turns of user and assistant; in the log form as one block.
var chainSection = sectionKind{
	name:     Chain,
	look:     SectionLook{Means: "what the question replies to, and what that replies to", Shown: "the question replies to it", Hue: 3, ANSI: 10},
	limits:   Section{Messages: 20, Tokens: unbounded, Cut: 300},
	allowed:  func(p Policy) bool { return p.Form != JSON },
	fillRank: 50,
	source:   SourceReplies,
	choose:   (*turn).chooseChain,
	text:     turnsBlock{header: chainHeader},
	title:    func(*turn) string { return "what this replies to" },
	log:      chainLog{},
	guide: []sectionGuide{
		{Brackets, 3, guideLine{"- [reply chain]: what the question replies to.", 11}},
		{Plain, 2, guideLine{"- The messages that the question replies to, as turns: your answers as yours, others' words as \"Name: text\".", 26}},
	},
}

// chainHeader stands above a chain in brackets, where it does not begin with
// the agent's own message.
const chainHeader = "[reply chain]"

// chooseChain picks what the anchor's reply reference leads to, with all parts of
// the agent's answers in it.
func (t *turn) chooseChain(b *block) {
	chain := t.ancestors(t.anchor)
	for _, m := range slices.Concat(chain, t.otherParts(chain)) {
		if !m.taken && m.verdict == undecided && t.within(b.Section, m) {
			b.take(m)
		}
	}
	slices.SortFunc(b.cands, byPosition)
	b.total = len(b.cands)
	b.cap()
}

// chainLog writes a chain in the log form. Where it ends at a message that is
// deleted or not loaded, a line above its first message says so.
type chainLog struct{ logList }

func (l chainLog) frameCost(t *turn, b *block) int {
	return l.logList.frameCost(t, b) + max(t.tok(repliesToDeleted), t.tok(repliesToUnknown), t.tok(repliesWithheld)) + 1 + t.tok(logReply)
}

func (chainLog) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	lines := inOrder(b.kept)
	if len(lines) > 0 && b.countOmitted() == 0 {
		first := &lines[0]
		if id := first.m.ReplyTo; id != "" && id != first.m.ID && t.isLost(id) {
			first.tree, first.above = id, t.repliesTo(id, first.day)
		}
	}
	t.writeLog(w, b.kind.name, logHeader(b.kind.title(t), b.countOmitted()), b.gaps, lines)
}

// isLost reports whether a message that another replies to is deleted, withheld or not
// loaded.
func (t *turn) isLost(id earshot.MessageID) bool {
	m := t.find(id)
	return m == nil || m.Deleted || m.withheld || t.afterEnd(m)
}
