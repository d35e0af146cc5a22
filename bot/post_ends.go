package bot

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// A turn that waits for the platform does nothing that could end a process, and a
// process that ends meanwhile says nothing about the turn. So two counts are kept
// apart. [earshot.QueuedTurn.Ends] counts what ends before the platform is asked; once
// it is asked, the post is written, and that count is 0 again. Post.Tries counts what
// ends while the platform is asked about one post. That count ends a turn only when
// its time is over, [Limits.Post], as a wait without a crash does.

// maxEnds is how many processes may end while the platform is asked about one post
// before the turn is answered alone, and is given up when its time is over.
const maxEnds = 5

// checkEnds returns the outcome gaveUp where p has probably ended processes: too many
// have ended while the platform was asked about it, for as long as a post may wait.
func (o *outbox) checkEnds(p earshot.Post) error {
	since := o.since
	if p.Key[0] == kindPlaceholder && p.State != earshot.PostSent {
		since = o.queued.Opened // its text was always ready
	}
	if p.Tries < maxEnds || o.ago(since) < o.limits.Post {
		return nil
	}
	return giveUp(fmt.Sprintf("the process ended %d times while it sent post %d", p.Tries, p.Chunk), words.Failed)
}

// countEnd is called before the platform is asked about a post without a write of the
// post. It counts the end of the process before in the post as it is stored, and so
// sets the turn's Ends back. The error may be that of [outbox.checkEnds].
func (o *outbox) countEnd(ctx context.Context, p *earshot.Post) error {
	if o.queued.Ends > 0 && !o.counted {
		o.counted = true
		posts, err := o.store.Posts(ctx, p.Turn)
		if err != nil {
			return err
		}
		for _, stored := range posts {
			if stored.Chunk != p.Chunk {
				continue
			}
			stored.Tries++
			p.Tries = stored.Tries
			if err := o.journal.putPost(ctx, stored); err != nil {
				return fmt.Errorf("count an end in a post: %w", err)
			}
		}
	}
	return o.checkEnds(*p)
}
