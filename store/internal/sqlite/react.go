package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, id earshot.MessageID, emoji string, by int) (earshot.Recorded, error) {
	r := rule.Reaction{ID: id, Name: emoji, By: by}
	return rule.React(ctx, scope, r, s.Message, func(scope earshot.Scope, m rule.Message) (out earshot.Recorded, err error) {
		err = s.apply(ctx, "count a reaction", func(t *tx) error {
			place, b, err := t.batchOf(scope, []rule.Message{m})
			if err != nil {
				return err
			}
			if out, err = b.React(r, m); err != nil {
				return err
			}
			return t.writeBatch(scope, place, b)
		})
		return out, err
	})
}
