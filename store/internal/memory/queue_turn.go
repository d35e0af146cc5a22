package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Begin implements [earshot.Queue].
func (s *Store) Begin(ctx context.Context, lease earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	p, err := rule.CheckPrompt(p)
	if err != nil {
		return err
	}
	return s.under(ctx, lease, id, func(h rule.LeasedTurn, t *queuedTurn) (rule.Change, error) {
		return rule.DecideBegin(h, p, s.anyDeleted(h.Lease.Conversation.Scope, append(p.Shows, h.Turn.Anchor)), t != nil && rule.WholeJournal(t.steps))
	})
}

// AddStep implements [earshot.Queue].
func (s *Store) AddStep(ctx context.Context, lease earshot.Lease, id earshot.TurnID, step earshot.Step, posts ...earshot.Post) error {
	step, err := rule.CheckStep(step)
	if err != nil {
		return err
	}
	if posts, err = rule.CheckPosts(id, posts); err != nil {
		return err
	}
	return s.under(ctx, lease, id, func(h rule.LeasedTurn, t *queuedTurn) (rule.Change, error) {
		steps, puts := 0, make([]rule.PostCall, len(posts))
		if t != nil {
			steps = len(t.steps)
		}
		for i, p := range posts {
			puts[i] = s.put(h, t, p)
		}
		return rule.AddStep(h, step, steps, s.anyDeleted(h.Lease.Conversation.Scope, step.Shows), puts...)
	})
}

// Steps implements [earshot.Queue].
func (s *Store) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	var out []earshot.Step
	err := s.read(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return nil
		}
		out = slices.Clone(t.steps)
		for i := range out {
			out[i].Data = slices.Clone(out[i].Data)
		}
		return nil
	})
	return out, err
}

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, lease earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	return s.under(ctx, lease, p.Turn, func(h rule.LeasedTurn, t *queuedTurn) (rule.Change, error) { return rule.PutPost(h, s.put(h, t, p)) })
}

// put loads what is stored of a post.
func (s *Store) put(h rule.LeasedTurn, t *queuedTurn, p earshot.Post) rule.PostCall {
	out := rule.PostCall{Post: p, Keyed: s.queue.posts[scopedID{h.Lease.Conversation.Scope, p.Key}]}
	if t != nil {
		if i, found := t.find(p.Chunk); found {
			out.Stored = t.posts[i]
		}
	}
	return out
}

// find returns the index of the post of a chunk, or where to insert it.
func (t *queuedTurn) find(chunk int) (i int, found bool) {
	return slices.BinarySearchFunc(t.posts, chunk, func(p *earshot.Post, chunk int) int { return cmp.Compare(p.Chunk, chunk) })
}

// putPosts stores posts of turns that are stored.
func (s *Store) putPosts(posts []earshot.Post) {
	for _, p := range posts {
		t, err := s.queue.turn(p.Turn)
		if err != nil {
			continue
		}
		i, found := t.find(p.Chunk)
		if found {
			delete(s.queue.posts, scopedID{t.Conversation.Scope, t.posts[i].Key})
		} else {
			t.posts = slices.Insert(t.posts, i, nil)
		}
		t.posts[i] = &p
		if p.Key != "" {
			s.queue.posts[scopedID{t.Conversation.Scope, p.Key}] = &p
		}
	}
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	var out []earshot.Post
	err := s.read(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return nil
		}
		for _, p := range t.posts {
			out = append(out, *p)
		}
		return nil
	})
	return out, err
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.write(ctx, func() error {
		c, err := rule.DecideConfirm(s.time(), rule.Confirmation{Key: key, Message: id, Stored: s.queue.posts[scopedID{scope, key}]})
		if err == nil {
			s.putPosts(c.Posts)
		}
		return err
	})
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	scope, id = rule.Scope(scope), rule.ID(id)
	var out earshot.QueuedTurn
	err := s.read(ctx, func() error {
		for _, t := range slices.Backward(s.queue.turns) {
			if t.Conversation.Scope == scope && id != "" && slices.ContainsFunc(t.posts, func(p *earshot.Post) bool { return p.Message == id }) {
				out = t.export()
				return nil
			}
		}
		return rule.NoTurnPosted(id)
	})
	return out, err
}
