package rule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
)

// CheckTurn checks and normalises t and clears its number. The result shares
// nothing with t.
func CheckTurn(t earshot.Turn) (earshot.Turn, error) {
	if t.Answer.Anchor == "" {
		return t, fmt.Errorf("%w: the turn has no anchor", earshot.ErrInvalid)
	}
	if t.Epoch < 0 || t.Cursor < 0 {
		return t, fmt.Errorf("%w: the turn's epoch or cursor is negative", earshot.ErrInvalid)
	}
	t.Number = 0
	t.Answer.Anchor = text(t.Answer.Anchor)
	if len(t.Answer.Anchor) > MaxID {
		return t, tooLong("anchor", len(t.Answer.Anchor))
	}
	t.Answer.Replies = normaliseList(t.Answer.Replies, text[earshot.MessageID])
	t.Policy, t.Hash = Text(t.Policy), Text(t.Hash)
	t.Shown = normaliseList(t.Shown, func(s earshot.ShownRevision) earshot.ShownRevision {
		return earshot.ShownRevision{ID: text(s.ID), Revision: s.Revision, Seen: Text(s.Seen)}
	})
	t.Attached = normaliseList(t.Attached, func(a earshot.AttachedFile) earshot.AttachedFile {
		return earshot.AttachedFile{ID: text(a.ID), SHA256: Text(a.SHA256), Turn: a.Turn, Tokens: a.Tokens}
	})
	t.Names = Names(normaliseList(t.Names, func(n earshot.SessionName) earshot.SessionName {
		return earshot.SessionName{ID: text(n.ID), Name: Text(n.Name)}
	}))
	t.Form, t.Zone = Text(t.Form), Text(t.Zone)
	t.Session = normaliseList(t.Session, checkEntry)
	t.Ledger = normaliseList(t.Ledger, func(r earshot.LedgerRow) earshot.LedgerRow {
		return earshot.LedgerRow{ID: text(r.ID), Section: Text(r.Section), Verdict: text(r.Verdict), Reason: Text(r.Reason), Tokens: r.Tokens,
			Score: r.Score, Cover: r.Cover, Parts: maps.Clone(r.Parts)}
	})
	return t, nil
}

// An Addition is a call of [earshot.Turns.AddReply] with what it depends on.
type Addition struct {
	Have  []earshot.MessageID
	Reply earshot.ShownRevision
	Gone  bool // the message is deleted
	Shown bool // the turn's epoch has shown it
}

// Clean returns the addition normalised.
func (a Addition) Clean() Addition {
	a.Have = normaliseList(a.Have, text[earshot.MessageID])
	a.Reply.ID, a.Reply.Seen = text(a.Reply.ID), Text(a.Reply.Seen)
	return a
}

// To returns a committed turn with one more reply. What it shows is the engine's.
func (a Addition) To(t earshot.Turn) (earshot.Turn, error) {
	switch {
	case a.Reply.ID == "":
		return t, fmt.Errorf("a reply without an id: %w", earshot.ErrNotFound)
	case a.Gone, a.Shown, !slices.Equal(nonEmpty(a.Have), nonEmpty(t.Answer.Replies)):
		return t, fmt.Errorf("message %s cannot become a reply of turn %d any more: %w", a.Reply.ID, t.Number, earshot.ErrConflict)
	}
	t.Answer.Replies = append(slices.Clone(t.Answer.Replies), a.Reply.ID)
	return t, nil
}

// CloneTurn returns a copy of t that shares nothing with it.
func CloneTurn(t earshot.Turn) earshot.Turn {
	t.Answer.Replies = slices.Clone(t.Answer.Replies)
	t.Shown, t.Attached, t.Names = slices.Clone(t.Shown), slices.Clone(t.Attached), slices.Clone(t.Names)
	t.Session, t.Ledger = CloneSession(t.Session), slices.Clone(t.Ledger)
	for i := range t.Ledger {
		t.Ledger[i].Parts = maps.Clone(t.Ledger[i].Parts)
	}
	return t
}

// Number sets t's number, also in what t attached, and its time if it has none.
// Empty lists become nil, as a database returns them.
func Number(t earshot.Turn, number int, now earshot.Time) earshot.Turn {
	t.Number = number
	if t.Time == 0 {
		t.Time = now
	}
	for i := range t.Attached {
		t.Attached[i].Turn = number
	}
	t.Answer.Replies = nonEmpty(t.Answer.Replies)
	t.Shown, t.Attached, t.Names = nonEmpty(t.Shown), nonEmpty(t.Attached), nonEmpty(t.Names)
	t.Session, t.Ledger = nonEmpty(t.Session), nonEmpty(t.Ledger)
	return t
}

// WithoutText returns t without the text of messages: without its session and
// the names in it.
func WithoutText(t earshot.Turn) earshot.Turn {
	t.Session, t.Names = nil, nil
	return t
}

func nonEmpty[S ~[]T, T any](list S) S {
	if len(list) == 0 {
		return nil
	}
	return list
}
