package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// apologize tells that there is no answer, once: in the placeholder's stead
// where one can be seen, else to the person alone where the platform can, else
// for all to see. After an outage it is for all to see: what is told to a person
// alone cannot be looked for, and would be lost with the outage.
func (t *turn) apologize(ctx context.Context, say string) error {
	p, ok, err := t.held(ctx)
	if err != nil {
		return err
	}
	if ok {
		var never *PostError
		if err := t.replace(ctx, p, say); !errors.As(err, &never) {
			return err
		}
		return t.beside(ctx, p, never, kindApology, []string{say})
	}
	if say != sayUndelivered {
		if told, err := t.confide(ctx, say); told || err != nil {
			return err
		}
	}
	return t.deliver(ctx, kindApology, []string{say})
}

// park leaves a turn to an operator, and says so in the channel: once, through
// the outbox, as every post. Where that cannot be done it stays recorded.
func (t *turn) park(ctx context.Context, why, say string) error {
	if t.DryRun {
		return t.finish(ctx, earshot.TurnParked, why, nil)
	}
	at, err := t.failedAt(ctx, why)
	if err != nil {
		return err
	}
	t.begins(at)
	err = t.deliver(ctx, kindNotice, []string{say})
	var blind *park
	var up *giveUp
	switch {
	case errors.As(err, &blind), errors.As(err, &up):
		t.Log.Error("a turn is parked, and the channel could not be told", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	case err != nil:
		return err
	}
	return t.finish(ctx, earshot.TurnParked, why, nil)
}

// confide tells the person alone, and reports whether they may have seen it.
// Nobody can look for such a message, so the outbox has it as ambiguous before
// it is sent, and what was begun is not begun again.
func (t *turn) confide(ctx context.Context, say string) (told bool, err error) {
	platform, able := t.Platform.(Apologizer)
	if !able {
		return false, nil
	}
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	switch {
	case visible(ofKind(posts, kindPrivate)):
		return true, nil
	case visible(posts):
		return false, nil // everybody was told before
	}
	p := earshot.Post{
		Turn: t.queued.ID, Chunk: nextChunk(posts), Key: string(kindPrivate) + t.NewKey(), Text: say, State: earshot.PostAmbiguous, Tries: 1,
	}
	if err := t.putPost(ctx, p); err != nil {
		return false, fmt.Errorf("post: %w", err)
	}
	t.Fault(faultBeforePost)
	call, cancel := context.WithTimeout(ctx, postTime)
	err = platform.Apologize(call, t.place, say)
	cancel()
	t.Fault(faultAfterPost)
	var e *PostError
	if !errors.As(err, &e) {
		return true, nil
	}
	t.Log.Warn("a private apology was refused", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	p.State, p.Text = earshot.PostFailed, ""
	if err := t.putPost(ctx, p); err != nil {
		return false, fmt.Errorf("post: %w", err)
	}
	return false, nil
}
