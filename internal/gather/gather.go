// Package gather reads from a store what one turn can use, and no more: the
// newest messages that may fit the policy's sections, what hangs together with
// the anchor, counts of the rest, coverage, and the state of the conversation.
// How much it reads depends on the policy and the budget, not on how long the
// thread or the channel is.
//
// Start with [Turn], which gathers and assembles, [Input], which only gathers,
// and [ConversationOf], which says where a message's conversation is kept.
//
//	in, res, err := gather.Turn(ctx, store, gather.Request{Channel: channel, Anchor: id, Identity: self, Counter: counter})
package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Store is what gathering needs of an [earshot.Store].
type Store interface {
	earshot.Messages
	earshot.Conversations
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// A Request says for which message, and as whom. Channel, Anchor, Identity and
// Counter are required; zero values of the rest mean the assembler's defaults
// and a conversation that begins here.
type Request struct {
	Channel      earshot.Channel
	Anchor       earshot.MessageID
	Identity     earshot.Identity
	Policy       assemble.Policy
	Budget       assemble.Budget
	Counter      assemble.Counter
	Instructions string
	Attach       []earshot.ArtifactID
	// Sums are the SHA-256 of files whose content was seen, where the store
	// does not have them.
	Sums map[earshot.ArtifactID]string

	// Conversation names stored state to read. State, where it is set, is used
	// in its place.
	Conversation earshot.ConversationID
	State        *assemble.Conversation

	// Text is what the anchor is read as saying; "" for what it says. Nothing
	// is stored.
	Text string

	// NewEpoch reads what a first turn needs although there is a session,
	// because the session cannot go on. [Turn] sets it where it must.
	NewEpoch bool
}

// Turn gathers and assembles. Where the session turns out not to go on, because
// it is full or something that it shows was deleted, it gathers once more for a
// first turn; the input that it returns is the one that made the result.
// Errors are the store's and those of [assemble.Turn].
func Turn(ctx context.Context, st Store, req Request) (assemble.Input, assemble.Result, error) {
	in, err := Input(ctx, st, req)
	if err != nil {
		return assemble.Input{}, assemble.Result{}, err
	}
	res, err := assemble.Turn(in)
	ended := err == nil && res.Next.Epoch != in.Conversation.Epoch || errors.Is(err, assemble.ErrBudgetTooSmall)
	if ended && !req.NewEpoch && len(in.Conversation.Session) > 0 {
		req.NewEpoch = true
		return Turn(ctx, st, req)
	}
	return in, res, err
}

// Input reads what a turn for one message needs. Messages are in the order of
// Position, and none stands after the anchor. The error is
// [earshot.ErrNotFound] when the anchor is not stored in the channel.
func Input(ctx context.Context, st Store, req Request) (assemble.Input, error) {
	if req.Policy.Name == "" && req.Policy.First == nil {
		req.Policy = assemble.Standard()
	}
	if req.Budget == (assemble.Budget{}) {
		req.Budget = assemble.DefaultBudget()
	}
	r := &reader{store: st, scope: req.Channel.Scope(), req: req, got: map[earshot.MessageID]bool{}}
	anchor, err := st.Message(ctx, r.scope, req.Anchor)
	if err != nil {
		return assemble.Input{}, fmt.Errorf("message %s: %w", req.Anchor, err)
	}
	if req.Text != "" {
		anchor.Text, anchor.Tokens = req.Text, 0
		anchor.Mentions = nil
	}
	r.anchor = anchor
	r.keep(anchor)
	if r.state, err = state(ctx, st, req); err != nil {
		return assemble.Input{}, err
	}
	if err := r.read(ctx); err != nil {
		return assemble.Input{}, err
	}
	slices.SortFunc(r.messages, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	if len(req.Sums) > 0 {
		r.sum()
	}
	return assemble.Input{
		Policy: req.Policy, Budget: req.Budget, Counter: req.Counter, Instructions: req.Instructions,
		Identity: req.Identity, Channel: req.Channel, Anchor: req.Anchor, Messages: r.messages,
		Conversation: r.state, Attach: req.Attach, Stored: r.stored, Coverage: r.coverage,
	}, nil
}

// sum puts the hashes that are given beside the files that have none.
func (r *reader) sum() {
	for i, m := range r.messages {
		r.messages[i].Files = slices.Clone(m.Files)
		for j, f := range m.Files {
			if f.SHA256 == "" {
				r.messages[i].Files[j].SHA256 = r.req.Sums[f.ID]
			}
		}
	}
}

// maxTurns is how many recorded turns are read: more than a transcript loads.
const maxTurns = 200

// state returns what is remembered of the conversation: given, stored, or
// nothing.
func state(ctx context.Context, st Store, req Request) (assemble.Conversation, error) {
	var c assemble.Conversation
	if req.State != nil {
		return *req.State, nil
	}
	id := req.Conversation
	if id == (earshot.ConversationID{}) {
		return c, nil
	}
	stored, err := st.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.Cursor, c.Epoch = stored.Cursor, stored.Epoch
	manifest, err := st.Manifest(ctx, id)
	if err != nil {
		return c, err
	}
	c.Shown, c.Attached = manifest.Shown, slices.Clone(manifest.Attached)
	for i := range c.Attached {
		c.Attached[i].Turn++ // stores count turns from 0, prompts from 1
	}
	if c.Session, err = st.Session(ctx, id); err != nil {
		return c, err
	}
	summary, err := st.Summary(ctx, id)
	if err == nil {
		c.Summary = &summary
	} else if !errors.Is(err, earshot.ErrNotFound) {
		return c, err
	}
	turns, err := st.Turns(ctx, id, maxTurns)
	if err != nil {
		return c, err
	}
	for _, t := range turns {
		c.Turns = append(c.Turns, t.Answer)
	}
	return c, nil
}
