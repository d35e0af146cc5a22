package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Request says for which message a context is made, and as whom. Channel,
// Anchor, Identity and Counter are required. Zero values of the rest mean the
// assembler's defaults and a conversation that begins here.
type Request struct {
	Channel  earshot.Channel
	Anchor   earshot.MessageID // the message to answer; it is stored in Channel
	Identity earshot.Identity  // the agent that answers
	Counter  assemble.Counter  // of the model that answers; package tokens has them

	Policy       assemble.Policy // default: [assemble.Standard]
	Budget       assemble.Budget // in tokens; default: [assemble.DefaultBudget]
	Instructions string          // the operator's own system text
	Attach       []earshot.ArtifactID

	// Sums are the SHA-256 of files, in lower-case hex, where the caller has seen
	// their content and the store does not have the hash.
	Sums map[earshot.ArtifactID]string
	// FileTokens is what the model is charged for a file, where that is known.
	FileTokens map[earshot.ArtifactID]int

	// Profiles has authors, and those who are mentioned, go by the names of their profiles:
	// see [Named]. Otherwise they go by those that their messages have, and only where a
	// message has none by that of the profile, such as one that a platform told later.
	Profiles bool

	// Zone is the IANA name of the zone of times that a new epoch shows; "" means
	// the asker's own, where the store knows it, else DefaultZone, where "" means
	// UTC. A session goes on in the zone that it began in.
	Zone, DefaultZone string

	// AskedBy is who asks by giving the anchor an emoji, and whose own zone counts; zero
	// where its author asks.
	AskedBy assemble.EmojiAsker
	// AskerZone is the IANA name of the asker's zone, in which the question's own date
	// and time are shown; "" means Zone where no State is given, else the asker's own,
	// where the store knows it, else DefaultZone.
	AskerZone string

	// Trust says whose words are shown, and how: see [assemble.Input].Trust. AllowList
	// tells whom the list of who is answered does not name, and is asked where the rule
	// has a lane for them; nil names everybody.
	Trust earshot.Trust
	// Notices are texts of the agent's own: see [assemble.Input].Notices.
	Notices   []string
	AllowList earshot.AllowList

	// Conversation names the stored state to read; the zero ID means none. The
	// store must then be [Conversations]. A conversation that is not stored
	// begins here. State, where it is not nil, is used in place of stored state.
	Conversation earshot.ConversationID
	State        *assemble.ConversationState

	// Elsewhere says that the caller may keep the session itself and commit no turn: a
	// stored conversation that no turn was committed in is then processed up to the
	// last_processed_ts of its metadata. See [assemble.ConversationState].Processed.
	Elsewhere bool

	// Finder searches the channel for the section recall; nil recalls nothing.
	Finder Finder
	// Failed is called with the error when the Finder fails; the turn then goes
	// without recall. It may be nil.
	Failed func(error)

	// Text is what the anchor is read as saying; "" means what it says. It is for
	// questions that nobody asked: nothing is stored.
	Text string

	// NewEpoch reads what a first turn needs although there is a session, because
	// the session cannot go on. [Turn] sets it where it must.
	NewEpoch bool
}

// Turn reads what a turn needs and assembles it. Where the session turns out
// not to go on, because it is full or something that it shows was deleted, Turn
// reads once more, for a first turn. The Input that it returns is the one that
// made the Result.
//
// Errors are those of [Input] and of [assemble.Turn].
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

// SessionEnded reports whether the session of an input cannot go on, by what
// [assemble.Turn] returned for the input. A caller that calls assemble.Turn
// itself then reads another input, with [Request].NewEpoch.
func SessionEnded(in assemble.Input, res assemble.Result, err error) bool {
	ended := err == nil && res.Next.Epoch != in.Conversation.Epoch || errors.Is(err, assemble.ErrBudgetTooSmall)
	return ended && len(in.Conversation.Session) > 0
}

// Input reads what a turn for one message needs. Messages are in the order of
// Position, and none stands after the anchor,
// or after the emoji that asks about it.
//
// Errors are the store's; an [*assemble.InputError] where the Request names no
// anchor, [earshot.ErrNotFound] where the anchor is not stored in the channel, [ErrNoConversations] where the Request names a conversation
// and the store keeps none.
func Input(ctx context.Context, st Store, req Request) (assemble.Input, error) {
	if req.Anchor == "" {
		return assemble.Input{}, &assemble.InputError{Path: "anchor", Reason: "is required"}
	}
	if req.Policy.Name == "" && req.Policy.First == nil {
		req.Policy = assemble.Standard()
	}
	if req.Budget == (assemble.Budget{}) {
		req.Budget = assemble.DefaultBudget()
	}
	r := &reader{store: st, scope: req.Channel.Scope(), req: req, kept: map[earshot.MessageID]bool{}, foundFrom: -1}
	if err := r.loadAnchor(ctx); err != nil {
		return assemble.Input{}, err
	}
	if err := r.loadState(ctx); err != nil {
		return assemble.Input{}, err
	}
	zone, askers, err := r.zones(ctx)
	if err != nil {
		return assemble.Input{}, err
	}
	if err := r.read(ctx, cmp.Or(askers, zone)); err != nil {
		return assemble.Input{}, err
	}
	if err := named(ctx, st, r.scope, r.messages, req.Profiles); err != nil {
		return assemble.Input{}, err
	}
	if err := r.lanes().mark(ctx, r.messages); err != nil {
		return assemble.Input{}, err
	}
	if err := r.lanes().markQuotes(ctx, r.messages); err != nil {
		return assemble.Input{}, err
	}
	slices.SortFunc(r.messages, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	if len(req.Sums) > 0 {
		r.addHashes()
	}
	in := assemble.Input{
		Policy: req.Policy, Budget: req.Budget, Counter: req.Counter, Instructions: req.Instructions,
		Identity: req.Identity, Channel: req.Channel, Anchor: req.Anchor, Messages: r.messages,
		Conversation: r.state, Attach: req.Attach, Stored: r.stored, Coverage: r.coverage, Zone: zone, AskerZone: askers, AskedBy: req.AskedBy, Trust: req.Trust, Notices: req.Notices,
		FileTokens: req.FileTokens, Recalled: r.recalled,
	}
	in.Mentioned, err = Mentioned(ctx, st, in, req.Profiles)
	return in, err
}

// loadAnchor reads the message to answer.
func (r *reader) loadAnchor(ctx context.Context) error {
	list, err := r.store.ByID(ctx, r.scope, r.req.Anchor)
	if err == nil && len(list) == 0 {
		err = earshot.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("message %s: %w", r.req.Anchor, err)
	}
	r.anchor = list[0]
	if r.req.Text != "" {
		r.anchor.Text, r.anchor.Tokens, r.anchor.Mentions = r.req.Text, 0, nil
	}
	r.end = r.req.AskedBy.End(r.anchor.Position())
	r.keep(r.anchor)
	return nil
}

// addHashes puts the Request's hashes beside the files that have none.
func (r *reader) addHashes() {
	for i, m := range r.messages {
		r.messages[i].Files = slices.Clone(m.Files)
		for j, f := range m.Files {
			if f.SHA256 == "" {
				r.messages[i].Files[j].SHA256 = r.req.Sums[f.ID]
			}
		}
	}
}
