package memory

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, id earshot.MessageID, emoji string, by int) (earshot.Recorded, error) {
	r := rule.Reaction{ID: id, Name: emoji, By: by}
	return rule.React(ctx, scope, r, s.Message, func(scope earshot.Scope, m rule.Message) (out earshot.Recorded, err error) {
		err = s.write(ctx, func() error {
			var stored *rule.Message
			c := s.channels[scope]
			if c != nil {
				stored = c.byID[m.ID]
			}
			m, err := r.Reacted(stored, m)
			if err == nil {
				out = s.record(scope, c, m)
			}
			return err
		})
		return out, err
	})
}
