package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutFeedback implements [earshot.FeedbackStore].
func (s *Store) PutFeedback(ctx context.Context, f earshot.Feedback) error {
	f, err := rule.CheckFeedback(f)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		t, err := s.queue.turn(f.Turn)
		if err != nil {
			return err
		}
		if s.bars.of(t.Conversation.Scope).IgnoresFeedback(f) {
			return nil
		}
		i, found := t.feedbackOf(f.Author)
		if found {
			t.feedback[i] = rule.PutFeedback(&t.feedback[i], f)
		} else {
			t.feedback = slices.Insert(t.feedback, i, rule.PutFeedback(nil, f))
		}
		if f.Reason != "" {
			t.pruned = false
		}
		return nil
	})
}

// feedbackOf returns the index of an author's feedback, or where to insert it.
func (t *queuedTurn) feedbackOf(id earshot.AuthorID) (i int, found bool) {
	return slices.BinarySearchFunc(t.feedback, id, func(f earshot.Feedback, id earshot.AuthorID) int {
		return strings.Compare(string(f.Author), string(id))
	})
}

// RemoveFeedback implements [earshot.FeedbackStore].
func (s *Store) RemoveFeedback(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) error {
	return s.write(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return nil
		}
		if i, found := t.feedbackOf(rule.ID(by)); found {
			t.feedback = slices.Delete(t.feedback, i, i+1)
		}
		return nil
	})
}

// Feedback implements [earshot.FeedbackStore].
func (s *Store) Feedback(ctx context.Context, q earshot.FeedbackQuery) (out []earshot.Feedback, err error) {
	q = rule.CheckFeedbackQuery(q)
	err = s.read(ctx, func() error {
		for _, t := range slices.Backward(s.queue.turns) {
			if t.ID >= q.Before || q.Turn != 0 && t.ID != q.Turn || q.Agent != "" && t.Conversation.Agent != q.Agent || q.Scope != nil && t.Conversation.Scope != *q.Scope {
				continue
			}
			for _, f := range t.feedback {
				if len(out) == q.Limit {
					return nil
				}
				if q.Good == nil || f.Good == *q.Good {
					f.Conversation = t.Conversation
					out = append(out, f)
				}
			}
		}
		return nil
	})
	return out, err
}
