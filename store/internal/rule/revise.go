package rule

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// An Outcome is what becomes of a stored message when another copy of it
// arrives. Next is the message to be stored. Past, where it is not nil, is a
// revision for the history: the stored one after [earshot.Edited], the arrived
// one after [earshot.Late]. Listed says that Next differs in its lists only, which
// alone are to be written; Quiet, that what differs is not news either: Next keeps its
// sequence.
type Outcome struct {
	Change earshot.Change
	Next   Message
	Past   *Message
	Listed bool
	Quiet  bool
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
		next := in
		next.Replies, _ = greaterActivity(stored.Replies, in.Replies)
		if in.Reactions == nil {
			next.Reactions = stored.Reactions
		}
		if in.Metadata == nil {
			next.Metadata = stored.Metadata
		}
		if !laterSubject(stored.Subject, in.Subject) && stored.Subject != nil {
			next.Subject = stored.Subject
			next.measure(&index.Cutter{})
		}
		return Outcome{Change: earshot.Edited, Next: next, Past: pastRevision(*stored)}
	case in.Edited < stored.Edited:
		o := Outcome{Change: earshot.Late, Next: *stored, Past: pastRevision(in)}
		o.Next.Replies, o.Quiet = greaterActivity(stored.Replies, in.Replies)
		replaceMetadata(&o.Next.Metadata, in.Metadata, &o.Quiet)
		var news bool
		if replaceList(&o.Next.Reactions, in.Reactions, &news); news {
			o.Change, o.Listed, o.Quiet = earshot.Updated, true, false
		}
		if replaceSubject(&o.Next, in.Subject) {
			o.Change, o.Listed, o.Quiet = earshot.Updated, false, false
		}
		return o
	}
	if in.Told && in.Text != stored.Text && withoutNames(in.Text) != withoutNames(stored.Text) {
		return Outcome{Change: earshot.Other, Next: *stored}
	}
	next, changed, quiet := Blend(*stored, in)
	replaceMetadata(&next.Metadata, in.Metadata, &quiet)
	var reacted bool
	replaceList(&next.Reactions, in.Reactions, &reacted)
	next.Subject = stored.Subject
	named := replaceSubject(&next, in.Subject)
	if changed && !named && next.Subject != nil {
		next.measure(&index.Cutter{}) // the copy may not have told it
	}
	switch {
	case changed, named:
		return Outcome{Change: earshot.Updated, Next: next}
	case reacted:
		return Outcome{Change: earshot.Updated, Next: next, Listed: true}
	case quiet:
		return Outcome{Change: earshot.Updated, Next: next, Quiet: true}
	}
	return Outcome{Change: earshot.Same, Next: *stored}
}

// withoutNames returns a text without the names in its mentions, of people, groups and
// channels: who tells of a message knows them or not.
func withoutNames(text string) string {
	if !strings.Contains(text, "|") {
		return text
	}
	return mentionName.ReplaceAllString(text, "$1>")
}

var mentionName = regexp.MustCompile(`(<[@#!][^|<>]*)\|[^<>]*>`)

// pastRevision returns m as a revision of the history: without its reactions, its metadata,
// its subject and the platform's count of its replies, which belong to no revision.
func pastRevision(m Message) *Message {
	m.Terms, m.Replies, m.Reactions, m.Metadata, m.Subject = "", nil, nil, nil, nil
	return &m
}

// laterSubject reports whether a subject is told that takes the place of the stored one:
// it was told later or, at the same time, is the greater, or of neither anything says when.
func laterSubject(stored, in *earshot.Subject) bool {
	switch {
	case in == nil || stored == nil:
		return in != nil
	case in.AsOf == stored.AsOf && in.AsOf != 0:
		return fmt.Sprint(*in) > fmt.Sprint(*stored)
	}
	return in.AsOf > stored.AsOf || stored.AsOf == 0
}

// replaceSubject gives a stored message the subject that is told, and what is counted and
// found by it, and reports whether that is news.
func replaceSubject(m *Message, in *earshot.Subject) bool {
	if !laterSubject(m.Subject, in) || m.Subject.Equal(in) {
		return false
	}
	m.Subject = in
	m.measure(&index.Cutter{})
	return true
}

// greaterActivity returns the greater of two counts of a thread's replies, and whether
// it differs from the stored one.
func greaterActivity(stored, in *earshot.Activity) (*earshot.Activity, bool) {
	switch {
	case in == nil:
		return stored, false
	case stored == nil:
		return in, true
	}
	next := earshot.Activity{Count: max(stored.Count, in.Count), Last: max(stored.Last, in.Last)}
	return &next, next != *stored
}

// Blend merges two copies of the same revision. changed reports whether the
// result differs from the stored copy in something that is news; quiet, in
// something that is not: the platform's count of replies, an author's full name, when
// a list was told.
//
// The copy with the greater text wins whole. With the same text, the greater
// time, author, thread and reply reference win, so that a value wins over none.
// Files, mentions and what is shared change without a revision: see [takeNewer].
// Reactions and metadata are of no revision: the stored ones stay.
func Blend(stored, in Message) (next Message, changed, quiet bool) {
	switch cmp.Compare(in.Text, stored.Text) {
	case -1:
		next = stored
	case +1:
		next, changed = in, true
	default:
		next, changed, quiet = blendSame(stored, in)
	}
	next.Reactions, next.Metadata = stored.Reactions, stored.Metadata
	var more bool
	next.Replies, more = greaterActivity(stored.Replies, in.Replies)
	return next, changed, quiet || more
}

// blendSame is Blend for copies of the same text.
func blendSame(stored, in Message) (next Message, changed, quiet bool) {
	next = stored
	takeGreater(&next.Time, in.Time, &changed)
	takeGreater(&next.Thread, in.Thread, &changed)
	takeGreater(&next.ReplyTo, in.ReplyTo, &changed)
	next.Author = blendAuthors(stored.Author, in.Author)
	quiet = next.Author.FullName != stored.Author.FullName || next.Author.Standing != stored.Author.Standing || next.Author.Team != stored.Author.Team
	changed = changed || compareAuthors(next.Author, stored.Author) != 0
	takeNewer(&next.Mentions, in.Mentions, &next.AsOf.Mentions, in.AsOf.Mentions, &changed)
	takeNewer(&next.Shared, in.Shared, &next.AsOf.Shared, in.AsOf.Shared, &changed)
	takeNewer(&next.Files, in.Files, &next.AsOf.Files, in.AsOf.Files, &changed)
	if changed {
		next.Terms, next.Tokens = in.Terms, in.Tokens
		if !slices.Equal(next.Shared, in.Shared) {
			next.measure(&index.Cutter{})
		}
	}
	return next, changed, quiet || next.AsOf != stored.AsOf
}

// takeNewer takes over a list that is told at a time, unless the stored one was told later
// or, at the same time, is the greater. A list without a time wins when it arrives, and
// nil says nothing.
func takeNewer[T comparable](have *[]T, in []T, since *earshot.Time, at earshot.Time, changed *bool) {
	if in == nil || at != 0 && at < *since || at != 0 && at == *since && fmt.Sprint(in) <= fmt.Sprint(*have) {
		return
	}
	*since = max(*since, at)
	replaceList(have, in, changed)
}

func takeGreater[T cmp.Ordered](have *T, in T, changed *bool) {
	if in > *have {
		*have, *changed = in, true
	}
}

func replaceList[T comparable](have *[]T, in []T, changed *bool) {
	if in != nil && !slices.Equal(*have, in) {
		*have, *changed = in, true
	}
}

// blendAuthors returns the greater of two authors. If both have the same id, it
// has the greater full name.
func blendAuthors(a, b earshot.Author) earshot.Author {
	next := a
	if compareAuthors(a, b) < 0 {
		next = b
	}
	if a.ID == b.ID {
		next.FullName = max(a.FullName, b.FullName)
		next.Standing, next.Team = max(a.Standing, b.Standing), max(a.Team, b.Team)
	}
	return next
}

// compareAuthors compares those fields of two authors that are news.
func compareAuthors(a, b earshot.Author) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// Hour is how far [earshot.Activity.LastHour] reaches back, both ends counted.
const Hour = earshot.Time(time.Hour / time.Microsecond)

// Activity returns what is known of a root's replies at or before upTo: the
// greater of what is stored and what the platform reported. Of the reported
// replies only the last one's time is known, so they count only where it is not
// after the bound. ok is false where there are no replies.
func Activity(stored earshot.Activity, reported *earshot.Activity, upTo earshot.Position) (a earshot.Activity, ok bool) {
	if reported != nil && (upTo.IsZero() || reported.Last != 0 && reported.Last <= upTo.Time) {
		stored.Count, stored.Last = max(stored.Count, reported.Count), max(stored.Last, reported.Last)
	}
	return stored, stored.Count > 0
}
