package bot

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
)

// keepLease renews a lease at every third of its duration, until stop is called.
// The context ends when the lease is lost; it does not end with ctx.
func (b *Bot) keepLease(ctx context.Context, lease earshot.Lease) (kept context.Context, stop func()) {
	return b.repeat(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := b.store.Renew(ctx, lease, b.now(), b.limits.Lease)
		if ctx.Err() != nil {
			return nil // stopped meanwhile: nothing is left to renew
		}
		if err != nil && !errors.Is(err, earshot.ErrFenced) {
			// An expired lease is good until another process takes it.
			b.log.Warn("renew a lease", append(conversationAttrs(lease.Conversation), "err", err)...)
			return nil
		}
		return err
	})
}

// watch checks as often whether the turn is still to be answered. The context
// ends with the outcome endedElsewhere, stopped or withdrawn when it is not; where this
// process hears that it is stopped, at once.
func (t *turn) watch(ctx context.Context) (watched context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	forget := t.running.add(t.queued.ID, end)
	watched, stopWatching := t.repeat(ctx, func(ctx context.Context) error {
		switch q, err := t.store.QueuedTurn(ctx, t.queued.ID); {
		case err != nil:
		case q.State.Final():
			return outcome{kind: endedElsewhere}
		case q.Stopped != 0:
			return outcome{kind: stopped}
		}
		if m, err := t.store.Message(ctx, t.scope(), t.queued.Anchor); err == nil && m.Deleted {
			return outcome{kind: withdrawn}
		}
		return nil
	})
	return watched, func() {
		forget()
		stopWatching()
		end(nil)
	}
}

// repeat calls f at every third of a lease's duration until stop is called. The
// context ends with ctx, and with f's first error as its cause.
func (b *Bot) repeat(ctx context.Context, f func(context.Context) error) (until context.Context, stop func()) {
	until, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(b.limits.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-until.Done():
				return
			}
			if err := f(until); err != nil {
				cancel(err)
				return
			}
		}
	}()
	return until, func() {
		cancel(context.Canceled)
		<-stopped
	}
}

// maxBackoff bounds the pause before a turn is claimed again after an error.
const maxBackoff = 2 * time.Minute

// release gives the lease back. The outcome says when the conversation may be
// claimed again; t is nil where no turn was chosen.
func (b *Bot) release(ctx context.Context, lease earshot.Lease, t *turn, o outcome) {
	if o.kind == leaseLost || errors.Is(context.Cause(ctx), earshot.ErrFenced) {
		b.log.Warn("the lease was taken over", conversationAttrs(lease.Conversation)...)
		return
	}
	ctx = context.WithoutCancel(ctx)
	var notBefore earshot.Time
	switch o.kind {
	case ended, waiting, stopping:
	case endedElsewhere:
		if t != nil {
			b.tell(ctx, t.queued.ID, t.finalReport())
		}
	case listening:
		notBefore = b.now() + earshot.Time(o.wait/time.Microsecond)
	default:
		wait := b.limits.Backoff
		if t != nil {
			wait = min(wait<<min(max(t.queued.Tries-1, 0), 16), maxBackoff)
		}
		wait = max(wait, min(o.wait, maxBackoff))
		if o.kind == waitForPlatform {
			wait = o.wait
		}
		notBefore = b.now() + earshot.Time(wait/time.Microsecond)
		b.log.Warn("a turn waits", append(conversationAttrs(lease.Conversation), "for", wait, "err", o)...)
	}
	if err := b.store.Release(ctx, lease, notBefore); err != nil {
		b.log.Error("release a lease", append(conversationAttrs(lease.Conversation), "err", err)...)
	}
}

// conversationAttrs names a conversation in the log.
func conversationAttrs(id earshot.ConversationID) []any {
	return []any{"platform", id.Scope.Platform, "workspace", id.Scope.Workspace, "channel", id.Scope.Channel, "conversation", id.Name}
}
