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
	"iter"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/searcher"
)

// A Store is what gathering needs of an [earshot.Store].
type Store interface {
	Messages
	Conversations
}

// Messages is the part of [earshot.Messages] that is read.
type Messages interface {
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.Part, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
}

// Conversations is what is read of an agent's own. Of a store that keeps none
// Conversation returns [earshot.ErrNotFound]; then no other method is called.
type Conversations interface {
	Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error)
	Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error)
	Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error)
	Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error)
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// A Finder finds messages of one channel; *[searcher.Searcher] is one.
type Finder interface {
	Search(ctx context.Context, s earshot.Scope, q search.Query) ([]searcher.Hit, error)
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
	// FileTokens is what the model is charged for a file, where that is known.
	FileTokens map[earshot.ArtifactID]int

	// Zone is of the times that a new epoch shows; "" means the asker's own,
	// where the store knows it, else DefaultZone. A session goes on in the zone
	// that it began in.
	Zone, DefaultZone string

	// Conversation names stored state to read. State, where it is set, is used
	// in its place.
	Conversation earshot.ConversationID
	State        *assemble.Conversation

	// Finder looks for what the section recall may show; nil: nothing is
	// recalled.
	Finder Finder
	// Failed is told when the Finder fails: the turn then goes without recall.
	// nil: nobody is told.
	Failed func(error)

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
	if !req.NewEpoch && SessionEnded(in, res, err) {
		req.NewEpoch = true
		return Turn(ctx, st, req)
	}
	return in, res, err
}

// SessionEnded reports whether the session of an input cannot continue, by what
// [assemble.Turn] returned for the input. Who calls assemble.Turn itself then
// reads another input, with Request.NewEpoch.
func SessionEnded(in assemble.Input, res assemble.Result, err error) bool {
	ended := err == nil && res.Next.Epoch != in.Conversation.Epoch || errors.Is(err, assemble.ErrBudgetTooSmall)
	return ended && len(in.Conversation.Session) > 0
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
	r := &reader{store: st, scope: req.Channel.Scope(), req: req, got: map[earshot.MessageID]bool{}, foundFrom: -1}
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
	if err := r.remember(ctx); err != nil {
		return assemble.Input{}, err
	}
	zone, err := r.zone(ctx)
	if err != nil {
		return assemble.Input{}, err
	}
	if err := r.read(ctx, zone); err != nil {
		return assemble.Input{}, err
	}
	slices.SortFunc(r.messages, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	if len(req.Sums) > 0 {
		r.sum()
	}
	return assemble.Input{
		Policy: req.Policy, Budget: req.Budget, Counter: req.Counter, Instructions: req.Instructions,
		Identity: req.Identity, Channel: req.Channel, Anchor: req.Anchor, Messages: r.messages,
		Conversation: r.state, Attach: req.Attach, Stored: r.stored, Coverage: r.coverage, Zone: zone,
		FileTokens: req.FileTokens, Recalled: r.recalled,
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

// remember sets what is remembered of the conversation: given, stored, or
// nothing.
func (r *reader) remember(ctx context.Context) error {
	if r.req.State != nil {
		r.state, r.begun = *r.req.State, r.req.Zone
		return nil
	}
	id := r.req.Conversation
	if id == (earshot.ConversationID{}) {
		return nil
	}
	stored, err := r.store.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c := &r.state
	c.Cursor, c.Epoch = stored.Cursor, stored.Epoch
	manifest, err := r.store.Manifest(ctx, id)
	if err != nil {
		return err
	}
	c.Shown, c.Attached, c.Names = manifest.Shown, slices.Clone(manifest.Attached), manifest.Names
	for i := range c.Attached {
		c.Attached[i].Turn++ // stores count turns from 0, prompts from 1
	}
	if c.Session, err = r.store.Session(ctx, id); err != nil {
		return err
	}
	summary, err := r.store.Summary(ctx, id)
	if err == nil {
		c.Summary = &summary
	} else if !errors.Is(err, earshot.ErrNotFound) {
		return err
	}
	turns, err := r.store.Turns(ctx, id, maxTurns)
	if err != nil {
		return err
	}
	for _, t := range turns {
		c.Turns = append(c.Turns, t.Answer)
	}
	if n := len(turns); n > 0 && turns[n-1].Epoch == c.Epoch {
		c.Form, r.begun = formOf(turns[n-1]), turns[n-1].Zone
	}
	return nil
}

// formOf is the frame that a turn's session was written in. A turn that does
// not tell was recorded before there was the log form.
func formOf(t earshot.Turn) assemble.Frame {
	switch {
	case t.Form != "":
		return assemble.Frame(t.Form)
	case t.Policy == assemble.Standard().Name:
		return assemble.Brackets
	}
	return ""
}

// zone returns the zone of the times that are shown: the one that the session
// began in, the one that was asked for, the asker's, or the default.
func (r *reader) zone(ctx context.Context) (string, error) {
	switch {
	case r.later():
		return r.begun, nil
	case r.req.Zone != "":
		return r.req.Zone, nil
	}
	list, err := r.store.Authors(ctx, r.scope.Platform, r.scope.Workspace, r.anchor.Author.ID)
	if err != nil {
		return "", err
	}
	for _, a := range list {
		if _, err := zones.Load(a.Zone); a.ID == r.anchor.Author.ID && a.Zone != "" && err == nil {
			return a.Zone, nil
		}
	}
	return r.req.DefaultZone, nil
}
