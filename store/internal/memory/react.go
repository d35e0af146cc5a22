package memory

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, x earshot.ReactionEvent) (out earshot.RecordResult, err error) {
	if scope, err = rule.CheckScope(scope); err != nil {
		return out, err
	}
	if x, err = rule.CheckReacted(x); err != nil {
		return out, err
	}
	err = s.write(ctx, func() error {
		c := s.channels[scope]
		if c == nil {
			return rule.NoChannel(scope.Channel)
		}
		stored := c.byID[x.Message]
		out = earshot.RecordResult{ID: x.Message, Change: earshot.Same}
		if stored != nil {
			out.Seq = stored.Seq
		}
		if stored != nil && stored.Deleted || s.bars.of(scope).Ignores(x) {
			return nil
		}
		counts, changed := c.reactionsOf(x.Message).React(stored, x)
		if changed {
			next := *stored
			next.Reactions = counts
			c.replace(stored, next)
			out.Change, out.Seq = earshot.Updated, c.seq
		}
		return nil
	})
	return out, err
}

// Reactors implements [earshot.Messages].
func (s *Store) Reactors(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	out := map[earshot.MessageID][]earshot.Reactor{}
	err := s.in(ctx, scope, func(c *channel) {
		for _, id := range rule.IDs(ids) {
			if r := c.reactions[id]; r != nil && c.byID[id] != nil {
				if list := r.Given(); len(list) > 0 {
					out[id] = list
				}
			}
		}
	})
	return out, err
}

// ForgetReactions implements [rule.Eraser], for all messages at once.
func (e *eraser) ForgetReactions(_ context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) (bool, error) {
	if c := e.channels[s]; c != nil {
		for _, r := range c.reactions {
			r.Forget(id, until, (*Store)(e).time())
		}
	}
	return false, nil
}

// reacted reports whether an author has reacted in a channel, or in any.
func (s *Store) reacted(w workspace, channel earshot.ChannelID, id earshot.AuthorID) bool {
	for at, c := range s.channels {
		if at.Platform != w.platform || at.Workspace != w.id || channel != "" && channel != at.Channel {
			continue
		}
		for _, r := range c.reactions {
			if r.Has(id, rule.Forever) {
				return true
			}
		}
	}
	return false
}

// dropEarly removes the reactions, all of before a time, to messages that are not
// stored.
func (c *channel) dropEarly(before earshot.Time) {
	for id, r := range c.reactions {
		if c.byID[id] == nil && r.Before(before) {
			delete(c.reactions, id)
		}
	}
}
