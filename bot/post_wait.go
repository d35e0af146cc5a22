package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// Limits of waiting for the platform. How long a turn waits in all is
// [Limits.Post].
const (
	maxSlept = 4 * time.Second // while the lease is held, in all
	maxPause = time.Minute     // between two tries
)

// startWaiting says since when there is something to post: [outbox.pause] counts
// from then.
func (o *outbox) startWaiting(since earshot.Time) { o.since, o.slept = since, 0 }

// pause waits before the platform is asked again: as long as the post has waited
// already, so that the pause doubles from [Limits.Backoff] to a minute, and at
// least retry. A long pause is returned as the outcome waitForPlatform; when
// [Limits.Post] is over, the outcome is gaveUp.
func (o *outbox) pause(ctx context.Context, err error, retry time.Duration) error {
	waited := o.ago(o.since)
	left := o.limits.Post - waited
	if left <= 0 {
		return giveUp(fmt.Sprintf("%s %s: %v", whyUndelivered, o.limits.Post, err), sayUndelivered)
	}
	wait := min(max(waited, o.limits.Backoff), maxPause)
	wait -= time.Duration(o.opts.Jitter() / 4 * float64(wait))
	wait = min(max(wait, retry), left)
	if o.slept+wait > maxSlept {
		return outcome{kind: waitForPlatform, err: err, wait: wait}
	}
	o.slept += wait
	return sleep(ctx, wait)
}

// whyUndelivered begins the reason of a turn whose answer the platform did not
// take in time.
const whyUndelivered = "the platform took nothing for"

// mayShow is asked before each call that shows something to people. It returns the
// outcome withdrawn where the question was deleted, and [earshot.ErrFenced] where
// the lease was taken over. A write under the lease checks the lease as well;
// renew checks it where no write came before.
func (o *outbox) mayShow(ctx context.Context, renew bool) error {
	if renew {
		if _, err := o.store.Renew(ctx, o.lease, o.now(), o.limits.Lease); err != nil {
			return fmt.Errorf("renew the lease before something is shown: %w", err)
		}
	}
	if o.withdrawn {
		return nil // what is shown says that the question was deleted
	}
	m, err := o.store.Message(ctx, o.scope(), o.queued.Anchor)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("is the question still there: %w", err)
	case m.Deleted:
		return outcome{kind: withdrawn}
	}
	return nil
}

// ago returns how long ago a time was.
func (b *Bot) ago(at earshot.Time) time.Duration {
	return time.Duration(b.now()-at) * time.Microsecond
}

// sleep waits, or returns the cause with which ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
