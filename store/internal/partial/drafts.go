package partial

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A draftHolder keeps in memory what a draft on the disk is made of, until something of it
// is deleted. The store in memory is one.
type draftHolder interface {
	HoldDraft(ctx context.Context, d earshot.Draft) error
	HeldDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, bool, error)
	DropDraft(ctx context.Context, id earshot.TurnID) error
}

// errNoHolder is the error of a store that was made over another memory.
var errNoHolder = errors.New("the store in memory holds no drafts")

func (s *Store) holder() (draftHolder, error) {
	h, ok := s.memory.(draftHolder)
	if !ok {
		return nil, errNoHolder
	}
	return h, nil
}

// OpenDraft implements [earshot.Drafts]. Of a draft in a transient channel the disk
// gets ids and counts, so that its id is unique and one of several is committed; the
// memory holds what it is made of. A draft that another process opened cannot be
// committed here.
func (s *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	scope := d.Conversation.Scope
	if !s.transient(scope) {
		return s.Store.OpenDraft(ctx, d)
	}
	h, err := s.holder()
	if err != nil {
		return earshot.Draft{}, err
	}
	if err := s.follow(ctx); err != nil {
		return earshot.Draft{}, err
	}
	gone, err := s.anyDeleted(ctx, scope, append(d.Prompt.Shows[:len(d.Prompt.Shows):len(d.Prompt.Shows)], d.Anchor))
	if err != nil {
		return earshot.Draft{}, err
	}
	if gone {
		return earshot.Draft{}, fmt.Errorf("the draft shows what is deleted: %w", earshot.ErrConflict)
	}
	onDisk := d
	onDisk.Asked, onDisk.Turn, onDisk.Prompt.Input, onDisk.Prompt.Shows = nil, earshot.Turn{}, nil, nil
	stored, err := s.Store.OpenDraft(ctx, onDisk)
	if err != nil {
		return earshot.Draft{}, err
	}
	if d.Replaces != 0 {
		if err := s.drop(ctx, d.Replaces); err != nil {
			return earshot.Draft{}, err
		}
	}
	whole := stored
	whole.Asked, whole.Turn, whole.Prompt = d.Asked, d.Turn, d.Prompt
	if err := h.HoldDraft(ctx, whole); err != nil {
		return earshot.Draft{}, err
	}
	return s.whole(ctx, stored)
}

// Draft implements [earshot.Drafts].
func (s *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	d, err := s.Store.Draft(ctx, id)
	if err != nil || !s.transient(d.Conversation.Scope) {
		return d, err
	}
	return s.whole(ctx, d)
}

// whole adds to a draft in a transient channel what the memory holds of it. Of one
// that is open on the disk, Turn has ids alone.
func (s *Store) whole(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	if d.State != earshot.DraftOpen {
		return d, nil
	}
	d.Turn = earshot.Turn{}
	held, ok, err := s.heldDraft(ctx, d.ID)
	if err == nil && ok {
		d.Asked, d.Prompt.Input, d.Turn = held.Asked, held.Prompt.Input, held.Turn
	}
	return d, err
}

// AskDraft implements [earshot.Drafts]. A draft in a transient channel cannot ask: what the
// call is given would stay on the disk for as long as a person thinks.
func (s *Store) AskDraft(ctx context.Context, a earshot.Approval) (earshot.Approval, error) {
	d, err := s.Store.Draft(ctx, a.Turn)
	if err != nil {
		return earshot.Approval{}, err
	}
	if s.transient(d.Conversation.Scope) {
		return earshot.Approval{}, fmt.Errorf("%w: what is said in this channel is not stored, and neither is what somebody is asked", earshot.ErrInvalid)
	}
	return s.Store.AskDraft(ctx, a)
}

// RenewDraft implements [earshot.Drafts].
func (s *Store) RenewDraft(ctx context.Context, id earshot.TurnID, now, expires earshot.Time, posting bool) (earshot.Draft, error) {
	d, err := s.Store.RenewDraft(ctx, id, now, expires, posting)
	if err != nil || !s.transient(d.Conversation.Scope) {
		return d, err
	}
	held, ok, err := s.heldDraft(ctx, id)
	if err != nil {
		return d, err
	}
	if ok {
		h, err := s.holder()
		if err != nil {
			return d, err
		}
		held.Expires = d.Expires // else the memory lets go of it when it would have expired
		if err := h.HoldDraft(ctx, held); err != nil {
			return d, err
		}
	}
	return s.whole(ctx, d)
}

// CommitDraft implements [earshot.Drafts]. The replies go to the memory, and ids,
// counts and usage to the disk.
func (s *Store) CommitDraft(ctx context.Context, id earshot.TurnID, t earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	d, err := s.Store.Draft(ctx, id)
	if err != nil {
		return earshot.Draft{}, err
	}
	scope := d.Conversation.Scope
	if !s.transient(scope) {
		out, err := s.Store.CommitDraft(ctx, id, t, now, arrived...)
		if err == nil {
			err = s.spoke(ctx, scope, arrived...)
		}
		return out, err
	}
	if err := s.follow(ctx); err != nil {
		return earshot.Draft{}, err
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	if d, err = s.Store.Draft(ctx, id); err != nil { // again: one that waited before may have committed it
		return earshot.Draft{}, err
	}
	if d.State == earshot.DraftOpen && d.Expires >= now {
		held, ok, err := s.heldDraft(ctx, id)
		if err != nil {
			return earshot.Draft{}, err
		}
		gone := !ok
		if ok {
			gone, err = s.anyDeleted(ctx, scope, held.Prompt.Shows)
		}
		if err != nil {
			return earshot.Draft{}, err
		}
		if gone {
			return earshot.Draft{}, fmt.Errorf("what draft %d shows is gone: %w", id, earshot.ErrConflict)
		}
	}
	out, err := s.Store.CommitDraft(ctx, id, *bare(&t), now)
	if err != nil {
		return earshot.Draft{}, err
	}
	if d.State != earshot.DraftCommitted && len(arrived) > 0 {
		if _, err := s.memory.Record(ctx, scope, arrived...); err != nil {
			return out, fmt.Errorf("keep what arrived in memory: %w", err)
		}
	}
	return out, s.drop(ctx, id)
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	d, err := s.Store.AbortDraft(ctx, id)
	if err == nil && s.transient(d.Conversation.Scope) {
		err = s.drop(ctx, id)
	}
	return d, err
}

// PruneDrafts implements [earshot.Drafts].
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	if _, err := s.memory.PruneDrafts(ctx, before); err != nil {
		return 0, err
	}
	return s.Store.PruneDrafts(ctx, before)
}

func (s *Store) heldDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, bool, error) {
	h, err := s.holder()
	if err != nil {
		return earshot.Draft{}, false, err
	}
	return h.HeldDraft(ctx, id)
}

func (s *Store) drop(ctx context.Context, id earshot.TurnID) error {
	h, err := s.holder()
	if err != nil {
		return err
	}
	return h.DropDraft(ctx, id)
}
