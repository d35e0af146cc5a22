package sidecar

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A Claim is how a turn claims its question when it is opened.
type Claim struct {
	Again bool          // open it although the question is answered, or somebody else holds the claim
	Hold  time.Duration // how long the claim is held unless it is renewed; 0: as long as a turn can be committed
	Key   string        // a turn that the same caller has opened with the same key is aborted and opened again; "" is none

	replaces earshot.TurnID // which came too late
	after    earshot.TurnID // which waited for what is decided by now
}

// Answering is the reason of a [Taken] where somebody else holds the claim.
const Answering = "answering"

// A Taken is the error of opening or renewing a turn for a question that is answered,
// or which somebody else holds the claim to.
type Taken struct {
	Reason  string              // Answered or Answering
	Turn    earshot.TurnID      // which answered, or is answering; 0 where it has no id
	Replies []earshot.MessageID // of Answered: the ids of the reply's messages
	Text    string              // of Answered: the reply, as far as it is stored
	Usage   earshot.Usage       // of Answered
	Retry   time.Duration       // of Answering: after which the claim is free, unless it is renewed
}

// Error implements error.
func (c *Taken) Error() string {
	if c.Reason == Answered {
		return "this message has been answered; the answer comes with this; send \"again\": true to answer it once more"
	}
	return "this message is being answered; try again after Retry-After seconds: its turn is done by then, or free; or send \"again\": true to answer it as well"
}

// Is reports that a Taken is an [earshot.ErrConflict].
func (c *Taken) Is(target error) bool { return target == earshot.ErrConflict }

// botRetry is how long a caller waits before it looks again whether a bot over the same
// store has answered: a bot has no time by which it will be done.
const botRetry = 10 * time.Second

// taken returns the Taken that an error of the store is, or the error.
func (s *Service) taken(ctx context.Context, err error) error {
	var held *earshot.Claimed
	if !errors.As(err, &held) {
		return err
	}
	if !held.Answered {
		retry := botRetry
		if held.Until != 0 {
			retry = max(time.Duration(held.Until-s.now())*time.Microsecond, 0) + time.Second // so that it has passed
		}
		return &Taken{Reason: Answering, Turn: held.Turn, Retry: retry}
	}
	out := &Taken{Reason: Answered, Turn: held.Turn}
	if held.Turn == 0 {
		return out
	}
	q, err := s.store.QueuedTurn(ctx, held.Turn)
	switch {
	case err != nil:
		return fmt.Errorf("read the turn that answered: %w", err)
	case q.State != earshot.TurnDone:
		return out // a turn that failed or was dropped has no reply
	}
	t, err := s.committed(ctx, held.Turn)
	if err != nil {
		return err
	}
	out.Replies, out.Usage = t.Answer.Replies, t.Usage
	if out.Text, err = s.replyText(ctx, q.Conversation.Scope, t); err != nil {
		return err
	}
	return out
}

// own aborts the draft that holds a claim if the same caller opened it with the same
// key: its answer was lost on the way, and nobody else knows of it. One whose reply may
// be posted is known to somebody: it stays until it expires, and is interrupted then.
func (s *Service) own(ctx context.Context, p access.Principal, claim Claim, taken error) (bool, error) {
	var held *earshot.Claimed
	if claim.Key == "" || !errors.As(taken, &held) || held.Until == 0 {
		return false, nil
	}
	d, err := s.store.Draft(ctx, held.Turn)
	if err != nil || d.Opener != p.ID || openingOf(d).Key != keySum(claim.Key) || d.Posting != 0 {
		return false, err
	}
	_, err = s.store.AbortDraft(ctx, d.ID)
	return err == nil, err
}

// keySum is how a key is kept; "" of none.
func keySum(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// until is when a claim ends that is held from now on.
func (s *Service) until(hold time.Duration) earshot.Time {
	if hold == 0 {
		hold = s.options.OpenFor
	}
	return s.now() + earshot.Time(hold.Microseconds())
}

// interrupted returns the turn before d for the same anchor if its holder said that it
// was about to post and was not heard of again.
func (s *Service) interrupted(ctx context.Context, d earshot.Draft) (*earshot.Draft, error) {
	last, err := s.store.LastDraft(ctx, d.Conversation, d.Anchor, d.ID, true)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the turn before: %w", err)
	}
	return &last, nil
}

// PostKey is the idempotency key of a turn's reply: the same for every turn that is
// opened for a question until it is answered. A platform that takes a key posts the
// reply once, and whoever takes over finds it by the key.
func PostKey(d earshot.Draft) string {
	c := d.Conversation
	once := "" // else which time, and where: what insists posts besides
	if d.Again {
		once = fmt.Sprint(openingOf(d).Answers+1, " ", c.Name)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", c.Agent, c.Scope.Platform, c.Scope.Workspace, c.Scope.Channel, d.Anchor, once))
	return hex.EncodeToString(sum[:12]) // 24 characters: Discord's nonce takes 25
}

// answers returns how often a conversation has answered a message.
func (s *Service) answers(ctx context.Context, of earshot.ConversationID, anchor earshot.MessageID) (int, error) {
	turns, err := s.store.Turns(ctx, of, 0)
	n := 0
	for _, t := range turns {
		if t.Answer.Anchor == anchor {
			n++
		}
	}
	return n, err
}

// What a turn's holder may be told of it; else the state of the draft.
const (
	HeldCancelled = "cancelled" // the question is deleted
	HeldChanged   = "changed"   // the question was edited since the turn was opened
)

// A Renewal is how a turn is held on.
type Renewal struct {
	Hold    time.Duration // from now; 0: as long as when it was opened
	Posting bool          // the holder is about to post its reply
}

// A Held is a turn that a caller has opened, and what has become of its question.
type Held struct {
	earshot.Draft
	State string             // one of the Held constants, or as of the draft
	Asked []earshot.Approval // what was asked for it, the newest first
}

// Renew keeps an open turn for its holder. A turn that has ended stays as it is. One
// that expired is held again, unless the question has been answered or claimed since:
// then the error is a [*Taken].
func (s *Service) Renew(ctx context.Context, p access.Principal, id earshot.TurnID, r Renewal) (Held, error) {
	d, err := s.draft(ctx, p, id)
	if err != nil {
		return Held{}, err
	}
	hold := r.Hold
	if hold == 0 {
		hold = openingOf(d).hold()
	}
	d, err = s.store.RenewDraft(ctx, id, s.now(), s.until(hold), r.Posting)
	if err != nil {
		return Held{}, s.taken(ctx, err)
	}
	return s.held(ctx, d)
}

// Look returns what has become of a turn that the caller may end.
func (s *Service) Look(ctx context.Context, p access.Principal, id earshot.TurnID) (Held, error) {
	d, err := s.draft(ctx, p, id)
	if err != nil {
		return Held{}, err
	}
	return s.held(ctx, d)
}

// maxHeld is how many open turns of a caller are listed.
const maxHeld = 200

// Opened returns the turns that a caller has opened and not ended, the newest first, at
// most 200: with expired also those that have expired, whose questions nobody has
// taken over since.
func (s *Service) Opened(ctx context.Context, p access.Principal, expired bool) ([]Held, error) {
	if p.Fixed != nil {
		return nil, visible.ToolsOnly
	}
	drafts, err := s.store.OpenDrafts(ctx, p.ID, s.now(), expired, maxHeld)
	if err != nil {
		return nil, err
	}
	var out []Held
	for _, d := range drafts {
		if s.to(p).Opens(ctx, d.Conversation) != nil { // the key was narrowed since
			continue
		}
		h, err := s.held(ctx, d)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// held adds to a draft what has become of its question.
func (s *Service) held(ctx context.Context, d earshot.Draft) (Held, error) {
	h := Held{Draft: d, State: string(d.State)}
	var err error
	if h.Asked, err = s.asked(ctx, d.ID); err != nil {
		return h, err
	}
	until, open := waitsUntil(h.Asked)
	if d.State != earshot.DraftOpen {
		return h, nil
	}
	found, err := s.store.ByID(ctx, d.Conversation.Scope, d.Anchor)
	switch {
	case err != nil:
		return h, fmt.Errorf("read the question: %w", err)
	case len(found) == 0 || found[0].Deleted:
		h.State = HeldCancelled
	case found[0].Edited > openingOf(d).Edited:
		h.State = HeldChanged
	case d.Expires == until && open:
		h.State = HeldWaiting
	case d.Expires == until:
		h.State = HeldDecided
	case d.Expires < s.now():
		h.State = "expired"
	}
	return h, nil
}
