package gather

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// window reads the newest messages of the channel. What the thread's section
// takes does not count among those looked at, nor in a later turn what the
// model has seen or what has been considered.
func (r *reader) window(ctx context.Context, s assemble.Section) error {
	w := r.wanted(assemble.Section{Messages: s.Look, Minutes: s.Minutes})
	w.tokens, w.counts = 0, r.outside()
	if last := r.lastAnchor(); r.later() && last.Compare(w.floor) > 0 {
		w.floor = last // what became known late is among the changes
	}
	t := r.tally(w)
	size := t.probable()
	list, full, err := t.newest(ctx, size)
	if err != nil {
		return err
	}
	switch {
	case full:
	case len(list) < size:
		return nil
	case t.probable() > 2*s.Look:
		err = r.aside(ctx, s, w)
	default:
		_, err = t.back(ctx, earshot.Whole(), list[0].Position())
	}
	if err == nil && r.isLog() && !r.later() {
		err = r.count(ctx, "", earshot.Whole()) // the prompt says how much it does not show
	}
	return err
}

// fewNew is how many messages a later turn reads first: seldom has a channel
// more since the last turn.
const fewNew = 48

// newest takes from the channel's newest messages, which it returns. full
// reports whether no more are wanted; else there are size of them, or all. A
// window that ends at the last turn reads few, and size only where that turn
// stands further back.
func (t *tally) newest(ctx context.Context, size int) (list []earshot.Message, full bool, err error) {
	part, anchor := earshot.Whole(), t.anchor.Position()
	if !t.floor.IsZero() && size > fewNew {
		list, err = t.store.Newest(ctx, t.scope, part, anchor, fewNew)
		if err != nil {
			return nil, false, err
		}
		if len(list) == fewNew && list[0].Position().Compare(t.floor) > 0 {
			list = nil
		}
	}
	if list == nil {
		if list, err = t.store.Newest(ctx, t.scope, part, anchor, size); err != nil {
			return nil, false, err
		}
	}
	t.recent = list
	for _, m := range slices.Backward(list) {
		if !t.take(m) {
			return list, true, nil
		}
	}
	return list, false, nil
}

// outside returns a test for the messages that a window may show.
func (r *reader) outside() func(earshot.Message) bool {
	root := r.anchor.Root()
	apart := root != "" && (r.later() || r.hasThread())
	var shown map[earshot.MessageID]bool
	if r.later() {
		shown = r.shown()
	}
	return func(m earshot.Message) bool {
		return (!r.isLog() || m.Author.Kind != earshot.System) && !shown[m.ID] && (!apart || m.Root() != root && m.ID != root)
	}
}

// aside reads what else there is where one thread makes up nearly all of the
// channel's newest messages: the top level, and of the trees that stand first
// there the newest replies.
func (r *reader) aside(ctx context.Context, s assemble.Section, w want) error {
	if _, err := r.tally(w).back(ctx, earshot.TopLevel(), earshot.Position{}); err != nil {
		return err
	}
	var roots []earshot.Message
	for _, m := range r.messages {
		if m.Root() == "" && m.ID != r.anchor.ID && w.counts(m) && !blank(m) {
			roots = append(roots, m)
		}
	}
	slices.SortFunc(roots, func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
	for _, m := range roots[:min(len(roots), s.Threads)] {
		replies, err := r.store.Newest(ctx, r.scope, earshot.ThreadOf(m.ID), r.anchor.Position(), s.Messages)
		if err != nil {
			return err
		}
		r.keep(replies...)
	}
	return nil
}

// parents keeps what loaded messages answer, and so on up, so that the forest
// has the trees that the whole channel would give it. Where nobody refers to
// anything a thread's root is enough to name its tree, and nothing is read.
func (r *reader) parents(ctx context.Context) error {
	if r.isLog() {
		return r.roots(ctx)
	}
	if !slices.ContainsFunc(r.messages, func(m earshot.Message) bool { return m.ReplyTo != "" }) {
		return nil
	}
	from := 0
	for range maxWalk {
		var ids []earshot.MessageID
		for _, m := range r.messages[from:] {
			ids = append(ids, cmp.Or(m.ReplyTo, m.Root()))
		}
		from = len(r.messages)
		if err := r.byID(ctx, ids...); err != nil || len(r.messages) == from {
			return err
		}
	}
	return nil
}

// maxRoots is of how many roots that are older than the window the agent's
// answer is looked for.
const maxRoots = 8

// roots keeps what loaded messages answer, with how lively the threads of these
// roots are and, of the newest of them, the agent's answer.
func (r *reader) roots(ctx context.Context) error {
	from := len(r.messages)
	for at := 0; at < len(r.messages) && len(r.messages) < from+maxTree; {
		var ids []earshot.MessageID
		for _, m := range r.messages[at:] {
			ids = append(ids, cmp.Or(m.ReplyTo, m.Root()))
		}
		at = len(r.messages)
		if err := r.byID(ctx, ids...); err != nil {
			return err
		}
	}
	first := from // of those that are not known whole
	if r.foundFrom >= 0 {
		first = r.foundFrom
	}
	var old []earshot.MessageID
	for _, m := range r.messages[first:] {
		if !m.Deleted && m.Root() == "" {
			old = append(old, m.ID)
		}
	}
	if len(old) == 0 {
		return nil
	}
	lively, err := r.store.Activity(ctx, r.scope, r.anchor.Position(), old...)
	if err != nil {
		return err
	}
	end := len(r.messages)
	for i := first; i < end; i++ {
		m := &r.messages[i]
		a, ok := lively[m.ID]
		if !ok {
			continue
		}
		m.Replies = &a
		// What the search found has its answers beside it.
		if i >= from && end-i <= maxRoots {
			if err := r.answer(ctx, *m); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer keeps the agent's answer to a root, where it is among the first
// replies.
func (r *reader) answer(ctx context.Context, root earshot.Message) error {
	n := 0
	for m, err := range r.store.Range(ctx, r.scope, earshot.ThreadOf(root.ID), root.Position(), r.anchor.Position()) {
		if err != nil {
			return err
		}
		if r.req.Identity.Is(m.Author.ID) && m.ID != root.ID {
			r.keep(m)
			return nil
		}
		if n++; n > 3 {
			return nil
		}
	}
	return nil
}

func (r *reader) hasThread() bool {
	return slices.ContainsFunc(r.req.Policy.First, func(s assemble.Section) bool { return s.Section == assemble.Thread })
}

// shown returns the ids in the manifest.
func (r *reader) shown() map[earshot.MessageID]bool {
	ids := make(map[earshot.MessageID]bool, len(r.state.Shown))
	for _, x := range r.state.Shown {
		ids[x.ID] = true
	}
	return ids
}

// lastAnchor returns where the last recorded turn's anchor stands; zero when
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
