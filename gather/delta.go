package gather

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// delta reads what became known in the conversation since the cursor, what was
// said after the last turn's anchor, and how what was shown stands now.
func (r *reader) delta(ctx context.Context, s assemble.Section) error {
	belongs, err := r.conversation(ctx)
	if err != nil {
		return err
	}
	if r.later() && len(r.state.Session) == 0 {
		return r.sinceProcessed(ctx, belongs)
	}
	if err := r.keepRevised(ctx); err != nil {
		return err
	}
	whole, err := r.changes(ctx, belongs)
	if err != nil {
		return err
	}
	if err := r.sinceLastTurn(ctx, s, belongs); err != nil || whole {
		return err
	}
	// There were more changes than are looked through. What was said since the
	// last turn is read, and how much there is in all is counted.
	root := r.anchor.Root()
	if root == "" && r.req.Channel.Kind != earshot.KindDM {
		return nil
	}
	part := earshot.ThreadOf(root)
	if root == "" {
		part = earshot.Whole()
	}
	return r.count(ctx, root, part)
}

// sinceProcessed keeps what was said or edited in the conversation since a caller that
// keeps the session has processed it, as far as it is among the newest maxPast.
func (r *reader) sinceProcessed(ctx context.Context, belongs func(earshot.Message) bool) error {
	root, since := r.anchor.Root(), r.state.Processed
	if root == "" && r.anchor.ReplyTo != "" {
		return nil // conversation has read the whole tree of reply references
	}
	list, err := r.store.Newest(ctx, r.scope, earshot.ThreadOf(root), r.end, maxPast)
	if err != nil {
		return err
	}
	for _, m := range list {
		if belongs(m) && max(m.Time, m.Edited) > since {
			r.keep(m)
		}
	}
	if len(list) < maxPast || list[0].Time <= since || root == "" && r.req.Channel.Kind != earshot.KindDM {
		return nil
	}
	part := earshot.ThreadOf(root)
	all, err := r.store.Count(ctx, r.scope, part, r.end)
	if err != nil {
		return err
	}
	before, err := r.store.Count(ctx, r.scope, part, earshot.Position{Time: since + 1})
	r.stored = append(r.stored, assemble.StoredCount{Thread: root, Count: all.Count - before.Count, From: since, To: all.To})
	return err
}

// maxShown bounds how many messages of a manifest are looked up. A session's
// budget holds fewer.
const maxShown = 2000

// keepRevised keeps what was shown and was edited or deleted since, wherever in the
// channel it stands.
func (r *reader) keepRevised(ctx context.Context) error {
	revision := make(map[earshot.MessageID]earshot.Time, len(r.state.Shown))
	var ids []earshot.MessageID
	for _, x := range r.state.Shown[max(0, len(r.state.Shown)-maxShown):] {
		if at, ok := revision[x.ID]; !ok || x.Revision > at {
			revision[x.ID] = x.Revision
		}
		ids = append(ids, x.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	read := r.store.ByID
	if st, ok := r.store.(reviser); ok {
		read = st.Revised
	}
	list, err := read(ctx, r.scope, ids...)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(list) {
		if m.Deleted || m.Edited != revision[m.ID] {
			r.keep(m)
		}
	}
	return nil
}

// changes keeps what became known since the cursor and belongs to the conversation, or
// is news of a message that was shown, such as a link's preview. Of the rest it keeps the newest that the policy's window looks
// at, but in the log form none, whose window shows only what was said since. whole
// is false when there were more changes than are looked through.
func (r *reader) changes(ctx context.Context, belongs func(earshot.Message) bool) (whole bool, err error) {
	var others []earshot.Message
	shown := r.shownIDs()
	seq := r.state.Cursor
	for looked := 0; looked < maxChanges && !whole; {
		list, err := r.store.Since(ctx, r.scope, seq, changePage)
		if err != nil {
			return false, err
		}
		for _, m := range list {
			if belongs(m) || shown[m.ID] {
				r.keep(m)
			} else if !r.isLog() && !m.Deleted && !isBlank(m) && m.Position().Compare(r.end) < 0 {
				others = append(others, m)
			}
		}
		whole = len(list) < changePage
		looked += len(list)
		if !whole {
			seq = list[len(list)-1].Seq
		}
	}
	for _, s := range r.req.Policy.Later {
		if s.Section.Source() == assemble.SourceChannel {
			slices.SortFunc(others, func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
			r.keep(others[:min(len(others), s.WithDefaults().Look)]...)
		}
	}
	return whole, nil
}

// sinceLastTurn keeps what stands after the last turn's anchor and belongs to
// the conversation, whenever it became known.
func (r *reader) sinceLastTurn(ctx context.Context, s assemble.Section, belongs func(earshot.Message) bool) error {
	if r.anchor.Root() == "" && r.anchor.ReplyTo != "" {
		return nil // conversation has read the whole tree of reply references
	}
	last := r.lastAnchor()
	if last.IsZero() {
		return nil
	}
	_, err := r.fill(ctx, earshot.ThreadOf(r.anchor.Root()), readQuota{messages: s.Messages, floor: last, counts: belongs})
	return err
}

// conversation returns a test for the messages of the anchor's conversation, as
// the assembler sees it. A tree of reply references is read for it: only so can
// it be known what belongs to the tree.
func (r *reader) conversation(ctx context.Context) (func(earshot.Message) bool, error) {
	extent := assemble.ExtentOf(r.req.Channel.Kind, &r.anchor)
	switch {
	case extent.Replies:
		tree, err := r.tree(ctx)
		return func(m earshot.Message) bool { return tree[m.ID] || tree[m.ReplyTo] }, err
	case extent.Thread == r.anchor.ID: // earlier turns may stand at the top level
		extent = assemble.Extent{TopLevel: true}
	}
	return func(m earshot.Message) bool { return extent.Holds(&m) }, nil
}

// tree keeps the anchor's tree of reply references, up to its top and then down by
// levels, and what replies to the answers of recorded turns, some of which may have
// no reference themselves. It returns the ids in it.
func (r *reader) tree(ctx context.Context) (map[earshot.MessageID]bool, error) {
	top, unknown := r.anchor, earshot.MessageID("")
	seen := map[earshot.MessageID]bool{top.ID: true}
	for range maxWalk {
		if top.ReplyTo == "" || seen[top.ReplyTo] {
			break
		}
		above, err := r.store.ByID(ctx, r.scope, top.ReplyTo)
		if err != nil {
			return nil, err
		}
		if len(above) == 0 {
			unknown = top.ReplyTo
			break
		}
		top = above[0]
		seen[top.ID] = true
		r.keep(top)
	}
	tree := map[earshot.MessageID]bool{top.ID: true, r.anchor.ID: true}
	level := []earshot.MessageID{top.ID}
	if unknown != "" { // what else replies to it is of the same tree
		tree[unknown] = true
		level = append(level, unknown)
	}
	for _, a := range r.state.Turns[max(0, len(r.state.Turns)-maxAnswers):] {
		for _, id := range a.Replies {
			if !tree[id] {
				tree[id] = true
				level = append(level, id)
			}
		}
	}
	for len(level) > 0 && len(tree) < maxTree {
		list, err := r.store.Replying(ctx, r.scope, r.end, level...)
		if err != nil {
			return nil, err
		}
		level = level[:0:0]
		for _, m := range list {
			if m.ID == top.ID {
				continue
			}
			r.keep(m)
			if !tree[m.ID] {
				tree[m.ID] = true
				level = append(level, m.ID)
			}
		}
	}
	return tree, nil
}
