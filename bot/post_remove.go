package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A placeholder that takes no text any more, because the platform refuses the
// update, must not stay: what it was to say is posted, and it is deleted. The
// deletion comes first, so that people see one of the two at any time, and is
// recorded at once, so that a restart knows of it.

// beside posts texts where the placeholder takes none, and deletes it.
func (t *turn) beside(ctx context.Context, p earshot.Post, why error, kind byte, texts []string) error {
	t.Log.Warn("the placeholder takes no text", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", p.Message, "err", why)...)
	left := t.retract(ctx, p)
	if errors.Is(left, earshot.ErrFenced) {
		return left
	}
	if err := t.deliver(ctx, kind, texts); err != nil || left == nil {
		return err
	}
	return t.retractAll(ctx, p)
}

// retract deletes our own message and records that it is gone. What can never be
// deleted is logged; an error means that it may be later.
func (t *turn) retract(ctx context.Context, p earshot.Post) error {
	remover, able := t.Platform.(Remover)
	if !able {
		return nil
	}
	if err := t.stands(ctx, true); err != nil && !errors.Is(err, errWithdrawn) {
		return err
	}
	call, cancel := context.WithTimeout(ctx, postTime)
	err := remover.Remove(call, t.place, p.Message)
	cancel()
	var e *PostError
	if errors.As(err, &e) && e.Retry <= 0 {
		t.Log.Error("a message cannot be deleted: delete it by hand", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", p.Message, "err", err)...)
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete message %s: %w", p.Message, err)
	}
	t.Fault(faultAfterRetract)
	m, err := t.saying(ctx, earshot.Message{ID: p.Message}, "")
	if err != nil {
		return err
	}
	tombstone := earshot.Message{ID: m.ID, Time: m.Time, Thread: m.Thread, Deleted: true}
	if _, err := t.Store.Record(ctx, t.lease.Conversation.Scope, tombstone); err != nil {
		return fmt.Errorf("record that our own message is deleted: %w", err)
	}
	return nil
}

// retractAll deletes our own message, waiting for the platform as a reply does.
func (t *turn) retractAll(ctx context.Context, p earshot.Post) error {
	for {
		err := t.retract(ctx, p)
		if err == nil || errors.Is(err, earshot.ErrFenced) {
			return err
		}
		err = t.pause(ctx, err, t.Limits.Look)
		var up *giveUp
		if errors.As(err, &up) {
			t.Log.Error("a message was not deleted: delete it by hand", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", p.Message, "err", up)...)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// withdraw ends a turn whose question was deleted. A placeholder that can be
// seen says so, or is deleted: it must not promise what does not come. The parts
// of a reply whose rest was not said are deleted. That waits for the platform as
// long as an apology, from when the deletion was first met: the journal has the
// time, because what it held of the answer is erased with the question.
func (t *turn) withdraw(ctx context.Context) error {
	t.withdrawn = true
	at, err := t.failedAt(ctx, whyDeleted)
	if err != nil {
		return err
	}
	t.begins(at)
	err = t.hush(ctx)
	var up *giveUp
	if errors.As(err, &up) {
		t.Log.Error("a question was deleted, and its placeholder does not say so", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", up)...)
		err = nil
	}
	if err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDropped, whyDeleted, nil)
}

// hush takes back what can be seen of an answer to a deleted question.
func (t *turn) hush(ctx context.Context) error {
	p, ok, err := t.held(ctx)
	if err != nil {
		return err
	}
	if ok {
		var never *PostError
		err := t.replace(ctx, p, sayWithdrawn)
		if errors.As(err, &never) {
			err = t.retractAll(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	if !t.partly {
		return nil
	}
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	for _, p := range ofKind(posts, kindReply) {
		if p.State != earshot.PostSent {
			continue
		}
		if err := t.retractAll(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
