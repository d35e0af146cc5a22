package rule

import (
	"cmp"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// An Outcome is what becomes of a stored message when another copy of it
// arrives. Next is what is stored from now on. Past, where it is not nil, is a
// revision for the history: the stored one after [earshot.Edited], the arrived
// one after [earshot.Late].
type Outcome struct {
	Change earshot.Change
	Next   Message
	Past   *Message
}

// Revise decides what becomes of stored, nil when there is none, when in
// arrives. The order in which copies arrive does not change where they end:
// a tombstone wins over everything, then the newest revision, and copies of
// one revision blend (see [Blend]).
func Revise(stored *Message, in Message) Outcome {
	switch {
	case stored == nil && in.Deleted:
		return Outcome{Change: earshot.Gone, Next: in}
	case stored == nil:
		return Outcome{Change: earshot.New, Next: in}
	case stored.Deleted:
		return Outcome{Change: earshot.Same, Next: *stored}
	case in.Deleted:
		return Outcome{Change: earshot.Gone, Next: Message{Message: Tombstone(stored.ID, stored.Time)}}
	case in.Edited > stored.Edited:
		return Outcome{Change: earshot.Edited, Next: in, Past: stored}
	case in.Edited < stored.Edited:
		return Outcome{Change: earshot.Late, Next: *stored, Past: &in}
	}
	next, changed := Blend(*stored, in)
	if !changed {
		return Outcome{Change: earshot.Same, Next: *stored}
	}
	return Outcome{Change: earshot.Updated, Next: next}
}

// Blend makes one of two copies of the same revision, and reports whether it
// differs from the stored one. The copy with the greater text wins whole. Of
// the same text the greater time, author, thread and reply reference win, so
// that what is told wins over what is not; reactions, files and mentions come
// and go without a revision, so there the copy that arrived wins, unless its
// list is nil, which tells nothing.
func Blend(stored, in Message) (next Message, changed bool) {
	switch cmp.Compare(in.Text, stored.Text) {
	case -1:
		return stored, false
	case +1:
		return in, true
	}
	next = stored
	next.Terms, next.Tokens = in.Terms, in.Tokens
	greater(&next.Time, in.Time, &changed)
	greater(&next.Thread, in.Thread, &changed)
	greater(&next.ReplyTo, in.ReplyTo, &changed)
	if compareAuthors(in.Author, next.Author) > 0 {
		next.Author, changed = in.Author, true
	}
	arrived(&next.Mentions, in.Mentions, &changed)
	arrived(&next.Reactions, in.Reactions, &changed)
	arrived(&next.Files, in.Files, &changed)
	return next, changed
}

func greater[T cmp.Ordered](have *T, in T, changed *bool) {
	if in > *have {
		*have, *changed = in, true
	}
}

func arrived[T comparable](have *[]T, in []T, changed *bool) {
	if in != nil && !slices.Equal(*have, in) {
		*have, *changed = in, true
	}
}

func compareAuthors(a, b earshot.Author) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// Hour is how far [earshot.Activity.LastHour] reaches back, both ends counted.
const Hour = earshot.Time(time.Hour / time.Microsecond)
