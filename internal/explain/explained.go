package explain

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// An Explanation is a prompt beside the messages that were considered for it.
type Explanation struct {
	Channel earshot.Channel
	Anchor  earshot.Message
	Agent   earshot.Identity
	Input   assemble.Input // what the prompt is made of
	Result  assemble.Result
	// Candidates are in the order of Position; behind them stand those that only
	// tools returned.
	Candidates []Candidate
	// Segments are the whole prompt in order, the system text first. What separates
	// two sections is a segment without a section.
	Segments []Segment
	// Before are the turns of this epoch whose entries the prompt repeats, the oldest
	// first, without Input. One whose row in the queue is not found has no ID.
	Before []earshot.QueuedTurn
	Cached CachedPrefix
}

// A Candidate is a message that was considered, as the turn saw it, and what became
// of it.
type Candidate struct {
	Message earshot.Message // without text where it is deleted, because stores keep none
	Row     earshot.LedgerRow
}

// A Segment is a stretch of the prompt that shows one message, or none.
type Segment struct {
	Part    int          // index into Result.Messages; -1 is the system text
	Role    earshot.Role // of the message; "" of the system text
	Section assemble.SectionName
	Shows   earshot.MessageID // "" for structure: headings, days, counts, guide, calls of tools
	// Turn is the earlier turn that recorded this part of the session; 0 for what
	// this turn adds, and where it is not known.
	Turn earshot.TurnID
	Text string // "" where a message of the prompt has only calls or files
}

// A CachedPrefix is the beginning of a prompt that the request before had already, which
// is what a provider can read from its cache.
type CachedPrefix struct {
	Known  bool           // false where the turn before cannot be made again
	Of     earshot.TurnID // the turn before; 0 where there is none
	Tokens int
	Bytes  int // of system text and messages
}

// Explain returns a stored turn with its prompt beside the messages that were
// considered for it. The prompt is nil where it cannot be made again; Changed of the
// turn says why. A turn that the caller may not see is refused as one that does not
// exist.
func (r *Reader) Explain(ctx context.Context, p access.Principal, id earshot.TurnID) (Turn, *Explanation, error) {
	done, err := r.maker.Work(ctx)
	if err != nil {
		return Turn{}, nil, err
	}
	defer done()
	st := newMemo(r.store)
	t, err := r.turn(ctx, p, id, st)
	if err != nil || t.Prompt == nil {
		return t, nil, err
	}
	x := Explanation{Channel: t.Channel, Agent: t.Input.Identity, Input: *t.Input, Result: *t.Prompt}
	err = r.explain(ctx, st, &x, t.Queued, t.Ledger(), t.Messages)
	return t, &x, err
}

// ExplainMessage is [Reader.Preview] with the prompt beside the messages that
// were considered for it: what the agent would see if it answered a message now.
func (r *Reader) ExplainMessage(ctx context.Context, p access.Principal, q PreviewRequest) (Explanation, error) {
	x, _, err := r.explainMessage(ctx, p, q)
	return x, err
}

// explainMessage also returns the conversation that the prompt goes on with; the
// zero id where it begins one.
func (r *Reader) explainMessage(ctx context.Context, p access.Principal, q PreviewRequest) (Explanation, earshot.ConversationID, error) {
	c, a, err := r.lookUp(ctx, p, q)
	if err != nil {
		return Explanation{}, a.Conversation, err
	}
	if err := r.maker.Hold(c.Channel.Scope()); err != nil {
		return Explanation{}, a.Conversation, err
	}
	done, err := r.maker.Work(ctx)
	if err != nil {
		return Explanation{}, a.Conversation, err
	}
	defer done()
	if err := r.make(ctx, &c, a); err != nil {
		return Explanation{}, a.Conversation, err
	}
	x := Explanation{Channel: c.Channel, Agent: c.Agent, Input: c.Input, Result: c.Result}
	err = r.explain(ctx, newMemo(r.store), &x, earshot.QueuedTurn{Conversation: a.Conversation}, c.Result.Ledger, nil)
	return x, a.Conversation, err
}

// explain adds candidates, segments and the turns before to a prompt. stored are
// messages that the input does not have. A prompt of no turn has one without ID.
func (r *Reader) explain(ctx context.Context, st *replayCache, x *Explanation, of earshot.QueuedTurn, rows earshot.Ledger, stored map[earshot.MessageID]earshot.Message) error {
	x.candidates(rows, stored)
	before, err := r.before(ctx, st, x, of.Conversation, of.ID)
	if err != nil {
		return err
	}
	for _, b := range before.turns {
		b.queued.Input = nil // some reads return it and some do not
		x.Before = append(x.Before, b.queued)
	}
	x.segments(before.passages)
	x.Cached = before.cachedPrefix(x)
	return nil
}

// candidates sets the candidates, and the anchor, by the rows of a ledger.
func (x *Explanation) candidates(rows earshot.Ledger, stored map[earshot.MessageID]earshot.Message) {
	saw := make(map[earshot.MessageID]*earshot.Message, len(x.Input.Messages))
	for i := range x.Input.Messages {
		m := &x.Input.Messages[i]
		saw[m.ID] = m
		if m.ID == x.Input.Anchor {
			x.Anchor = *m
		}
	}
	x.Candidates = ledgerCandidates(rows, saw, stored)
}

// ledgerCandidates returns the rows of a ledger with their messages, as they were seen,
// else as they are stored.
func ledgerCandidates(rows earshot.Ledger, saw map[earshot.MessageID]*earshot.Message, stored map[earshot.MessageID]earshot.Message) []Candidate {
	list := make([]Candidate, 0, len(rows))
	for _, row := range rows {
		m := earshot.Message{ID: row.ID}
		if is, ok := saw[row.ID]; ok {
			m = *is
		} else if is, ok := stored[row.ID]; ok {
			m = is
		}
		list = append(list, Candidate{m, row})
	}
	return list
}

// Candidates are the messages of the turn's ledger, as they are stored now. They are
// known where the prompt cannot be made again.
func (t Turn) Candidates() []Candidate { return ledgerCandidates(t.Ledger(), nil, t.Messages) }
