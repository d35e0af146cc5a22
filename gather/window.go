package gather

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// window reads the newest messages of the channel. Messages that the section
// thread shows do not count, nor, in a later turn, what the model has seen.
func (r *reader) window(ctx context.Context, s assemble.Section) error {
	q := r.quotaOf(assemble.Section{Messages: s.Look, Minutes: s.Minutes})
	q.tokens, q.counts = 0, r.windowShows()
	if last := r.lastAnchor(); r.later() && last.Compare(q.floor) > 0 {
		q.floor = last // the section delta reads what became known late
	}
	scan := r.scan(q)
	size := scan.estimateRest()
	list, full, err := scan.newest(ctx, size)
	if err != nil {
		return err
	}
	switch {
	case full:
	case len(list) < size:
		return nil
	case scan.estimateRest() > 2*s.Look:
		err = r.besideBusyThread(ctx, s, q)
	default:
		_, err = scan.backwards(ctx, earshot.Whole(), list[0].Position())
	}
	if err == nil && !r.later() {
		err = r.count(ctx, "", earshot.Whole()) // the prompt says how much it does not show
	}
	return err
}

// fewNew is how many messages a later turn reads first: a channel seldom has
// more since the last turn.
const fewNew = 48

// newest takes from the channel's newest messages, which it returns. full
// reports whether the quota is used up; if not, there are size of them, or all
// that there are. Where the scan has a floor, few messages are read first, and
// size only if the floor stands further back.
func (s *backwardScan) newest(ctx context.Context, size int) (list []earshot.Message, full bool, err error) {
	part, end := earshot.Whole(), s.end
	if !s.floor.IsZero() && size > fewNew {
		list, err = s.store.Newest(ctx, s.scope, part, end, fewNew)
		if err != nil {
			return nil, false, err
		}
		if len(list) == fewNew && list[0].Position().Compare(s.floor) > 0 {
			list = nil
		}
	}
	if list == nil {
		if list, err = s.store.Newest(ctx, s.scope, part, end, size); err != nil {
			return nil, false, err
		}
	}
	s.recent = list
	for _, m := range slices.Backward(list) {
		if !s.take(m) {
			return list, true, nil
		}
	}
	return list, false, nil
}

// windowShows returns a test for the messages that a window may show.
func (r *reader) windowShows() func(earshot.Message) bool {
	root := r.anchor.Root()
	threadApart := root != "" && (r.later() || r.hasThread()) // another section shows the thread
	var shown map[earshot.MessageID]bool
	if r.later() {
		shown = r.shownIDs()
	}
	return func(m earshot.Message) bool {
		return (!r.isLog() || m.Author.Kind != earshot.System) && !shown[m.ID] && (!threadApart || m.Root() != root && m.ID != root)
	}
}

// besideBusyThread reads the rest of a channel whose newest messages are nearly
// all of one thread: the top level, and the newest replies to the newest roots.
func (r *reader) besideBusyThread(ctx context.Context, s assemble.Section, q readQuota) error {
	if _, err := r.scan(q).backwards(ctx, earshot.TopLevel(), earshot.Position{}); err != nil {
		return err
	}
	var roots []earshot.Message
	for _, m := range r.messages {
		if m.Root() == "" && m.ID != r.anchor.ID && q.counts(m) && !isBlank(m) {
			roots = append(roots, m)
		}
	}
	slices.SortFunc(roots, func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
	for _, m := range roots[:min(len(roots), s.Threads)] {
		replies, err := r.store.Newest(ctx, r.scope, earshot.ThreadOf(m.ID), r.end, s.Messages)
		if err != nil {
			return err
		}
		r.keep(replies...)
	}
	return nil
}

// parents keeps what loaded messages reply to, and so on up, so that the
// assembler groups them as it would with the whole channel before it, but for what
// it guesses. Without any reply reference a thread's id is enough for that, and
// nothing is read.
func (r *reader) parents(ctx context.Context) error {
	if r.isLog() {
		return r.roots(ctx)
	}
	if !slices.ContainsFunc(r.messages, func(m earshot.Message) bool { return m.ReplyTo != "" }) {
		return nil
	}
	from, read := 0, len(r.messages)
	for range maxWalk {
		var ids []earshot.MessageID
		for _, m := range r.messages[from:] {
			ids = append(ids, m.ReplyTo, m.Root())
		}
		from = len(r.messages)
		if err := r.byID(ctx, ids...); err != nil {
			return err
		}
		if len(r.messages) == from {
			break
		}
	}
	return r.countReplies(ctx, read)
}

// countReplies adds to roots that are older than the window how many replies they have;
// those of the others are loaded.
func (r *reader) countReplies(ctx context.Context, first int) error {
	if r.later() {
		return nil
	}
	activity, err := r.activity(ctx, r.messages[first:])
	for i := first; i < len(r.messages); i++ {
		if a, ok := activity[r.messages[i].ID]; ok && a.Count > 0 {
			r.messages[i].Replies = &a
		}
	}
	return err
}

// maxRoots bounds for how many roots older than the window the agent's answer is
// looked up.
const maxRoots = 8

// roots keeps what loaded messages reply to, with the number of replies to these
// roots, and the agent's answer to the newest of them.
func (r *reader) roots(ctx context.Context) error {
	from := len(r.messages)
	for at := 0; at < len(r.messages) && len(r.messages) < from+maxTree; {
		var ids []earshot.MessageID
		for _, m := range r.messages[at:] {
			ids = append(ids, m.ReplyTo, m.Root())
		}
		at = len(r.messages)
		if err := r.byID(ctx, ids...); err != nil {
			return err
		}
	}
	first := from // the first message whose thread may not be loaded
	if r.foundFrom >= 0 {
		first = r.foundFrom
	}
	asked := r.messages[first:]
	if root := r.anchorsRoot(); root >= 0 && root < first && !r.hasThread() {
		asked, first = append(slices.Clip(asked), r.messages[root]), root // its thread is loaded no more than the window has of it
	}
	activity, err := r.activity(ctx, asked)
	if err != nil {
		return err
	}
	end := len(r.messages)
	for i := first; i < end; i++ {
		m := &r.messages[i]
		a, ok := activity[m.ID]
		if !ok {
			continue
		}
		m.Replies = &a
		// The search returns answers with the messages that it found.
		if i >= from && end-i <= maxRoots {
			if err := r.answer(ctx, *m); err != nil {
				return err
			}
		}
	}
	return nil
}

// anchorsRoot is the index of the root of the anchor's thread; -1 where it has none, or it
// is not stored.
func (r *reader) anchorsRoot() int {
	return slices.IndexFunc(r.messages, func(m earshot.Message) bool { return m.ID == r.anchor.Root() })
}

// activity returns how many replies those messages of a list have that stand at the
// channel's top level.
func (r *reader) activity(ctx context.Context, list []earshot.Message) (map[earshot.MessageID]earshot.Activity, error) {
	var ids []earshot.MessageID
	for _, m := range list {
		if !m.Deleted && m.Root() == "" {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return r.store.Activity(ctx, r.scope, r.end, ids...)
}

// answer keeps the agent's answer to the root of a thread.
func (r *reader) answer(ctx context.Context, root earshot.Message) error {
	replies := 0
	for m, err := range r.store.Range(ctx, r.scope, earshot.ThreadOf(root.ID), root.Position(), r.end) {
		if err != nil {
			return err
		}
		if m.Deleted || m.Root() == "" {
			continue
		}
		if r.req.Identity.Is(m.Author.ID) {
			r.keep(m)
		}
		if replies++; replies == assemble.AnswerWithin {
			return nil
		}
	}
	return nil
}

// beginnings keeps the first replies of threads, other than the question's, in which the
// agent spoke. Whether its message answers the root depends on how many replies stand
// before it, and the thread may be kept in part.
func (r *reader) beginnings(ctx context.Context) error {
	looked := map[earshot.MessageID]bool{"": true, r.anchor.Root(): true}
	for _, m := range slices.Backward(r.messages) {
		root := m.Root()
		if looked[root] || m.Deleted || !r.kept[root] || !r.req.Identity.Is(m.Author.ID) {
			continue
		}
		looked[root] = true
		n := 0
		for m, err := range r.store.Range(ctx, r.scope, earshot.ThreadOf(root), earshot.Position{}, m.Position()) {
			if err != nil {
				return err
			}
			r.keep(m)
			if n++; n > assemble.AnswerWithin {
				break
			}
		}
		if len(looked) > maxRoots {
			break
		}
	}
	return nil
}

// hasThread reports whether a first turn of the policy has the section thread.
func (r *reader) hasThread() bool {
	return slices.ContainsFunc(r.req.Policy.First, func(s assemble.Section) bool { return s.Section.Source() == assemble.SourceThread })
}

// shownIDs returns the ids in the manifest.
func (r *reader) shownIDs() map[earshot.MessageID]bool {
	ids := make(map[earshot.MessageID]bool, len(r.state.Shown))
	for _, x := range r.state.Shown {
		ids[x.ID] = true
	}
	return ids
}

// lastAnchor returns the position of the last recorded turn's anchor, zero when
// there is none or it is not stored.
func (r *reader) lastAnchor() earshot.Position {
	n := len(r.state.Turns)
	if n == 0 {
		return earshot.Position{}
	}
	for i := range r.messages {
		if r.messages[i].ID == r.state.Turns[n-1].Anchor {
			return r.messages[i].Position()
		}
	}
	return earshot.Position{}
}
