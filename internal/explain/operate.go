package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// Retry opens a parked or failed turn again, for a caller that may write and sees it.
// It returns the turn as it was.
func (r *Reader) Retry(ctx context.Context, p access.Principal, id earshot.TurnID) (earshot.QueuedTurn, error) {
	return r.operate(ctx, p, id, "opened again", func() error { return r.store.Reopen(ctx, id) })
}

// Discard ends a parked or failed turn for good, for a caller that may write and sees
// it. It returns the turn as it was; one that was discarded before is Dropped, and
// stays as it is.
func (r *Reader) Discard(ctx context.Context, p access.Principal, id earshot.TurnID, reason string) (earshot.QueuedTurn, error) {
	if len(reason) > earshot.DiscardBytes {
		return earshot.QueuedTurn{}, visible.InvalidField("reason", fmt.Sprintf("is longer than %d bytes", earshot.DiscardBytes))
	}
	return r.operate(ctx, p, id, "discarded", func() error { return r.store.Discard(ctx, id, reason) })
}

// operate does something to a turn, and says in the log who did it. The log never has
// the reason, which may quote a message.
func (r *Reader) operate(ctx context.Context, p access.Principal, id earshot.TurnID, what string, do func() error) (earshot.QueuedTurn, error) {
	if p.Kind == access.Capability {
		return earshot.QueuedTurn{}, visible.Absent
	}
	was, err := r.store.QueuedTurn(ctx, id)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	was.Input = nil
	if err := r.To(p).Opens(ctx, was.Conversation); err != nil {
		return earshot.QueuedTurn{}, err
	}
	if p.ReadOnly || p.Fixed != nil {
		return earshot.QueuedTurn{}, visible.ReadOnly
	}
	switch err := do(); {
	case errors.Is(err, earshot.ErrConflict):
		return was, r.whyNot(ctx, was)
	case err != nil:
		return was, err
	}
	at := was.Conversation.Scope
	r.log.Info("an operator has changed a turn", "turn", id, "change", what, "was", string(was.State), "by", p.ID,
		"platform", string(at.Platform), "workspace", string(at.Workspace), "channel", string(at.Channel))
	return was, nil
}

// whyNot says why a turn cannot be opened again or discarded.
func (r *Reader) whyNot(ctx context.Context, q earshot.QueuedTurn) error {
	no := func(code, detail string) error {
		return &visible.Refusal{Kind: visible.Conflict, Code: code, Detail: detail}
	}
	now, err := r.store.QueuedTurn(ctx, q.ID)
	if err != nil {
		return err
	}
	if now.State != earshot.TurnParked && now.State != earshot.TurnFailed {
		return no("not_waiting", fmt.Sprintf("this turn is %s by now; only a parked or failed one can be opened again or discarded", now.State))
	}
	found, err := r.store.ByID(ctx, q.Conversation.Scope, q.Anchor)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Deleted {
		return no("no_question", "the question of this turn is deleted, so it cannot be answered any more; discard the turn")
	}
	return no("busy", "another question of this conversation is being answered; try again in a moment")
}
