package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/words"
)

// Limits of waiting for the platform. How long a turn waits in all is
// [Limits.Post].
const (
	maxSlept = 4 * time.Second // while the lease is held, in all
	maxPause = time.Minute     // between two tries
)

// startWaiting says when the text that is posted now was ready: [outbox.pause] counts
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
		return giveUp(fmt.Sprintf("%s %s: %v", whyUndelivered, o.limits.Post, err), words.Undelivered)
	}
	wait := min(max(waited, o.limits.Backoff), maxPause)
	wait -= time.Duration(o.opts.Jitter() / 4 * float64(wait))
	wait = min(max(wait, retry), left)
	if o.slept+wait > maxSlept {
		return outcome{kind: waitForPlatform, err: err, wait: wait}
	}
	o.slept += wait
	if pause.For(ctx, wait) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// whyUndelivered begins the reason of a turn whose answer the platform did not
// take in time.
const whyUndelivered = "the platform took nothing for"
