package rule

import (
	"bytes"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// MayBeVisible reports whether a post in this state may have arrived.
func MayBeVisible(s earshot.PostState) bool {
	return s == earshot.PostSending || s == earshot.PostSent || s == earshot.PostAmbiguous
}

// DropAnchored decides about an unfinished turn whose anchor was just deleted: it is
// dropped, unless one of its posts may be visible. Then one that waits is opened, so that
// what it shows is taken back, and nobody is asked any more.
func DropAnchored(q StoredTurn, posts []earshot.PostState, now earshot.Time) Change {
	var c Change
	switch {
	case q.State.Final():
	case !slices.ContainsFunc(posts, MayBeVisible):
		c.end(q, earshot.TurnDropped, AnchorDeleted, now)
	case q.State == earshot.TurnWaiting:
		c.wake(q, now)
		c.Withdraw = []earshot.TurnID{q.ID}
	}
	return c
}

// ForgetAsker decides about a turn that says who asked for it by an emoji, once they are
// erased: its text is erased. While it is unfinished it is dropped, unless one of its
// posts may be visible; then it goes on, as if the anchor had asked, also where it waited
// for an approval, of which nothing is left to agree to. One that has ended
// keeps the rest of its Why.
func ForgetAsker(q StoredTurn, posts []earshot.PostState, now earshot.Time) Change {
	c := Change{Erase: true}
	switch {
	case q.State.Final() || slices.ContainsFunc(posts, MayBeVisible):
		_, asked := q.AskedBy()
		if asked {
			q.Why, q.Updated = q.Reason(), now
		}
		switch {
		case q.State == earshot.TurnWaiting:
			c.wake(q, now)
			c.Withdraw = []earshot.TurnID{q.ID}
		case asked:
			c.Turns = append(c.Turns, q)
		}
	default:
		c.end(q, earshot.TurnDropped, AskerErased, now)
	}
	return c
}

// AskedByEmoji returns whether a turn, with its input, says that an author asked for it by
// an emoji.
func AskedByEmoji(id earshot.AuthorID) func(q StoredTurn) bool {
	_, quoted := Needles(id)
	return func(q StoredTurn) bool {
		by, ok := q.AskedBy()
		return ok && by.ID == id || bytes.Contains(q.Input, []byte(quoted))
	}
}

// MessagesRead returns the messages whose text a committed turn holds: those that it
// shows, and those of its ledger that are not out, if only as a snippet.
func MessagesRead(t earshot.Turn) []earshot.MessageID {
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

// erasedReason stands in place of a model's reason to say nothing, which may quote what
// was deleted.
const erasedReason = earshot.WhySilent + "(erased)"

// WithoutReason returns the Why of a turn without the model's reason to say nothing. In
// SQL, WithoutReasonSQL is the same of a row that SilentSQL selects.
func WithoutReason(why string) string {
	q := earshot.QueuedTurn{Why: why}
	if !strings.HasPrefix(q.Reason(), earshot.WhySilent) {
		return why
	}
	return earshot.WhyAfter(q.Opening(), erasedReason)
}

// See [WithoutReason].
const (
	ambientSilent    = earshot.WhyAmbient + "; "
	WithoutReasonSQL = `CASE WHEN why LIKE '` + ambientSilent + `%' THEN '` + ambientSilent + erasedReason + `' ELSE '` + erasedReason + `' END`
	SilentSQL        = `(why LIKE '` + earshot.WhySilent + `%' OR why LIKE '` + ambientSilent + earshot.WhySilent + `%')`
)
