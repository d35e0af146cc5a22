package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A placeholder that takes no text any more, because the platform refuses the
// update, is deleted, and its text is posted; so is one on a platform that notifies
// nobody of an edit. The deletion comes first, so that
// people see one of the two at any time, and is recorded at once, so that a restart
// knows of it.

// postBeside posts texts where the placeholder takes none, and deletes the
// placeholder.
func (o *outbox) postBeside(ctx context.Context, p earshot.Post, why error, kind byte, texts []string) ([]earshot.MessageID, error) {
	o.log.Warn("the placeholder takes no text", "message", p.Message, "err", why)
	return o.postAnew(ctx, p, kind, texts)
}

// postsAnew reports whether an answer is a message of its own and not the placeholder's last
// text.
func (b *Bot) postsAnew() bool {
	n, able := b.platform.(Notifier)
	_, removes := b.platform.(Remover)
	return able && removes && n.PostsAnew()
}

// postAnew deletes the placeholder and posts texts.
func (o *outbox) postAnew(ctx context.Context, p earshot.Post, kind byte, texts []string) ([]earshot.MessageID, error) {
	removal := o.removeOnce(ctx, p)
	if errors.Is(removal, earshot.ErrFenced) {
		return nil, removal
	}
	ids, err := o.deliver(ctx, kind, texts)
	if err != nil || removal == nil {
		return ids, err
	}
	return ids, o.remove(ctx, p)
}

// takeAway takes the placeholder away where nothing is said.
func (o *outbox) takeAway(ctx context.Context) error {
	o.startWaiting(o.journal.answerTime())
	p, ok, err := o.placeholder(ctx)
	if err != nil || !ok {
		return err
	}
	return o.remove(ctx, p)
}

// removeOnce deletes a message of ours and records that it is gone. A message that
// can never be deleted is logged; an error means that it may be deleted later.
func (o *outbox) removeOnce(ctx context.Context, p earshot.Post) error {
	remover, able := o.platform.(Remover)
	if !able {
		return nil
	}
	if err := o.countEnd(ctx, &p); err != nil {
		return err
	}
	if err := o.mayShow(ctx, true); err != nil && !isKind(err, withdrawn) {
		return err
	}
	call, cancel := context.WithTimeout(ctx, postTime)
	err := remover.Remove(call, o.place, p.Message)
	cancel()
	var e *PostError
	if errors.As(err, &e) && e.Retry <= 0 {
		o.log.Error("a message cannot be deleted: delete it by hand", "message", p.Message, "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete message %s: %w", p.Message, err)
	}
	o.fault(faultAfterRetract)
	m, err := o.ourMessage(ctx, earshot.Message{ID: p.Message}, "")
	if err != nil {
		return err
	}
	tombstone := earshot.Message{ID: m.ID, Time: m.Time, Thread: m.Thread, Deleted: true}
	if _, err := o.store.Record(ctx, o.scope(), tombstone); err != nil {
		return fmt.Errorf("record that our own message is deleted: %w", err)
	}
	return nil
}

// remove deletes a message of ours, and waits for the platform as a reply does.
func (o *outbox) remove(ctx context.Context, p earshot.Post) error {
	for {
		err := o.removeOnce(ctx, p)
		if err == nil || errors.Is(err, earshot.ErrFenced) {
			return err
		}
		err = o.pause(ctx, err, o.limits.Look)
		if isKind(err, gaveUp) {
			o.log.Error("a message was not deleted: delete it by hand", "message", p.Message, "err", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
}
