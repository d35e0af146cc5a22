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
	mine, err := r.conversation(ctx)
	if err != nil {
		return err
	}
	if err := r.manifest(ctx); err != nil {
		return err
	}
	whole, err := r.changes(ctx, mine)
	if err != nil {
		return err
	}
	if err := r.said(ctx, s, mine); err != nil || whole {
		return err
	}
	// Too much has happened in the channel to look through all of it: what was
	// said is read, and how much more there is counted.
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

// maxShown bounds what is read of a manifest. A session's budget holds fewer
// messages.
const maxShown = 2000

// revised is a store that can leave out what was never edited or deleted, which
// is nearly all that a manifest holds.
type revised interface {
	Revised(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// manifest looks up what was shown. It keeps what is edited or deleted since,
// wherever in the channel it stands.
func (r *reader) manifest(ctx context.Context) error {
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
	if st, able := r.store.(revised); able {
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

// changes keeps what became known since the cursor and is wanted, and of the
// rest the newest that the policy's window looks at; where the window shows
// only what was said since, none of it. whole is false when there
// was more than can be looked through.
func (r *reader) changes(ctx context.Context, want func(earshot.Message) bool) (whole bool, err error) {
	var others []earshot.Message
	seq := r.state.Cursor
	for looked := 0; looked < maxChanges && !whole; {
		list, err := r.store.Since(ctx, r.scope, seq, changePage)
		if err != nil {
			return false, err
		}
		for _, m := range list {
			if want(m) {
				r.keep(m)
			} else if !r.isLog() && !m.Deleted && !blank(m) && m.Position().Compare(r.anchor.Position()) < 0 {
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
		if s.Section == assemble.Window {
			slices.SortFunc(others, func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
			r.keep(others[:min(len(others), limits(s).Look)]...)
		}
	}
	return whole, nil
}

// said keeps what stands after the last turn's anchor, whenever it became
// known.
func (r *reader) said(ctx context.Context, s assemble.Section, mine func(earshot.Message) bool) error {
	if r.anchor.Root() == "" && r.anchor.ReplyTo != "" {
		return nil // a tree of references is read whole by conversation
	}
	last := r.lastAnchor()
	if last.IsZero() {
		return nil
	}
	_, err := r.fill(ctx, earshot.ThreadOf(r.anchor.Root()), want{messages: s.Messages, floor: last, counts: mine})
	return err
}

// conversation returns a test for the messages that belong together with the
// anchor, as the assembler sees it. Where that is a tree of reply references
// the tree is read, because only reading it tells what belongs to it.
func (r *reader) conversation(ctx context.Context) (func(earshot.Message) bool, error) {
	root := r.anchor.Root()
	switch {
	case root != "":
		return func(m earshot.Message) bool { return m.ID == root || m.Root() == root }, nil
	case r.anchor.ReplyTo != "" && r.req.Channel.Kind != earshot.KindDM:
		tree, err := r.tree(ctx)
		return func(m earshot.Message) bool { return tree[m.ID] || tree[m.ReplyTo] }, err
	}
	return func(m earshot.Message) bool { return m.Root() == "" }, nil
}

// tree keeps the anchor's tree of reply references: up to its top, then down
// by levels.
func (r *reader) tree(ctx context.Context) (map[earshot.MessageID]bool, error) {
	top := r.anchor
	seen := map[earshot.MessageID]bool{top.ID: true}
	for range maxWalk {
		if top.ReplyTo == "" || seen[top.ReplyTo] {
			break
		}
		up, err := r.store.ByID(ctx, r.scope, top.ReplyTo)
		if err != nil {
			return nil, err
		}
		if len(up) == 0 {
			break
		}
		top = up[0]
		seen[top.ID] = true
		r.keep(top)
	}
	tree := map[earshot.MessageID]bool{top.ID: true, r.anchor.ID: true}
	level := []earshot.MessageID{top.ID}
	for len(level) > 0 && len(tree) < maxTree {
		list, err := r.store.Replying(ctx, r.scope, r.anchor.Position(), level...)
		if err != nil {
			return nil, err
		}
		level = level[:0:0]
		for _, m := range list {
			if tree[m.ID] && m.ID != r.anchor.ID || m.ID == top.ID {
				continue
			}
			if !tree[m.ID] {
				level = append(level, m.ID)
			}
			tree[m.ID] = true
			r.keep(m)
		}
	}
	return tree, nil
}
