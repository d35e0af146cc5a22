package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
)

// A placeholder is posted before the model is asked, and becomes the reply. It goes
// through the outbox with a kind of its own. Once it is visible it gets its last
// text by updates, which may be repeated: the reply, the apology, or the words that
// the question was deleted. So a process may end anywhere, and the next one writes
// the text again. The drafts that it shows meanwhile are not stored: until the end
// of the turn the store has our message without a text.

// announce posts the placeholder, and returns it where people can see it. It posts
// none where nobody called the agent and it reads along, when the answer is in the journal already, or part of it is visible. It does
// not wait for a platform that takes none at the moment: the model is asked
// meanwhile.
func (t *turn) announce(soft, hard context.Context) (*earshot.Post, error) {
	if _, able := t.platform.(Updater); !able || t.opts.Placeholder == "" || t.opts.DryRun || t.ambient {
		return nil, nil
	}
	if soft.Err() != nil {
		return nil, context.Cause(soft)
	}
	posts, err := t.store.Posts(hard, t.queued.ID)
	if err != nil || anyVisible(ofKind(posts, kindReply)) {
		return nil, err
	}
	if _, whole := t.answeredAt(t.journal.steps); whole {
		return nil, nil
	}
	t.outbox.startWaiting(t.now())
	if l, able := t.platform.(Limiter); able && !l.PlaceholderFits(t.place) {
		return nil, nil // the reply is posted whole, or fills an earlier process's placeholder
	}
	if _, err := t.outbox.deliver(hard, kindPlaceholder, []string{t.opts.Placeholder}); isKind(err, waitForPlatform) {
		t.log.Warn("no placeholder for now", "err", err)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	t.fault(faultAfterPlaceholder)
	p, ok, err := t.outbox.placeholder(hard)
	if err != nil || !ok {
		return nil, err
	}
	return &p, nil
}

// placeholder returns the placeholder that people see and that still takes a text.
// Where it is uncertain whether one arrived it looks, and gives up one that did
// not.
func (o *outbox) placeholder(ctx context.Context) (p earshot.Post, ok bool, err error) {
	if _, able := o.platform.(Updater); !able {
		return p, false, nil
	}
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return p, false, err
	}
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent {
			stored, err := o.store.ByID(ctx, o.scope(), p.Message)
			if deleted := len(stored) > 0 && stored[0].Deleted; deleted || err != nil {
				return earshot.Post{}, false, err
			}
			return p, true, nil
		}
		if !mayBeVisible(p) {
			continue
		}
		o.slot.Give()
		m, err := o.find(ctx, &p)
		if err != nil {
			return p, false, err
		}
		if m.ID != "" {
			p.State = earshot.PostSent
			p.Message, err = o.recordArrival(ctx, p, m, false)
			return p, err == nil, err
		}
		p.State, p.Text = earshot.PostFailed, ""
		if err := o.journal.putPost(ctx, p); err != nil {
			return p, false, fmt.Errorf("give up a placeholder: %w", err)
		}
	}
	return earshot.Post{}, false, nil
}

// fillPlaceholder makes the placeholder the first part of the reply, and posts the
// others. A [PostError] means that the whole reply is to be posted beside it.
func (o *outbox) fillPlaceholder(ctx context.Context, p earshot.Post, texts []string) ([]earshot.MessageID, error) {
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return nil, err
	}
	if len(texts) == 1 {
		o.offerFeedback(p)
	}
	replies := ofKind(posts, kindReply)
	if anyVisible(replies) && len(replies) == len(texts) {
		return nil, &PostError{Err: errors.New("all of the reply was posted before a restart")}
	}
	var refused *PostError
	err = o.replace(ctx, p, texts[0])
	if errors.As(err, &refused) && anyVisible(replies) && len(replies) == len(texts)-1 {
		err = o.notePlaceholder(ctx, p, texts[0]) // before a restart, since the other parts were posted
	}
	if err != nil {
		return nil, err
	}
	ids, err := o.deliverParts(ctx, kindReply, texts[1:], false)
	if err != nil {
		return nil, err
	}
	return append([]earshot.MessageID{p.Message}, ids...), nil
}

// replace gives the placeholder its last text, which is stored with the end of the
// turn. Tries counts the updates that did not return, as in [outbox.sendOnce]. A
// [PostError] means that the placeholder takes no text any more.
func (o *outbox) replace(ctx context.Context, p earshot.Post, text string) error {
	if err := o.checkEnds(p); err != nil {
		return err
	}
	before := p
	p.Text, p.Tries = text, p.Tries+1
	if err := o.journal.putPost(ctx, p); err != nil {
		return fmt.Errorf("write what the placeholder becomes: %w", err)
	}
	o.slot.Give()
	o.fault(faultBeforeUpdate)
	if o.drafts.lost {
		// A draft of which nobody knows whether it arrived must not arrive later.
		if pause.For(ctx, o.limits.Look) != nil {
			return context.Cause(ctx)
		}
	}
	if err := o.update(ctx, p); err != nil {
		before.Text = text
		if put := o.journal.putPost(ctx, before); put != nil {
			return errors.Join(put, err)
		}
		return err
	}
	o.fault(faultAfterUpdate)
	return o.notePlaceholder(ctx, p, text)
}

// notePlaceholder notes the placeholder's last text, to be stored with the end of the
// turn.
func (o *outbox) notePlaceholder(ctx context.Context, p earshot.Post, text string) error {
	m, err := o.ourMessage(ctx, earshot.Message{ID: p.Message}, text)
	if err != nil {
		return err
	}
	o.arrivals = slices.DeleteFunc(o.arrivals, func(a earshot.Arrival) bool { return a.Key == p.Key })
	o.arrivals = append(o.arrivals, earshot.Arrival{Key: p.Key, Message: m})
	return nil
}

// update gives a message of ours the post's text, again and again until the
// platform has taken it.
func (o *outbox) update(ctx context.Context, p earshot.Post) error {
	whole := o.draft(p)
	whole.Growing, whole.Choices = false, o.choices[p.Key]
	for {
		if err := o.mayShow(ctx, true); err != nil {
			return err
		}
		call, cancel := context.WithTimeout(ctx, postTime)
		err := o.platform.(Updater).Update(call, whole, p.Message)
		cancel()
		if err == nil {
			return nil
		}
		retry := o.limits.Look
		var e *PostError
		if errors.As(err, &e) {
			if e.Retry <= 0 {
				return err
			}
			retry = e.Retry
		}
		if err := o.pause(ctx, fmt.Errorf("update message %s: %w", p.Message, err), retry); err != nil {
			return err
		}
	}
}
