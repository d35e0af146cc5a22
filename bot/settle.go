package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// settle brings a turn to its end that has come to no answer, where its outcome
// allows. It returns ended, or the outcome for which the turn waits.
func (t *turn) settle(ctx context.Context, o outcome) outcome {
	if o = t.conclude(ctx, o); o.kind != withdrawn || context.Cause(ctx) != nil {
		return o
	}
	if o = outcomeOf(t.withdraw(ctx)); o.kind != unclear {
		return o
	}
	return outcomeOf(t.park(ctx, whyDeleted+"; "+o.why, t.opts.say(words.Withdrawn)))
}

// conclude is settle without the end of a turn whose question was deleted.
func (t *turn) conclude(ctx context.Context, o outcome) outcome {
	if o.kind != ended && context.Cause(ctx) != nil {
		return outcomeOf(context.Cause(ctx))
	}
	switch o.kind {
	case unclear:
		return outcomeOf(t.park(ctx, o.why, t.opts.say(words.Unsure)))
	case gaveUp:
		return outcomeOf(t.fail(ctx, o))
	case stopped:
		return outcomeOf(t.endStopped(ctx, o.text))
	case retry:
		if t.ambient && o.model {
			return outcomeOf(t.fail(ctx, giveUp(o.Error(), "")))
		}
		return t.retryOrFail(ctx, o)
	}
	return o
}

// retryOrFail fails a turn that had its tries, or that has waited too long for the
// model.
func (t *turn) retryOrFail(ctx context.Context, o outcome) outcome {
	if errors.Is(o.err, earshot.ErrConflict) {
		if now, err := t.store.QueuedTurn(ctx, t.queued.ID); err == nil && now.State.Final() {
			return outcome{kind: endedElsewhere}
		}
	}
	spent, err := t.hadItsTries(ctx)
	if err != nil {
		return outcomeOf(errors.Join(o, err))
	}
	if spent {
		return outcomeOf(t.fail(ctx, giveUp(fmt.Sprintf("given up after %d tries: %v", t.queued.Tries, o), words.Failed)))
	}
	if age := t.ago(t.queued.Opened); o.model && t.queued.Tries >= 3 && age > t.limits.Patience {
		return outcomeOf(t.fail(ctx, giveUp(fmt.Sprintf("given up after %s: %v", age.Round(time.Second), o), words.Down)))
	}
	return o
}

// hadItsTries reports whether a turn was claimed too often. A turn that has its
// answer was also claimed because the answer waited for the platform, and then the
// apology, [Limits.Post] each: it has that time as well.
func (t *turn) hadItsTries(ctx context.Context) (bool, error) {
	if t.queued.Tries < t.limits.Tries {
		return false, nil
	}
	steps, err := t.store.Steps(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	at, answered := t.answeredAt(steps)
	return !answered || t.ago(at) >= 2*t.limits.Post, nil
}

// fail tells the person once that there is no answer, and the operator why, and
// ends the turn as failed.
func (t *turn) fail(ctx context.Context, o outcome) error {
	t.outbox.save(ctx)
	if t.opts.DryRun {
		return t.finish(ctx, earshot.TurnFailed, o.why, nil)
	}
	if err := t.sayWhatActed(ctx, &o); err != nil {
		return err
	}
	posts, err := t.store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	replies := ofKind(posts, kindReply)
	if t.ambient && !anyVisible(replies) {
		return t.staySilent(ctx, o.why, nil)
	}
	since, err := t.failedSince(ctx, o.why)
	if err != nil {
		return err
	}
	t.outbox.startWaiting(since)
	switch {
	case anyVisible(replies) && anyUncertain(replies):
		return t.park(ctx, o.why+"; whether a post arrived is not known", t.opts.say(words.Unsure))
	case anyVisible(replies) && (o.say != words.Undelivered || t.ambient):
		return t.finish(ctx, earshot.TurnFailed, o.why, nil)
	}
	if t.report.Text = cmp.Or(o.text, t.opts.say(o.say)); anyVisible(replies) {
		_, err = t.outbox.deliver(ctx, kindApology, []string{t.opts.say(words.Rest)})
	} else {
		err = t.outbox.apologize(ctx, t.report.Text, o.say != words.Undelivered, t.outbox.postsAnew())
	}
	return t.failed(ctx, o.why, err)
}

// failed ends a turn as failed; err is the result of posting the apology.
func (t *turn) failed(ctx context.Context, why string, err error) error {
	switch o := outcomeOf(err); o.kind {
	case ended:
		return t.finish(ctx, earshot.TurnFailed, why, nil)
	case unclear:
		return t.park(ctx, why+"; "+o.why, t.opts.say(words.UnsureSorry))
	case gaveUp:
		why += "; and the apology was not posted: " + o.why
	default:
		return err
	}
	posts, err := t.store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	if anyUncertain(ofKind(posts, kindApology)) || anyUncertain(ofKind(posts, kindPlaceholder)) {
		return t.park(ctx, why, t.opts.say(words.UnsureSorry))
	}
	return t.finish(ctx, earshot.TurnFailed, why, nil)
}

// failedSince writes in the journal why the turn fails, unless its last step says
// so, and returns the time of that step.
func (t *turn) failedSince(ctx context.Context, why string) (earshot.Time, error) {
	if err := t.journal.read(ctx); err != nil {
		return 0, err
	}
	if s, ok := t.journal.failedStep(); ok {
		was := string(s.Data)
		if strings.HasPrefix(why, was) || strings.HasPrefix(why, whyUndelivered) && strings.HasPrefix(was, whyUndelivered) {
			return s.Time, nil
		}
	}
	now := t.now()
	err := t.journal.add(ctx, stepFailed, []byte(why))
	if errors.Is(err, earshot.ErrConflict) {
		// A turn whose prompt could not be made has no journal. Its apology must not
		// wait for a step, or it would never be posted.
		t.journal.pending = nil
		t.log.Info("a turn fails without a journal", "why", why)
		return t.queued.Opened, nil
	}
	return now, err
}

// park leaves a turn to an operator, and says so in the channel once, through the
// outbox. Where that cannot be posted, the turn is parked all the same.
func (t *turn) park(ctx context.Context, why, say string) error {
	if t.opts.DryRun || t.ambient {
		return t.finish(ctx, earshot.TurnParked, why, nil)
	}
	since, err := t.failedSince(ctx, why)
	if err != nil {
		return err
	}
	t.outbox.startWaiting(since)
	_, err = t.outbox.deliver(ctx, kindNotice, []string{say})
	switch outcomeOf(err).kind {
	case ended:
	case unclear, gaveUp:
		t.log.Error("a turn is parked, and the channel could not be told", "err", err)
	default:
		return err
	}
	return t.finish(ctx, earshot.TurnParked, why, nil)
}

// sayWhatActed has the person told that a tool of one's own has done something, where one
// has and there is no answer that would say so.
func (t *turn) sayWhatActed(ctx context.Context, o *outcome) error {
	switch o.say {
	case words.Failed, words.Down, words.TooLong, words.TooLarge, words.Refused:
		steps, err := t.store.Steps(ctx, t.queued.ID)
		if err != nil {
			return err
		}
		if hasActed(steps) {
			o.say, o.text = words.Acted, ""
		}
	}
	return nil
}
