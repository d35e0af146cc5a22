package bot

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/reply"
	"github.com/earshot-ai/earshot/internal/words"
)

// whyStopped is why a turn is dropped that somebody has stopped; the turn says who.
const whyStopped = "stopped"

// isStopped reports whether somebody has stopped a turn that was claimed. One whose answer is
// whole goes on.
func (t *turn) isStopped(ctx context.Context) (bool, error) {
	if t.queued.Stopped == 0 {
		return false, nil
	}
	if err := t.journal.read(ctx); err != nil {
		return false, err
	}
	_, whole := t.answeredAt(t.journal.steps)
	return !whole, nil
}

// endStopped ends a turn that somebody has stopped. What was written so far stays where people see
// it, and says that it was stopped; what they were asked says that nothing was done. Where
// nothing is to be seen nothing is posted, unless a tool has done something.
func (t *turn) endStopped(ctx context.Context, written string) error {
	t.outbox.save(ctx)
	if t.opts.DryRun {
		return t.finish(ctx, earshot.TurnDropped, whyStopped, nil)
	}
	if err := t.journal.read(ctx); err != nil {
		return err
	}
	acted := hasActed(t.journal.steps)
	p, visible, err := t.outbox.placeholder(ctx)
	if err != nil {
		return err
	}
	if t.report.Text = p.Text; !visible || p.Text == t.opts.Placeholder {
		t.report.Text = t.stoppedText(written, acted)
		if p.Text = t.report.Text; visible {
			if err := t.noteStopped(ctx, p); err != nil {
				return err
			}
		}
	}
	since, err := t.failedSince(ctx, whyStopped)
	if err != nil {
		return err
	}
	t.outbox.startWaiting(since)
	if visible || acted {
		err = t.outbox.apologize(ctx, t.report.Text, true, false)
	}
	switch o := outcomeOf(err); o.kind {
	case ended:
	case gaveUp:
		t.log.Error("an answer was stopped, and the channel could not be told", "err", o)
	case unclear:
		return t.park(ctx, whyStopped+"; "+o.why, t.opts.say(words.UnsureSorry))
	default:
		return err
	}
	return t.finish(ctx, earshot.TurnDropped, whyStopped, nil)
}

// noteStopped writes in the journal that the turn is stopped, together with what the
// placeholder says then: no restart loses what was written of the answer.
func (t *turn) noteStopped(ctx context.Context, p earshot.Post) error {
	t.journal.addPending(stepFailed, []byte(whyStopped))
	err := t.journal.putPost(ctx, p)
	if errors.Is(err, earshot.ErrConflict) { // it was opened again, and has not begun since
		t.journal.pending = nil
		return nil
	}
	return err
}

// stoppedText is what a stopped answer ends as: as much as one message holds of what was
// written.
func (t *turn) stoppedText(written string, acted bool) string {
	say := t.opts.say(words.Stopped)
	if acted {
		say = t.opts.say(words.StoppedActed)
	}
	if written == "" {
		return say
	}
	return reply.Split(written, t.maxText()-len([]rune(say))-2)[0] + "\n\n" + say
}
