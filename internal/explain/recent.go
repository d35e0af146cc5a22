package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/tokens"
)

// recentTokens is how much of a message is shown to somebody who catches up.
const recentTokens = 300

// Recent writes the newest messages of a channel since a time (0: any), at most limit,
// and the roots of their threads, as [assemble.Talk] does.
func (r *Reader) Recent(ctx context.Context, p access.Principal, at earshot.Scope, since earshot.Time, limit int) (assemble.Message, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return assemble.Message{}, visible.Absent
	}
	in, err := r.recent(ctx, at, since, limit)
	if err != nil {
		return assemble.Message{}, fmt.Errorf("read what was said lately in %s: %w", at.Channel, err)
	}
	return assemble.Talk(in, recentTokens)
}

// recent reads what Recent writes.
func (r *Reader) recent(ctx context.Context, at earshot.Scope, since earshot.Time, limit int) (in assemble.Input, err error) {
	if in.Counter, err = tokens.For("bytes4"); err != nil {
		return in, err
	}
	in.Zone = r.maker.Zone()
	if in.Channel, err = r.store.Channel(ctx, at); errors.Is(err, earshot.ErrNotFound) {
		in.Channel, err = earshot.Channel{Platform: at.Platform, Workspace: at.Workspace, ID: at.Channel}, nil
	}
	if err != nil {
		return in, err
	}
	coverage, err := r.store.Coverage(ctx, at)
	if err != nil {
		return in, err
	}
	list, err := r.store.Newest(ctx, at, earshot.Whole(), earshot.Position{}, limit)
	if err != nil {
		return in, err
	}
	begins := since // of the stretch that is told of
	if len(list) == limit && list[0].Time >= since {
		n, err := r.countSince(ctx, at, since)
		if err != nil {
			return in, err
		}
		if n > limit {
			begins, in.Stored = list[0].Time, []assemble.StoredCount{{Count: n}}
		}
	}
	in.Messages = slices.DeleteFunc(list, func(m earshot.Message) bool { return m.Time < since })
	in.Coverage = slices.DeleteFunc(coverage, func(c earshot.Coverage) bool { return c.To != 0 && c.To <= begins })
	return in, r.addRoots(ctx, at, &in)
}

// countSince counts the messages of a channel since a time; 0: all.
func (r *Reader) countSince(ctx context.Context, at earshot.Scope, since earshot.Time) (int, error) {
	all, err := r.store.Count(ctx, at, earshot.Whole(), earshot.Position{})
	if err != nil || since == 0 {
		return all.Count, err
	}
	before, err := r.store.Count(ctx, at, earshot.Whole(), earshot.Position{Time: since})
	return all.Count - before.Count, err
}

// addRoots adds the roots of the messages' threads, and how many replies they have.
func (r *Reader) addRoots(ctx context.Context, at earshot.Scope, in *assemble.Input) error {
	known := map[earshot.MessageID]bool{}
	for _, m := range in.Messages {
		known[m.ID] = true
	}
	var roots, missing []earshot.MessageID
	for _, m := range in.Messages {
		root := cmp.Or(m.Root(), m.ID)
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
			if !known[root] {
				missing = append(missing, root)
			}
		}
	}
	if len(missing) > 0 {
		list, err := r.store.ByID(ctx, at, missing...)
		if err != nil {
			return err
		}
		in.Messages = append(in.Messages, list...)
	}
	if len(roots) == 0 {
		return nil
	}
	replies, err := r.store.Activity(ctx, at, earshot.Position{}, roots...)
	if err != nil {
		return err
	}
	for _, id := range roots {
		if a := replies[id]; a.Count > 0 {
			in.Stored = append(in.Stored, assemble.StoredCount{Thread: id, Count: a.Count + 1})
		}
	}
	return nil
}
