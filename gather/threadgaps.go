package gather

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// openThread adds to the coverage what it leaves open of the anchor's thread.
func (r *reader) openThread(ctx context.Context) error {
	root := r.anchor.Root()
	if root == "" {
		return nil
	}
	open, err := OpenThread(ctx, r.store, r.scope, root, r.coverage, r.end.Time, r.named)
	r.coverage = append(r.coverage, open...)
	return err
}

// A ThreadStore is what [OpenThread] needs of [earshot.Messages].
type ThreadStore interface {
	ByID
	Count(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error)
}

// OpenThread returns what a channel's coverage leaves open of a thread, up to a time, as
// entries of it that nobody has stored: the time before its first stored message, where
// the root is not stored; replies that its root tells of and that are not; and the time
// in which the channel was not heard. Named says that the thread is a conversation that
// a caller has created: on a platform whose ids tell no time it needs no root.
func OpenThread(ctx context.Context, st ThreadStore, at earshot.Scope, root earshot.MessageID, list []earshot.Coverage, upTo earshot.Time, named bool) ([]earshot.Coverage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	found, err := st.ByID(ctx, at, root)
	if err != nil {
		return nil, err
	}
	all, err := st.Count(ctx, at, earshot.ThreadOf(root), earshot.Position{})
	if err != nil {
		return nil, err
	}
	x := coverage.Thread{ID: root, First: all.From}
	if timeOf := at.Platform.Info().TimeOf; timeOf != nil {
		x.Began, _ = timeOf(root)
	}
	x.Rootless = len(found) == 0 && (!named || x.Began != 0)
	for _, m := range found {
		x.Began = m.Time
		a := m.Replies
		if a == nil || m.Deleted {
			continue
		}
		// What was said since is stored without having been counted there.
		known := all
		if a.Last != 0 && a.Last < all.To {
			if known, err = st.Count(ctx, at, earshot.ThreadOf(root), earshot.Position{Time: a.Last + 1}); err != nil {
				return nil, err
			}
		}
		if a.Count > known.Count-1 {
			x.Lacks = max(a.Last, known.To)
		}
	}
	return coverage.OfThread(list, x, upTo), nil
}
