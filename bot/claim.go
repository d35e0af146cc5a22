package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/slots"
	"github.com/earshot-ai/earshot/gather"
)

// claim takes the lease of a conversation that has something to answer.
func (b *Bot) claim(ctx context.Context) (earshot.Lease, []earshot.QueuedTurn, error) {
	return b.store.Claim(ctx, b.agent, b.opts.Owner, b.now(), b.limits.Lease)
}

// choose returns the turn that is answered now, and ends those of the
// conversation that are not answered. It returns nil when there is none, or on an
// error.
func (b *Bot) choose(ctx context.Context, lease earshot.Lease, queued []earshot.QueuedTurn, slot *slots.Slot) (*turn, error) {
	b.fault(faultAfterClaim)
	free, err := b.heldUntil(ctx, lease)
	if err != nil {
		return nil, err
	}
	channel, err := b.channel(ctx, lease.Conversation.Scope)
	if err != nil {
		return nil, err
	}
	opts := b.in(channel)
	newTurn := func(q pendingQuestion) *turn { return b.newTurn(opts, lease, channel, q, slot) }
	waiting, err := b.questions(ctx, lease, queued, free, newTurn)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	chosen, others := b.pickQuestion(waiting, opts)
	if others, err = b.letTalkGoOn(ctx, lease, chosen, others); err != nil {
		return nil, err
	}
	if err := b.merge(ctx, lease, chosen, others); err != nil {
		return nil, err
	}
	b.fault(faultAfterMerge)
	t := newTurn(chosen)
	for _, q := range others {
		t.merged = append(t.merged, q.Anchor)
		t.called = t.called || b.isCalled(channel, q)
	}
	return t, nil
}

func (b *Bot) newTurn(opts *Options, lease earshot.Lease, channel earshot.Channel, q pendingQuestion, slot *slots.Slot) *turn {
	t := &turn{claimedTurn: claimedTurn{
		Bot: b, opts: opts, lease: lease, queued: q.QueuedTurn, since: time.Now(), slot: slot,
		place: placeOf(channel, lease.Conversation, q.anchor), called: b.isCalled(channel, q),
		log: b.log.With(append(conversationAttrs(lease.Conversation), "turn", q.ID)...),
	}}
	t.place.By, t.place.Where, t.ambient = q.by(), opts.Answer.Place, q.ambient
	t.journal = &journal{claimedTurn: &t.claimedTurn}
	t.outbox = &outbox{claimedTurn: &t.claimedTurn, journal: t.journal}
	return t
}

// placeOf says where an answer belongs. Two messages do not show their thread,
// and the conversation's name is its root: a message that begins a thread of a
// DM, which the store keeps without one, and a tombstone.
func placeOf(c earshot.Channel, id earshot.ConversationID, anchor earshot.Message) Place {
	if c.Kind == earshot.KindDM && anchor.Root() == "" && id.Name == string(anchor.ID) {
		anchor.Thread = anchor.ID
	}
	if anchor.Deleted && anchor.Thread == "" && id.Name != string(anchor.ID) && id.Name != gather.TopLevel {
		anchor.Thread = earshot.MessageID(id.Name)
	}
	return Place{Channel: c, Anchor: anchor, Thread: anchor.Root()}
}

// merge ends turns because another one answers their questions too. Should the
// question of that one be deleted before the reply, the store opens them again.
func (b *Bot) merge(ctx context.Context, lease earshot.Lease, into pendingQuestion, others []pendingQuestion) error {
	if len(others) == 0 {
		return nil
	}
	var ids []earshot.TurnID
	for _, q := range others {
		ids = append(ids, q.ID)
	}
	if err := b.store.Merge(ctx, lease, into.ID, ids...); err != nil {
		return fmt.Errorf("merge turns: %w", err)
	}
	for _, id := range ids {
		b.tell(ctx, id, Report{})
	}
	return nil
}

// drop ends a turn without an answer.
func (b *Bot) drop(ctx context.Context, lease earshot.Lease, q earshot.QueuedTurn, why string) error {
	err := b.store.Finish(ctx, lease, q.ID, earshot.TurnDropped, why, nil)
	if errors.Is(err, earshot.ErrConflict) {
		return nil // ended elsewhere
	}
	if err == nil {
		b.tell(ctx, q.ID, Report{})
	}
	return err
}
