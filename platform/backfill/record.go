package backfill

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// record stores what a page shows and the store does not have: each message
// with its JSON, and what is gone. What may want an answer is handled after
// all else, in the order in which it was said.
func (f *Filler) record(ctx context.Context, l *lane, w Window, page Page, at sight, start earshot.Time) error {
	scope := l.room.channel.Scope()
	ids := make([]earshot.MessageID, len(page.Messages))
	for i, m := range page.Messages {
		ids[i] = m.Message.ID
	}
	list, err := f.Store.ByID(ctx, scope, ids...)
	if err != nil {
		return fmt.Errorf("read what is stored of %s: %w", l, err)
	}
	stored := make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		stored[m.ID] = m
	}
	var events []earshot.Event
	var later []Found
	for _, x := range page.Messages {
		have, ok := stored[x.Message.ID]
		said := ok && have.Text != ""
		if x.Key != "" && said {
			// What we said is stored as we said it; the platform has it in its own form.
			x.Message.Text, x.Message.Edited, x.Message.Mentions = have.Text, have.Edited, have.Mentions
		}
		if x.Unread || ok && (have.Deleted || same(have, x.Message)) {
			continue
		}
		x.Past, x.Received, x.Delivery = true, f.Now(), delivery(x.Message)
		if f.Handle != nil && (x.Key != "" && !said || !ok && f.wantsAnswer(l, x.Message)) {
			if x.Whole {
				x.Key = "" // it waits for nothing: who knows it by its id stores its text
				x.Delivery += " whole"
			}
			later = append(later, x)
		} else {
			events = append(events, x.Event)
		}
	}
	var gone []earshot.Event
	if w.Cursor == "" { // the window's other pages show the others
		if gone, err = f.gone(ctx, l, page, at, start); err != nil {
			return err
		}
	}
	if err := f.accept(ctx, l, append(events, gone...)); err != nil {
		return err
	}
	slices.SortFunc(later, func(x, y Found) int { return x.Message.Position().Compare(y.Message.Position()) })
	for _, x := range later {
		if err := f.Handle(ctx, l.room.channel, x); err != nil {
			return fmt.Errorf("handle message %s of %s: %w", x.Message.ID, l, err)
		}
	}
	return nil
}

// wantsAnswer reports whether a message was missed and is fresh.
func (f *Filler) wantsAnswer(l *lane, m earshot.Message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed := l.room.gaps.holds(m.Time) || l.room.gaps.holds(m.Time-clocks)
	return missed && f.Now()-m.Time <= earshot.Time(f.Fresh/time.Microsecond)
}

// accept stores events side by side, so that the store may gather them.
func (f *Filler) accept(ctx context.Context, l *lane, events []earshot.Event) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, e := range events {
		g.Go(func() error {
			_, err := f.Store.Accept(ctx, l.room.channel.Scope(), e, nil)
			if errors.Is(err, earshot.ErrInvalid) {
				f.Log.Warn("a message of history cannot be stored", append(about(l), "message", e.Message.ID, "err", err)...)
				return nil
			}
			if err != nil {
				return fmt.Errorf("record message %s of %s: %w", e.Message.ID, l, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// same reports whether the store would learn nothing from m.
func same(have, m earshot.Message) bool {
	return !m.Deleted && have.Edited == m.Edited && have.Text == m.Text && have.Thread == m.Root() &&
		slices.Equal(have.Shared, m.Shared) && knows(have.Replies, m.Replies) && slices.Equal(have.Reactions, m.Reactions) &&
		slices.EqualFunc(have.Files, m.Files, func(x, y earshot.File) bool { return x.ID == y.ID })
}

// knows reports whether as much is stored of a root's replies as is told. Those
// that are stored themselves may be more.
func knows(have, told *earshot.Activity) bool {
	return told == nil || have != nil && have.Count >= told.Count && have.Last >= told.Last
}

// delivery names what history says of a message, so that saying it again
// stores no second copy.
func delivery(m earshot.Message) string {
	h := fnv.New64a()
	fmt.Fprint(h, m.Edited, m.Deleted, m.Text, m.Thread, m.Reactions, m.Files, m.Shared)
	if a := m.Replies; a != nil {
		fmt.Fprint(h, a.Count, a.Last)
	}
	return fmt.Sprintf("history %s %x", m.ID, h.Sum64())
}

// gone returns tombstones for the messages that are stored and that the
// platform no longer shows, although it shows all that is around them. Nothing
// is concluded from a page that lacks more than it has, nor of the last
// minute, in which a message may be on its way.
func (f *Filler) gone(ctx context.Context, l *lane, page Page, at sight, start earshot.Time) ([]earshot.Event, error) {
	from, to := at.known.from, min(at.known.to, start-clocks)
	if from > to {
		return nil, nil
	}
	shown := make(map[earshot.MessageID]bool, len(page.Messages))
	for _, m := range page.Messages {
		shown[m.Message.ID] = true
	}
	var out []earshot.Event
	for m, err := range f.Store.Range(ctx, l.room.channel.Scope(), l.part(), earshot.Position{Time: from}, earshot.Position{Time: to + 1}) {
		if err != nil {
			return nil, fmt.Errorf("read what is stored of %s: %w", l, err)
		}
		if m.ID == l.thread || shown[m.ID] {
			continue
		}
		tombstone := earshot.Message{ID: m.ID, Time: m.Time, Deleted: true}
		out = append(out, earshot.Event{Message: tombstone, Past: true, Received: f.Now(), Delivery: delivery(tombstone)})
	}
	if len(out) > len(page.Messages) {
		f.Log.Warn("history lacks more than it shows: nothing is taken for deleted", append(about(l), "stored", len(out), "shown", len(page.Messages))...)
		return nil, nil
	}
	return out, nil
}
