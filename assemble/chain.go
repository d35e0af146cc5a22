package assemble

import "slices"

// The section chain shows what the anchor replies to, what that replies to, and
// so on, as turns of user and assistant; in the log form as one block.
var chainSection = sectionKind{
	name:     Chain,
	limits:   Section{Messages: 20, Tokens: unbounded, Cut: 300},
	allowed:  func(p Policy) bool { return p.Form != JSON },
	fillRank: 50,
	source:   SourceReplies,
	choose:   (*turn).chooseChain,
	text:     turnsBlock{header: chainHeader},
	log:      logList{title: func(*turn) string { return "what this replies to" }},
	guide: []sectionGuide{
		{Brackets, 3, guideLine{"- [reply chain]: what the question replies to.", 11}},
		{Plain, 2, guideLine{"- The messages that the question replies to, as turns: your answers as yours, others' words as \"Name: text\".", 26}},
	},
}

// chainHeader stands above a chain in brackets, where it does not begin with
// the agent's own message.
const chainHeader = "[reply chain]"

// chooseChain picks what the anchor's reply reference leads to.
func (t *turn) chooseChain(b *block) {
	for _, m := range t.ancestors(t.anchor, len(t.upTo)) {
		if !m.taken && t.within(b.Section, m) {
			b.take(m)
		}
	}
	slices.SortFunc(b.cands, byPosition)
	b.total = len(b.cands)
	b.cap()
}
