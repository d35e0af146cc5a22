package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// The answers of channel_messages.
type (
	// A threadAnswer has the fields of ThreadContext, and more for each message.
	threadAnswer struct {
		SchemaVersion string                `json:"schema_version"`
		ThreadID      string                `json:"thread_id"`
		Root          *messageJSON          `json:"root"` // null where it is not known
		Replies       []messageJSON         `json:"replies"`
		Truncation    assemble.TruncatedRef `json:"truncation"`
		Withheld      int                   `json:"withheld,omitzero"` // messages that the operator withholds
		Coverage      threadCoverage        `json:"coverage"`
	}
	threadCoverage struct {
		Missing []missingStretch `json:"missing"`
		// ReadableIn is in how many seconds the platform's rate allows to read more, where it
		// does not now.
		ReadableIn int `json:"readable_in_seconds,omitzero"`
	}
	messagesAnswer struct {
		Messages []result `json:"messages"`
		NotFound []string `json:"not_found"`
		Omitted  int      `json:"omitted,omitzero"`  // messages that did not fit
		Withheld int      `json:"withheld,omitzero"` // messages that the operator withholds
	}
)

// messages fetches a thread, messages by id, or a file.
func (s *Set) messages(ctx context.Context, raw string) (Answer, error) {
	var args messagesArgs
	if err := decodeArgs(raw, &args); err != nil {
		return Answer{}, err
	}
	replies, err := limitArg("max_replies", args.MaxReplies, defReplies, maxReplies)
	if err != nil {
		return Answer{}, err
	}
	given := 0
	for _, is := range []bool{args.ThreadID != nil, len(args.MessageIDs) > 0, args.ArtifactID != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return Answer{}, newRefusal("thread_id, message_ids and media_artifact_id exclude each other", "give exactly one of them")
	case args.ThreadID != nil:
		return s.thread(ctx, *args.ThreadID, replies)
	case args.ArtifactID != nil:
		return s.media(ctx, *args.ArtifactID)
	}
	return s.byID(ctx, args.MessageIDs)
}

// thread returns a thread's root and its newest replies, in the order of
// Position. The id of a reply stands for its thread. What the store lacks of the
// thread is fetched if the store has any of it.
func (s *Set) thread(ctx context.Context, id string, replies int) (Answer, error) {
	if err := checkID("thread_id", id); err != nil {
		return Answer{}, err
	}
	root, err := s.rootOf(ctx, earshot.MessageID(s.idOf(id)))
	if errors.Is(err, notFound) {
		err = s.notLoaded(ctx, earshot.MessageID(s.idOf(id)))
	}
	if err != nil {
		return Answer{}, err
	}
	var failed []earshot.MessageID
	if s.o.Fetcher != nil {
		if failed, err = s.fetchThreads(ctx, root); err != nil {
			return Answer{}, err
		}
	}
	known, err := s.store.Coverage(ctx, s.scope)
	if err != nil {
		return Answer{}, err
	}
	threads, err := s.threads(ctx, known, root)
	if err != nil {
		return Answer{}, err
	}
	t := threads[root]
	t.untried = len(failed) > 0
	list, err := s.store.Newest(ctx, s.scope, earshot.ThreadOf(root), s.at, replies+2) // the root, and one that is left out
	if err != nil {
		return Answer{}, err
	}
	list = slices.DeleteFunc(list, func(m earshot.Message) bool { return m.ID == root || !s.exists(m) })
	list, t.withheld = s.withhold(list)
	if t.withheldRoot {
		t.withheld++
	}
	if t.root == nil && len(list) == 0 && t.withheld == 0 {
		return Answer{}, notFound // deleted while it was fetched
	}
	if err := s.leftOpen(ctx, t, known); err != nil {
		return Answer{}, err
	}
	known = slices.DeleteFunc(known, func(c earshot.Coverage) bool { return c.Thread != root })
	return s.threadAnswer(ctx, t, list, replies, s.missing(known, threads, 0, s.at.Time))
}

// rootOf returns the root of the thread that an id stands for, as root or as
// reply; notFound unless a message of the thread is visible.
func (s *Set) rootOf(ctx context.Context, id earshot.MessageID) (earshot.MessageID, error) {
	list, err := s.store.ByID(ctx, s.scope, id)
	if err != nil {
		return "", err
	}
	if len(list) > 0 && s.exists(list[0]) {
		return cmp.Or(list[0].Root(), id), nil
	}
	replies, err := s.store.Newest(ctx, s.scope, earshot.ThreadOf(id), s.at, 2)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(replies, func(m earshot.Message) bool { return m.ID != id && s.exists(m) }) {
		return "", notFound
	}
	return id, nil
}

// notLoaded returns the refusal for a thread of which nothing is stored: where the
// channel's history is missing at its time, that this has not been read yet, and when it
// may be; else notFound. It depends on nothing but the id and the channel's coverage, so
// that it tells nothing of messages that must not be seen.
func (s *Set) notLoaded(ctx context.Context, id earshot.MessageID) error {
	at, err := earshot.ParseTime(string(id))
	if err != nil || !s.at.IsZero() && at > s.at.Time {
		return notFound
	}
	known, err := s.store.Coverage(ctx, s.scope)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(c earshot.Coverage) bool {
		return c.Thread == "" && c.State == earshot.Missing && c.From <= at && (c.To == 0 || at <= c.To)
	}) {
		return notFound
	}
	if n := s.readableIn(); n > 0 {
		return newRefusal("not read yet", fmt.Sprintf("the channel's history of that time is not loaded, and the platform's rate allows to read more in %d seconds; say so, or answer without it", n))
	}
	return newRefusal("not read yet", "the channel's history of that time is not loaded; say so, or answer without it")
}

// readableIn is in how many seconds the Fetcher may ask the platform again, 0 for now
// and where that is not known.
func (s *Set) readableIn() int {
	p, ok := s.o.Fetcher.(Pacer)
	if !ok {
		return 0
	}
	return int(math.Ceil(p.ThreadsIn(s.scope).Seconds()))
}

// threadAnswer returns the answer with the root and the newest replies of list.
func (s *Set) threadAnswer(ctx context.Context, t *thread, list []earshot.Message, replies int, gaps []missingStretch) (Answer, error) {
	out := threadAnswer{
		SchemaVersion: assemble.SchemaVersion, ThreadID: cleanLine(string(t.id), maxIDLength), Replies: []messageJSON{},
		Truncation: assemble.TruncatedRef{TotalReplies: max(t.total, len(list)), IncludedReplies: replies, Strategy: "most_recent"},
		Coverage:   threadCoverage{Missing: gaps[:min(len(gaps), maxMissing)]}, Withheld: t.withheld,
	}
	if len(gaps) > 0 {
		out.Coverage.ReadableIn = s.readableIn()
	}
	first := max(0, len(list)-replies)
	shown := list[first:]
	if t.root != nil {
		shown = append([]earshot.Message{*t.root}, shown...)
	}
	texts, _ := s.describe(shown, nil)
	entries := make([]shownMessage, len(shown))
	order := inOrder(len(shown)) // the root, then the newest
	for i := range shown {
		entries[i] = shownMessage{message: shown[i], messageJSON: &texts[i], json: &texts[i], first: shown[i].ID == t.id}
	}
	if t.root != nil {
		slices.Reverse(order[1:])
	} else {
		slices.Reverse(order)
	}
	room := encodedLen(out) + 2*len(s.ts(began)) + 8 // the range that is left out
	keep := s.fit(room, entries, order, asWhole)
	var shows []earshot.Message
	for i, e := range entries {
		switch {
		case !keep[i]:
			continue
		case e.first:
			out.Root = e.messageJSON
		default:
			out.Replies = append(out.Replies, *e.messageJSON)
		}
		shows = append(shows, e.message)
	}
	if len(shows) == 0 && len(entries) > 0 {
		return Answer{}, tooLong
	}
	out.Truncation.IncludedReplies = len(out.Replies)
	var err error
	if out.Truncation.OmittedRangeTS, err = s.omitted(ctx, t, list[:len(list)-len(out.Replies)], len(out.Replies)); err != nil {
		return Answer{}, err
	}
	return s.write(out, shows)
}

// began is a time whose ts has the greatest length.
const began earshot.Time = 1_772_442_000_000_001

// omitted returns the first and the last ts of the replies that are not shown, nil
// where all are. These are stored replies, of which left has the newest, and
// replies that the store lacks, as far as it is known when those were written.
func (s *Set) omitted(ctx context.Context, t *thread, left []earshot.Message, shown int) (*[]string, error) {
	var from, to earshot.Time
	if t.stored > shown && len(left) > 0 {
		to = left[len(left)-1].Time
		for m, err := range s.store.Range(ctx, s.scope, earshot.ThreadOf(t.id), earshot.Position{}, s.at) {
			if err != nil {
				return nil, err
			}
			if m.ID != t.id {
				from = m.Time
				break
			}
		}
	}
	if t.unread() > 0 {
		to = max(to, t.last)
		if t.root != nil {
			from = t.root.Time
		}
	}
	if to == 0 {
		return nil, nil
	}
	return &[]string{s.ts(cmp.Or(from, to)), s.ts(to)}, nil
}

// byID answers with messages by their ids, in the order of Position.
func (s *Set) byID(ctx context.Context, ids []string) (Answer, error) {
	if len(ids) > maxIDs {
		return Answer{}, newRefusal("message_ids are too many", "ask for fewer at once")
	}
	ids = slices.Clone(ids)
	want := make([]earshot.MessageID, len(ids))
	for i, id := range ids {
		if err := checkID("message_ids", id); err != nil {
			return Answer{}, err
		}
		ids[i] = s.idOf(id)
		want[i] = earshot.MessageID(ids[i])
	}
	list, err := s.store.ByID(ctx, s.scope, want...)
	if err != nil {
		return Answer{}, err
	}
	list = slices.DeleteFunc(list, func(m earshot.Message) bool { return !s.exists(m) })
	if len(list) == 0 {
		return Answer{}, notFound
	}
	out := messagesAnswer{Messages: []result{}, NotFound: []string{}}
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(m earshot.Message) bool { return string(m.ID) == id }) && !slices.Contains(out.NotFound, id) {
			out.NotFound = append(out.NotFound, id)
		}
	}
	list, out.Withheld = s.withhold(list)
	known, err := s.store.Coverage(ctx, s.scope)
	if err != nil {
		return Answer{}, err
	}
	var roots []earshot.MessageID
	for _, m := range list {
		roots = append(roots, cmp.Or(m.Root(), m.ID))
	}
	threads, err := s.threads(ctx, known, roots...)
	if err != nil {
		return Answer{}, err
	}
	entries, err := s.entries(ctx, list, threads)
	if err != nil {
		return Answer{}, err
	}
	out.Omitted = len(entries)
	keep := s.fit(encodedLen(out), entries, inOrder(len(entries)), asWhole)
	out.Omitted = 0
	var shows []earshot.Message
	for i, e := range entries {
		if !keep[i] {
			out.Omitted++
			continue
		}
		out.Messages = append(out.Messages, *e.json.(*result))
		shows = append(shows, e.message)
	}
	if len(shows) == 0 && len(entries) > 0 {
		return Answer{}, tooLong
	}
	return s.write(out, shows)
}
