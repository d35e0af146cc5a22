package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// arrived stores what the platform shows as our own message, so that the next
// turn knows it, and writes that the post was sent; of the last post later, with
// the end of the turn. No lease is needed: it is so.
func (t *turn) arrived(ctx context.Context, p earshot.Post, m earshot.Message, last bool) (earshot.MessageID, error) {
	var err error
	if p.Key[0] == kindPlaceholder {
		last = false
		m, err = t.saying(ctx, m, "")
	} else {
		m, err = t.shown(ctx, m, p.Text)
	}
	if err != nil {
		return "", err
	}
	a := earshot.Arrival{Key: p.Key, Message: m}
	if last {
		t.arrivals = append(t.arrivals, a)
		return m.ID, nil
	}
	return m.ID, t.write(ctx, a)
}

// write stores one message of ours and confirms its post.
func (t *turn) write(ctx context.Context, a earshot.Arrival) error {
	scope := t.lease.Conversation.Scope
	if _, err := t.Store.Record(ctx, scope, a.Message); err != nil {
		return fmt.Errorf("record our own message: %w", err)
	}
	t.Fault(faultAfterRecord)
	if err := t.Store.Confirm(ctx, scope, a.Key, a.Message.ID); err != nil {
		return fmt.Errorf("confirm a post: %w", err)
	}
	t.Fault(faultAfterSent)
	return nil
}

// land writes what waits for the end of a turn that does not come to it.
func (t *turn) land(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, a := range t.arrivals {
		if err := t.write(ctx, a); err != nil {
			t.Log.Error("write that a post has arrived", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", a.Message.ID, "err", err)...)
		}
	}
	t.arrivals = nil
	if err := t.flush(ctx); err != nil && !errors.Is(err, earshot.ErrFenced) && !errors.Is(err, earshot.ErrConflict) {
		t.Log.Error("write the journal", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	}
}

// shown returns our own message as the platform shows it, with our text where it
// does not say.
func (t *turn) shown(ctx context.Context, m earshot.Message, text string) (earshot.Message, error) {
	if m.Time == 0 {
		stored, err := t.Store.ByID(ctx, t.lease.Conversation.Scope, m.ID)
		if err != nil {
			return m, err
		}
		if len(stored) > 0 { // an event told of it
			return stored[0], nil
		}
		m.Time = t.Now()
	}
	m.Author, m.Text = t.self(), cmp.Or(m.Text, text)
	return m, nil
}

// self is the agent as an author.
func (b *Bot) self() earshot.Author {
	return earshot.Author{ID: b.Identity.ID, Name: b.Identity.Name, Kind: earshot.Bot}
}
