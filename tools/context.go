package tools

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// The answer of channel_context.
type (
	contextAnswer struct {
		Results        []result `json:"results"` // the best first
		Omitted        int      `json:"omitted,omitzero"`
		UnknownAuthors []string `json:"unknown_authors,omitzero"` // nobody here goes by these names
		Withheld       int      `json:"withheld,omitzero"`        // messages that were found and that the operator withholds
		Coverage       searched `json:"coverage"`
	}
	result struct {
		messageJSON
		ThreadID        *string        `json:"thread_id"` // null at the top level
		ThreadSummary   *threadSummary `json:"thread_summary"`
		RelevanceSignal string         `json:"relevance_signal,omitzero"` // of a search
	}
	// A threadSummary describes the thread that the message begins or is in.
	threadSummary struct {
		ReplyCount       int      `json:"reply_count"`
		LastReplyTS      string   `json:"last_reply_ts"`
		ParticipantNames []string `json:"participant_names"`
	}
)

// A searchCall is one search with what was read for it.
type searchCall struct {
	search.Query
	since    earshot.Time
	authors  []string
	unknown  []string // those of authors that nobody here goes by
	hits     []search.Hit
	withheld int // hits that the operator withholds
	known    []earshot.Coverage
	threads  map[earshot.MessageID]*thread
	unread   []earshot.MessageID // threads that the store lacks replies of: those of hits first, then the newest
	found    int                 // how many of unread are threads of hits

	unchecked earshot.Time // threads that began before it were not looked at; 0 means all were
}

// context searches the channel. If there is a Fetcher, it is asked first for what
// the store lacks: the stretch of time that is asked for, then threads with
// missing replies, those of hits before the newest.
func (s *Set) context(ctx context.Context, raw string) (Answer, error) {
	q, err := s.searchCall(raw)
	if err != nil {
		return Answer{}, err
	}
	late := false // the stretch could not be fetched
	if q.since != 0 && s.o.Fetcher != nil {
		done, err := s.fetch(ctx, func(ctx context.Context) error { return s.o.Fetcher.FetchSince(ctx, s.scope, q.since, s.at) })
		if err != nil {
			return Answer{}, err
		}
		late = !done
	}
	if err := s.find(ctx, q); err != nil {
		return Answer{}, err
	}
	var failed []earshot.MessageID
	if ids := q.toFetch(); len(ids) > 0 && s.o.Fetcher != nil {
		if failed, err = s.fetchThreads(ctx, ids...); err != nil {
			return Answer{}, err
		}
		if err := s.find(ctx, q); err != nil {
			return Answer{}, err
		}
	}
	for _, id := range failed {
		if t := q.threads[id]; t != nil {
			t.untried = true
		}
	}
	return s.results(ctx, q, late)
}

// searchCall reads the arguments of a search.
func (s *Set) searchCall(raw string) (*searchCall, error) {
	var args contextArgs
	if err := decodeArgs(raw, &args); err != nil {
		return nil, err
	}
	q := &searchCall{}
	var err error
	if q.Text, err = requireWords("intent", args.Intent); err != nil {
		return nil, err
	}
	if q.Limit, err = limitArg("max_results", args.MaxResults, defResults, maxResults); err != nil {
		return nil, err
	}
	if args.Since != nil {
		if q.since, _, err = s.time("since", *args.Since); err != nil {
			return nil, err
		}
	}
	upTo := s.at
	if args.Until != nil {
		_, until, err := s.time("until", *args.Until)
		if err != nil {
			return nil, err
		}
		if s.at.IsZero() || until < s.at.Time {
			upTo = earshot.Position{Time: until + 1} // what was said at that time is found
		}
	}
	if q.authors = args.Authors; len(q.authors) > maxAuthors {
		return nil, newRefusal("authors are too many", "name the few that matter, or leave authors out")
	}
	q.At, q.Before, q.Since = s.at.Time, upTo, q.since
	if s.at.ID != "" {
		q.Exclude = []earshot.MessageID{s.at.ID}
	}
	return q, nil
}

// find searches what the store has, and reads what it knows of the threads
// around what was found.
func (s *Set) find(ctx context.Context, q *searchCall) error {
	if err := s.search(ctx, q); err != nil {
		return err
	}
	return s.lookUpThreads(ctx, q)
}

// search searches what the store has.
func (s *Set) search(ctx context.Context, q *searchCall) (err error) {
	q.hits, q.withheld = nil, 0
	if len(q.authors) > 0 {
		if q.Authors, q.unknown, err = s.authors(ctx, q.authors); err != nil {
			return err
		}
		// An author who is quoted here need not have written here.
		q.Names = nil
		for _, n := range q.authors {
			q.Names = append(q.Names, withoutMark(n))
		}
	}
	asked := q.Query
	if s.o.Lanes != nil {
		asked.Limit *= withheldLimit
	}
	hits, err := s.index.search.Search(ctx, s.scope, asked)
	if err != nil {
		return err
	}
	found := make([]earshot.Message, len(hits))
	for i, h := range hits {
		found[i] = h.Message
	}
	if err := s.learnLanes(ctx, found); err != nil {
		return err
	}
	for i, h := range hits {
		if h.Message = found[i]; s.exists(h.Message) && s.withheld(h.Message) {
			q.withheld++
		}
		if len(q.hits) == q.Limit {
			break
		}
		// The index may be ahead of an edit of its time, and has until at its end.
		if s.visible(h.Message) && (q.Before == s.at || h.Message.Time < q.Before.Time) {
			q.hits = append(q.hits, h)
		}
	}
	return nil
}

// withheldLimit is how many times as many hits as were asked for are looked at where some
// of them may be withheld, so that they keep no others away.
const withheldLimit = 3

// Bounds of what a search looks through for threads with missing replies.
const (
	maxRoots              = 1000 // of the channel's newest
	maxIncomplete         = 200  // of those whose replies the platform has told of, and that are not known whole
	maxUnfinished         = 50   // of which coverage says that something is missing
	maxParticipant        = 10
	maxParticipantReplies = 50 // replies that are looked through for participants
)

// lookUpThreads looks up the threads of hits, and those that the store lacks
// replies of.
func (s *Set) lookUpThreads(ctx context.Context, q *searchCall) (err error) {
	if q.known, err = s.store.Coverage(ctx, s.scope); err != nil {
		return err
	}
	var ids []earshot.MessageID
	for _, h := range q.hits {
		ids = append(ids, cmp.Or(h.Message.Root(), h.ID))
	}
	found := len(ids)
	roots, err := s.store.Newest(ctx, s.scope, earshot.TopLevel(), s.at, maxRoots)
	if err != nil {
		return err
	}
	incomplete := s.incompleteRoots(q.known, roots)
	q.unchecked = 0
	if len(incomplete) > maxIncomplete {
		q.unchecked = incomplete[maxIncomplete].Time + 1
	} else if len(incomplete) > 0 && len(roots) == maxRoots {
		q.unchecked = roots[0].Time
	}
	for _, m := range incomplete[:min(len(incomplete), maxIncomplete)] {
		ids = append(ids, m.ID)
	}
	unfinished := map[earshot.MessageID]bool{}
	for _, c := range slices.Backward(q.known) {
		if c.Thread != "" && (c.State == earshot.Missing || c.State == earshot.Stale) && len(unfinished) < maxUnfinished {
			unfinished[c.Thread] = true
			ids = append(ids, c.Thread)
		}
	}
	if q.threads, err = s.threads(ctx, q.known, ids...); err != nil {
		return err
	}
	q.unread, q.found = nil, 0
	for i, id := range ids {
		t := q.threads[id]
		wants := t.unread() > 0 || unfinished[id]
		if !wants || t.hidden || t.last != 0 && t.last < q.since || t.root == nil && t.stored == 0 || slices.Contains(q.unread, id) {
			continue
		}
		q.unread = append(q.unread, id)
		if i < found {
			q.found++
		}
	}
	return nil
}

// incompleteRoots returns the roots of which the platform has told that they have
// replies, and whose threads are not known whole, the newest first.
func (s *Set) incompleteRoots(known []earshot.Coverage, roots []earshot.Message) []earshot.Message {
	var out []earshot.Message
	for _, m := range slices.Backward(roots) {
		if a := m.Replies; a != nil && a.Count > 0 && !s.isWhole(known, m, a.Last) {
			out = append(out, m)
		}
	}
	return out
}

// maxTogether is how many threads are fetched for one search at most.
const maxTogether = 3

// toFetch returns which threads to fetch: those of hits, and others where there
// are fewer hits than wanted.
func (q *searchCall) toFetch() []earshot.MessageID {
	ids := q.unread
	if len(q.hits) >= q.Limit {
		ids = ids[:q.found]
	}
	return ids[:min(len(ids), maxTogether)]
}

// results returns the answer: what was found, and what could not be searched.
func (s *Set) results(ctx context.Context, q *searchCall, late bool) (Answer, error) {
	out := contextAnswer{Results: []result{}, UnknownAuthors: q.unknown, Withheld: q.withheld}
	var err error
	if out.Coverage, err = s.scanned(ctx, q.since, q.Before); err != nil {
		return Answer{}, err
	}
	gaps := s.missing(q.known, q.threads, q.since, q.Before.Time)
	if late {
		gaps = slices.Insert(gaps, 0, missingStretch{From: s.optionalTS(q.since), To: s.optionalTS(s.at.Time), State: earshot.Missing})
	}
	out.Coverage.Missing = gaps[:min(len(gaps), maxMissing)]
	if q.unchecked > q.since {
		out.Coverage.Unchecked = s.ts(q.unchecked)
	}
	out.Coverage.MoreMissing = len(gaps) - len(out.Coverage.Missing)
	list := make([]earshot.Message, len(q.hits))
	for i, h := range q.hits {
		list[i] = h.Message
	}
	entries, err := s.entries(ctx, list, q.threads)
	if err != nil {
		return Answer{}, err
	}
	var cut index.Cutter
	for i, e := range entries {
		e.json.(*result).RelevanceSignal = explainRank(&cut, q.Text, q.hits[i])
	}
	out.Omitted = len(entries) // leaves room for the count
	var shows []earshot.Message
	shows, out.Omitted, err = s.keepFitting(encodedLen(out), entries, func(e shownMessage) { out.Results = append(out.Results, *e.json.(*result)) })
	if err != nil {
		return Answer{}, err
	}
	return s.write(out, shows)
}

// keepFitting gives keep the entries that fit into an answer besides size bytes, in their
// order, and returns their messages and how many do not fit. The error is tooLong where
// none of them fits.
func (s *Set) keepFitting(size int, entries []shownMessage, keep func(shownMessage)) (shows []earshot.Message, omitted int, err error) {
	fits := s.fit(size, entries, inOrder(len(entries)), asFound)
	for i, e := range entries {
		if fits[i] {
			keep(e)
			shows = append(shows, e.message)
		}
	}
	if len(shows) == 0 && len(entries) > 0 {
		return nil, 0, tooLong
	}
	return shows, len(entries) - len(shows), nil
}

// entries returns messages as answers show them, each with a summary of its
// thread.
func (s *Set) entries(ctx context.Context, list []earshot.Message, threads map[earshot.MessageID]*thread) ([]shownMessage, error) {
	participants := map[earshot.MessageID][]earshot.Message{}
	for _, m := range list {
		root := cmp.Or(m.Root(), m.ID)
		if t := threads[root]; t == nil || t.total == 0 || participants[root] != nil {
			continue
		}
		replies, err := s.store.Newest(ctx, s.scope, earshot.ThreadOf(root), s.at, maxParticipantReplies)
		if err != nil {
			return nil, err
		}
		if t := threads[root]; t.root != nil {
			participants[root] = append(participants[root], *t.root)
		}
		shown, _ := s.withhold(replies)
		participants[root] = append(participants[root], shown...)
	}
	var others []earshot.Message
	place := map[earshot.MessageID]int{} // where a thread's participants begin in others
	for _, root := range slices.Sorted(maps.Keys(participants)) {
		place[root] = len(others)
		others = append(others, participants[root]...)
	}
	texts, names := s.describe(list, others)
	out := make([]shownMessage, len(list))
	for i, m := range list {
		r := &result{messageJSON: texts[i]}
		if up := m.Root(); up != "" {
			id := cleanLine(string(up), maxIDLength)
			r.ThreadID = &id
		}
		root := cmp.Or(m.Root(), m.ID)
		if t := threads[root]; t != nil && t.total > 0 {
			r.ThreadSummary = &threadSummary{ReplyCount: t.total, LastReplyTS: s.ts(t.last), ParticipantNames: []string{}}
			for j, v := range participants[root] {
				name := names[place[root]+j]
				if v.Author.Kind != earshot.System && len(r.ThreadSummary.ParticipantNames) < maxParticipant && !slices.Contains(r.ThreadSummary.ParticipantNames, name) {
					r.ThreadSummary.ParticipantNames = append(r.ThreadSummary.ParticipantNames, name)
				}
			}
		}
		out[i] = shownMessage{message: m, messageJSON: &r.messageJSON, json: r}
	}
	return out, nil
}

// recent is among how many of the channel's newest messages the authors' names
// are looked up.
const recent = 1000

// authors returns the ids of the authors who go by the names in this channel, and
// the names that nobody goes by.
func (s *Set) authors(ctx context.Context, names []string) (ids []earshot.AuthorID, unknown []string, err error) {
	list, err := s.store.Newest(ctx, s.scope, earshot.Whole(), s.at, recent)
	if err != nil {
		return nil, nil, err
	}
	list = append(list, s.o.Known...)
	places := map[string][]int{} // in names
	for i, n := range names {
		for _, form := range []string{strings.TrimPrefix(strings.TrimSpace(n), "@"), withoutMark(n)} {
			places[strings.ToLower(form)] = append(places[strings.ToLower(form)], i)
		}
	}
	seen := map[earshot.AuthorID]bool{}
	found := make([]bool, len(names))
	for i, x := range s.inPromptForm(list) {
		a := list[i].Author
		if seen[a.ID] || a.ID == "" {
			continue
		}
		for _, form := range []string{x.Name, a.Name, string(a.ID)} {
			for _, at := range places[strings.ToLower(form)] {
				found[at] = true
				if !seen[a.ID] {
					seen[a.ID] = true
					ids = append(ids, a.ID)
				}
			}
		}
	}
	for i, n := range names {
		if !found[i] {
			unknown = append(unknown, cleanLine(n, maxName))
		}
	}
	return ids, unknown, nil
}

// withoutMark returns a name without what prompts add to it: @, (bot), (agent).
func withoutMark(name string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	return strings.TrimSuffix(strings.TrimSuffix(name, " (bot)"), " (agent)")
}
