package backfill

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/internal/pause"
)

// How many writes to the store run at a time. The store gathers concurrent
// writes into one transaction. At the start each stored channel has a gap to
// record, and nobody is served before all are durable: hence more of those.
const (
	maxWrites    = 16
	maxGapWrites = 256
)

// Missed notes that events may have been missed in that time, as when there was
// no connection. It returns at once; [Filler.Run] records the gap and fetches
// what was said in it.
func (f *Filler) Missed(from, to time.Time) {
	gap := coverage.Span{From: max(coverage.Dawn, earshot.TimeOf(from)-coverage.Clocks), To: earshot.TimeOf(to)}
	if gap.From > gap.To {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heardSince = max(f.heardSince, gap.To)
	f.unsavedGaps = append(f.unsavedGaps, gap)
	for _, c := range f.channels {
		c.miss(gap)
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// recordGaps writes gaps into the store as they come, until ctx ends. A write
// that fails is repeated every second.
func (f *Filler) recordGaps(ctx context.Context) {
	for {
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		gaps := f.unsavedGaps
		f.mu.Unlock()
		for _, gap := range gaps {
			for err := f.recordGap(ctx, gap); err != nil; err = f.recordGap(ctx, gap) {
				if ctx.Err() == nil {
					f.Log.Error("record what may have been missed", "platform", f.Platform, "workspace", f.Workspace, "err", err)
				}
				if pause.For(ctx, time.Second) != nil {
					return
				}
			}
			f.mu.Lock()
			f.unsavedGaps = f.unsavedGaps[1:]
			f.mu.Unlock()
		}
	}
}

// recordGap records a gap in every stored channel of the workspace, and queues the
// channels in which something was said lately. From 0 stands for the channel's newest
// message.
func (f *Filler) recordGap(ctx context.Context, gap coverage.Span) error {
	list, err := f.Store.FindChannels(ctx, earshot.ChannelQuery{Platform: f.Platform, Workspaces: []earshot.WorkspaceID{f.Workspace}})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxGapWrites)
	for _, c := range list {
		g.Go(func() error { return f.recordGapIn(ctx, c, gap) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	f.queueActive(list)
	return nil
}

func (f *Filler) recordGapIn(ctx context.Context, info earshot.ChannelInfo, gap coverage.Span) error {
	start := gap.From == 0
	if start {
		gap = coverage.Span{From: max(coverage.Dawn, info.Last), To: max(gap.To, info.Last)}
	}
	c, err := f.channel(ctx, info.Channel)
	if err != nil {
		return err
	}
	f.mu.Lock()
	first := c.heard.Since == 0 // no turn has asked yet
	if first {
		c.heard.Begin(gap.From)
	}
	if start || first {
		c.miss(gap) // otherwise Missed has done so
	}
	t := c.timeline("")
	var threads []earshot.MessageID
	if start && info.Last >= f.activeSince() {
		threads = c.unfinished()
	}
	f.mu.Unlock()
	for _, id := range threads {
		f.enqueue(job{channel: info.Channel, thread: id})
	}
	return f.save(ctx, t)
}

// queueActive queues the channels in which something was said lately, the one
// with the newest message first.
func (f *Filler) queueActive(list []earshot.ChannelInfo) {
	since := f.activeSince()
	list = slices.DeleteFunc(list, func(c earshot.ChannelInfo) bool { return c.Last < since })
	slices.SortFunc(list, func(x, y earshot.ChannelInfo) int {
		return cmp.Or(cmp.Compare(y.Last, x.Last), cmp.Compare(x.ID, y.ID))
	})
	for _, c := range list {
		f.enqueue(job{channel: c.Channel})
	}
}

// activeSince returns from when on a message counts as said lately.
func (f *Filler) activeSince() earshot.Time {
	if f.Active < 0 {
		return coverage.Forever
	}
	return f.Now() - earshot.Time(f.Active/time.Microsecond)
}
