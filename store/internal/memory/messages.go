package memory

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Record implements [earshot.Messages].
func (s *Store) Record(ctx context.Context, scope earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, rule.Prepare, messages)
}

// Tell implements [earshot.Messages].
func (s *Store) Tell(ctx context.Context, scope earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, rule.PrepareTold, messages)
}

func (s *Store) recordAs(ctx context.Context, scope earshot.Scope, prepare func(context.Context, []earshot.Message) ([]rule.Message, error), messages []earshot.Message) ([]earshot.RecordResult, error) {
	scope, err := rule.CheckScope(scope)
	if err != nil {
		return nil, err
	}
	prepared, err := prepare(ctx, messages)
	if err != nil || len(prepared) == 0 {
		return nil, err
	}
	out := make([]earshot.RecordResult, len(prepared))
	if err := s.recordInto(ctx, rule.PreparedBatch{Scope: scope, Messages: prepared}, out); err != nil {
		return nil, err
	}
	return out, nil
}

// in calls f with a scope's channel, under the lock, unless nothing is stored in it.
func (s *Store) in(ctx context.Context, scope earshot.Scope, f func(*channel)) error {
	return s.read(ctx, func() error {
		if c := s.channels[rule.Scope(scope)]; c != nil {
			f(c)
		}
		return nil
	})
}

// Message implements [earshot.Messages].
func (s *Store) Message(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	list, err := s.ByID(ctx, scope, id)
	if err != nil {
		return earshot.Message{}, err
	}
	if len(list) == 0 {
		return earshot.Message{}, rule.NoMessage(id)
	}
	return list[0], nil
}

// ByID implements [earshot.Messages].
func (s *Store) ByID(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	var found []*rule.Message
	err := s.in(ctx, scope, func(c *channel) {
		for _, id := range rule.IDs(ids) {
			if m := c.byID[id]; m != nil {
				found = append(found, m)
			}
		}
	})
	byPosition(found)
	return export(found), err
}

// Newest implements [earshot.Messages].
func (s *Store) Newest(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, to earshot.Position, limit int) ([]earshot.Message, error) {
	var out []earshot.Message
	err := s.in(ctx, scope, func(c *channel) {
		list := upTo(c.part(rule.Part(part)), rule.Position(to))
		s.bound.used(conversationPlace{rule.Scope(scope), rule.Part(part).Thread()}, false)
		out = export(list[len(list)-min(len(list), max(limit, 0)):])
	})
	return out, err
}

// Range implements [earshot.Messages]. It reads what was stored when the
// iteration began.
func (s *Store) Range(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, begin, end earshot.Position) iter.Seq2[earshot.Message, error] {
	return func(yield func(earshot.Message, error) bool) {
		var list []*rule.Message
		err := s.in(ctx, scope, func(c *channel) {
			s.bound.used(conversationPlace{rule.Scope(scope), rule.Part(part).Thread()}, false)
			list = slices.Clone(from(upTo(c.part(rule.Part(part)), rule.Position(end)), rule.Position(begin)))
		})
		yieldMessages(ctx, list, err, yield, func(m *rule.Message) (earshot.Message, error) { return copyMessage(m), nil })
	}
}

// Since implements [earshot.Messages].
func (s *Store) Since(ctx context.Context, scope earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	var out []earshot.Message
	err := s.in(ctx, scope, func(c *channel) {
		list := c.since(seq)
		if limit > 0 {
			list = list[:min(limit, len(list))]
		}
		out = export(list)
	})
	return out, err
}

// Replying implements [earshot.Messages].
func (s *Store) Replying(ctx context.Context, scope earshot.Scope, to earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	var found []*rule.Message
	err := s.in(ctx, scope, func(c *channel) {
		for _, id := range rule.IDs(ids) {
			found = append(found, upTo(c.replying[id], rule.Position(to))...)
		}
	})
	byPosition(found)
	return export(found), err
}

// Revisions implements [earshot.Messages].
func (s *Store) Revisions(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	var out []earshot.Message
	err := s.in(ctx, scope, func(c *channel) {
		m := c.byID[rule.ID(id)]
		if m == nil {
			return
		}
		for _, past := range c.history[m.ID] {
			out = append(out, copyMessage(&past))
		}
		out = append(out, copyMessage(m))
	})
	if err == nil && out == nil {
		err = rule.NoMessage(id)
	}
	return out, err
}

// Activity implements [earshot.Messages].
func (s *Store) Activity(ctx context.Context, scope earshot.Scope, to earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	out := map[earshot.MessageID]earshot.Activity{}
	err := s.in(ctx, scope, func(c *channel) {
		for _, root := range rule.IDs(roots) {
			list := upTo(c.threads[root], rule.Position(to))
			if root == "" {
				continue
			}
			var a earshot.Activity
			if n := len(list); n > 0 {
				a = earshot.Activity{Count: n, Last: list[n-1].Time}
			}
			if !to.IsZero() {
				a.LastHour = len(from(list, earshot.Position{Time: to.Time - rule.Hour}))
			}
			var reported *earshot.Activity
			if m := c.byID[root]; m != nil {
				reported = m.Replies
			}
			if a, ok := rule.Activity(a, reported, to); ok {
				out[root] = a
			}
		}
	})
	return out, err
}

// Count implements [earshot.Messages].
func (s *Store) Count(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, to earshot.Position) (earshot.Count, error) {
	var out earshot.Count
	err := s.in(ctx, scope, func(c *channel) {
		list := upTo(c.part(rule.Part(part)), rule.Position(to))
		if n := len(list); n > 0 {
			out = earshot.Count{Count: n, From: list[0].Time, To: list[n-1].Time}
		}
	})
	return out, err
}

// Terms implements [earshot.Messages]. It reads what was stored when the
// iteration began.
func (s *Store) Terms(ctx context.Context, scope earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return func(yield func(earshot.Terms, error) bool) {
		var list []*rule.Message
		var gone []earshot.Terms
		err := s.in(ctx, scope, func(c *channel) { list, gone = c.since(seq), c.removed(seq) })
		for _, t := range gone { // in their places among the rest
			i, _ := slices.BinarySearchFunc(list, t.Seq, func(m *rule.Message, seq int64) int { return cmp.Compare(m.Seq, seq) })
			list = slices.Insert(list, i, &rule.Message{Message: earshot.Message{ID: t.ID, Seq: t.Seq, Deleted: true}})
		}
		yieldMessages(ctx, list, err, yield, func(m *rule.Message) (earshot.Terms, error) {
			t := earshot.Terms{ID: m.ID, Seq: m.Seq, Time: m.Time, Author: m.Author.ID, Name: m.Author.Name, Thread: m.Thread, ReplyTo: m.ReplyTo, System: m.Author.Kind == earshot.System, Deleted: m.Deleted}
			err := rule.ReadTerms(m.Terms, &t)
			return t, err
		})
	}
}

// yieldMessages yields list's messages as f makes them, or err.
func yieldMessages[T any](ctx context.Context, list []*rule.Message, err error, yield func(T, error) bool, f func(*rule.Message) (T, error)) {
	var none T
	for _, m := range list {
		if err = ctx.Err(); err != nil {
			break
		}
		v, err := f(m)
		if !yield(v, err) || err != nil {
			return
		}
	}
	if err != nil {
		yield(none, err)
	}
}

func export(list []*rule.Message) []earshot.Message {
	var out []earshot.Message
	for _, m := range list {
		out = append(out, copyMessage(m))
	}
	return out
}

// copyMessage returns a copy of m that shares nothing with it. Empty lists are nil.
func copyMessage(m *rule.Message) earshot.Message {
	out := m.Message
	out.Mentions = append([]earshot.AuthorID(nil), m.Mentions...)
	out.Reactions = append([]earshot.Reaction(nil), m.Reactions...)
	out.Shared = append([]earshot.SharedContent(nil), m.Shared...)
	out.Files = append([]earshot.File(nil), m.Files...)
	if out.Metadata = maps.Clone(m.Metadata); len(out.Metadata) == 0 {
		out.Metadata = nil
	}
	if a := m.Replies; a != nil {
		reported := *a
		out.Replies = &reported
	}
	if x := m.Subject; x != nil {
		subject := *x
		subject.Tags = append([]string(nil), x.Tags...)
		out.Subject = &subject
	}
	return out
}

func byPosition(list []*rule.Message) {
	slices.SortFunc(list, func(a, b *rule.Message) int { return a.Position().Compare(b.Position()) })
}
