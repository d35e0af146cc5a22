package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// apologize tells that there is no answer, once: in the placeholder's stead
// where one can be seen, else to the person alone where the platform can, else
// for all to see.
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
	} else if told, err := t.confide(ctx, say); told || err != nil {
		return err
	}
	return t.deliver(ctx, kindApology, []string{say})
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
