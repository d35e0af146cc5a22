package bot

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// withdraw ends a turn whose question was deleted. A visible placeholder says so or
// is deleted, because it must not promise an answer; of a reply that is not
// complete, the posted parts are deleted. That waits for the platform as long as an
// apology does, counted from when the deletion was first noticed, which the journal
// records.
func (t *turn) withdraw(ctx context.Context) error {
	t.outbox.withdrawn = true
	since, err := t.failedSince(ctx, whyDeleted)
	if err != nil {
		return err
	}
	t.outbox.startWaiting(since)
	err = t.outbox.takeBack(ctx)
	if isKind(err, gaveUp) {
		t.log.Error("a question was deleted, and its placeholder does not say so", "err", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDropped, whyDeleted, nil)
}

// takeBack removes what people see of an answer to a deleted question.
func (o *outbox) takeBack(ctx context.Context) error {
	p, ok, err := o.placeholder(ctx)
	if err != nil {
		return err
	}
	if ok {
		var refused *PostError
		err := o.replace(ctx, p, o.opts.say(words.Withdrawn))
		if errors.As(err, &refused) {
			err = o.remove(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	if !o.partial {
		return nil
	}
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return err
	}
	for _, p := range ofKind(posts, kindReply) {
		if p.State != earshot.PostSent {
			continue
		}
		if err := o.remove(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
