package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A platformDown is a platform that takes nothing at the moment, or tells nothing.
// The turn keeps what it has to say, gives its lease back, and is claimed again
// after wait.
type platformDown struct {
	err  error
	wait time.Duration
}

func (e *platformDown) Error() string { return e.err.Error() }

// Bounds of waiting for the platform. How long a turn waits in all is
// [Limits.Post].
const (
	inline   = 4 * time.Second // of sleeping while the lease is held, in all
	maxPause = time.Minute     // between two tries
	maxEnds  = 5               // processes that end while one post is being sent
)

// pause waits before the platform is asked again: as long as what is to be said
// has waited already, which doubles from [Limits.Backoff] to a minute, and at
// least retry. A long wait is returned as a [platformDown]; when [Limits.Post] is
// over, the error is a [giveUp].
func (t *turn) pause(ctx context.Context, err error, retry time.Duration) error {
	waited := t.ago(t.exists)
	left := t.Limits.Post - waited
	if left <= 0 {
		return &giveUp{fmt.Sprintf("%s %s: %v", whyUndelivered, t.Limits.Post, err), sayUndelivered}
	}
	wait := min(max(waited, t.Limits.Backoff), maxPause)
	wait -= time.Duration(t.Jitter() / 4 * float64(wait))
	wait = min(max(wait, retry), left)
	if t.idle+wait > inline {
		return &platformDown{err, wait}
	}
	t.idle += wait
	return sleep(ctx, wait)
}

// begins says since when there is something to say: the time that the waits of
// [turn.pause] are counted from.
func (t *turn) begins(at earshot.Time) { t.exists, t.idle = at, 0 }

// ago returns how long ago a time was.
func (b *Bot) ago(at earshot.Time) time.Duration {
	return time.Duration(b.Now()-at) * time.Microsecond
}

// whyUndelivered begins the reason of a turn whose answer the platform did not
// take in time.
const whyUndelivered = "the platform took nothing for"

// answeredAt returns when the model gave its whole answer; ok is false where the
// journal holds none. The time is the journal's, so that a restart does not
// begin to count anew; an operator who opens the turn again does.
func (b *Bot) answeredAt(steps []earshot.Step) (at earshot.Time, ok bool) {
	rounds := 0
	for _, s := range steps {
		switch s.Kind {
		case stepResults:
			rounds++
		case stepAnswer:
			a, err := response(s)
			at, ok = s.Time, err == nil && (len(a.Calls()) == 0 || rounds >= b.Limits.Rounds)
		case stepAgain:
			at = s.Time
		}
	}
	return at, ok
}

// answered returns since when the turn has its answer.
func (t *turn) answered() earshot.Time {
	steps := t.steps
	if t.last != nil {
		steps = append(steps[:len(steps):len(steps)], *t.last)
	}
	if at, ok := t.answeredAt(steps); ok {
		return at
	}
	return t.queued.Opened
}

// spent reports whether a turn that came to an error has had its tries. One that
// holds its answer was claimed also because that waited for the platform, and the
// apology after it, [Limits.Post] each: it has that time as well.
func (t *turn) spent(ctx context.Context) (bool, error) {
	if t.queued.Tries < t.Limits.Tries {
		return false, nil
	}
	steps, err := t.Store.Steps(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	at, answered := t.answeredAt(steps)
	return !answered || t.ago(at) >= 2*t.Limits.Post, nil
}

// stands returns [errWithdrawn] where the question was deleted, and
// [earshot.ErrFenced] where the lease was taken over. It is asked before each
// call that shows something. A write under the lease has asked for the lease;
// renew asks where there was none.
func (t *turn) stands(ctx context.Context, renew bool) error {
	if renew {
		if _, err := t.Store.Renew(ctx, t.lease, t.Now(), t.Limits.Lease); err != nil {
			return fmt.Errorf("renew the lease before something is shown: %w", err)
		}
	}
	if t.withdrawn {
		return nil // what is shown now says so
	}
	m, err := t.Store.Message(ctx, t.lease.Conversation.Scope, t.queued.Anchor)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("is the question there: %w", err)
	case m.Deleted:
		return errWithdrawn
	}
	return nil
}
