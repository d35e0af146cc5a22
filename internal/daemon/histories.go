package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// Histories read what a bot has missed: each workspace that it is in, one on Slack, has a
// [backfill.Filler], which is opened at the start or when the workspace is first heard of.
// It is safe for concurrent use.
type histories struct {
	hearing *hearingTracker // of channels that are not stored
	options func(earshot.WorkspaceID) backfill.Options

	mu      sync.Mutex // guards what follows
	entries map[earshot.WorkspaceID]*history
	opened  []*backfill.Filler // that Run does not run yet
	wake    chan struct{}
}

// A history is the filler of one workspace. Histories.mu guards it; opening is held
// in addition while the filler is opened.
type history struct {
	opening chan struct{} // a semaphore of one
	filler  *backfill.Filler
	missed  []missedPeriod // told while the filler was being opened
}

// A missedPeriod is a time in which events may have been missed.
type missedPeriod struct{ from, to time.Time }

func newHistories(s sharedParts, options func(earshot.WorkspaceID) backfill.Options) *histories {
	return &histories{hearing: newHearing(s), options: options, entries: map[earshot.WorkspaceID]*history{}, wake: make(chan struct{}, 1)}
}

// Of returns the filler of a workspace, which is opened where it is not yet. The
// error is the store's, or ctx's.
func (h *histories) Of(ctx context.Context, w earshot.WorkspaceID) (*backfill.Filler, error) {
	h.mu.Lock()
	x := h.entries[w]
	if x == nil {
		x = &history{opening: make(chan struct{}, 1)}
		h.entries[w] = x
	}
	f := x.filler
	h.mu.Unlock()
	if f != nil {
		return f, nil
	}
	select {
	case x.opening <- struct{}{}:
		defer func() { <-x.opening }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return h.open(ctx, w, x)
}

// open opens the filler of a workspace, which nobody else opens meanwhile.
func (h *histories) open(ctx context.Context, w earshot.WorkspaceID, x *history) (*backfill.Filler, error) {
	h.mu.Lock()
	f := x.filler
	h.mu.Unlock()
	if f != nil {
		return f, nil
	}
	f, err := backfill.Open(ctx, h.options(w))
	if err != nil {
		return nil, fmt.Errorf("open the history of workspace %s: %w", w, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range x.missed {
		f.Missed(p.from, p.to)
	}
	x.filler, x.missed = f, nil
	h.opened = append(h.opened, f)
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return f, nil
}

// Run runs every filler, as each is opened, until ctx ends. It returns after all
// have ended.
func (h *histories) Run(ctx context.Context) error {
	var g errgroup.Group
	for {
		h.mu.Lock()
		list := h.opened
		h.opened = nil
		h.mu.Unlock()
		for _, f := range list {
			g.Go(func() error { return f.Run(ctx) })
		}
		select {
		case <-h.wake:
		case <-ctx.Done():
			return g.Wait()
		}
	}
}

// Waiting returns what all fillers have to fetch in the background.
func (h *histories) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, x := range h.entries {
		if x.filler != nil {
			n += x.filler.Waiting()
		}
	}
	return n
}

// Missed tells every filler of a time in which events may have been missed. It does
// not block.
func (h *histories) Missed(from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.entries {
		if x.filler == nil {
			x.missed = append(x.missed, missedPeriod{from, to})
		} else {
			x.filler.Missed(from, to)
		}
	}
}

// Left notes that the bot no longer sees a channel, or that what is known of it must
// be read again.
func (h *histories) Left(ctx context.Context, s earshot.Scope) error {
	f, err := h.Of(ctx, s.Workspace)
	if err != nil {
		return err
	}
	return f.Left(ctx, s)
}

// Fill implements [bot.Historian].
func (h *histories) Fill(ctx context.Context, at bot.Place) error {
	f, err := h.Of(ctx, at.Channel.Workspace)
	if err == nil && h.hearing.partial(ctx, at.Channel.Scope()) {
		err = f.Left(ctx, at.Channel.Scope())
	}
	if err != nil {
		return err
	}
	return f.Fill(ctx, at.Channel, at.Anchor, at.Thread)
}

// FetchThread implements [tools.Fetcher].
func (h *histories) FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error {
	f, err := h.Of(ctx, s.Workspace)
	if err != nil {
		return err
	}
	return f.FetchThread(ctx, s, root, upTo)
}

// ThreadsIn implements [tools.Pacer].
func (h *histories) ThreadsIn(s earshot.Scope) time.Duration {
	f, err := h.Of(context.Background(), s.Workspace)
	if err != nil {
		return 0
	}
	return f.ThreadsIn(s)
}

// FetchSince implements [tools.Fetcher].
func (h *histories) FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error {
	f, err := h.Of(ctx, s.Workspace)
	if err != nil {
		return err
	}
	return f.FetchSince(ctx, s, since, upTo)
}
