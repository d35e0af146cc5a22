package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/earshot-ai/earshot"
)

// result sums up: tokens, ledger, what to store, hash.
func (t *turn) result(system string, w *prompt, p *fitPlan) Result {
	w.close()
	r := Result{System: system, Messages: w.messages, Notes: t.notes}
	r.Tokens = Tokens{Budget: t.in.Budget.Tokens, Counter: t.in.Counter.Name(), Sections: w.tokens}
	for _, n := range w.tokens {
		r.Tokens.Total += n
	}
	r.Ledger = t.ledger()
	r.Next = t.next(p)
	h := sha256.New()
	h.Write([]byte(system))
	for _, m := range r.Messages {
		h.Write([]byte("\x00" + string(m.Role) + "\x00" + m.Text))
	}
	r.Hash = hex.EncodeToString(h.Sum(nil))
	return r
}

// next is what the platform stores with the reply. An isolated turn stores
// nothing.
func (t *turn) next(p *fitPlan) NextState {
	c := &t.in.Conversation
	n := NextState{Cursor: c.Cursor, Epoch: c.Epoch}
	if t.broken {
		n.Epoch++
	}
	if t.isolated {
		return n
	}
	var named, quoted []*msg
	for _, m := range t.upTo {
		n.Cursor = max(n.Cursor, m.Seq)
		switch m.verdict {
		case isFull, isCut:
			if x, ok := t.shown[m.ID]; !ok || x.revision != m.Edited || t.broken {
				n.Shown = append(n.Shown, earshot.ShownRevision{ID: m.ID, Revision: m.Edited, Seen: Seen(m.Message, 0)})
			}
			named = append(named, m)
			for _, l := range t.linkedBy(m) { // what is quoted has to go with its session too
				if l.m != nil && !l.m.Deleted && !l.m.withheld && l.m.reason != reasonBlank {
					quoted = append(quoted, l.m)
				}
			}
		case isSnippet:
			if m.section == &newsSection {
				x := t.shown[m.ID]
				n.Shown = append(n.Shown, earshot.ShownRevision{ID: m.ID, Revision: x.revision, Seen: Seen(m.Message, x.number+1)})
			}
			named = append(named, m)
		}
	}
	for _, m := range quoted {
		if _, ok := t.shown[m.ID]; (!ok || t.broken) && !slices.ContainsFunc(n.Shown, func(s earshot.ShownRevision) bool { return s.ID == m.ID }) {
			n.Shown = append(n.Shown, earshot.ShownRevision{ID: m.ID, Revision: m.Edited})
		}
	}
	n.Attached = p.media.added
	var texts []string
	if p.place != "" {
		texts = append(texts, t.in.Channel.Topic, t.in.Channel.Purpose)
	}
	if p.summary != "" {
		texts = append(texts, t.summary.Text)
	}
	n.Names = t.names.newNames(append(named, t.namedParents...), texts...)
	return n
}

// ledger has a row for each message of the input, with what search found of it.
func (t *turn) ledger() earshot.Ledger {
	l := make(earshot.Ledger, len(t.msgs))
	for i, m := range t.msgs {
		l[i] = earshot.LedgerRow{ID: m.ID, Verdict: verdictNames[m.verdict], Reason: t.reasonOf(m), Tokens: int(m.tokens)}
		if m.section != nil {
			l[i].Section = string(m.section.name)
		}
	}
	for _, r := range slices.Backward(t.in.Recalled) { // of two for one id the first counts
		m := t.find(r.ID)
		if m == nil {
			continue
		}
		if i, ok := slices.BinarySearchFunc(t.msgs, m, byPosition); ok {
			l[i].Score, l[i].Cover, l[i].Parts = r.Score, r.Cover, r.Parts
		}
	}
	return l
}

// reasonOf is the reason that the ledger gives for m: why it is out; else the
// section that shows it, and whether it is edited, became known late, or stands
// there by a guess.
func (t *turn) reasonOf(m *msg) string {
	if m.reason != noReason {
		return reasonNames[m.reason]
	}
	if m.section == nil {
		return ""
	}
	s := string(m.section.name)
	if m.Edited != 0 && m != t.anchor {
		s += ", edited"
	}
	if m.late {
		s += ", late"
	}
	if m.section.showsTrees && t.guessed[m.ID] != "" {
		s += ", guessed"
	}
	return s
}
