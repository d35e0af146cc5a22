package rule

import (
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// DecideBegin decides about [earshot.Queue.Begin]. gone reports whether one of the
// messages that the prompt shows, or the anchor, is deleted; whole that the journal has
// steps, and that nothing of them was erased (see [WholeJournal]).
func DecideBegin(h LeasedTurn, p earshot.Prompt, gone, whole bool) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	if err := h.checkLowest(); err != nil {
		return Change{}, err
	}
	t := h.Turn
	if p.From != h.Epoch {
		return Change{}, fmt.Errorf("turn %d was gathered in epoch %d, the conversation is in %d: %w", t.ID, p.From, h.Epoch, earshot.ErrConflict)
	}
	if gone {
		return Change{}, fmt.Errorf("turn %d shows what is deleted: %w", t.ID, earshot.ErrConflict)
	}
	c := Change{Epoch: p.Epoch, Read: slices.Concat(p.Shows, []earshot.MessageID{t.Anchor})}
	again := t.Hash == p.Hash && t.From == p.From && t.Epoch == p.Epoch
	if again && HasBegun(t.State) {
		return c, nil
	}
	kept := p.Keeps && whole && t.Epoch >= 0
	c.EmptyJournal = !again && !kept
	if c.EmptyJournal && t.Epoch >= 0 { // a call of the new journal may have the id of an old one
		c.DropCalls, c.Withdraw = true, []earshot.TurnID{t.ID}
	}
	// What is kept repeats what the old epoch has read: an erasure of that finds it by
	// the new one.
	c.CopyRead, c.CopyFrom = kept && t.Epoch != p.Epoch, max(t.Epoch, 0)
	// Posts and approvals that were written in another epoch repeat what that one has
	// read: an erasure of it would not find them.
	c.ErasePosts = !kept && (t.Outdated(h.Epoch) || t.Epoch >= 0 && t.Epoch != p.Epoch)
	if t.State != earshot.TurnPosting {
		t.State = earshot.TurnGenerating
	}
	t.From, t.Epoch, t.Began, t.Input, t.Hash, t.Updated = p.From, p.Epoch, p.Began, p.Input, p.Hash, h.Now
	c.Turns, c.Input = []StoredTurn{t}, true
	return c, nil
}

// WholeJournal reports whether a journal has steps, of which none was erased.
func WholeJournal(steps []earshot.Step) bool {
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s earshot.Step) bool { return s.Erased || len(s.Data) == 0 })
}

// AddStep decides about [earshot.Queue.AddStep]. steps is how many steps the
// journal has; gone reports whether a message that the step shows is deleted.
func AddStep(h LeasedTurn, s earshot.Step, steps int, gone bool, puts ...PostCall) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	var c Change
	if s.N >= steps {
		var err error
		if c, err = addStep(h, s, steps, gone); err != nil {
			return Change{}, err
		}
		h.Turn = c.Turns[0]
	}
	return c.put(h, puts)
}

func addStep(h LeasedTurn, s earshot.Step, steps int, gone bool) (Change, error) {
	t := h.Turn
	if err := h.checkBegun(); err != nil {
		return Change{}, err
	}
	if s.N > steps {
		return Change{}, fmt.Errorf("%w: step %d of turn %d follows %d", earshot.ErrInvalid, s.N, t.ID, steps-1)
	}
	c := Change{Epoch: t.Epoch}
	switch {
	case s.Erased || t.Outdated(h.Epoch):
		s.Data, s.Erased = nil, true
	case gone: // the epoch has read it: it ends
		s.Data, s.Erased, c.EndEpoch = nil, true, true
	default:
		c.Read = s.Shows
	}
	s.Shows = nil
	c.OnlyUpdated = t.Ends == 0
	t.Ends, t.Updated = 0, h.Now
	c.Step, c.Turns = &s, []StoredTurn{t}
	return c, nil
}

// A PostCall is a post that is to be written, with what is stored of it.
type PostCall struct {
	Post   earshot.Post
	Stored *earshot.Post // of the same turn and chunk; nil: none
	Keyed  *earshot.Post // with the same key; nil: none
}

// PutPost decides about [earshot.Queue.PutPost].
func PutPost(h LeasedTurn, p PostCall) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	return Change{}.put(h, []PostCall{p})
}

// put adds posts to what is written, one after another.
func (c Change) put(h LeasedTurn, puts []PostCall) (Change, error) {
	for _, p := range puts {
		for i := range c.Posts { // an earlier post of this call counts as stored
			p = p.after(&c.Posts[i])
		}
		changed, err := p.changes(h)
		if err != nil {
			return Change{}, err
		}
		if !changed {
			continue
		}
		p.Post.Updated = h.Now
		c.Posts = append(c.Posts, p.Post)
		c.OnlyUpdated = h.Turn.State == earshot.TurnPosting && h.Turn.Ends == 0 && (c.OnlyUpdated || len(c.Turns) == 0)
		h.Turn.State, h.Turn.Ends, h.Turn.Updated = earshot.TurnPosting, 0, h.Now
		c.Turns = []StoredTurn{h.Turn}
	}
	return c, nil
}

// after returns p with what is stored once another post has been written.
func (p PostCall) after(written *earshot.Post) PostCall {
	if p.Keyed != nil && samePost(*p.Keyed, *written) {
		p.Keyed = nil
	}
	if p.Post.Key != "" && p.Post.Key == written.Key {
		p.Keyed = written
	}
	if samePost(p.Post, *written) {
		p.Stored = written
	}
	return p
}

func samePost(a, b earshot.Post) bool { return a.Turn == b.Turn && a.Chunk == b.Chunk }

// changes reports whether writing the post changes anything. The error says why
// it is refused.
func (p PostCall) changes(h LeasedTurn) (bool, error) {
	changed := true
	if p.Stored != nil {
		var err error
		if changed, err = nextPost(*p.Stored, p.Post); err != nil {
			return false, err
		}
	}
	if !changed && (h.Turn.State == earshot.TurnPosting || p.Post.State == earshot.PostSent) {
		return false, nil
	}
	if err := h.checkLowest(); err != nil {
		return false, err
	}
	if p.Keyed != nil && !samePost(*p.Keyed, p.Post) {
		return false, fmt.Errorf("the key of post %d of turn %d is taken: %w", p.Post.Chunk, p.Post.Turn, earshot.ErrConflict)
	}
	return true, nil
}

// nextPost reports whether in differs from the stored post. The error is
// [earshot.ErrConflict] where in would change a post that was sent.
func nextPost(stored, in earshot.Post) (bool, error) {
	if stored.State == earshot.PostSent && (in.State != earshot.PostSent || in.Message != stored.Message || in.Key != stored.Key) {
		return false, fmt.Errorf("post %d of turn %d was sent: %w", in.Chunk, in.Turn, earshot.ErrConflict)
	}
	stored.Updated, in.Updated = 0, 0
	return stored != in, nil
}

// A Confirmation says that the post with a key, as it is stored, became a
// message.
type Confirmation struct {
	Key     string
	Message earshot.MessageID
	Stored  *earshot.Post // nil: there is none with the key
}

// DecideConfirm decides about [earshot.Queue.Confirm].
func DecideConfirm(now earshot.Time, all ...Confirmation) (Change, error) {
	var c Change
	for _, x := range all {
		for i := range c.Posts {
			if c.Posts[i].Key == x.Key {
				x.Stored = &c.Posts[i]
			}
		}
		if x.Stored == nil {
			return Change{}, fmt.Errorf("post with key %q: %w", x.Key, earshot.ErrNotFound)
		}
		next := *x.Stored
		next.State, next.Message, next.Updated = earshot.PostSent, x.Message, now
		changed, err := nextPost(*x.Stored, next)
		if err != nil {
			return Change{}, err
		}
		if changed {
			c.Posts = append(c.Posts, next)
		}
	}
	return c, nil
}
