package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// send sends one post, again and again until it is known to have arrived, and
// returns the message that it became. The arrival of the last post is written with
// the end of the turn.
func (o *outbox) send(ctx context.Context, p earshot.Post, last bool) (earshot.MessageID, error) {
	for {
		switch p.State {
		case earshot.PostSent:
			return p.Message, nil
		case earshot.PostSending, earshot.PostAmbiguous:
			m, err := o.find(ctx, &p)
			if err != nil {
				return "", err
			}
			if m.ID != "" {
				return o.recordArrival(ctx, p, m, last)
			}
		default:
			if err := o.mayShow(ctx, false); err != nil {
				o.partial = isKind(err, withdrawn)
				return "", err
			}
			if err := o.checkEnds(p); err != nil {
				return "", err
			}
			m, err := o.sendOnce(ctx, &p)
			if err == nil {
				return o.recordArrival(ctx, p, m, last)
			}
			var e *PostError
			switch {
			case !errors.As(err, &e):
				return "", err
			case e.Retry <= 0:
				return "", giveUp(err.Error(), words.Failed)
			}
			if err := o.pause(ctx, err, e.Retry); err != nil {
				return "", err
			}
		}
	}
}

// sendOnce writes that the post is being sent, and sends it. p.Tries counts the
// calls that did not return, and so finds a post that ends the process. Afterwards
// p is Sending where the post arrived; else it is in the state that the
// [PostError] says, or Ambiguous where nobody knows.
func (o *outbox) sendOnce(ctx context.Context, p *earshot.Post) (earshot.Message, error) {
	p.State, p.Tries = earshot.PostSending, p.Tries+1
	if err := o.journal.putPost(ctx, *p); err != nil {
		return earshot.Message{}, fmt.Errorf("post: %w", err)
	}
	o.fault(faultBeforePost)
	call, cancel := context.WithTimeout(ctx, postTime)
	m, err := o.platform.Post(call, o.draft(*p))
	cancel()
	o.fault(faultAfterPost)
	if err == nil && m.ID != "" {
		return m, nil
	}
	if err == nil {
		err = errors.New("the platform returned no id")
	}
	p.Tries--
	var e *PostError
	if errors.As(err, &e) {
		p.State = earshot.PostFailed
		if e.Retry > 0 {
			p.State = earshot.PostPlanned
		}
		if put := o.journal.putPost(ctx, *p); put != nil {
			return earshot.Message{}, fmt.Errorf("post: %w", put)
		}
		return earshot.Message{}, err
	}
	o.log.Warn("whether a post arrived is not known", "chunk", p.Chunk, "err", err)
	lost := err
	m, err = o.find(ctx, p)
	if err == nil && m.ID == "" {
		return earshot.Message{}, &PostError{Retry: o.limits.Look, Err: fmt.Errorf("the post did not arrive: %w", lost)}
	}
	return m, err
}

// mayShow is asked before each call that shows something to people. It returns the
// outcome withdrawn where the question was deleted, and [earshot.ErrFenced] where
// the lease was taken over. A write under the lease checks the lease as well;
// renew checks it where no write came before.
func (o *outbox) mayShow(ctx context.Context, renew bool) error {
	if renew {
		if _, err := o.store.Renew(ctx, o.lease, o.now(), o.limits.Lease); err != nil {
			return fmt.Errorf("renew the lease before something is shown: %w", err)
		}
	}
	if o.withdrawn {
		return nil // what is shown says that the question was deleted
	}
	m, err := o.store.Message(ctx, o.scope(), o.queued.Anchor)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("is the question still there: %w", err)
	case m.Deleted:
		return outcome{kind: withdrawn}
	}
	return nil
}
