package assemble

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A msg is a message with the decisions about it and its written form. A turn may have thousands of messages and write few, so the
// written part is made when a section first asks for it.
type msg struct {
	*earshot.Message
	written *writtenText
	section *sectionKind // which decided about it; nil for the turn as a whole
	verdict verdict
	reason  reason
	taken   bool              // a section has it as candidate, so that others do not
	late    bool              // became known after the last turn, said before it
	tokens  int32             // what the prompt is charged for it
	entry   *logEntry         // how the log form shows it
	tree    earshot.MessageID // the top of its tree, "" until asked for
	walked  bool              // is being walked over on the way to the top

	withheld       bool     // its author's words are out: it has none any more
	withheldQuotes []string // the hashes of what it quotes of such authors
}

// What is written of a message, without indents.
type writtenText struct {
	label   *label
	body    string
	cost    int            // tokens of the whole line; 0 until asked for
	cut     string         // the body where it had to be cut
	cutCost int            // tokens of the line with the cut body; 0 until asked for
	uncut   logEntry       // in the log form; not made yet unless whole
	entries []limitedEntry // in the log form, cut, by limit
}

// A verdict is an [earshot.Verdict] in the pipeline; 0: none yet.
type verdict uint8

const (
	undecided verdict = iota
	isFull
	isCut
	isSnippet
	isOut
)

var verdictNames = [...]earshot.Verdict{"", earshot.Full, earshot.Cut, earshot.Snippet, earshot.Out}

// A reason is why a message is left out; 0 for a message that is shown.
type reason uint8

const (
	noReason reason = iota
	reasonShown
	reasonConsidered
	reasonOwn
	reasonDeleted
	reasonBlank
	reasonAddressed
	reasonCap
	reasonBudget
	reasonAfter
	reasonOther
	reasonIsolated
	reasonSystem
	reasonLate
	reasonSummarised
	reasonNews
	reasonUntrusted
)

var reasonNames = [...]string{"", "shown", "considered", "own-recorded", "deleted", "blank", "not-addressed", "cap", "budget", "after-anchor", "other-conversation", "isolated", "system", "late", "summarised", "news", Untrusted}

// Untrusted is the ledger's reason for a message whose author's words are out.
const Untrusted = "untrusted"

// normalise returns one msg for each id, in the order of Position. Of several
// copies a tombstone wins, then the newest revision, then the greater text, then
// the greater in any other field, so that the input's order does not matter.
// rising reports that ids ascend with positions, as Slack's and Discord's do.
func normalise(in []earshot.Message) (msgs []*msg, rising bool) {
	all := make([]msg, len(in))
	out := make([]*msg, len(in))
	sorted, rising := true, true
	for i := range in {
		all[i].Message = &in[i]
		out[i] = &all[i]
		if i > 0 {
			sorted = sorted && in[i-1].Position().Compare(in[i].Position()) < 0
			rising = rising && in[i-1].ID < in[i].ID
		}
	}
	if sorted && rising {
		return out, true
	}
	if !rising {
		best := make(map[earshot.MessageID]*msg, len(out))
		for _, m := range out {
			if b, ok := best[m.ID]; !ok || compareCopies(m.Message, b.Message) > 0 {
				best[m.ID] = m
			}
		}
		if len(best) < len(out) {
			out = slices.DeleteFunc(out, func(m *msg) bool { return best[m.ID] != m })
		}
	}
	slices.SortFunc(out, byPosition)
	return out, slices.IsSortedFunc(out, func(a, b *msg) int { return strings.Compare(string(a.ID), string(b.ID)) })
}

// compareCopies orders two copies of one id; the greater one is kept.
func compareCopies(a, b *earshot.Message) int {
	if a.Deleted != b.Deleted {
		if a.Deleted {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Edited, b.Edited), strings.Compare(a.Text, b.Text), cmp.Compare(a.Seq, b.Seq),
		strings.Compare(dumpMessage(a), dumpMessage(b)))
}

// dumpMessage writes all fields of a message, to compare copies that differ in no
// other way.
func dumpMessage(m *earshot.Message) string {
	c := *m
	c.Replies, c.Reactors = nil, nil // pointers, whose addresses say nothing
	s := fmt.Sprintf("%q", fmt.Sprint(c))
	if m.Replies != nil {
		s += fmt.Sprint(*m.Replies)
	}
	if m.Reactors != nil {
		s += fmt.Sprintf("%q", fmt.Sprint(m.Reactors.List))
	}
	return s
}

// find returns the message with an id, or nil.
func (t *turn) find(id earshot.MessageID) *msg {
	if id == "" {
		return nil
	}
	if t.rising {
		i, ok := slices.BinarySearchFunc(t.msgs, id, func(m *msg, id earshot.MessageID) int { return strings.Compare(string(m.ID), string(id)) })
		if !ok {
			return nil
		}
		return t.msgs[i]
	}
	if t.byID == nil {
		t.byID = make(map[earshot.MessageID]*msg, len(t.msgs))
		for _, m := range t.msgs {
			t.byID[m.ID] = m
		}
	}
	return t.byID[id]
}

// out records that a message is left out, by which section and why, unless
// something was decided about it before.
func (m *msg) out(section *sectionKind, why reason) {
	if m.verdict == undecided {
		m.section, m.verdict, m.reason = section, isOut, why
	}
}
