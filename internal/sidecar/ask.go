package sidecar

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A turn that somebody outside answers is a draft, and a draft that waits for a person is
// one that is held until the last of what it asked expires: for so long nobody else gets its
// question. Once all is decided the question is free for whoever opens it, and the approvals
// go over to the turn that is opened then.

// Bounds of what a turn asks.
const (
	maxAsked  = 100                // approvals of one turn
	maxAsk    = 7 * 24 * time.Hour // how long somebody may decide
	asksFor   = time.Hour          // where the caller says nothing
	maxResult = earshot.ApprovalWords
)

// An Asking is a call of a tool for which a person is asked.
type Asking struct {
	Call  string // the model's id of it; the same again is the same approval
	Tool  string
	Args  []byte
	Asker earshot.AuthorID // who may decide as the asker; "": who wrote the question
	Lasts time.Duration    // 0: an hour
}

// OtherCall is the answer to an approval that is asked for again for another tool or other
// arguments.
var OtherCall = &visible.Refusal{Kind: visible.Conflict, Code: "other_call", Path: "call", Detail: "was asked for with another tool or other arguments; what was asked first stays, and another call needs another id"}

// Ask opens an approval for a call of an open turn. Asking again for the same call returns
// the first one as it is now.
func (s *Service) Ask(ctx context.Context, p access.Principal, id earshot.TurnID, a Asking) (earshot.Approval, error) {
	d, err := s.draft(ctx, p, id)
	if err != nil {
		return earshot.Approval{}, err
	}
	switch {
	case a.Call == "":
		return earshot.Approval{}, visible.InvalidField("call", "is required: the model's id of the call")
	case a.Tool == "":
		return earshot.Approval{}, visible.InvalidField("tool", "is required")
	case len(a.Args) == 0:
		return earshot.Approval{}, visible.InvalidField("arguments", "are required; {} where there are none")
	case len(a.Args) > earshot.ApprovalArgs:
		return earshot.Approval{}, visible.InvalidField("arguments", fmt.Sprintf("have more than %d bytes", earshot.ApprovalArgs))
	case a.Lasts < 0 || a.Lasts > maxAsk:
		return earshot.Approval{}, visible.InvalidField("expires_in_seconds", "must be 1 to 604800")
	case a.Lasts == 0:
		a.Lasts = asksFor
	}
	if a.Asker == "" {
		found, err := s.store.ByID(ctx, d.Conversation.Scope, d.Anchor)
		if err != nil {
			return earshot.Approval{}, fmt.Errorf("read the question: %w", err)
		}
		if len(found) > 0 {
			a.Asker = found[0].Author.ID
		}
	}
	list, err := s.asked(ctx, id)
	if err != nil {
		return earshot.Approval{}, err
	}
	if len(list) >= maxAsked {
		return earshot.Approval{}, &visible.Refusal{Kind: visible.Conflict, Code: "too_many", Detail: fmt.Sprintf("this turn has asked for %d calls already", maxAsked)}
	}
	now := s.now()
	out, err := s.store.AskDraft(ctx, earshot.Approval{
		ID: earshot.ApprovalID("ask_" + rand.Text()), Turn: id, Asker: a.Asker, Call: a.Call, Tool: a.Tool, Args: a.Args,
		Asked: now, Expires: now + earshot.Time(a.Lasts.Microseconds()),
	})
	if err == nil && (out.Tool != a.Tool || !bytes.Equal(out.Args, a.Args)) {
		err = OtherCall
	}
	return out, err
}

// asked returns what a turn has asked, the newest first. What has expired by now is decided
// to be.
func (s *Service) asked(ctx context.Context, id earshot.TurnID) ([]earshot.Approval, error) {
	list, err := s.store.Approvals(ctx, earshot.ApprovalQuery{Turn: id, Limit: maxAsked})
	if err != nil {
		return nil, fmt.Errorf("read what was asked: %w", err)
	}
	for i, a := range list {
		if a.State == earshot.ApprovalOpen && a.Expires <= s.now() {
			if list[i], err = s.expire(ctx, a); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// expire ends an approval whose time is over, unless somebody was faster.
func (s *Service) expire(ctx context.Context, a earshot.Approval) (earshot.Approval, error) {
	out, err := s.store.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalExpired, Time: s.now()})
	if errors.Is(err, earshot.ErrConflict) {
		return out, nil
	}
	if err != nil {
		return a, fmt.Errorf("end an approval: %w", err)
	}
	return out, nil
}

// ExpireApprovals ends the approvals whose time is over, whoever asked: where no bot runs,
// nobody else does.
func (s *Service) ExpireApprovals(ctx context.Context) error {
	due, err := s.store.Approvals(ctx, earshot.ApprovalQuery{States: []earshot.ApprovalState{earshot.ApprovalOpen}, Due: s.now()})
	for _, a := range due {
		if _, err := s.expire(ctx, a); err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return err
		}
	}
	return err
}

// What a turn's holder is told of one that waits for a person.
const (
	HeldWaiting = "waiting" // somebody is asked, and nobody holds the turn
	HeldDecided = "decided" // all is decided: whoever opens the question, or renews this turn, goes on with it
)

// waitsUntil returns until when a turn would be held that waits for what it asked, and whether
// something of that is open.
func waitsUntil(list []earshot.Approval) (until earshot.Time, open bool) {
	for _, a := range list {
		until = max(until, a.Expires)
		open = open || a.State == earshot.ApprovalOpen
	}
	return until, open
}

// Wait has an open turn wait for what it asked, and reports how it stands: nobody holds it,
// and nobody gets its question until all is decided or its time is over. A turn that asks
// nothing that is open stays as it is.
func (s *Service) Wait(ctx context.Context, p access.Principal, id earshot.TurnID) (Held, error) {
	d, err := s.draft(ctx, p, id)
	if err != nil {
		return Held{}, err
	}
	list, err := s.asked(ctx, id)
	if err != nil {
		return Held{}, err
	}
	if until, open := waitsUntil(list); open && d.State == earshot.DraftOpen && d.Expires != until {
		if d, err = s.store.RenewDraft(ctx, id, s.now(), until, false); err != nil {
			return Held{}, s.taken(ctx, err)
		}
	}
	return s.held(ctx, d)
}

// freed returns the turn that holds a claim if all that it waited for is decided: whoever
// opens the question then replaces it. 0 where there is none.
func (s *Service) freed(ctx context.Context, taken error) (earshot.TurnID, error) {
	var held *earshot.Claimed
	if !errors.As(taken, &held) || held.Answered || held.Until == 0 {
		return 0, nil
	}
	list, err := s.asked(ctx, held.Turn)
	if until, open := waitsUntil(list); err != nil || open || until != held.Until {
		return 0, err
	}
	return held.Turn, nil
}

// left returns a turn for the same question whose time is over and which has asked
// something: what was decided is known to the turn that is opened now. nil where there is
// none.
func (s *Service) left(ctx context.Context, d earshot.Draft) (*earshot.Draft, error) {
	last, err := s.store.LastDraft(ctx, d.Conversation, d.Anchor, 0, false)
	if errors.Is(err, earshot.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the turn before: %w", err)
	}
	if last.State != earshot.DraftOpen || last.Expires >= d.Opened {
		return nil, nil
	}
	list, err := s.store.Approvals(ctx, earshot.ApprovalQuery{Turn: last.ID, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &last, nil
}

// NoteResult notes what came of a call that a turn from outside asked for, and returns the
// approval.
func (s *Service) NoteResult(ctx context.Context, p access.Principal, id earshot.ApprovalID, result string) (earshot.Approval, error) {
	if p.Fixed != nil {
		return earshot.Approval{}, visible.ToolsOnly
	}
	if len(result) > maxResult {
		return earshot.Approval{}, visible.InvalidField("result", fmt.Sprintf("is longer than %d bytes", maxResult))
	}
	a, err := s.store.Approval(ctx, id)
	if err == nil {
		err = s.to(p).Opens(ctx, a.Conversation)
	}
	switch {
	case err != nil:
		return earshot.Approval{}, err
	case p.ReadOnly:
		return earshot.Approval{}, visible.ReadOnly
	}
	if err := s.store.NoteDraft(ctx, id, result); errors.Is(err, earshot.ErrNotFound) {
		return earshot.Approval{}, &visible.Refusal{Kind: visible.Conflict, Code: "of_a_bot", Path: "result", Detail: "is noted by the bot that asked"}
	} else if errors.Is(err, earshot.ErrConflict) {
		return earshot.Approval{}, &visible.Refusal{Kind: visible.Conflict, Code: "not_agreed", Path: "result", Detail: "is of a call that nobody has agreed to, or whose turn was aborted"}
	} else if err != nil {
		return earshot.Approval{}, err
	}
	return s.store.Approval(ctx, id)
}
