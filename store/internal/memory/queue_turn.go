package memory

import (
	"cmp"
	"context"
	"fmt"
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
	return s.under(ctx, lease, id, func(l *line, t *queuedTurn) error {
		if err := t.final(); err != nil {
			return err
		}
		if err := l.lowest(t); err != nil {
			return err
		}
		c := s.conversations[t.Conversation]
		shows := append(p.Shows, t.Anchor)
		if p.From != c.Epoch {
			return fmt.Errorf("turn %d was gathered in epoch %d, the conversation is in %d: %w", id, p.From, c.Epoch, earshot.ErrConflict)
		}
		if s.anyDeleted(c.ID.Scope, shows) {
			return fmt.Errorf("turn %d shows what is deleted: %w", id, earshot.ErrConflict)
		}
		s.hasRead(c, p.Epoch, shows)
		again := t.Hash == p.Hash && t.from == p.From && t.epoch == p.Epoch
		if again && rule.Begun(t.State) {
			return nil
		}
		if !again {
			t.steps = nil
		}
		if t.outdated(c) {
			t.erasePosts()
		}
		if t.State != earshot.TurnPosting {
			t.State = earshot.TurnGenerating
		}
		t.from, t.epoch, t.Input, t.Hash, t.Updated = p.From, p.Epoch, p.Input, p.Hash, s.time()
		return nil
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
	return s.under(ctx, lease, id, func(l *line, t *queuedTurn) error {
		for _, p := range posts { // what is refused changes nothing
			if _, err := s.mayPut(l, t, p); err != nil {
				return err
			}
		}
		if err := s.addStep(t, step); err != nil {
			return err
		}
		for _, p := range posts {
			if err := s.putPost(l, t, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) addStep(t *queuedTurn, step earshot.Step) error {
	if step.N < len(t.steps) {
		return nil
	}
	if err := t.final(); err != nil {
		return err
	}
	if !rule.Begun(t.State) || t.epoch < 0 {
		return fmt.Errorf("turn %d has not begun: %w", t.ID, earshot.ErrConflict)
	}
	if step.N > len(t.steps) {
		return fmt.Errorf("%w: step %d of turn %d follows %d", earshot.ErrInvalid, step.N, t.ID, len(t.steps)-1)
	}
	c := s.conversations[t.Conversation]
	if !t.outdated(c) && s.anyDeleted(c.ID.Scope, step.Shows) {
		s.leave(c, t.epoch)
	}
	if t.outdated(c) {
		step.Data, step.Erased = nil, true
	} else {
		s.hasRead(c, t.epoch, step.Shows)
	}
	step.Shows = nil
	t.steps = append(t.steps, step)
	t.Updated = s.time()
	return nil
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
	return s.under(ctx, lease, p.Turn, func(l *line, t *queuedTurn) error { return s.putPost(l, t, p) })
}

// find returns where the post of a chunk stands, or would.
func (t *queuedTurn) find(chunk int) (i int, found bool) {
	return slices.BinarySearchFunc(t.posts, chunk, func(p *earshot.Post, chunk int) int { return cmp.Compare(p.Chunk, chunk) })
}

// mayPut reports whether writing p changes anything, or why it is refused.
func (s *Store) mayPut(l *line, t *queuedTurn, p earshot.Post) (bool, error) {
	changed := true
	if i, found := t.find(p.Chunk); found {
		var err error
		if changed, err = rule.NextPost(*t.posts[i], p); err != nil {
			return false, err
		}
	}
	if !changed && (t.State == earshot.TurnPosting || p.State == earshot.PostSent) {
		return false, nil
	}
	if err := t.final(); err != nil {
		return false, err
	}
	if err := l.lowest(t); err != nil {
		return false, err
	}
	if other := s.queue.posts[place{t.Conversation.Scope, p.Key}]; p.Key != "" && other != nil && (other.Turn != p.Turn || other.Chunk != p.Chunk) {
		return false, fmt.Errorf("the key of post %d of turn %d is taken: %w", p.Chunk, p.Turn, earshot.ErrConflict)
	}
	return true, nil
}

func (s *Store) putPost(l *line, t *queuedTurn, p earshot.Post) error {
	if changes, err := s.mayPut(l, t, p); err != nil || !changes {
		return err
	}
	i, found := t.find(p.Chunk)
	p.Updated = s.time()
	if !found {
		t.posts = slices.Insert(t.posts, i, &earshot.Post{})
	}
	post := t.posts[i]
	if post.Key != "" {
		delete(s.queue.posts, place{t.Conversation.Scope, post.Key})
	}
	*post = p
	if p.Key != "" {
		s.queue.posts[place{t.Conversation.Scope, p.Key}] = post
	}
	t.State, t.Updated = earshot.TurnPosting, p.Updated
	return nil
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
	return s.write(ctx, func() error {
		p, next, err := s.confirmed(rule.Scope(scope), key, id)
		if err == nil {
			*p = next
		}
		return err
	})
}

// confirmed returns the post with a key, and what it is once it became a
// message.
func (s *Store) confirmed(scope earshot.Scope, key string, id earshot.MessageID) (p *earshot.Post, next earshot.Post, err error) {
	if p = s.queue.posts[place{scope, key}]; p == nil {
		return nil, next, fmt.Errorf("post with key %q: %w", key, earshot.ErrNotFound)
	}
	next = *p
	next.State, next.Message = earshot.PostSent, id
	changed, err := rule.NextPost(*p, next)
	if changed {
		next.Updated = s.time()
	}
	return p, next, err
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
		return fmt.Errorf("turn that posted message %q: %w", id, earshot.ErrNotFound)
	})
	return out, err
}
