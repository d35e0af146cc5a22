package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, lease earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return s.under(ctx, lease, into, func(_ *line, t *queuedTurn) error {
		if err := t.final(); err != nil {
			return err
		}
		var others []*queuedTurn
		for _, id := range turns {
			other, err := s.queue.turn(id)
			if err != nil {
				return err
			}
			if other.Conversation != t.Conversation || other == t {
				return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
			}
			if rule.Unfinished(other.State) {
				others = append(others, other)
			}
		}
		for _, other := range others {
			s.end(other, earshot.TurnDropped, rule.AnsweredWith(into))
		}
		return nil
	})
}

// part opens the turns again that t would have answered too.
func (s *Store) part(t *queuedTurn) {
	l := s.queue.line(t.Conversation)
	for _, other := range s.queue.turns {
		if other.Conversation != t.Conversation || other.State != earshot.TurnDropped || other.Why != rule.AnsweredWith(t.ID) {
			continue
		}
		other.State, other.Why, other.Updated, other.pruned = earshot.TurnOpen, "", s.time(), false
		i, _ := slices.BinarySearchFunc(l.turns, other, func(a, b *queuedTurn) int { return cmp.Compare(a.ID, b.ID) })
		l.turns = slices.Insert(l.turns, i, other)
	}
}
