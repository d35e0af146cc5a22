package backfill

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

const (
	maxUnlooked = 2   // threads that are queued at once; more are first looked at by their roots
	maxLooks    = 3   // pages of roots
	maxActive   = 500 // messages in which active threads are looked for
)

// activeThreads queues the threads in which something was said lately and may
// have been missed: a channel's history does not show replies. Where there are
// many it returns a window with their roots instead, because a root shows when
// its newest reply was said.
func (f *Filler) activeThreads(ctx context.Context, t *timeline, j *job) (*coverage.Window, error) {
	scope, since := t.channel.Scope(), f.activeSince()
	list, err := f.Store.Newest(ctx, scope, earshot.Whole(), earshot.Position{}, maxActive)
	if err != nil {
		return nil, fmt.Errorf("read what is stored of %s: %w", t, err)
	}
	var ids []earshot.MessageID
	f.mu.Lock()
	for _, m := range slices.Backward(list) {
		root := m.Root()
		if m.Time < since || root == "" || slices.Contains(ids, root) {
			continue
		}
		if len(t.channel.timeline(root).MissingOfGaps()) > 0 {
			ids = append(ids, root)
		}
	}
	f.mu.Unlock()
	if len(ids) == 0 {
		return nil, nil
	}
	roots, err := f.Store.ByID(ctx, scope, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the roots of %s: %w", t, err)
	}
	if j.lookedTo != 0 {
		roots = slices.DeleteFunc(roots, func(m earshot.Message) bool { return m.Time >= j.lookedTo })
	}
	if len(roots) > maxUnlooked && j.looks < maxLooks {
		return &coverage.Window{Oldest: max(coverage.Dawn, roots[0].Time), Latest: roots[len(roots)-1].Time, Limit: f.Tier.Most}, nil
	}
	for _, id := range ids {
		f.enqueue(job{channel: j.channel, thread: id})
	}
	return nil, nil
}

// followThreads looks at what the roots on a page of the top level show of their
// threads. Where nothing was said in a gap, or as many replies are stored as
// there are, nothing was missed; any other thread is queued. Where pages are
// small it also notes how long the threads are.
func (f *Filler) followThreads(ctx context.Context, t *timeline, page Page) error {
	if t.Thread() != "" {
		return nil
	}
	var ids []earshot.MessageID
	roots := slices.DeleteFunc(slices.Clone(page.Messages), func(m HistoryMessage) bool { return m.Unread || m.Message.Root() != "" })
	for _, m := range roots {
		ids = append(ids, m.Message.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	f.mu.Lock()
	missed := len(t.channel.heard.Gaps) > 0
	f.mu.Unlock()
	var stored map[earshot.MessageID]earshot.Activity
	if missed {
		var err error
		if stored, err = f.stored(ctx, t.channel.Scope(), ids); err != nil {
			return fmt.Errorf("read the threads of %s: %w", t, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range roots {
		if f.Tier.sizes().Small() && m.Message.Replies != nil {
			t.channel.timeline(m.Message.ID).LearnRoot(m.outline(), f.Tier.sizes())
		}
		if missed {
			f.followThread(t, m, stored[m.Message.ID])
		}
	}
	return nil
}

// followThread decides by its root on a page of the top level whether a thread
// was missed: if so, or if the root does not tell, it is queued, otherwise its gaps are known. stored is what the
// store has of its replies. f.mu is held.
func (f *Filler) followThread(topLevel *timeline, root HistoryMessage, stored earshot.Activity) {
	t := topLevel.channel.timeline(root.Message.ID)
	t.SetRootTime(root.Message.Time)
	missing := t.MissingOfGaps()
	if len(missing) == 0 {
		return
	}
	shown := earshot.Activity{}
	told := true
	if root.Message.Replies != nil {
		shown = *root.Message.Replies
		told = shown.Count > 0 && shown.Last > 0 // what is absent is not known
	}
	quiet := shown.Last < missing[0].From && shown.Count >= stored.Count
	if !told || !quiet && (shown.Last != stored.Last || shown.Count != stored.Count) {
		f.enqueue(job{channel: t.channel.Channel, thread: root.Message.ID})
		return
	}
	for _, g := range missing {
		t.AddKnown(coverage.Span{From: g.From, To: min(g.To, topLevel.fetchedUpTo)})
	}
}

// stored counts the replies that are stored of roots. [earshot.Messages.Activity]
// alone would not do: it also counts replies that a root has shown and that were
// never read, so that such a thread would look complete.
func (f *Filler) stored(ctx context.Context, s earshot.Scope, roots []earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	active, err := f.Store.Activity(ctx, s, earshot.Position{}, roots...)
	if err != nil {
		return nil, err
	}
	out := map[earshot.MessageID]earshot.Activity{}
	for root := range active {
		thread := earshot.ThreadOf(root)
		count, err := f.Store.Count(ctx, s, thread, earshot.Position{})
		if err != nil {
			return nil, err
		}
		newest, err := f.Store.Newest(ctx, s, thread, earshot.Position{}, 2)
		if err != nil {
			return nil, err
		}
		a := earshot.Activity{Count: count.Count}
		here, err := f.Store.ByID(ctx, s, root)
		if err != nil {
			return nil, err
		}
		if len(here) == 1 && !here[0].Deleted {
			a.Count--
		}
		for _, m := range newest {
			if m.ID != root {
				a.Last = m.Time
			}
		}
		out[root] = a
	}
	return out, nil
}
