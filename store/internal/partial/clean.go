package partial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// ended removes from the disk the text of a conversation's turns that have ended.
// What fails is removed by the next [Store.Sweep].
func (s *Store) ended(ctx context.Context, id earshot.ConversationID) {
	ctx = context.WithoutCancel(ctx)
	var over []earshot.MessageID
	s.mu.Lock()
	candidates := map[earshot.MessageID]earshot.TurnID{}
	for at, turn := range s.running {
		if at.scope == id.Scope {
			candidates[at.id] = turn
		}
	}
	s.mu.Unlock()
	// What another process has merged into a turn is not among those that this one
	// has claimed.
	dropped, err := s.Store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &id.Scope, States: []earshot.TurnState{earshot.TurnDropped}, Limit: 100})
	if err != nil {
		s.log.Warn("the text of turns stays in the database for now", "channel", id.Scope.Channel, "err", err)
	}
	merged := map[earshot.MessageID]earshot.TurnID{}
	for _, q := range dropped {
		if _, ok := rule.MergedInto(q); ok {
			merged[q.Anchor] = q.ID
		}
	}
	left, err := s.onDisk(ctx, id.Scope, slices.Collect(maps.Keys(merged))...)
	if err != nil {
		s.log.Warn("the text of turns stays in the database for now", "channel", id.Scope.Channel, "err", err)
	}
	for _, m := range left {
		candidates[m.ID] = merged[m.ID]
	}
	for anchor, turn := range candidates {
		final, err := s.isOver(ctx, turn)
		if err != nil {
			s.log.Warn("the text of a turn stays in the database for now", "turn", turn, "err", err)
		} else if final {
			over = append(over, anchor)
		}
	}
	if err := s.clean(ctx, id.Scope, over); err != nil {
		s.log.Warn("the text of turns stays in the database for now", "channel", id.Scope.Channel, "err", err)
	}
}

// isOver reports whether a turn has ended for good. One that was merged into
// another opens again when the question of that one is deleted.
func (s *Store) isOver(ctx context.Context, id earshot.TurnID) (bool, error) {
	q, err := s.Store.QueuedTurn(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return true, nil // erased
	}
	if err != nil || !q.State.Final() {
		return false, err
	}
	if into, ok := rule.MergedInto(q); ok {
		return s.isOver(ctx, into)
	}
	return true, nil
}

// clean removes questions from the disk: a tombstone's erasure takes with them what
// their turns were made of.
func (s *Store) clean(ctx context.Context, scope earshot.Scope, anchors []earshot.MessageID) error {
	list, err := s.onDisk(ctx, scope, anchors...)
	if err != nil {
		return err
	}
	for i := range list {
		list[i] = tombstone(list[i])
	}
	if len(list) > 0 {
		if _, err := s.Store.Record(ctx, scope, list...); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range anchors {
		s.letGo(question{scope, id})
	}
	return nil
}

// letGo forgets a turn that this process has claimed. The caller holds the lock.
func (s *Store) letGo(q question) {
	delete(s.read, s.running[q])
	delete(s.running, q)
}

// Trim forgets what the memory holds of the channels with more than most messages,
// and returns which they are.
func (s *Store) Trim(ctx context.Context, most int) ([]earshot.Scope, error) {
	heard, err := s.memory.Channels(ctx)
	if err != nil {
		return nil, err
	}
	var out []earshot.Scope
	for _, c := range heard {
		if c.Messages > most {
			if err := s.memory.Erase(ctx, c.Scope()); err != nil {
				return out, err
			}
			out = append(out, c.Scope())
		}
	}
	return out, nil
}

// sweepPage is how many messages a sweep looks at together.
const sweepPage = 200

// Sweep removes from the disk what an earlier process has left there of turns that
// have ended, and returns how many messages lost their text. It takes a step for
// each page, so that other writers get their turn.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	channels, err := s.Store.Channels(ctx)
	if err != nil {
		return 0, err
	}
	swept := 0
	for _, c := range channels {
		if c.Messages == 0 || !s.transient(c.Scope()) {
			continue
		}
		n, err := s.sweep(ctx, c.Scope())
		if swept += n; err != nil {
			return swept, fmt.Errorf("sweep channel %s: %w", c.ID, err)
		}
	}
	return swept, nil
}

// sweep removes a channel's text, newest messages first, except the questions of
// turns that are not over.
func (s *Store) sweep(ctx context.Context, scope earshot.Scope) (int, error) {
	var upTo earshot.Position
	swept := 0
	for {
		// The messages are read before their turns: a message that is stored with its
		// turn in between is not among them.
		list, err := s.Store.Newest(ctx, scope, earshot.Whole(), upTo, sweepPage)
		if err != nil || len(list) == 0 {
			return swept, err
		}
		needed, err := s.needed(ctx, scope)
		if err != nil {
			return swept, err
		}
		var over []earshot.MessageID
		for _, m := range list {
			if !needed[m.ID] && m.Position() != upTo {
				over = append(over, m.ID)
			}
		}
		if err := s.clean(ctx, scope, over); err != nil {
			return swept, err
		}
		if swept += len(over); len(list) < sweepPage {
			return swept, nil
		}
		upTo = list[0].Position()
	}
}

// needed returns the questions of a channel's turns that are not over: those of
// unfinished turns, and those that were merged into one.
func (s *Store) needed(ctx context.Context, scope earshot.Scope) (map[earshot.MessageID]bool, error) {
	unfinished := earshot.UnfinishedStates()
	list, err := s.Store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &scope, States: unfinished, Limit: math.MaxInt32})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out, waits := map[earshot.MessageID]bool{}, map[earshot.TurnID]bool{}
	for _, q := range list {
		out[q.Anchor], waits[q.ID] = true, true
	}
	for q := (earshot.TurnQuery{Scope: &scope, States: []earshot.TurnState{earshot.TurnDropped}, Limit: 1000}); ; {
		page, err := s.Store.QueuedTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			if into, ok := rule.MergedInto(t); ok && waits[into] {
				out[t.Anchor], waits[t.ID] = true, true
			}
		}
		if len(page) == 0 {
			return out, nil
		}
		q.Before = page[len(page)-1].ID
	}
}
