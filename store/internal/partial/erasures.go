package partial

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// newErasures is how many erasures are looked at first: more than operators begin
// between two turns.
const newErasures = 100

// follow removes from the memory what an erasure removes from the disk that began
// after this store was made, by whichever process. What it erased before was never
// in this memory.
func (s *Store) follow(ctx context.Context) error {
	list, err := s.unseen(ctx)
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- { // the oldest first
		e := list[i]
		s.mu.Lock()
		known := e.ID <= s.followed || e.Begun <= s.began
		if e.Of.User != "" && e.ID > s.followed {
			at := author{e.Of.Platform, e.Of.Workspace, e.Of.User}
			s.erased[at] = true
			delete(s.held, at)
		}
		s.followed = max(s.followed, e.ID)
		s.mu.Unlock()
		at := earshot.Scope{Platform: e.Of.Platform, Workspace: e.Of.Workspace, Channel: e.Of.Channel}
		if e.Of.User == "" && e.Of.Channel == "" && len(e.Of.Messages) == 0 {
			continue // of a workspace that is erased, the memory's part with it
		}
		if known || e.Of.Channel != "" && !s.transient(at) {
			continue
		}
		if err := s.forget(ctx, e.Of); err != nil {
			return fmt.Errorf("erase from memory: %w", err)
		}
	}
	return nil
}

// unseen returns the newest erasures, newest first, as far back as one that is
// known: retention begins one for each channel at the same moment.
func (s *Store) unseen(ctx context.Context) ([]earshot.Erasure, error) {
	for limit := newErasures; ; limit *= 4 {
		list, err := s.Store.ErasureLog(ctx, false, limit)
		if err != nil || len(list) < limit {
			return list, err
		}
		oldest := list[len(list)-1]
		s.mu.Lock()
		known := oldest.ID <= s.followed || oldest.Begun <= s.began
		s.mu.Unlock()
		if known {
			return list, nil
		}
	}
}

// forget carries an erasure through in the memory.
func (s *Store) forget(ctx context.Context, of earshot.ErasureOf) error {
	e, err := s.memory.BeginErasure(ctx, of)
	for err == nil && e.Ended == 0 {
		e, err = s.memory.StepErasure(ctx, e.ID)
	}
	if errors.Is(err, earshot.ErrNotFound) {
		return nil
	}
	return err
}

// Remember implements [earshot.Erasures]. The memory has followed the erasure that
// forgot the person, so it is told too.
func (s *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	if err := s.Store.Remember(ctx, p, w, user); err != nil {
		return err
	}
	if err := s.follow(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.erased, author{rule.ID(p), rule.ID(w), rule.ID(user)})
	s.mu.Unlock()
	return s.memory.Remember(ctx, p, w, user)
}
