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
	return r.operate(ctx, p, id, "opened again", r.notWaiting, func() error { return r.store.Reopen(ctx, id) })
}

// Discard ends a parked or failed turn for good, for a caller that may write and sees
// it. It returns the turn as it was; one that was discarded before is Dropped, and
// stays as it is.
func (r *Reader) Discard(ctx context.Context, p access.Principal, id earshot.TurnID, reason string) (earshot.QueuedTurn, error) {
	if len(reason) > earshot.DiscardBytes {
		return earshot.QueuedTurn{}, visible.InvalidField("reason", fmt.Sprintf("is longer than %d bytes", earshot.DiscardBytes))
	}
	return r.operate(ctx, p, id, "discarded", r.notWaiting, func() error { return r.store.Discard(ctx, id, reason) })
}

// Stop ends a turn that is not final, for a caller that may write and sees it: the bot that
// answers it hears it. It returns the turn as it was.
func (r *Reader) Stop(ctx context.Context, p access.Principal, id earshot.TurnID) (earshot.QueuedTurn, error) {
	return r.operate(ctx, p, id, "stopped", r.notRunning, func() error {
		_, err := r.store.StopTurn(ctx, id, "")
		return err
	})
}

// operate does something to a turn, and says in the log who did it. The log never has
// the reason, which may quote a message. whyNot says why the store refuses it.
func (r *Reader) operate(ctx context.Context, p access.Principal, id earshot.TurnID, what string, whyNot func(context.Context, earshot.QueuedTurn) error, do func() error) (earshot.QueuedTurn, error) {
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
		return was, whyNot(ctx, was)
	case err != nil:
		return was, err
	}
	at := was.Conversation.Scope
	r.log.Info("an operator has changed a turn", "turn", id, "change", what, "was", string(was.State), "by", p.ID,
		"platform", string(at.Platform), "workspace", string(at.Workspace), "channel", string(at.Channel))
	return was, nil
}

// refused is a refusal of what the turn's state does not allow.
func refused(code, detail string) error {
	return &visible.Refusal{Kind: visible.Conflict, Code: code, Detail: detail}
}

// notRunning says why a turn cannot be stopped.
func (r *Reader) notRunning(ctx context.Context, q earshot.QueuedTurn) error {
	now, err := r.store.QueuedTurn(ctx, q.ID)
	if err != nil {
		return err
	}
	return refused("ended", fmt.Sprintf("this turn is %s by now; only one that has not ended can be stopped", now.State))
}

// notWaiting says why a turn cannot be opened again or discarded.
func (r *Reader) notWaiting(ctx context.Context, q earshot.QueuedTurn) error {
	now, err := r.store.QueuedTurn(ctx, q.ID)
	if err != nil {
		return err
	}
	if now.State != earshot.TurnParked && now.State != earshot.TurnFailed {
		return refused("not_waiting", fmt.Sprintf("this turn is %s by now; only a parked or failed one can be opened again or discarded", now.State))
	}
	found, err := r.store.ByID(ctx, q.Conversation.Scope, q.Anchor)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Deleted {
		return refused("no_question", "the question of this turn is deleted, so it cannot be answered any more; discard the turn")
	}
	return refused("busy", "another question of this conversation is being answered; try again in a moment")
}
