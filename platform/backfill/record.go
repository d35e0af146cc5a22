package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// record stores what a page shows and the store does not have: messages with
// their JSON, and deletions. Messages that may want an answer go to
// Options.Handle after all others, in the order in which they were said.
func (f *Filler) record(ctx context.Context, t *timeline, w coverage.Window, page Page, sight coverage.Sight, start earshot.Time) error {
	scope := t.channel.Scope()
	if floor := f.Floor(scope); floor > 0 { // a page has the root of its thread, however old
		page.Messages = slices.DeleteFunc(slices.Clone(page.Messages), func(m HistoryMessage) bool { return m.Message.Time < floor })
	}
	shown := slices.Concat(page.Messages, page.Beside)
	ids := make([]earshot.MessageID, len(shown))
	for i, m := range shown {
		ids[i] = m.Message.ID
	}
	list, err := f.Store.ByID(ctx, scope, ids...)
	if err != nil {
		return fmt.Errorf("read what is stored of %s: %w", t, err)
	}
	stored := make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		stored[m.ID] = m
	}
	var events []earshot.Event
	var toHandle []HistoryMessage
	for i, x := range shown {
		have, ok := stored[x.Message.ID]
		if i >= len(page.Messages) && !ok {
			continue
		}
		said := ok && have.Text != ""
		if x.Key != "" && said {
			// Our own messages are stored as we wrote them; the platform has them in
			// its own markup.
			x.Message.Text, x.Message.Edited, x.Message.Mentions = have.Text, have.Edited, have.Mentions
		}
		if ok && x.Message.Reactions == nil && len(have.Reactions) > 0 {
			x.Message.Reactions = []earshot.Reaction{} // history shows all that there are
		}
		if x.Unread || ok && (have.Deleted || isUnchanged(have, x.Message)) {
			continue
		}
		if x.Message.Reactions != nil {
			by := earshot.Reactors{AsOf: start}
			if x.Message.Reactors != nil {
				by.List = x.Message.Reactors.List
			}
			x.Message.Reactors = &by
		}
		x.Past, x.Received, x.Delivery = true, f.Now(), deliveryID(have, x.Message)
		if f.Handle != nil && (x.Key != "" && !said || !ok && f.wantsAnswer(t, x.Message)) {
			if x.Whole {
				x.Key = "" // the post is complete: Handle finds it by its id and stores its text
				x.Delivery += " whole"
			}
			toHandle = append(toHandle, x)
		} else {
			events = append(events, x.Event)
		}
	}
	var gone []earshot.Event
	if w.Cursor == "" { // a later page of a window does not show the earlier ones' messages
		if gone, err = f.gone(ctx, t, page, sight, start); err != nil {
			return err
		}
	}
	if err := f.accept(ctx, t, append(events, gone...)); err != nil {
		return err
	}
	slices.SortFunc(toHandle, func(x, y HistoryMessage) int { return x.Message.Position().Compare(y.Message.Position()) })
	for _, x := range toHandle {
		if err := f.Handle(ctx, t.channel.Channel, x); err != nil {
			return fmt.Errorf("handle message %s of %s: %w", x.Message.ID, t, err)
		}
	}
	return nil
}

// wantsAnswer reports whether a message was missed and is fresh.
func (f *Filler) wantsAnswer(t *timeline, m earshot.Message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed := t.channel.heard.Gaps.Holds(m.Time) || t.channel.heard.Gaps.Holds(m.Time-clocks)
	return missed && f.Now()-m.Time <= earshot.Time(f.Fresh/time.Microsecond)
}

// accept stores events concurrently, so that the store can write them in one
// transaction.
func (f *Filler) accept(ctx context.Context, t *timeline, events []earshot.Event) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxWrites)
	for _, e := range events {
		g.Go(func() error {
			_, err := f.Store.Accept(ctx, t.channel.Scope(), e, nil)
			if errors.Is(err, earshot.ErrInvalid) {
				f.Log.Warn("a message of history cannot be stored", append(t.logAttrs(), "message", e.Message.ID, "err", err)...)
				return nil
			}
			if err != nil {
				return fmt.Errorf("record message %s of %s: %w", e.Message.ID, t, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// isUnchanged reports whether m has nothing that the store does not have.
func isUnchanged(have, m earshot.Message) bool {
	return !m.Deleted && have.Edited == m.Edited && have.Text == m.Text && have.Thread == m.Root() &&
		slices.Equal(have.Shared, m.Shared) && knowsReplies(have.Replies, m.Replies) && slices.Equal(byName(have.Reactions), byName(m.Reactions)) &&
		slices.EqualFunc(have.Files, m.Files, func(x, y earshot.File) bool { return x.ID == y.ID })
}

// byName returns reactions in the order of their names.
func byName(list []earshot.Reaction) []earshot.Reaction {
	return slices.SortedFunc(slices.Values(list), func(a, b earshot.Reaction) int { return cmp.Compare(a.Name, b.Name) })
}

// knowsReplies reports whether the store knows of as many replies as a root shows, and
// as late ones. It may know of more.
func knowsReplies(have, shown *earshot.Activity) bool {
	return shown == nil || shown.Count <= 0 || have != nil && have.Count >= shown.Count && have.Last >= shown.Last
}

// deliveryID returns the delivery id of a message as history shows it, which is stored as
// have: a page that is read again stores no second copy. Reactions can become again
// what they were, so that what they are now counts too.
func deliveryID(have, m earshot.Message) string {
	h := fnv.New64a()
	fmt.Fprint(h, have.Reactions, m.Edited, m.Deleted, m.Text, m.Thread, m.Reactions, m.Files, m.Shared)
	if a := m.Replies; a != nil {
		fmt.Fprint(h, a.Count, a.Last)
	}
	return fmt.Sprintf("history %s %x", m.ID, h.Sum64())
}

// gone returns tombstones for messages that are stored and that the platform no
// longer shows, although it shows the stretch around them. Nothing is taken for
// deleted where a page lacks more messages than it has, nor of the last minute,
// because history may not show a new message at once.
func (f *Filler) gone(ctx context.Context, t *timeline, page Page, sight coverage.Sight, start earshot.Time) ([]earshot.Event, error) {
	from, to := sight.Known.From, min(sight.Known.To, start-clocks)
	if from > to {
		return nil, nil
	}
	shown := make(map[earshot.MessageID]bool, len(page.Messages))
	for _, m := range page.Messages {
		shown[m.Message.ID] = true
	}
	var out []earshot.Event
	for m, err := range f.Store.Range(ctx, t.channel.Scope(), t.part(), earshot.Position{Time: from}, earshot.Position{Time: to + 1}) {
		if err != nil {
			return nil, fmt.Errorf("read what is stored of %s: %w", t, err)
		}
		if m.ID == t.Thread() || shown[m.ID] {
			continue
		}
		tombstone := earshot.Message{ID: m.ID, Time: m.Time, Deleted: true}
		out = append(out, earshot.Event{Message: tombstone, Past: true, Received: f.Now(), Delivery: deliveryID(m, tombstone)})
	}
	if len(out) > len(page.Messages) {
		f.Log.Warn("history lacks more than it shows: nothing is taken for deleted", append(t.logAttrs(), "stored", len(out), "shown", len(page.Messages))...)
		return nil, nil
	}
	return out, nil
}
