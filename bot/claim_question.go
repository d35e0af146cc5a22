package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
)

// whyDeleted is why a turn is dropped whose question was deleted; the store
// writes the same words.
const whyDeleted = "anchor deleted"

// A pendingQuestion is an unfinished turn with the message that it answers.
type pendingQuestion struct {
	earshot.QueuedTurn
	anchor  earshot.Message
	free    earshot.Time // since when it could be answered; 0: since it was said
	alone   bool         // no other question is answered with it
	ambient bool         // it calls nobody
}

// by returns who asks by an emoji; "" where the anchor itself asks.
func (q pendingQuestion) by() earshot.AuthorID {
	by, _ := q.AskedBy()
	return by.ID
}

// asker returns who asks: see [Place.Asker].
func (q pendingQuestion) asker() earshot.AuthorID { return cmp.Or(q.by(), q.anchor.Author.ID) }

// said returns when it was asked.
func (q pendingQuestion) said() earshot.Time {
	if q.by() != "" {
		return q.Opened
	}
	return q.anchor.Time
}

// questions returns a conversation's turns that are still to be answered, and
// drops the others. Who asked too long ago is told when their turn is the first; until free
// their questions were held.
func (b *Bot) questions(ctx context.Context, lease earshot.Lease, queued []earshot.QueuedTurn, free earshot.Time, newTurn func(pendingQuestion) *turn) ([]pendingQuestion, error) {
	var ids []earshot.MessageID
	for _, q := range queued {
		ids = append(ids, q.Anchor)
	}
	anchors, err := b.store.ByID(ctx, lease.Conversation.Scope, ids...)
	if err != nil {
		return nil, err
	}
	byID := map[earshot.MessageID]earshot.Message{}
	for _, m := range anchors {
		byID[m.ID] = m
	}
	var out []pendingQuestion
	for i, turn := range queued {
		posts, err := b.store.Posts(ctx, turn.ID)
		if err != nil {
			return nil, err
		}
		// A turn that has begun, or that an operator has opened again, is completed
		// however old its question is.
		begun := turn.Hash != "" || slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Key[0] != kindAway && p.Key[0] != kindLimit })
		q := pendingQuestion{QueuedTurn: turn, anchor: byID[turn.Anchor], free: free}
		q.ambient = turn.Ambient() && !b.identity.CalledIn(&q.anchor)
		q.alone = begun || q.by() != "" || q.anchor.Isolated() ||
			b.opts.Trust.Lane(q.anchor.Author) != earshot.LaneFull // only who asks is in no lane
		why, stale := b.whyDrop(q, begun, posts)
		if why == "" && !begun {
			if why, err = b.whyOther(ctx, q, queued[i+1:]); err != nil {
				return nil, err
			}
		}
		if why == "" {
			out = append(out, q)
			continue
		}
		if q.ambient && stale {
			why, stale = earshot.WhyAfter(earshot.WhyAmbient, silent+why), false
		}
		if stale && b.tellsAway(q, queued[i+1:], byID) {
			if len(out) > 0 {
				return out, nil // only the first turn of a conversation may post
			}
			if err := newTurn(q).outbox.tellAway(ctx); err != nil {
				return nil, err
			}
		}
		if err := b.drop(ctx, lease, turn, why); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whyDrop returns why a question is not answered, or "", and whether that is its age.
func (b *Bot) whyDrop(q pendingQuestion, begun bool, posts []earshot.Post) (why string, stale bool) {
	age := b.ago(max(q.said(), q.free))
	switch {
	case q.anchor.ID == "":
		return "anchor unknown", false
	case q.anchor.Deleted && (!begun || !anyVisible(posts)):
		return whyDeleted, false
	case !begun && q.Stopped != 0:
		return whyStopped, false
	case !begun && age > b.limits.Fresh:
		return fmt.Sprintf("stale: said %s ago, only what is younger than %s is answered", age.Round(time.Second), b.limits.Fresh), true
	}
	return "", false
}

// whyOther returns why a question that has another turn of its message is left to that, or
// "". Such are an ambient turn and one by an emoji: the ambient one ends where somebody asks
// before it has begun, and the emoji has its answer where the agent has spoken unasked.
func (b *Bot) whyOther(ctx context.Context, q pendingQuestion, later []earshot.QueuedTurn) (string, error) {
	if q.ambient && slices.ContainsFunc(later, func(x earshot.QueuedTurn) bool { return x.Anchor == q.Anchor }) {
		return earshot.WhyAfter(earshot.WhyAmbient, silent+"somebody asks about it"), nil
	}
	if q.by() == "" {
		return "", nil
	}
	done, err := b.store.Turns(ctx, q.Conversation, recentTurns)
	if err == nil && slices.ContainsFunc(done, func(x earshot.Turn) bool { return x.Answer.Anchor == q.Anchor && len(x.Answer.Replies) > 0 }) {
		return "answered already, unasked", nil
	}
	return "", err
}

// recentTurns is how many of a conversation's turns are looked at for an answer that was
// given while somebody asked.
const recentTurns = 20

// pickQuestion returns the question that is answered, and those that its answer
// serves too: with [Answer.Each] none, else all up to one that stands alone. Under a limit of
// the day nobody's question goes on another's account, or ends with it. The
// latest one is picked, because a prompt shows nothing after its anchor; a message
// that only mentions the agent, or calls nobody, is picked only where there is no question.
func (b *Bot) pickQuestion(list []pendingQuestion, o *Options) (picked pendingQuestion, others []pendingQuestion) {
	together := 1
	for !o.Answer.Each && !list[0].alone && together < len(list) && !list[together].alone && (!o.Day.limits() || asksAlike(list[:together], list[together])) {
		together++
	}
	at := 0
	for i, q := range list[:together] {
		best := list[at]
		bare, bestBare := q.ambient || address.OnlyMention(b.identity, &q.anchor), best.ambient || address.OnlyMention(b.identity, &best.anchor)
		later := q.anchor.Position().Compare(best.anchor.Position()) > 0
		if bare == bestBare && later || bestBare && !bare {
			at = i
		}
	}
	for i, q := range list[:together] {
		if i != at {
			others = append(others, q)
		}
	}
	return list[at], others
}

// asksAlike reports whether a question is of the same person as those before it. What the agent
// only reads along with asks nothing.
func asksAlike(before []pendingQuestion, q pendingQuestion) bool {
	return q.ambient || !slices.ContainsFunc(before, func(x pendingQuestion) bool { return !x.ambient && x.asker() != q.asker() })
}
