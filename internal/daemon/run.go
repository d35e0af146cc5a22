package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// Run answers until ctx ends, and returns nil after the turns that were under
// way have come to rest: every event that was taken is stored, and no post is
// left half done. An error is that of the platform, an HTTP front or the store;
// the other parts are stopped then too.
func (d *Daemon) Run(ctx context.Context) error {
	var began time.Time
	stopping := func(ctx context.Context) error {
		<-ctx.Done()
		began = time.Now()
		d.logStopping(context.WithoutCancel(ctx))
		return nil
	}
	stopExport := d.export(ctx)
	err := runTogether(ctx, append([]func(context.Context) error{stopping}, d.run...)...)
	stopExport()
	d.options.Log.Info("stopped", "took", time.Since(began))
	return err
}

// export sends traces and metrics until stop is called, after the last turn. stop waits
// for what is left, for a few seconds at the most.
func (d *Daemon) export(ctx context.Context) (stop func()) {
	if d.collector == nil {
		return func() {}
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.collector.Run(ctx) // it logs what goes wrong
	}()
	return func() { end(); <-ended }
}

// logStopping logs how many turns are still under way.
func (d *Daemon) logStopping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	depth, err := d.store.Depth(ctx, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting)
	if err != nil {
		d.options.Log.Info("stopping", "err", err)
		return
	}
	turns := 0
	for _, n := range depth {
		turns += n
	}
	d.options.Log.Info("stopping", "turns", turns)
}

// runTogether runs parts until ctx or the first of them ends, and returns once all
// have ended. A part that returns ctx's error after that has not failed.
func runTogether(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make([]error, len(parts))
	var running sync.WaitGroup
	for i, part := range parts {
		running.Go(func() {
			defer stop()
			if failed[i] = part(ctx); ctx.Err() != nil && errors.Is(failed[i], context.Canceled) {
				failed[i] = nil
			}
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// runEvery calls f at once and then each d, until ctx ends.
func runEvery(ctx context.Context, d time.Duration, f func(context.Context)) error {
	again := time.NewTicker(d)
	defer again.Stop()
	for {
		f(ctx)
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// waitFor waits for c, and for d at the most, or returns ctx's error.
func waitFor(ctx context.Context, c <-chan struct{}, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return nil
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
