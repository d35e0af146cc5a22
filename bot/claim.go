package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
)

// claim takes the lease of a conversation that has something to answer.
func (b *Bot) claim(ctx context.Context) (earshot.Lease, []earshot.QueuedTurn, error) {
	return b.Store.Claim(ctx, b.agent, b.Owner, b.Now(), b.Limits.Lease)
}

// hold renews a lease at a third of its life until stop is called. The context
// ends when the lease is lost; it does not end with ctx.
func (b *Bot) hold(ctx context.Context, lease earshot.Lease) (held context.Context, stop func()) {
	return b.every(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := b.Store.Renew(ctx, lease, b.Now(), b.Limits.Lease)
		if err != nil && !errors.Is(err, earshot.ErrFenced) {
			// A lease that ran out is good while nobody takes it.
			b.Log.Warn("renew a lease", append(about(lease.Conversation), "err", err)...)
			return nil
		}
		return err
	})
}

// watch looks as often whether the turn is still to be answered. The context
// ends when it was ended by another hand, or when what it answers is deleted.
func (t *turn) watch(ctx context.Context) (watched context.Context, stop func()) {
	return t.every(ctx, func(ctx context.Context) error {
		if q, err := t.Store.QueuedTurn(ctx, t.queued.ID); err == nil && final(q.State) {
			return errEnded
		}
		if m, err := t.Store.Message(ctx, t.lease.Conversation.Scope, t.queued.Anchor); err == nil && m.Deleted {
			return errWithdrawn
		}
		return nil
	})
}

// every calls f at each third of a lease's life until stop is called. The
// context ends with ctx, and with f's first error.
func (b *Bot) every(ctx context.Context, f func(context.Context) error) (until context.Context, stop func()) {
	until, cancel := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		beat := time.NewTicker(b.Limits.Lease / 3)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
			case <-until.Done():
				return
			}
			if err := f(until); err != nil {
				cancel(err)
				return
			}
		}
	}()
	return until, func() {
		cancel(context.Canceled)
		<-gone
	}
}

// choose decides which of a conversation's turns is answered now, and ends
// those that are not answered. It returns nil when there is none, or on an
// error.
func (b *Bot) choose(ctx context.Context, lease earshot.Lease, turns []earshot.QueuedTurn) (*turn, error) {
	b.Fault(faultAfterClaim)
	channel, err := b.channel(ctx, lease.Conversation.Scope)
	if err != nil {
		return nil, err
	}
	waiting, err := b.waiting(ctx, lease, turns)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	run := waiting[:1]
	if !b.Answer.Each {
		run = together(waiting)
	}
	w := run[b.last(run)]
	if err := b.merge(ctx, lease, w, run); err != nil {
		return nil, err
	}
	b.Fault(faultAfterMerge)
	t := &turn{
		Bot: b, lease: lease, queued: w.QueuedTurn, since: time.Now(), budget: b.Budget,
		place: place(channel, lease.Conversation, w.anchor),
	}
	for _, other := range run {
		if other.ID != w.ID {
			t.together = append(t.together, other.Anchor)
		}
	}
	return t, nil
}

// place says where an answer belongs. A message at the top level of a DM whose
// conversation has its name begins a thread, which the store does not keep. Nor
// does a tombstone keep its thread: there the conversation has the root's name.
func place(c earshot.Channel, id earshot.ConversationID, anchor earshot.Message) Place {
	if c.Kind == earshot.KindDM && anchor.Root() == "" && id.Name == string(anchor.ID) {
		anchor.Thread = anchor.ID
	}
	if anchor.Deleted && anchor.Thread == "" && id.Name != string(anchor.ID) && id.Name != gather.TopLevel {
		anchor.Thread = earshot.MessageID(id.Name)
	}
	return Place{Channel: c, Anchor: anchor, Thread: anchor.Root()}
}

// whyDeleted is why a turn is dropped whose question was taken back; the store
// says it in the same words.
const whyDeleted = "anchor deleted"

// merge gives turns to the one that answers for all. Should its question be
// deleted before the reply, the store opens them again.
func (b *Bot) merge(ctx context.Context, lease earshot.Lease, into waitingTurn, run []waitingTurn) error {
	var others []earshot.TurnID
	for _, w := range run {
		if w.ID != into.ID {
			others = append(others, w.ID)
		}
	}
	if len(others) == 0 {
		return nil
	}
	if err := b.Store.Merge(ctx, lease, into.ID, others...); err != nil {
		return fmt.Errorf("merge turns: %w", err)
	}
	for _, id := range others {
		b.tell(ctx, id, Report{})
	}
	return nil
}

// A waitingTurn is a turn with what it answers.
type waitingTurn struct {
	earshot.QueuedTurn
	anchor earshot.Message
	alone  bool // it is not answered with others
}

// waiting returns the turns that are still to be answered, and drops the
// others.
func (b *Bot) waiting(ctx context.Context, lease earshot.Lease, turns []earshot.QueuedTurn) ([]waitingTurn, error) {
	var ids []earshot.MessageID
	for _, q := range turns {
		ids = append(ids, q.Anchor)
	}
	anchors, err := b.Store.ByID(ctx, lease.Conversation.Scope, ids...)
	if err != nil {
		return nil, err
	}
	byID := map[earshot.MessageID]earshot.Message{}
	for _, m := range anchors {
		byID[m.ID] = m
	}
	var out []waitingTurn
	for _, q := range turns {
		w := waitingTurn{QueuedTurn: q, anchor: byID[q.Anchor]}
		// One that has begun is brought to its end, and one that an operator
		// has opened again is answered, however old.
		posts, err := b.Store.Posts(ctx, q.ID)
		if err != nil {
			return nil, err
		}
		old := q.Hash != "" || len(posts) > 0
		w.alone = old || strings.Contains(w.anchor.Text, isolation)
		age := time.Duration(b.Now()-w.anchor.Time) * time.Microsecond
		why := ""
		switch {
		case w.anchor.ID == "":
			why = "anchor unknown"
		case w.anchor.Deleted && !visible(posts):
			why = whyDeleted
		case !old && age > b.Limits.Fresh:
			why = fmt.Sprintf("stale: said %s ago, only what is younger than %s is answered", age.Round(time.Second), b.Limits.Fresh)
		}
		if why == "" {
			out = append(out, w)
		} else if err := b.drop(ctx, lease, q, why); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// together returns the turns from the first that one answer serves.
func together(list []waitingTurn) []waitingTurn {
	n := 1
	for !list[0].alone && n < len(list) && !list[n].alone {
		n++
	}
	return list[:n]
}

// last returns which of the turns answers for all: that of what was said last,
// because what stands after an anchor is not read. A bare call is passed over
// where there is a question.
func (b *Bot) last(run []waitingTurn) int {
	at := 0
	for i, w := range run {
		bare, best := empty(b.Identity, w.anchor), empty(b.Identity, run[at].anchor)
		later := w.anchor.Position().Compare(run[at].anchor.Position()) > 0
		if bare == best && later || best && !bare {
			at = i
		}
	}
	return at
}

// drop ends a turn without an answer.
func (b *Bot) drop(ctx context.Context, lease earshot.Lease, q earshot.QueuedTurn, why string) error {
	err := b.Store.Finish(ctx, lease, q.ID, earshot.TurnDropped, why, nil)
	if errors.Is(err, earshot.ErrConflict) {
		return nil // ended by another hand
	}
	if err == nil {
		b.tell(ctx, q.ID, Report{})
	}
	return err
}

// visible reports whether one of the posts may be seen by people.
func visible(posts []earshot.Post) bool {
	for _, p := range posts {
		if p.State == earshot.PostSending || p.State == earshot.PostSent || p.State == earshot.PostAmbiguous {
			return true
		}
	}
	return false
}

func final(s earshot.TurnState) bool {
	switch s {
	case earshot.TurnDone, earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped:
		return true
	}
	return false
}
