package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// What else than an error of the store a turn can end with.
var (
	errEnded     = errors.New("the turn was ended by another hand")
	errStopped   = errors.New("the bot stops")
	errTooLong   = errors.New("the answer took too long")
	errAnew      = errors.New("the session cannot go on")
	errWithdrawn = errors.New("what the turn answers was deleted")
)

// A giveUp ends a turn as failed: the person is told say, the operator why.
type giveUp struct{ why, say string }

func (e *giveUp) Error() string { return e.why }

// A park leaves a turn to an operator.
type park struct{ why string }

func (e *park) Error() string { return e.why }

// A later is a failure that may pass.
type later struct {
	err   error
	after time.Duration // at least
}

func (e *later) Error() string { return e.err.Error() }
func (e *later) Unwrap() error { return e.err }

// What people are told, once, when there is no answer.
const (
	sayQuestion    = "You called? Tell me what you would like to know."
	sayFailed      = "Sorry, I could not answer this: something went wrong on my side. The people who run me can see what."
	sayDown        = "Sorry, I could not answer this: the language model cannot be reached at the moment. Please ask again later."
	sayTooLong     = "Sorry, I could not answer this in time."
	sayTooLarge    = "Sorry, I could not answer this: the conversation is larger than the language model can read, even after leaving out what I could."
	sayRefused     = "Sorry, I cannot answer this."
	sayUndelivered = "Sorry, I had an answer to this, but for too long I could not post it. Please ask again."
	sayRest        = "Sorry, for too long I could not post the rest of this answer. Please ask again."
	sayUnsure      = "I answered, but could not find out whether it arrived; the people who run me can see it."
	sayUnsureSorry = "I could not answer a question here, and could not find out whether saying so arrived; the people who run me can see it."
	sayWithdrawn   = "(The message that I was answering was deleted.)"
	sayCutOff      = "(The answer was cut off here: it had become too long.)"
)

// settle ends a turn whose answer ended with err. What it returns is why the
// turn is not at its end, nil when it is.
func (t *turn) settle(ctx context.Context, err error) error {
	err = t.conclude(ctx, err)
	if !errors.Is(err, errWithdrawn) || context.Cause(ctx) != nil {
		return err
	}
	var p *park
	if err = t.withdraw(ctx); !errors.As(err, &p) {
		return err
	}
	return t.park(ctx, whyDeleted+"; "+p.why, sayWithdrawn)
}

// conclude is settle, but for a question that was deleted.
func (t *turn) conclude(ctx context.Context, err error) error {
	var up *giveUp
	var p *park
	var out *platformDown
	switch {
	case err == nil:
		return nil
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, errStopped), errors.Is(err, errEnded), errors.Is(err, earshot.ErrFenced), errors.Is(err, errWithdrawn), errors.As(err, &out):
		return err
	case errors.As(err, &p):
		return t.park(ctx, p.why, sayUnsure)
	case errors.As(err, &up):
		return t.fail(ctx, up)
	}
	if errors.Is(err, earshot.ErrConflict) {
		if now, e := t.Store.QueuedTurn(ctx, t.queued.ID); e == nil && final(now.State) {
			return errEnded
		}
	}
	var l *later
	spent, e := t.spent(ctx)
	if e != nil {
		return errors.Join(err, e)
	}
	if spent {
		return t.fail(ctx, &giveUp{fmt.Sprintf("given up after %d tries: %v", t.queued.Tries, err), sayFailed})
	}
	if errors.As(err, &l) && t.queued.Tries >= 3 && t.age() > t.Limits.Patience {
		return t.fail(ctx, &giveUp{fmt.Sprintf("given up after %s: %v", t.age().Round(time.Second), err), sayDown})
	}
	return err
}

// age is for how long the turn has waited.
func (t *turn) age() time.Duration {
	return time.Duration(t.Now()-t.queued.Opened) * time.Microsecond
}

// fail tells the person once, and the operator why.
func (t *turn) fail(ctx context.Context, up *giveUp) error {
	t.land(ctx)
	if t.DryRun {
		return t.finish(ctx, earshot.TurnFailed, up.why, nil)
	}
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	at, err := t.failedAt(ctx, up.why)
	if err != nil {
		return err
	}
	t.begins(at)
	replies := ofKind(posts, kindReply)
	switch {
	case visible(replies) && unknown(replies):
		return t.park(ctx, up.why+"; whether a post arrived is not known", sayUnsure)
	case visible(replies) && up.say != sayUndelivered:
		return t.finish(ctx, earshot.TurnFailed, up.why, nil)
	}
	if t.text = up.say; visible(replies) {
		err = t.deliver(ctx, kindApology, []string{sayRest})
	} else {
		err = t.apologize(ctx, up.say)
	}
	return t.failed(ctx, up.why, err)
}

// failed ends a turn as failed; err is what came of telling the person.
func (t *turn) failed(ctx context.Context, why string, err error) error {
	var p *park
	var refused *giveUp
	switch {
	case err == nil:
		return t.finish(ctx, earshot.TurnFailed, why, nil)
	case errors.As(err, &p):
		return t.park(ctx, why+"; "+p.why, sayUnsureSorry)
	case !errors.As(err, &refused):
		return err
	}
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	why += "; and the apology was not posted: " + refused.why
	if unknown(ofKind(posts, kindApology)) || unknown(ofKind(posts, kindPlaceholder)) {
		return t.park(ctx, why, sayUnsureSorry)
	}
	return t.finish(ctx, earshot.TurnFailed, why, nil)
}

// failedAt writes in the journal why the turn has failed, unless its last entry
// says so, and returns since when.
func (t *turn) failedAt(ctx context.Context, why string) (earshot.Time, error) {
	var err error
	if t.steps, err = t.Store.Steps(ctx, t.queued.ID); err != nil {
		return 0, err
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].Kind == stepFailed {
		was := string(t.steps[n-1].Data)
		if strings.HasPrefix(why, was) || strings.HasPrefix(why, whyUndelivered) && strings.HasPrefix(was, whyUndelivered) {
			return t.steps[n-1].Time, nil
		}
	}
	now := t.Now()
	if err := t.journal(ctx, stepFailed, []byte(why)); errors.Is(err, earshot.ErrConflict) {
		// A turn whose prompt could not be made has not begun and has no journal:
		// no post may wait for an entry in it, or the person is never told.
		t.last = nil
		t.Log.Info("a turn fails without a journal", append(about(t.lease.Conversation), "turn", t.queued.ID, "why", why)...)
		return t.queued.Opened, nil
	} else if err != nil {
		return 0, err
	}
	return now, nil
}

// unknown reports whether it is not known of a post whether it arrived.
func unknown(posts []earshot.Post) bool {
	for _, p := range posts {
		if p.State == earshot.PostSending || p.State == earshot.PostAmbiguous {
			return true
		}
	}
	return false
}

// recovered makes a failed turn of a panic: one poisonous message must not
// stop the others.
func (t *turn) recovered(err *error) {
	if p := recover(); p != nil {
		t.Log.Error("a turn panicked", append(about(t.lease.Conversation), "turn", t.queued.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))...)
		*err = &giveUp{fmt.Sprintf("panic: %v", p), sayFailed}
	}
}

// maxBackoff bounds the time before a further try.
const maxBackoff = 2 * time.Minute

// release gives the lease back; err is why a turn is not at its end.
func (b *Bot) release(ctx context.Context, lease earshot.Lease, t *turn, err error) {
	if errors.Is(err, earshot.ErrFenced) || errors.Is(context.Cause(ctx), earshot.ErrFenced) {
		b.Log.Warn("the lease was taken over", about(lease.Conversation)...)
		return
	}
	ctx = context.WithoutCancel(ctx)
	var notBefore earshot.Time
	switch {
	case err == nil, errors.Is(err, errStopped):
	case errors.Is(err, errEnded):
		if t != nil {
			b.tell(ctx, t.queued.ID, t.report())
		}
	default:
		wait := b.Limits.Backoff
		var l *later
		var out *platformDown
		if t != nil {
			wait = min(wait<<min(max(t.queued.Tries-1, 0), 16), maxBackoff)
		}
		if errors.As(err, &l) {
			wait = max(wait, min(l.after, maxBackoff))
		}
		if errors.As(err, &out) {
			wait = out.wait
		}
		notBefore = b.Now() + earshot.Time(wait/time.Microsecond)
		b.Log.Warn("a turn waits", append(about(lease.Conversation), "for", wait, "err", err)...)
	}
	if err := b.Store.Release(ctx, lease, notBefore); err != nil {
		b.Log.Error("release a lease", append(about(lease.Conversation), "err", err)...)
	}
}

// both returns a context that ends with either: as soft does, with errStopped.
func both(soft, hard context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(hard)
	stop := context.AfterFunc(soft, func() { cancel(errStopped) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// about names a conversation in the log.
func about(id earshot.ConversationID) []any {
	return []any{"platform", id.Scope.Platform, "workspace", id.Scope.Workspace, "channel", id.Scope.Channel, "conversation", id.Name}
}

// smaller reports whether a turn goes on with half of its budget, because the
// model could not read so much. It does so once.
func (t *turn) smaller(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || !e.TooLarge || t.halved {
		return false
	}
	t.halved = true
	t.budget.Tokens, t.budget.Session, t.budget.Limit = t.budget.Tokens/2, t.budget.Session/2, t.budget.Limit/2
	t.Log.Info("the context was too large, half of it is tried", append(about(t.lease.Conversation), "turn", t.queued.ID)...)
	return true
}
