package explain

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A Turn is a turn with its prompt, and the messages that were considered for it.
type Turn struct {
	Record
	Channel earshot.Channel
	// Messages are the stored messages of the ledger, the question and the replies.
	// Deleted ones have no text.
	Messages map[earshot.MessageID]earshot.Message
	// Steps are what the model and its tools said, in order; none of a turn that
	// somebody outside has answered.
	Steps []step.Entry
}

// Ledger returns what was committed, else that of the prompt; nil when there is none.
func (t Turn) Ledger() earshot.Ledger {
	switch {
	case t.Committed != nil && len(t.Committed.Ledger) > 0:
		return t.Committed.Ledger
	case t.Prompt != nil:
		return t.Prompt.Ledger
	}
	return nil
}

// Turn returns a turn with why its prompt was what it was. A turn of a channel
// that the caller may not see is refused as one that does not exist.
func (r *Reader) Turn(ctx context.Context, p access.Principal, id earshot.TurnID) (Turn, error) {
	return r.turn(ctx, p, id, r.store)
}

// turn reads what the prompt is made of from st.
func (r *Reader) turn(ctx context.Context, p access.Principal, id earshot.TurnID, st inputref.Store) (Turn, error) {
	var out Turn
	var err error
	out.Queued, err = r.store.QueuedTurn(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		err = visible.Absent
	}
	if err != nil {
		return Turn{}, err
	}
	q := out.Queued
	if p.Kind == access.Capability {
		return Turn{}, visible.Absent
	}
	if err := r.To(p).Opens(ctx, q.Conversation); err != nil {
		return Turn{}, err
	}
	at := q.Conversation.Scope
	out.Channel, err = r.store.Channel(ctx, at)
	if errors.Is(err, earshot.ErrNotFound) { // nothing of it is known, or it is being erased
		out.Channel, err = earshot.Channel{Platform: at.Platform, Workspace: at.Workspace, ID: at.Channel}, nil
	}
	if err != nil {
		return out, err
	}
	if err := r.read(ctx, &out.Record); err != nil {
		return out, err
	}
	if err := r.remake(ctx, st, &out.Record); err != nil {
		return out, err
	}
	if out.Steps, err = r.steps(ctx, id); err != nil {
		return out, err
	}
	ids := []earshot.MessageID{q.Anchor}
	if out.Committed != nil {
		ids = append(ids, out.Committed.Answer.Replies...)
	}
	for _, row := range out.Ledger() {
		ids = append(ids, row.ID)
	}
	list, err := r.store.ByID(ctx, q.Conversation.Scope, ids...)
	out.Messages = make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		out.Messages[m.ID] = m
	}
	return out, err
}

// steps reads a turn's journal, as readSteps does.
func (r *Reader) steps(ctx context.Context, id earshot.TurnID) ([]step.Entry, error) {
	list, err := r.store.Steps(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, unread := readSteps(list)
	for _, x := range unread {
		r.log.WarnContext(ctx, "a step of a journal cannot be read", "turn", id, "step", x.N, "kind", x.Kind)
	}
	return entries, nil
}

// readSteps decodes a journal. Of a step that cannot be decoded, because a newer version
// has written it, only its number, kind and time are known; these steps are returned too.
func readSteps(list []earshot.Step) (entries []step.Entry, unread []earshot.Step) {
	for _, x := range list {
		e, err := step.Read([]earshot.Step{x})
		if err != nil {
			e = []step.Entry{{N: x.N, Kind: x.Kind, Time: x.Time}}
			unread = append(unread, x)
		}
		entries = append(entries, e...)
	}
	return entries, unread
}
