package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
)

// find finds out whether a post arrived, by our own events and by the platform. A
// message without an id means that it did not, and p is Planned then. It did not
// when it was absent twice, or absent once and [Limits.Look] has passed since it
// became Ambiguous: so a post is found by processes that all live shorter than
// that, too.
func (o *outbox) find(ctx context.Context, p *earshot.Post) (earshot.Message, error) {
	tries, looks := p.Tries, 2
	if p.State == earshot.PostAmbiguous && p.Updated > 0 && o.ago(p.Updated) >= o.limits.Look {
		looks = 1
	}
	if p.State != earshot.PostAmbiguous {
		p.State = earshot.PostAmbiguous
		if err := o.journal.putPost(ctx, *p); err != nil {
			return earshot.Message{}, fmt.Errorf("post: %w", err)
		}
	} else if err := o.countEnd(ctx, p); err != nil {
		return earshot.Message{}, err
	}
	for look := 1; ; {
		m, err := o.look(ctx, *p)
		switch {
		case err == nil && m.ID != "":
			return m, nil
		case err != nil && !isKind(err, unclear):
			if err := o.pause(ctx, err, 0); err != nil {
				return earshot.Message{}, err
			}
		case look < looks:
			look++
			if pause.For(ctx, o.limits.Look) != nil {
				return earshot.Message{}, context.Cause(ctx)
			}
		case err != nil:
			return earshot.Message{}, err
		default:
			p.Tries = tries
			return earshot.Message{}, o.absent(ctx, p)
		}
	}
}

// absent writes that a post did not arrive.
func (o *outbox) absent(ctx context.Context, p *earshot.Post) error {
	p.State = earshot.PostPlanned
	if err := o.journal.putPost(ctx, *p); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// look looks for a post once. The error is the outcome unclear where the platform
// cannot tell.
func (o *outbox) look(ctx context.Context, p earshot.Post) (earshot.Message, error) {
	posts, err := o.store.Posts(ctx, p.Turn)
	if err != nil {
		return earshot.Message{}, err
	}
	for _, now := range posts {
		if now.Chunk == p.Chunk && now.State == earshot.PostSent {
			return earshot.Message{ID: now.Message}, nil
		}
	}
	finder, able := o.platform.(Finder)
	if !able {
		return earshot.Message{}, outcome{kind: unclear, why: fmt.Sprintf("whether post %d arrived cannot be found out: the platform has no way to look", p.Chunk)}
	}
	call, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	m, err := finder.Find(call, o.draft(p))
	var never *PostError
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return earshot.Message{}, nil
	case errors.As(err, &never) && never.Retry <= 0:
		return earshot.Message{}, outcome{kind: unclear, why: fmt.Sprintf("whether post %d arrived cannot be found out: %v", p.Chunk, err)}
	case err != nil:
		return earshot.Message{}, fmt.Errorf("whether post %d arrived cannot be found out: %w", p.Chunk, err)
	}
	return m, nil
}
