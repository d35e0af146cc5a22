package rule

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A CommitState is what the commit of a turn depends on.
type CommitState struct {
	Conversation earshot.Conversation
	Turns        int  // how many turns the conversation has
	Weight       int  // what they count together, see [Weight]
	Taken        bool // the agent has answered the anchor already, in this scope
	Gone         bool // one of the messages of [MessagesRead] is deleted
}

// A Commit is a turn that is appended to its conversation, and the conversation
// as it is afterwards.
type Commit struct {
	Turn         earshot.Turn        // with its number
	Read         []earshot.MessageID // the messages whose text the turn's epoch holds now
	Conversation earshot.Conversation
	Turns        int // how many it has
	Weight       int // what they count together
	Again        int // tells a turn from the others of the agent for its anchor; 0 of the first
}

// AnsweredAlready is the error for a turn whose anchor was answered.
func AnsweredAlready(anchor earshot.MessageID) error {
	return fmt.Errorf("anchor %q was answered already: %w", anchor, earshot.ErrConflict)
}

// CommitTurn decides about [earshot.Turns.CommitTurn].
func CommitTurn(t earshot.Turn, a CommitState, now earshot.Time) (Commit, error) {
	if a.Taken {
		return Commit{}, AnsweredAlready(t.Answer.Anchor)
	}
	if t.Epoch < a.Conversation.Epoch {
		return Commit{}, fmt.Errorf("the turn is of epoch %d, the conversation in %d: %w", t.Epoch, a.Conversation.Epoch, earshot.ErrConflict)
	}
	return appendTurn(t, a, a.Gone, now), nil
}

// appendTurn appends a turn. outdated says that a message which the turn has read was
// deleted since: then no text of the turn is kept and its epoch ends.
func appendTurn(t earshot.Turn, a CommitState, outdated bool, now earshot.Time) Commit {
	c := a.Conversation
	c.Metadata = TurnMetadata(c.Metadata, t.Metadata)
	t.Metadata = nil
	t = Number(t, a.Turns, now)
	out := Commit{Turn: t, Turns: a.Turns + 1, Weight: a.Weight + Weight(t, a.Turns == 0 || t.Epoch > c.Epoch)}
	epoch := t.Epoch
	if outdated {
		out.Turn = WithoutText(t)
		epoch++
	} else {
		out.Read = MessagesRead(t)
	}
	c.Cursor, c.Epoch, c.Updated = max(c.Cursor, t.Cursor), max(c.Epoch, epoch), now
	out.Conversation = c
	return out
}

// A FinishCall is a call of [earshot.Queue.Finish] with what it depends on. Answered
// is used only where there is a Turn.
type FinishCall struct {
	State     earshot.TurnState
	Why       string
	Turn      *earshot.Turn
	Answered  CommitState
	Confirmed []Confirmation
}

// CheckEnd checks and normalises the arguments of Finish, and returns the
// messages that arrived. The engine then fills in Answered, and Stored in each
// of Confirmed.
func CheckEnd(ctx context.Context, state earshot.TurnState, why string, t *earshot.Turn, arrived []earshot.Arrival) (FinishCall, []Message, error) {
	why, t, err := checkFinish(state, why, t)
	if err != nil {
		return FinishCall{}, nil, err
	}
	e := FinishCall{State: state, Why: why, Turn: t}
	keys, messages, err := checkArrived(ctx, arrived)
	for i, key := range keys {
		e.Confirmed = append(e.Confirmed, Confirmation{Key: key, Message: messages[i].ID})
	}
	return e, messages, err
}

// DecideFinish decides about [earshot.Queue.Finish], after the messages that arrived
// were recorded.
func DecideFinish(h LeasedTurn, e FinishCall) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	if h.Turn.State == e.State {
		return Change{}, nil
	}
	if err := h.Turn.checkUnfinished(); err != nil {
		return Change{}, err
	}
	if e.State == earshot.TurnDone {
		if err := h.checkLowest(); err != nil {
			return Change{}, err
		}
	}
	c, err := DecideConfirm(h.Now, e.Confirmed...)
	if err != nil {
		return Change{}, err
	}
	outdated := h.Turn.Outdated(h.Epoch)
	if e.Turn != nil {
		switch {
		case e.Turn.Answer.Anchor != h.Turn.Anchor:
			return Change{}, fmt.Errorf("%w: turn %d answers %q, not %q", earshot.ErrInvalid, h.ID, h.Turn.Anchor, e.Turn.Answer.Anchor)
		case e.Answered.Taken && h.Turn.Again == 0:
			return Change{}, AnsweredAlready(e.Turn.Answer.Anchor)
		}
		outdated = outdated || e.Answered.Gone
		done := appendTurn(*e.Turn, e.Answered, outdated || e.Turn.Epoch < h.Epoch, h.Now)
		if e.Answered.Taken { // the first was silent
			done.Again = done.Turn.Number + 1
		}
		c.Commit = &done
		h.Turn.Number = done.Turn.Number
	}
	c.end(h.Turn, e.State, e.Why, h.Now)
	c.Erase = outdated
	return c, nil
}

// end makes a turn final. One that can be opened again keeps what it was opened by.
func (c *Change) end(t StoredTurn, state earshot.TurnState, why string, now earshot.Time) {
	if state == earshot.TurnFailed || state == earshot.TurnParked {
		why = earshot.WhyAfter(t.Opening(), why)
	}
	t.State, t.Why, t.Updated = state, why, now
	c.Turns = append(c.Turns, t)
	c.Withdraw = append(c.Withdraw, t.ID)
	c.FindLowest = true
	if state == earshot.TurnDropped && why == AnchorDeleted {
		c.Unmerge = t.ID
	}
}

// DecideMerge decides about [earshot.Queue.Merge]. h holds the turn that answers the
// others too; ids are the others' ids, and others are as they are stored (zero
// where one is not). unfinished are the conversation's turns in line.
//
// No unfinished turn may stand before one that is merged, unless it is merged
// too: it could begin, and then the merged ones could open again before it.
func DecideMerge(h LeasedTurn, ids []earshot.TurnID, others []StoredTurn, unfinished []earshot.QueuedTurn) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	if err := h.Turn.checkUnfinished(); err != nil {
		return Change{}, err
	}
	if h.Turn.State == earshot.TurnWaiting {
		return Change{}, waits(h.ID)
	}
	var c Change
	into, of := h.Turn, []earshot.TurnID{h.ID}
	for i, o := range others {
		if o.ID == 0 || o.Conversation != into.Conversation || o.ID == h.ID {
			return Change{}, NoTurn(ids[i])
		}
		if o.State == earshot.TurnWaiting {
			return Change{}, waits(o.ID)
		}
		if !o.State.Final() && !slices.Contains(of, o.ID) {
			c.end(o, earshot.TurnDropped, AnsweredWith(h.ID), h.Now)
			into.Ends = max(into.Ends, o.Ends)
			of = append(of, o.ID)
		}
	}
	unfinished = slices.SortedFunc(slices.Values(unfinished), CompareInLine)
	for _, first := range unfinished[:min(len(of), len(unfinished))] {
		if !slices.Contains(of, first.ID) {
			return Change{}, fmt.Errorf("turn %d comes before what is merged into turn %d: %w", first.ID, h.ID, earshot.ErrConflict)
		}
	}
	if into.Ends != h.Turn.Ends {
		into.Updated = h.Now
		c.Turns = append(c.Turns, into)
	}
	return c, nil
}

// ReopenMerged opens a turn again that was merged into the turn from, whose anchor
// was deleted since. ok is false for a turn that was not merged into it. In SQL,
// UnmergeSQL is set in the rows that UnmergedSQL selects, and updated besides.
func ReopenMerged(q StoredTurn, from earshot.TurnID, now earshot.Time) (_ StoredTurn, ok bool) {
	if q.State != earshot.TurnDropped || q.Why != AnsweredWith(from) {
		return q, false
	}
	q.State, q.Why, q.Updated = earshot.TurnOpen, "", now
	return q, true
}

// UnmergeSQL is what [ReopenMerged] sets in a row; UnmergedSQL selects the rows, of
// those of the conversation whose why is [AnsweredWith].
const (
	UnmergeSQL  = `state = 'open', why = '', pruned = 0`
	UnmergedSQL = `state = 'dropped'`
)

// DecideReopen decides about [earshot.Queue.Reopen]. gone reports whether the anchor
// is deleted; unfinished are the conversation's turns in line.
func DecideReopen(q StoredTurn, gone bool, unfinished []earshot.QueuedTurn, now earshot.Time) (Change, error) {
	switch {
	case q.State != earshot.TurnParked && q.State != earshot.TurnFailed:
		return Change{}, fmt.Errorf("turn %d is %s: %w", q.ID, q.State, earshot.ErrConflict)
	case gone:
		return Change{}, fmt.Errorf("the anchor of turn %d is deleted: %w", q.ID, earshot.ErrConflict)
	}
	for _, other := range unfinished {
		if HasBegun(other.State) {
			return Change{}, fmt.Errorf("turn %d of the conversation is being answered: %w", other.ID, earshot.ErrConflict)
		}
	}
	q.State, q.Why, q.Tries, q.Ends, q.Updated = earshot.TurnOpen, q.Opening(), 0, 0, now
	q.Stopped, q.StoppedBy = 0, ""
	return Change{Turns: []StoredTurn{q}, FindLowest: true}, nil
}

// DecideDiscard decides about [earshot.Queue.Discard]. A turn that is final is nobody's
// lowest unfinished one, so no lease and no other turn matters.
func DecideDiscard(q StoredTurn, why string, now earshot.Time) (Change, error) {
	switch {
	case WasDiscarded(q.QueuedTurn):
		return Change{}, nil
	case q.State != earshot.TurnParked && q.State != earshot.TurnFailed:
		return Change{}, fmt.Errorf("turn %d is %s: %w", q.ID, q.State, earshot.ErrConflict)
	}
	q.State, q.Why, q.Updated = earshot.TurnDropped, DiscardReason(q.QueuedTurn, why), now
	return Change{Turns: []StoredTurn{q}, Withdraw: []earshot.TurnID{q.ID}}, nil
}
