package rule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// ClientWindow is how far apart two messages with the same sender's id may be
// said and still be one that was sent twice.
const ClientWindow = earshot.Time(10 * time.Minute / time.Microsecond)

// AnchorDeleted is why a turn was dropped whose anchor was deleted.
const AnchorDeleted = "anchor deleted"

// AskerErased is why a turn was dropped for which somebody who was erased had asked by an
// emoji.
const AskerErased = "asker erased"

// AnsweredWith is why a turn was dropped that was merged into another.
func AnsweredWith(into earshot.TurnID) string { return fmt.Sprintf(answeredWith, into) }

const answeredWith = "answered with turn %d"

// MergedInto returns the turn that a turn was merged into. ok is false for a turn
// that was not merged.
func MergedInto(q earshot.QueuedTurn) (into earshot.TurnID, ok bool) {
	n, err := fmt.Sscanf(q.Why, answeredWith, &into)
	return into, err == nil && n == 1 && q.State == earshot.TurnDropped
}

// discarded begins the Why of a turn that an operator has discarded.
const discarded = "discarded by an operator"

// DiscardReason returns why a turn is dropped that an operator discards for a reason,
// which may be "".
func DiscardReason(q earshot.QueuedTurn, reason string) string {
	if reason != "" {
		reason = ": " + reason
	}
	return fmt.Sprintf("%s%s; it was %s: %s", discarded, reason, q.State, q.Why)
}

// WasDiscarded reports whether an operator has discarded a turn.
func WasDiscarded(q earshot.QueuedTurn) bool {
	return q.State == earshot.TurnDropped && strings.HasPrefix(q.Why, discarded)
}

// CheckAccept checks and normalises the arguments of Accept. The conversation is
// zero where ask is nil.
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
	if e.Resume, err = checkResume(e.Resume); err != nil {
		return s, e, id, err
	}
	if e.Refused != "" && !slices.Contains(earshot.Refusals(), e.Refused) {
		return s, e, id, fmt.Errorf("%w: a message is not refused because of %q", earshot.ErrInvalid, e.Refused)
	}
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

// checkResume checks and normalises r.
func checkResume(r *earshot.Resume) (*earshot.Resume, error) {
	if r == nil {
		return nil, nil
	}
	r = &earshot.Resume{Key: Text(r.Key), State: slices.Clone(r.State)}
	switch {
	case r.Key == "":
		return nil, fmt.Errorf("%w: the resume state has no key", earshot.ErrInvalid)
	case len(r.Key) > MaxID:
		return nil, tooLong("resume key", len(r.Key))
	case len(r.State) > earshot.ResumeBytes:
		return nil, fmt.Errorf("%w: the resume state has %d bytes, more than %d", earshot.ErrInvalid, len(r.State), earshot.ResumeBytes)
	}
	return r, nil
}

// CheckOwner checks and normalises the arguments of Claim.
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

// Lease normalises l, for a look-up.
func Lease(l earshot.Lease) earshot.Lease {
	l.Conversation, l.Owner = Conversation(l.Conversation), Text(l.Owner)
	return l
}

// LeaseEnd returns when a lease that is held from now ends.
func LeaseEnd(now earshot.Time, hold time.Duration) earshot.Time {
	return now + earshot.Time(hold/time.Microsecond)
}

// CheckPrompt checks and normalises p.
func CheckPrompt(p earshot.Prompt) (earshot.Prompt, error) {
	p.Hash, p.Input = Text(p.Hash), slices.Clone(p.Input)
	p.Shows = IDs(p.Shows)
	if p.Hash == "" {
		return p, fmt.Errorf("%w: the prompt has no hash", earshot.ErrInvalid)
	}
	if p.From < 0 || p.Epoch < p.From {
		return p, fmt.Errorf("%w: the prompt is of epoch %d, gathered in %d", earshot.ErrInvalid, p.Epoch, p.From)
	}
	if p.Began != "" && !slices.Contains(earshot.Beginnings(), p.Began) {
		return p, fmt.Errorf("%w: an epoch does not begin because of %q", earshot.ErrInvalid, p.Began)
	}
	return p, nil
}

// CheckStep checks and normalises s.
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

// CheckPost checks and normalises p.
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

// CheckConfirm checks and normalises the arguments of Confirm.
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

// CheckPosts checks and normalises posts that are written with a step of a turn.
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

// checkArrived checks arrivals; it returns the keys of their posts and their
// messages, ready to be stored.
func checkArrived(ctx context.Context, arrived []earshot.Arrival) ([]string, []Message, error) {
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

// checkFinish checks and normalises the arguments of Finish.
func checkFinish(state earshot.TurnState, why string, t *earshot.Turn) (string, *earshot.Turn, error) {
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

// CheckDiscard checks and normalises why a turn is discarded.
func CheckDiscard(why string) (string, error) {
	if why = strings.TrimSpace(Text(why)); len(why) > earshot.DiscardBytes {
		return why, fmt.Errorf("%w: the reason has %d bytes, more than %d", earshot.ErrInvalid, len(why), earshot.DiscardBytes)
	}
	return why, nil
}

// CheckTurnQuery normalises q and sets its defaults: no bound, 50 turns.
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

// TurnOrder is the order of q's turns, as SQL.
func TurnOrder(q earshot.TurnQuery) string {
	if q.Oldest {
		return ` ORDER BY id`
	}
	return ` ORDER BY id DESC`
}

// FirstTurns returns the first turns of list, in the order and as many as q says. It
// sorts list in place.
func FirstTurns(list []earshot.QueuedTurn, q earshot.TurnQuery) []earshot.QueuedTurn {
	slices.SortFunc(list, func(a, b earshot.QueuedTurn) int {
		if q.Oldest {
			a, b = b, a
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return list[:min(len(list), q.Limit)]
}
