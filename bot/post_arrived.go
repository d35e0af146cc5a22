package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// recordArrival stores the message that a post became, so that the next turn knows it,
// and confirms the post. Of the last post of a turn both are written with the end
// of the turn. It needs no lease, because it records a fact.
func (o *outbox) recordArrival(ctx context.Context, p earshot.Post, m earshot.Message, last bool) (earshot.MessageID, error) {
	var err error
	if p.Key[0] == kindPlaceholder {
		last = false
		m, err = o.ourMessage(ctx, m, "")
	} else {
		m, err = o.asShown(ctx, m, p.Text)
	}
	if err != nil {
		return "", err
	}
	a := earshot.Arrival{Key: p.Key, Message: m}
	if last {
		o.arrivals = append(o.arrivals, a)
		return m.ID, nil
	}
	return m.ID, o.write(ctx, a)
}

// write stores one message of ours and confirms its post.
func (o *outbox) write(ctx context.Context, a earshot.Arrival) error {
	if _, err := o.store.Record(ctx, o.scope(), a.Message); err != nil {
		return fmt.Errorf("record our own message: %w", err)
	}
	o.fault(faultAfterRecord)
	if err := o.store.Confirm(ctx, o.scope(), a.Key, a.Message.ID); err != nil {
		return fmt.Errorf("confirm a post: %w", err)
	}
	o.fault(faultAfterSent)
	return nil
}

// save writes the arrivals and the pending step of a turn that does not end now; of
// one that ends, finish writes them.
func (o *outbox) save(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, a := range o.arrivals {
		if err := o.write(ctx, a); err != nil {
			o.log.Error("write that a post has arrived", "message", a.Message.ID, "err", err)
		}
	}
	o.arrivals = nil
	if err := o.journal.flush(ctx); err != nil && !errors.Is(err, earshot.ErrFenced) && !errors.Is(err, earshot.ErrConflict) {
		o.log.Error("write the journal", "err", err)
	}
}

// asShown returns our own message as the platform shows it. Where the platform
// does not say, it has the text that was posted.
func (o *outbox) asShown(ctx context.Context, m earshot.Message, text string) (earshot.Message, error) {
	if m.Time == 0 {
		stored, err := o.store.ByID(ctx, o.scope(), m.ID)
		if err != nil {
			return m, err
		}
		if len(stored) > 0 { // an event has brought it
			return stored[0], nil
		}
		m.Time = o.now()
	}
	m.Author, m.Text = o.self(), cmp.Or(m.Text, text)
	return m, nil
}

// ourMessage returns our own message with a text, newer than the revision that an
// event of the platform may have stored.
func (o *outbox) ourMessage(ctx context.Context, m earshot.Message, text string) (earshot.Message, error) {
	stored, err := o.store.ByID(ctx, o.scope(), m.ID)
	if err != nil {
		return m, err
	}
	if len(stored) > 0 {
		was := stored[0]
		if m.Time == 0 {
			m.Time, m.Thread, m.ReplyTo = was.Time, was.Thread, was.ReplyTo
		}
		if m.Edited = was.Edited; was.Text != "" && was.Text != text {
			m.Edited = max(was.Edited+1, o.now()) // or the stored text might win
		}
	}
	if m.Time == 0 {
		m.Time = o.now()
	}
	m.Author, m.Text = o.self(), text
	return m, nil
}

// self is the agent as an author.
func (b *Bot) self() earshot.Author {
	return earshot.Author{ID: b.identity.ID, Name: b.identity.Name, Kind: earshot.Bot}
}
