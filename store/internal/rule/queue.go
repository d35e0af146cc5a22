package rule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// ClientWindow is how far apart two messages with the same sender's id may be
// said and still be one that was sent twice.
const ClientWindow = earshot.Time(10 * time.Minute / time.Microsecond)

// Why a turn was dropped by the store itself.
const AnchorDeleted = "anchor deleted"

// AnsweredWith is why a turn was dropped that another answers too.
func AnsweredWith(into earshot.TurnID) string { return fmt.Sprintf("answered with turn %d", into) }

// Unfinished reports whether a turn in this state is still to be answered.
func Unfinished(s earshot.TurnState) bool {
	switch s {
	case earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting:
		return true
	}
	return false
}

// Begun reports whether a turn in this state has its prompt and is not final.
func Begun(s earshot.TurnState) bool {
	return s == earshot.TurnGenerating || s == earshot.TurnPosting
}

// CheckAccept returns what Accept is given as it is stored; the conversation
// is zero when nobody was asked.
func CheckAccept(s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.Scope, earshot.Event, earshot.ConversationID, error) {
	var id earshot.ConversationID
	s, err := CheckScope(s)
	if err != nil {
		return s, e, id, err
	}
	e.Delivery, e.Client = Text(e.Delivery), Text(e.Client)
	for _, f := range []struct{ name, id string }{{"delivery", e.Delivery}, {"client", e.Client}} {
		if len(f.id) > MaxID {
			return s, e, id, tooLong(f.name, len(f.id))
		}
	}
	e.Raw = slices.Clone(e.Raw)
	if ask == nil {
		return s, e, id, nil
	}
	if id, _, err = CheckConversation(*ask, ""); err != nil {
		return s, e, id, err
	}
	if id.Scope != s {
		return s, e, id, fmt.Errorf("%w: the conversation is in another channel than the event", earshot.ErrInvalid)
	}
	return s, e, id, nil
}

// Quotes returns the messages whose text the raw event of m may repeat.
func Quotes(m earshot.Message) []earshot.MessageID {
	out := []earshot.MessageID{m.ID}
	for _, id := range []earshot.MessageID{m.Root(), m.ReplyTo} {
		if id != "" {
			out = append(out, id)
		}
	}
	return out
}

// MayOpen reports whether an event may open a turn, as far as its message
// alone decides: what recording it changed, and whether it is gone by now.
func MayOpen(e earshot.Event, change earshot.Change, gone bool) bool {
	said := e.Message.Edited == 0 || e.Past && change == earshot.New
	return said && !gone && !e.Message.Deleted
}

// CheckOwner checks what Claim is given.
func CheckOwner(agent earshot.AgentID, owner string, hold time.Duration) (earshot.AgentID, string, error) {
	agent, owner = text(agent), Text(owner)
	switch {
	case agent == "":
		return agent, owner, fmt.Errorf("%w: no agent", earshot.ErrInvalid)
	case owner == "":
		return agent, owner, fmt.Errorf("%w: no owner", earshot.ErrInvalid)
	case len(owner) > MaxID:
		return agent, owner, tooLong("owner", len(owner))
	}
	return agent, owner, CheckHold(hold)
}

// CheckHold checks how long a lease is to be held.
func CheckHold(hold time.Duration) error {
	if hold < time.Microsecond {
		return fmt.Errorf("%w: a lease is held for %s", earshot.ErrInvalid, hold)
	}
	return nil
}

// Lease returns l as it is stored, for a look-up.
func Lease(l earshot.Lease) earshot.Lease {
	l.Conversation, l.Owner = Conversation(l.Conversation), Text(l.Owner)
	return l
}

// Until is when a lease that is held from now ends.
func Until(now earshot.Time, hold time.Duration) earshot.Time {
	return now + earshot.Time(hold/time.Microsecond)
}

// skew is by how much clocks of replicas may differ, and more than a lease is
// kept back for.
const skew = 30 * time.Minute

// Misdated returns from when on the end of a lease lies too far ahead of now:
// the clock that it was written by has gone back since, and it is nobody's.
func Misdated(now earshot.Time, hold time.Duration) earshot.Time { return Until(now, hold+skew) }

// CheckPrompt returns p as it is stored.
func CheckPrompt(p earshot.Prompt) (earshot.Prompt, error) {
	p.Hash, p.Input = Text(p.Hash), slices.Clone(p.Input)
	p.Shows = IDs(p.Shows)
	if p.Hash == "" {
		return p, fmt.Errorf("%w: the prompt has no hash", earshot.ErrInvalid)
	}
	if p.From < 0 || p.Epoch < p.From {
		return p, fmt.Errorf("%w: the prompt is of epoch %d, gathered in %d", earshot.ErrInvalid, p.Epoch, p.From)
	}
	return p, nil
}

// CheckStep returns s as it is stored.
func CheckStep(s earshot.Step) (earshot.Step, error) {
	s.Kind, s.Data, s.Shows = Text(s.Kind), slices.Clone(s.Data), IDs(s.Shows)
	if s.N < 0 {
		return s, fmt.Errorf("%w: step %d", earshot.ErrInvalid, s.N)
	}
	if s.Erased {
		s.Data = nil
	}
	return s, nil
}

// CheckPost returns p as it is stored.
func CheckPost(p earshot.Post) (earshot.Post, error) {
	p.Key, p.Text, p.Message = Text(p.Key), Text(p.Text), text(p.Message)
	switch p.State {
	case earshot.PostPlanned, earshot.PostSending, earshot.PostAmbiguous, earshot.PostFailed:
		if p.Message != "" {
			return p, fmt.Errorf("%w: a post that is %s has no message", earshot.ErrInvalid, p.State)
		}
	case earshot.PostSent:
		if p.Message == "" {
			return p, fmt.Errorf("%w: a post that was sent has a message", earshot.ErrInvalid)
		}
	default:
		return p, fmt.Errorf("%w: state of a post %q is unknown", earshot.ErrInvalid, p.State)
	}
	if p.Chunk < 0 || p.Tries < 0 {
		return p, fmt.Errorf("%w: the post's chunk or tries are negative", earshot.ErrInvalid)
	}
	for _, f := range []struct{ name, id string }{{"key", p.Key}, {"message", string(p.Message)}} {
		if len(f.id) > MaxID {
			return p, tooLong(f.name, len(f.id))
		}
	}
	return p, nil
}

// NextPost decides what becomes of a stored post when in is written. It
// reports false where nothing changes; the error is [earshot.ErrConflict].
func NextPost(stored, in earshot.Post) (bool, error) {
	if stored.State == earshot.PostSent && (in.State != earshot.PostSent || in.Message != stored.Message || in.Key != stored.Key) {
		return false, fmt.Errorf("post %d of turn %d was sent: %w", in.Chunk, in.Turn, earshot.ErrConflict)
	}
	stored.Updated, in.Updated = 0, 0
	return stored != in, nil
}

// MayBeVisible reports whether a post in this state may have arrived.
func MayBeVisible(s earshot.PostState) bool {
	return s == earshot.PostSending || s == earshot.PostSent || s == earshot.PostAmbiguous
}

// CheckConfirm returns what Confirm is given as it is stored.
func CheckConfirm(key string, id earshot.MessageID) (string, earshot.MessageID, error) {
	key, id = Text(key), text(id)
	switch {
	case key == "" || id == "":
		return key, id, fmt.Errorf("%w: no key or no message", earshot.ErrInvalid)
	case len(id) > MaxID:
		return key, id, tooLong("message", len(id))
	}
	return key, id, nil
}

// CheckPosts returns posts that are written with a step of a turn as they are
// stored.
func CheckPosts(id earshot.TurnID, posts []earshot.Post) ([]earshot.Post, error) {
	out := make([]earshot.Post, len(posts))
	for i, p := range posts {
		var err error
		if out[i], err = CheckPost(p); err != nil {
			return nil, err
		}
		if p.Turn != id {
			return nil, fmt.Errorf("%w: a post of turn %d with a step of turn %d", earshot.ErrInvalid, p.Turn, id)
		}
	}
	return out, nil
}

// CheckArrived returns what has arrived as it is stored.
func CheckArrived(ctx context.Context, arrived []earshot.Arrival) ([]string, []Message, error) {
	if len(arrived) == 0 {
		return nil, nil, nil
	}
	keys, messages := make([]string, len(arrived)), make([]earshot.Message, len(arrived))
	for i, a := range arrived {
		var err error
		messages[i] = a.Message
		if keys[i], _, err = CheckConfirm(a.Key, a.Message.ID); err != nil {
			return nil, nil, err
		}
	}
	prepared, err := Prepare(ctx, messages)
	return keys, prepared, err
}

// CheckFinish returns what Finish is given as it is stored.
func CheckFinish(state earshot.TurnState, why string, t *earshot.Turn) (string, *earshot.Turn, error) {
	why = Text(why)
	switch state {
	case earshot.TurnDone:
		if t == nil {
			return why, nil, nil
		}
		checked, err := CheckTurn(*t)
		return why, &checked, err
	case earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped:
		if t != nil {
			return why, t, fmt.Errorf("%w: a turn that is %s commits nothing", earshot.ErrInvalid, state)
		}
		if why == "" {
			return why, t, fmt.Errorf("%w: a turn that is %s needs a reason", earshot.ErrInvalid, state)
		}
		return why, nil, nil
	}
	return why, t, fmt.Errorf("%w: a turn does not end %s", earshot.ErrInvalid, state)
}

// Read returns the messages whose text a committed turn holds: what it shows,
// and what its ledger says is seen, if only as a snippet.
func Read(t earshot.Turn) []earshot.MessageID {
	ids := []earshot.MessageID{t.Answer.Anchor}
	for _, s := range t.Shown {
		ids = append(ids, s.ID)
	}
	for _, r := range t.Ledger {
		if r.Verdict != earshot.Out {
			ids = append(ids, r.ID)
		}
	}
	return slices.DeleteFunc(IDs(ids), func(id earshot.MessageID) bool { return id == "" })
}

// Covers reports whether a summary may tell of what was said at a time.
func Covers(s earshot.Summary, at earshot.Time) bool {
	return (s.From == 0 || s.From <= at) && (s.To == 0 || at <= s.To)
}

// CheckTurnQuery returns q as it is looked up.
func CheckTurnQuery(q earshot.TurnQuery) earshot.TurnQuery {
	q.Agent = text(q.Agent)
	if q.Scope != nil {
		s := Scope(*q.Scope)
		q.Scope = &s
	}
	if q.Before <= 0 {
		q.Before = 1<<63 - 1
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.States = slices.Clone(q.States)
	slices.Sort(q.States)
	q.States = slices.Compact(q.States)
	return q
}
