package rule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// An Erasure is an erasure as it is stored: what remains to be done is everything
// from Channel and At on in its Phase, and the phases after it.
type Erasure struct {
	earshot.Erasure
	Until   earshot.Time // what was said later stays
	Phase   int
	Channel earshot.ChannelID // the channel under way; "" before the phase's first
	At      string            // how far it has come in the channel; "" at its beginning
}

// An Eraser does the parts of an erasure in one transaction of an engine, and
// counts what it removes.
type Eraser interface {
	// NextChannel returns the workspace's first channel with an id above after.
	NextChannel(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, after earshot.ChannelID) (id earshot.ChannelID, found bool, err error)
	// Channel returns what is known of a channel; its kind and texts are "" where
	// nothing is.
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	// Author returns what is known of an author likewise.
	Author(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (earshot.Author, error)
	// Spoken returns at most limit messages that author (everybody, if "") said at or
	// before until, and that are not deleted.
	Spoken(ctx context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) ([]earshot.MessageID, error)
	// DeleteMessages records tombstones, and returns the authors of those that were
	// not deleted before.
	DeleteMessages(ctx context.Context, s earshot.Scope, ids []earshot.MessageID) ([]earshot.AuthorID, error)
	// Purge removes at most limit tombstones of messages said at or before until.
	Purge(ctx context.Context, s earshot.Scope, until earshot.Time, limit int) (more bool, err error)
	// DropConversation removes one conversation of the channel, with its turns.
	DropConversation(ctx context.Context, s earshot.Scope) (more bool, err error)
	// ScrubMessages looks at the messages and older revisions after a cursor, some
	// hundred rows, and applies Bars.Scrub to those that contain the id.
	ScrubMessages(ctx context.Context, s earshot.Scope, id earshot.AuthorID, b Bars, after string) (next string, more bool, err error)
	// ScrubEvents looks at deliveries after a cursor likewise, and removes the bytes of
	// those that contain the id (of all, if "").
	ScrubEvents(ctx context.Context, s earshot.Scope, id earshot.AuthorID, after string) (next string, more bool, err error)
	// EndNamed erases the text of one epoch in which the author is named.
	EndNamed(ctx context.Context, s earshot.Scope, id earshot.AuthorID) (more bool, err error)
	// ScrubMetadata removes the values of conversations after a cursor of which holds is
	// true.
	ScrubMetadata(ctx context.Context, s earshot.Scope, holds func(string) bool, after string) (next string, more bool, err error)
	// ScrubNotes removes the values of messages' metadata of which holds is true, of some
	// hundred messages after a cursor.
	ScrubNotes(ctx context.Context, s earshot.Scope, holds func(string) bool, after string) (next string, more bool, err error)
	// ForgetReactions removes a person from the reactions of some messages of the
	// channel, as far as they reacted at or before until: see Reactions.Forget.
	ForgetReactions(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) (more bool, err error)
	// ForgetAsker looks at turns after a cursor, and applies ForgetAsker to those that the
	// person asked for by an emoji at or before until.
	ForgetAsker(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time, after string) (next string, more bool, err error)
	// ForgetDeeds removes a person from the channel's approvals and from who stopped turns,
	// and their feedback, as far as they did it at or before until: see WithoutPerson and
	// WithoutStopper.
	ForgetDeeds(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) error
	// ForgetAuthors removes those of the authors who have no message left.
	ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error
	// ForgetChannel empties a channel's name, topic and purpose, and removes the
	// reactions to messages that are not stored.
	ForgetChannel(ctx context.Context, s earshot.Scope) error
}

// CheckErasure normalises what is to be erased. Its messages are sorted.
func CheckErasure(of earshot.ErasureOf) (earshot.ErasureOf, error) {
	of.Platform, of.Workspace, of.Channel, of.User = text(of.Platform), text(of.Workspace), text(of.Channel), text(of.User)
	of.Messages = IDs(of.Messages)
	slices.Sort(of.Messages)
	if len(of.Messages) == 0 {
		of.Messages = nil
	}
	kinds := 0
	for _, named := range []bool{of.User != "", len(of.Messages) > 0, of.Before != 0} {
		if named {
			kinds++
		}
	}
	switch {
	case of.Platform == "":
		return of, fmt.Errorf("%w: no platform", earshot.ErrInvalid)
	case kinds > 1:
		return of, fmt.Errorf("%w: name one of a person, messages of a channel, and a time", earshot.ErrInvalid)
	case kinds == 0 && of.Channel == "":
		return of, fmt.Errorf("%w: name a person, a channel, or messages of a channel", earshot.ErrInvalid)
	case of.User == "" && of.Channel == "":
		return of, fmt.Errorf("%w: messages and a time need their channel", earshot.ErrInvalid)
	case of.Before < 0:
		return of, fmt.Errorf("%w: the time lies before 1970", earshot.ErrInvalid)
	case of.Forget && of.User == "":
		return of, fmt.Errorf("%w: only a person can be forgotten", earshot.ErrInvalid)
	case slices.Contains(of.Messages, ""):
		return of, fmt.Errorf("%w: a message has no id", earshot.ErrInvalid)
	}
	for _, f := range []struct{ name, id string }{{"platform", string(of.Platform)}, {"workspace", string(of.Workspace)}, {"channel", string(of.Channel)}, {"user", string(of.User)}} {
		if len(f.id) > MaxID {
			return of, tooLong(f.name, len(f.id))
		}
	}
	for _, id := range of.Messages {
		if len(id) > MaxID {
			return of, tooLong("message id", len(id))
		}
	}
	return of, nil
}

// SameErasure reports whether two erasures name the same.
func SameErasure(a, b earshot.ErasureOf) bool {
	return a.Platform == b.Platform && a.Workspace == b.Workspace && a.Channel == b.Channel && a.User == b.User &&
		slices.Equal(a.Messages, b.Messages) && a.Before == b.Before && a.Forget == b.Forget
}

// BeginErasure returns an erasure as it begins, and the bar that it sets; ok is
// false where it needs none. last is when the person, or anybody in the channel,
// last said something that is stored: platforms' clocks may be ahead of the store's.
func BeginErasure(of earshot.ErasureOf, last, now earshot.Time) (x Erasure, bar Bar, ok bool) {
	x = Erasure{Erasure: earshot.Erasure{Of: of, Begun: now}, Until: max(now, last)}
	bar = Bar{Channel: of.Channel, Author: of.User, Until: x.Until}
	switch {
	case of.Before != 0:
		x.Until = of.Before - 1
		bar.Until, bar.Floor = 0, of.Before
	case of.Messages != nil:
		return x, bar, false
	case of.Forget:
		bar.Until = Forever
	}
	return x, bar, true
}

// A phase is one pass of an erasure over the channels that it concerns. It does a
// few milliseconds of work and reports whether more is to be done in the channel.
type phase func(context.Context, Eraser, *Erasure, earshot.Scope) (more bool, err error)

// Erasures keep the number of their phase: a further one stands at the end.
func (x *Erasure) phases() []phase {
	switch of := x.Of; {
	case of.User != "":
		return []phase{eraseSpeech, scrubMessages, scrubEvents, endNamed, scrubMetadata, forgetReactions, forgetAsker, forgetDeeds, scrubNotes}
	case of.Messages != nil:
		return []phase{eraseListed}
	case of.Before != 0:
		return []phase{purgeScope, eraseAll}
	}
	return []phase{dropConversations, eraseAll, scrubEvents, forgetChannel}
}

// Work does x's next pieces of work, until it has ended or enough says so.
func (x *Erasure) Work(ctx context.Context, e Eraser, now earshot.Time, enough func() bool) error {
	for x.Ended == 0 && !enough() {
		if err := x.piece(ctx, e, now); err != nil {
			return err
		}
	}
	return nil
}

// piece does one piece of work.
func (x *Erasure) piece(ctx context.Context, e Eraser, now earshot.Time) error {
	phases := x.phases()
	if x.Phase >= len(phases) {
		x.Ended = max(now, 1)
		if x.Of.User == "" {
			return nil
		}
		return e.ForgetAuthors(ctx, x.Of.Platform, x.Of.Workspace, []earshot.AuthorID{x.Of.User})
	}
	if x.Channel == "" {
		return x.nextChannel(ctx, e)
	}
	more, err := phases[x.Phase](ctx, e, x, earshot.Scope{Platform: x.Of.Platform, Workspace: x.Of.Workspace, Channel: x.Channel})
	if err != nil || more {
		return err
	}
	return x.nextChannel(ctx, e)
}

// nextChannel goes on to the next channel, and after the last to the next phase.
func (x *Erasure) nextChannel(ctx context.Context, e Eraser) error {
	x.At = ""
	next, found := x.Of.Channel, x.Channel == ""
	if x.Of.Channel == "" {
		var err error
		if next, found, err = e.NextChannel(ctx, x.Of.Platform, x.Of.Workspace, x.Channel); err != nil {
			return err
		}
	}
	if x.Channel = next; !found {
		x.Channel = ""
		x.Phase++
	}
	return nil
}

// erasedAtOnce is how many messages one piece of work erases, purgedAtOnce how many
// tombstones.
const (
	erasedAtOnce = 10
	purgedAtOnce = 200
)

// spoken erases what an author said in a channel.
func (x *Erasure) spoken(ctx context.Context, e Eraser, s earshot.Scope, author earshot.AuthorID) (bool, error) {
	ids, err := e.Spoken(ctx, s, author, x.Until, erasedAtOnce)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	return true, x.delete(ctx, e, s, ids)
}

func (x *Erasure) delete(ctx context.Context, e Eraser, s earshot.Scope, ids []earshot.MessageID) error {
	authors, err := e.DeleteMessages(ctx, s, ids)
	if err != nil || x.Of.User != "" { // a person's name goes last: metadata are searched for it
		return err
	}
	return e.ForgetAuthors(ctx, s.Platform, s.Workspace, IDs(authors))
}

// eraseSpeech erases what a person said in a channel, and all of a direct message's
// channel where they spoke.
func eraseSpeech(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	const own, whole = "own", "whole"
	switch x.At {
	case "":
		ids, err := e.Spoken(ctx, s, x.Of.User, x.Until, 1)
		if err != nil || len(ids) == 0 {
			return false, err
		}
		x.At = own
		c, err := e.Channel(ctx, s)
		if c.Kind == earshot.KindDM {
			x.At = whole
		}
		if err == nil && NamesMembers(c) { // by handles maybe, which no author has
			err = e.ForgetChannel(ctx, s)
		}
		return true, err
	case whole:
		if more, err := e.DropConversation(ctx, s); err != nil || more {
			return true, err
		}
		if more, err := x.spoken(ctx, e, s, ""); err != nil || more {
			return true, err
		}
		_, more, err := e.ScrubEvents(ctx, s, "", "")
		return more, err
	}
	return x.spoken(ctx, e, s, x.Of.User)
}

func eraseAll(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	return x.spoken(ctx, e, s, "")
}

// eraseListed erases the messages that are named. At counts those that are done.
func eraseListed(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	done, _ := strconv.Atoi(x.At)
	list := x.Of.Messages[min(done, len(x.Of.Messages)):]
	list = list[:min(len(list), erasedAtOnce)]
	if len(list) == 0 {
		return false, nil
	}
	x.At = strconv.Itoa(done + len(list))
	return true, x.delete(ctx, e, s, list)
}

func purgeScope(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	return e.Purge(ctx, s, x.Until, purgedAtOnce)
}

func dropConversations(ctx context.Context, e Eraser, _ *Erasure, s earshot.Scope) (bool, error) {
	return e.DropConversation(ctx, s)
}

func scrubMessages(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (more bool, err error) {
	bars := NewBars([]Bar{{Author: x.Of.User, Until: x.Until}})
	x.At, more, err = e.ScrubMessages(ctx, s, x.Of.User, bars, x.At)
	return more, err
}

func scrubEvents(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (more bool, err error) {
	x.At, more, err = e.ScrubEvents(ctx, s, x.Of.User, x.At)
	return more, err
}

func endNamed(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	return e.EndNamed(ctx, s, x.Of.User)
}

func scrubMetadata(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (more bool, err error) {
	a, err := e.Author(ctx, s.Platform, s.Workspace, x.Of.User)
	if err != nil {
		return false, err
	}
	holds := HoldsAuthor(x.Of.User, a)
	if x.At == "" {
		c, err := e.Channel(ctx, s)
		if err == nil && NamesMembers(c) && (holds(c.Name) || holds(c.Purpose)) {
			err = e.ForgetChannel(ctx, s)
		}
		if err != nil {
			return false, err
		}
	}
	x.At, more, err = e.ScrubMetadata(ctx, s, holds, x.At)
	return more, err
}

func scrubNotes(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (more bool, err error) {
	a, err := e.Author(ctx, s.Platform, s.Workspace, x.Of.User)
	if err != nil {
		return false, err
	}
	x.At, more, err = e.ScrubNotes(ctx, s, HoldsAuthor(x.Of.User, a), x.At)
	return more, err
}

func forgetReactions(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	return e.ForgetReactions(ctx, s, x.Of.User, x.Until)
}

func forgetAsker(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (more bool, err error) {
	x.At, more, err = e.ForgetAsker(ctx, s, x.Of.User, x.Until, x.At)
	return more, err
}

func forgetDeeds(ctx context.Context, e Eraser, x *Erasure, s earshot.Scope) (bool, error) {
	return false, e.ForgetDeeds(ctx, s, x.Of.User, x.Until)
}

func forgetChannel(ctx context.Context, e Eraser, _ *Erasure, s earshot.Scope) (bool, error) {
	return false, e.ForgetChannel(ctx, s)
}

// NamesMembers reports whether a channel is called by its members' names: a direct
// message, or a conversation of several people, which Slack calls mpdm-alice--bob-1.
func NamesMembers(c earshot.Channel) bool {
	return c.Kind == earshot.KindDM || c.Kind != earshot.KindChannel && strings.HasPrefix(c.Name, "mpdm-")
}

// MetadataWithout returns a conversation's metadata without the values of which holds is
// true, and whether one was removed. The value of LastProcessed stays.
func MetadataWithout(have map[string]string, holds func(string) bool) (map[string]string, bool) {
	out, less := NotesWithout(have, holds)
	if v, ok := have[LastProcessed]; ok {
		out[LastProcessed] = v
		less = len(out) < len(have)
	}
	return out, less
}

// NotesWithout is MetadataWithout for a message's metadata, in which no key is reserved.
func NotesWithout(have map[string]string, holds func(string) bool) (map[string]string, bool) {
	out := map[string]string{}
	for k, v := range have {
		if !holds(v) && !slices.ContainsFunc(textsWithin(v), holds) {
			out[k] = v
		}
	}
	return out, len(out) < len(have)
}

// textsWithin returns the names and texts of a value of metadata that is a JSON array
// or object, in which they may be written with escapes.
func textsWithin(v string) (texts []string) {
	raw, ok := strings.CutPrefix(v, "json:") // as internal/contract writes what is no string
	if !ok || raw == "" || raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(raw))
	for {
		t, err := d.Token()
		if err != nil {
			return texts
		}
		if s, ok := t.(string); ok {
			texts = append(texts, s)
		}
	}
}

// HoldsAuthor returns a function that reports whether a value contains an author's id or
// one of their names.
func HoldsAuthor(id earshot.AuthorID, a earshot.Author) func(string) bool {
	return func(v string) bool {
		v = strings.ToLower(v)
		for _, s := range []string{string(id), a.Name, a.FullName} {
			if s != "" && strings.Contains(v, strings.ToLower(s)) {
				return true
			}
		}
		return false
	}
}

// AddCounts adds b to a.
func AddCounts(a *earshot.ErasureCounts, b earshot.ErasureCounts) {
	a.Messages += b.Messages
	a.Revisions += b.Revisions
	a.Events += b.Events
	a.Sessions += b.Sessions
	a.Turns += b.Turns
	a.Replies += b.Replies
	a.Summaries += b.Summaries
	a.Files += b.Files
	a.Names += b.Names
}

// NoErasure is the error for an erasure that is not stored.
func NoErasure(id earshot.ErasureID) error {
	return fmt.Errorf("erasure %d: %w", id, earshot.ErrNotFound)
}

// UnknownPersonError returns the error for a person of whom nothing is stored.
func UnknownPersonError(id earshot.AuthorID) error {
	return fmt.Errorf("author %q: %w", id, earshot.ErrNotFound)
}

// stepTime is how long a step works before it commits.
const stepTime = 5 * time.Millisecond

// PlanTime is how long a plan works on what it undoes again; what it has counted by then
// is a lower bound. The tests that compare a plan with what is removed set it, since on a
// busy machine half a second may not do for a handful of messages.
var PlanTime = 500 * time.Millisecond

// StepBudget returns a function that reports whether a step has worked long enough.
// It lets at least one piece of work be done.
func StepBudget() func() bool { return deadlineAfter(stepTime) }

// PlanBudget is StepBudget for a plan.
func PlanBudget() func() bool { return deadlineAfter(PlanTime) }

func deadlineAfter(d time.Duration) func() bool {
	var ends time.Time
	return func() bool {
		if ends.IsZero() {
			ends = time.Now().Add(d)
			return false
		}
		return time.Now().After(ends)
	}
}
