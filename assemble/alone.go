package assemble

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// alone makes the prompt of a question that carries [earshot.Isolation]: guide,
// instructions and the question's text. It reads no session, and nothing of it
// is stored as shown.
func (t *turn) alone() (Result, error) {
	t.names = newNames(t.in.Identity, t.in.Policy.Bots, t.upTo, t.in.Mentioned, t.in.AskedBy, nil)
	m := t.anchor
	bare := *m.Message
	bare.Text = earshot.WithoutIsolation(m.Text)
	body := guardBare(indentLines(t.content(&bare)), &bare)
	for _, o := range t.live {
		o.out(nil, reasonIsolated)
	}
	w := &prompt{tokens: map[SectionName]int{}}
	question := t.countLines(body) + 1
	p := &fitPlan{guide: true}
	instructions := t.countInstructions()
	limit := t.in.Budget.Limit
	if n := question + instructions; n > limit {
		return Result{}, fmt.Errorf("%w: the question and the instructions need %d tokens, the limit is %d; raise budget.limit", ErrBudgetTooSmall, n, limit)
	} else if guide := t.countGuide(); n+guide <= limit {
		w.tokens[Guide] = guide
	} else {
		p.guide = false
	}
	if instructions > 0 {
		w.tokens[Instructions] = instructions
	}
	w.show(m, earshot.User, Anchor, nextBlock, body, 0, question)
	for _, s := range t.in.Policy.First {
		if s.Section == Media {
			t.fitMedia(&p.media, s.limits(), min(t.in.Budget.Tokens, limit-question))
		}
	}
	w.messages[0].Media = p.media.attach
	w.tokens[Media] += p.media.cost
	m.section, m.verdict, m.tokens = &anchorSection, isFull, int32(question)
	return t.result(t.systemText(p.guide), w, p), nil
}
