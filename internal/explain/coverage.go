package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// What one look at a channel's coverage shows at most.
const (
	coverageThreads = 40
	coverageGaps    = 200
)

// A Gap is a stretch of history that is missing or stale.
type Gap struct {
	earshot.Coverage
	Near earshot.MessageID // a stored message beside it; "" for none
}

// A ThreadCoverage says what is known of one thread's replies.
type ThreadCoverage struct {
	ID      earshot.MessageID
	Root    *earshot.Message // nil where it is not stored, or deleted
	Entries []earshot.Coverage
}

// A ChannelCoverage says what is known of a channel's history: what is stored of it,
// and the stretches that somebody has said something about. A stretch without an entry
// counts as known.
type ChannelCoverage struct {
	earshot.ChannelInfo
	Entries []earshot.Coverage // of the channel itself, by from and to
	Threads []ThreadCoverage   // with gaps, at most 40; those of the newest gaps
	More    int                // threads with gaps that are not in Threads
	Gaps    []Gap              // of the channel and of Threads, the newest first, at most 200
}

// Coverage returns what is known of one channel, with its threads.
func (r *Reader) Coverage(ctx context.Context, p access.Principal, at visible.Place) (ChannelCoverage, error) {
	found, err := r.To(p).Find(ctx, at)
	if err != nil {
		return ChannelCoverage{}, err
	}
	info, err := r.ChannelInfo(ctx, p, visible.Place{Channel: found.ID, Workspace: found.Workspace, Platform: found.Platform})
	if err != nil {
		return ChannelCoverage{}, err
	}
	c, err := r.coverage(ctx, info)
	if err != nil {
		return c, err
	}
	if len(c.Threads) > coverageThreads {
		c.More = len(c.Threads) - coverageThreads
		c.Threads = c.Threads[:coverageThreads]
	}
	ids := make([]earshot.MessageID, len(c.Threads))
	for i, t := range c.Threads {
		ids[i] = t.ID
	}
	roots, err := r.store.ByID(ctx, c.Scope(), ids...)
	if err != nil {
		return c, err
	}
	for i := range c.Threads {
		for _, m := range roots {
			if m.ID == c.Threads[i].ID && !m.Deleted {
				c.Threads[i].Root = &m
			}
		}
	}
	return c, r.gaps(ctx, &c)
}

// Coverages returns a page of what is known of the channels that the caller sees, in
// the store's order: those after the one given (nil: from the first), and whether there
// are more. It does not name threads' roots and gaps.
func (r *Reader) Coverages(ctx context.Context, p access.Principal, after *earshot.Channel, limit int) (page []ChannelCoverage, more bool, err error) {
	list, more, err := r.ChannelsAfter(ctx, p, after, limit)
	if err != nil {
		return nil, false, err
	}
	for _, info := range list {
		c, err := r.coverage(ctx, info)
		if err != nil {
			return nil, false, err
		}
		page = append(page, c)
	}
	return page, more, nil
}

// coverage reads the entries of a channel. Threads have a gap each, those with the
// newest gaps first.
func (r *Reader) coverage(ctx context.Context, info earshot.ChannelInfo) (ChannelCoverage, error) {
	c := ChannelCoverage{ChannelInfo: info}
	entries, err := r.store.Coverage(ctx, info.Scope())
	if err != nil {
		return c, fmt.Errorf("read coverage of %s: %w", info.ID, err)
	}
	for _, e := range entries {
		if e.Thread == "" {
			c.Entries = append(c.Entries, e)
			continue
		}
		if n := len(c.Threads); n == 0 || c.Threads[n-1].ID != e.Thread {
			c.Threads = append(c.Threads, ThreadCoverage{ID: e.Thread})
		}
		t := &c.Threads[len(c.Threads)-1]
		t.Entries = append(t.Entries, e)
	}
	c.Threads = slices.DeleteFunc(c.Threads, func(t ThreadCoverage) bool { return !slices.ContainsFunc(t.Entries, isGap) })
	newest := func(t ThreadCoverage) (at earshot.Time) {
		for _, e := range t.Entries {
			if isGap(e) {
				at = max(at, endOf(e))
			}
		}
		return at
	}
	slices.SortStableFunc(c.Threads, func(x, y ThreadCoverage) int { return cmp.Compare(newest(y), newest(x)) })
	return c, nil
}

func isGap(e earshot.Coverage) bool { return e.State != earshot.Known }

// endOf is when a stretch ends, the greatest time where that is open.
func endOf(e earshot.Coverage) earshot.Time {
	if e.To == 0 {
		return 1<<63 - 1
	}
	return e.To
}

// gaps lists the gaps, each with a message beside it.
func (r *Reader) gaps(ctx context.Context, c *ChannelCoverage) error {
	add := func(list []earshot.Coverage) {
		for _, e := range list {
			if isGap(e) {
				c.Gaps = append(c.Gaps, Gap{Coverage: e})
			}
		}
	}
	add(c.Entries)
	for _, t := range c.Threads {
		add(t.Entries)
	}
	slices.SortStableFunc(c.Gaps, func(x, y Gap) int { return cmp.Compare(endOf(y.Coverage), endOf(x.Coverage)) })
	c.Gaps = c.Gaps[:min(len(c.Gaps), coverageGaps)]
	for i := range c.Gaps {
		var err error
		if c.Gaps[i].Near, err = r.beside(ctx, c.Scope(), c.Gaps[i].Coverage); err != nil {
			return err
		}
	}
	return nil
}

// beside returns the message after a stretch, or else the one before it.
func (r *Reader) beside(ctx context.Context, at earshot.Scope, e earshot.Coverage) (earshot.MessageID, error) {
	part := earshot.Whole()
	if e.Thread != "" {
		part = earshot.ThreadOf(e.Thread)
	}
	if e.To != 0 {
		for m, err := range r.store.Range(ctx, at, part, earshot.Position{Time: e.To}, earshot.Position{}) {
			return m.ID, err
		}
	}
	list, err := r.store.Newest(ctx, at, part, earshot.Position{Time: e.From}, 1)
	if len(list) > 0 && (e.From == 0 || list[0].Time <= e.From) {
		return list[0].ID, err
	}
	return "", err
}
