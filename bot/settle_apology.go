package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// apologize says once that there is no answer: in the placeholder where people see
// one, or with anew in its place, else to the person alone where the platform can, else for all to see. After
// an outage it is for all to see: nobody can look for a private message, so it
// would be lost with the outage.
func (o *outbox) apologize(ctx context.Context, say string, privately, anew bool) error {
	p, ok, err := o.placeholder(ctx)
	if err != nil {
		return err
	}
	if ok && anew {
		_, err := o.postAnew(ctx, p, kindApology, []string{say})
		return err
	}
	if ok {
		var refused *PostError
		if err := o.replace(ctx, p, say); !errors.As(err, &refused) {
			return err
		}
		_, err := o.postBeside(ctx, p, refused, kindApology, []string{say})
		return err
	}
	if privately {
		if shown, err := o.apologizePrivately(ctx, say); shown || err != nil {
			return err
		}
	}
	_, err = o.deliver(ctx, kindApology, []string{say})
	return err
}

// apologizePrivately tells the person alone, and reports whether they, or everybody,
// may have seen an apology. Nobody can look for such a message, so the outbox has it
// as Ambiguous before it is sent, and it is never sent twice.
func (o *outbox) apologizePrivately(ctx context.Context, say string) (shown bool, err error) {
	platform, able := o.platform.(Apologizer)
	if !able {
		return false, nil
	}
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return false, err
	}
	switch {
	case anyVisible(ofKind(posts, kindPrivate)):
		return true, nil
	case anyVisible(posts):
		return false, nil // an earlier apology was for all to see
	}
	p := earshot.Post{
		Turn: o.queued.ID, Chunk: nextChunk(posts), Key: string(kindPrivate) + o.opts.NewKey(), Text: say, State: earshot.PostAmbiguous, Tries: 1,
	}
	if err := o.journal.putPost(ctx, p); err != nil {
		return false, fmt.Errorf("post: %w", err)
	}
	o.fault(faultBeforePost)
	call, cancel := context.WithTimeout(ctx, postTime)
	err = platform.Apologize(call, o.place, say)
	cancel()
	o.fault(faultAfterPost)
	var e *PostError
	if !errors.As(err, &e) {
		return true, nil
	}
	o.log.Warn("a private apology was refused", "err", err)
	p.State, p.Text = earshot.PostFailed, ""
	if err := o.journal.putPost(ctx, p); err != nil {
		return false, fmt.Errorf("post: %w", err)
	}
	return false, nil
}
