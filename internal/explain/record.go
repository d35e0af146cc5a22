package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A Record is what is stored of one turn.
type Record struct {
	Queued    earshot.QueuedTurn
	Committed *earshot.Turn    // nil until it is done; nor has an isolated turn one
	Draft     *earshot.Draft   // of a turn that was opened by a caller and not committed; Queued is empty then
	Posts     []earshot.Post   // what was posted, or is to be
	Prompt    *assemble.Result // nil where it was not asked for, or cannot be made any more
	Input     *assemble.Input  // what Prompt was made of
	Anchor    *earshot.Message // nil when it is deleted
	// Changed says in words why there is no Prompt although it was asked for.
	Changed string
}

// Record returns one turn. With prompt its prompt is made again from what is stored.
func (r *Reader) Record(ctx context.Context, p access.Principal, id earshot.TurnID, prompt bool) (Record, error) {
	if p.Fixed != nil {
		return Record{}, visible.ToolsOnly
	}
	var w Record
	var of earshot.ConversationID
	var anchor earshot.MessageID
	q, err := r.store.QueuedTurn(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		var d earshot.Draft
		if d, err = r.store.Draft(ctx, id); err == nil && d.State == earshot.DraftCommitted { // meanwhile
			q, err = r.store.QueuedTurn(ctx, id)
		} else if err == nil {
			w.Draft, of, anchor = &d, d.Conversation, d.Anchor
		}
	}
	if err != nil {
		return w, err
	}
	if w.Draft == nil {
		w.Queued, of, anchor = q, q.Conversation, q.Anchor
	}
	if err := r.To(p).Opens(ctx, of); err != nil {
		return Record{}, err
	}
	found, err := r.store.ByID(ctx, of.Scope, anchor)
	if err != nil {
		return w, err
	}
	if len(found) == 1 && !found[0].Deleted {
		w.Anchor = &found[0]
	}
	if w.Draft == nil {
		err = r.read(ctx, &w)
	}
	if err == nil && prompt {
		err = r.remake(ctx, r.store, &w)
	}
	return w, err
}

// read reads what a queued turn has committed and posted.
func (r *Reader) read(ctx context.Context, w *Record) (err error) {
	if w.Posts, err = r.store.Posts(ctx, w.Queued.ID); err != nil {
		return err
	}
	w.Committed, err = r.readCommitted(ctx, w.Queued)
	return err
}

// Committed returns what a turn has committed; nil where it is not done, or was isolated
// and so committed nothing.
func (r *Reader) Committed(ctx context.Context, p access.Principal, q earshot.QueuedTurn) (*earshot.Turn, error) {
	if err := r.To(p).Opens(ctx, q.Conversation); err != nil {
		return nil, err
	}
	return r.readCommitted(ctx, q)
}

// readCommitted is Committed of a turn that the caller sees.
func (r *Reader) readCommitted(ctx context.Context, q earshot.QueuedTurn) (*earshot.Turn, error) {
	if q.State != earshot.TurnDone {
		return nil, nil
	}
	t, err := r.store.Turn(ctx, q.Conversation, q.Number)
	switch {
	case errors.Is(err, earshot.ErrNotFound), err == nil && t.Answer.Anchor != q.Anchor:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("turn %d: %w", q.ID, err)
	}
	return &t, nil
}

// Why a prompt cannot be made again.
const (
	changedNever  = "the turn did not come to a prompt"
	changedErased = "something that the turn read was erased or replaced since"
	changedOther  = "the assembler makes another prompt of it now"
	changedUnread = "this version cannot read what is recorded of it"
)

// remake makes a turn's prompt again. A prompt of which something was erased cannot
// be made.
func (r *Reader) remake(ctx context.Context, st inputref.Store, w *Record) error {
	of := w.Queued
	if d := w.Draft; d != nil {
		of = earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: d.Anchor, Epoch: d.Prompt.Epoch, Input: d.Prompt.Input, Hash: d.Prompt.Hash}
	}
	if of.Hash == "" {
		w.Changed = changedNever
		return nil
	}
	if of.Input == nil {
		w.Changed = changedErased
		return nil
	}
	in, err := inputref.Load(ctx, st, of)
	if errors.Is(err, inputref.ErrChanged) {
		w.Changed = changedErased + changeDetail(err, of.ID)
		return nil
	}
	if input := (*assemble.InputError)(nil); errors.As(err, &input) {
		w.Changed = changedUnread
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != of.Hash {
		w.Changed = changedOther
		return nil
	}
	w.Prompt, w.Input = &res, &in
	return nil
}

// changeDetail says in parentheses what an [inputref.ErrChanged] is about, where it tells more
// than that something has changed.
func changeDetail(err error, id earshot.TurnID) string {
	said := strings.TrimPrefix(err.Error(), fmt.Sprintf("input of turn %d: ", id))
	said = strings.TrimPrefix(strings.TrimSuffix(said, inputref.ErrChanged.Error()), inputref.ErrChanged.Error())
	if said = strings.Trim(said, ": "); said == "" {
		return ""
	}
	return " (" + said + ")"
}
