package partial

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// noMessage is the id of the tombstone under which the place in a platform's
// stream is stored, where the event's own message is not.
const noMessage = "-"

// Accept implements [earshot.Inbox]. Of a transient channel the disk gets the
// events that open a turn, with their message; the memory gets all. Neither gets
// the raw event, which no turn needs.
func (s *Store) Accept(ctx context.Context, scope earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	if !s.transient(scope) {
		out, err := s.Store.Accept(ctx, scope, e, ask)
		if err == nil {
			err = s.spoke(ctx, scope, e.Message)
		}
		return out, err
	}
	e.Raw = nil
	if ask != nil {
		return s.ask(ctx, scope, e, ask)
	}
	onDisk, err := s.forDisk(ctx, scope, []earshot.Message{e.Message})
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	switch {
	case len(onDisk) > 0:
		x := e
		x.Message = onDisk[0]
		if _, err := s.Store.Accept(ctx, scope, x, nil); err != nil {
			return earshot.AcceptResult{}, err
		}
	case e.Resume != nil:
		x := earshot.Event{Received: e.Received, Resume: e.Resume, Message: earshot.Message{ID: noMessage, Deleted: true}}
		if _, err := s.Store.Accept(ctx, scope, x, nil); err != nil {
			return earshot.AcceptResult{}, err
		}
	}
	return s.memory.Accept(ctx, scope, e, nil)
}

// ask accepts an event that may open a turn.
func (s *Store) ask(ctx context.Context, scope earshot.Scope, e earshot.Event, id *earshot.ConversationID) (earshot.AcceptResult, error) {
	out, err := s.Store.Accept(ctx, scope, e, id)
	if err != nil {
		return out, err
	}
	x := e
	x.Resume = nil
	if out.Turn == 0 {
		gone, err := s.noTurn(ctx, scope, e.Message)
		if err != nil {
			return out, err
		}
		if gone {
			x.Message = tombstone(e.Message)
		}
	}
	heard, err := s.memory.Accept(ctx, scope, x, nil)
	if err != nil {
		return out, fmt.Errorf("keep message %s in memory: %w", e.Message.ID, err)
	}
	out.RecordResult = heard.RecordResult
	if out.Duplicate {
		out.Change = earshot.Same
	}
	return out, nil
}

// noTurn removes from the disk a message that opened no turn after all, and reports
// whether it had been deleted there before.
func (s *Store) noTurn(ctx context.Context, scope earshot.Scope, m earshot.Message) (gone bool, err error) {
	list, err := s.onDisk(ctx, scope, m.ID)
	if err != nil || len(list) == 0 {
		return err == nil, err
	}
	_, err = s.Store.Record(ctx, scope, tombstone(m))
	return false, err
}

// Claim implements [earshot.Leases].
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	l, turns, err := s.Store.Claim(ctx, agent, owner, now, hold)
	if err != nil || !s.transient(l.Conversation.Scope) {
		return l, turns, err
	}
	if err := s.follow(ctx); err != nil {
		s.log.Warn("what was erased stays in memory for now", "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range turns {
		s.running[question{q.Conversation.Scope, q.Anchor}] = q.ID
	}
	return l, turns, nil
}

// Begin implements [earshot.Journal]. The disk knows nothing of the messages that
// the prompt shows, so what was deleted of them is found here. A journal is kept only
// where this process knows what it repeats, and nothing of that was deleted.
func (s *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	if scope := l.Conversation.Scope; s.transient(scope) {
		gone, err := s.anyDeleted(ctx, scope, p.Shows)
		if err != nil {
			return err
		}
		if gone {
			return fmt.Errorf("turn %d shows what is deleted: %w", id, earshot.ErrConflict)
		}
		if p.Keeps {
			if p.Keeps, err = s.keeps(ctx, scope, id); err != nil {
				return err
			}
		}
		defer s.hasRead(id, p.Shows)
		p.Shows = nil
	}
	return s.Store.Begin(ctx, l, id, p)
}

// keeps reports whether the journal of a turn in a transient channel may be kept.
func (s *Store) keeps(ctx context.Context, scope earshot.Scope, id earshot.TurnID) (bool, error) {
	s.mu.Lock()
	read, known := s.read[id]
	s.mu.Unlock()
	if !known {
		return false, nil
	}
	gone, err := s.anyDeleted(ctx, scope, read)
	return !gone, err
}

// hasRead notes that the journal of a turn may repeat messages.
func (s *Store) hasRead(id earshot.TurnID, shows []earshot.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[id] = rule.IDs(append(s.read[id][:len(s.read[id]):len(s.read[id])], shows...))
}

// AddStep implements [earshot.Journal].
func (s *Store) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, step earshot.Step, posts ...earshot.Post) error {
	if scope := l.Conversation.Scope; s.transient(scope) {
		gone, err := s.anyDeleted(ctx, scope, step.Shows)
		if err != nil {
			return err
		}
		s.hasRead(id, step.Shows)
		step.Shows, step.Erased = nil, step.Erased || gone
	}
	return s.Store.AddStep(ctx, l, id, step, posts...)
}

// PutFeedback implements [earshot.FeedbackStore]. Of an answer in a transient channel the
// disk gets who was content with it, and not what they said.
func (s *Store) PutFeedback(ctx context.Context, f earshot.Feedback) error {
	q, err := s.Store.QueuedTurn(ctx, f.Turn)
	if err != nil {
		return err
	}
	if s.transient(q.Conversation.Scope) {
		f.Reason = ""
	}
	return s.Store.PutFeedback(ctx, f)
}

// PruneEvents implements [earshot.Inbox].
func (s *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	if _, err := s.memory.PruneEvents(ctx, before); err != nil {
		return 0, err
	}
	return s.Store.PruneEvents(ctx, before)
}

// PruneTurns implements [earshot.Queue].
func (s *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	if _, err := s.memory.PruneTurns(ctx, before); err != nil { // files
		return 0, err
	}
	return s.Store.PruneTurns(ctx, before)
}

// anyDeleted reports whether one of a transient channel's messages was deleted.
func (s *Store) anyDeleted(ctx context.Context, scope earshot.Scope, ids []earshot.MessageID) (bool, error) {
	list, err := s.memory.ByID(ctx, scope, ids...)
	if err != nil {
		return false, err
	}
	for _, m := range list {
		if m.Deleted {
			return true, nil
		}
	}
	return false, nil
}

// Finish implements [earshot.Queue]. Of a transient channel's turn ids, counts and
// usage are committed; what it said goes to the memory. Afterwards its text leaves
// the disk.
func (s *Store) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	scope := l.Conversation.Scope
	if !s.transient(scope) {
		return s.Store.Finish(ctx, l, id, state, why, t, arrived...)
	}
	for _, a := range arrived {
		if _, err := s.memory.Record(ctx, scope, a.Message); err != nil {
			return fmt.Errorf("keep message %s in memory: %w", a.Message.ID, err)
		}
		if err := s.Confirm(ctx, scope, a.Key, a.Message.ID); err != nil {
			return err
		}
	}
	if err := s.Store.Finish(ctx, l, id, state, why, bare(t)); err != nil {
		return err
	}
	s.ended(ctx, l.Conversation)
	return nil
}
