package gather

import (
	"cmp"
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Reference is what a message points to: by its reply reference, or as the root
// of its thread.
type Reference struct {
	ID earshot.MessageID
	// Thread is the thread that the message with the reference stands in, "" at the
	// top level. On Discord a reply points to a message of its own thread.
	Thread earshot.MessageID
	// Root says that the reference is the thread itself, not a reply's.
	Root bool
}

// A ReferenceStore is what [Unknown] needs of [earshot.Messages].
type ReferenceStore interface {
	ByID
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
}

// maxUnknownLook bounds among how many of a channel's newest messages references
// are looked for, whatever a policy looks at.
const maxUnknownLook = 100

// Unknown returns up to limit references that a turn for the anchor would follow
// and whose message the store does not know, so that the platform can be asked for
// them: first the one that the anchor's chain of replies ends at, then those of the
// messages that the policy's windows look at, the newest first. A message that is
// known to be deleted is known. An isolated anchor has none.
//
// What a reference leads to may reply to something unknown in its turn, so Unknown
// is called again once the messages are recorded. Who learns that one is gone
// records it as deleted, and it is not asked for again.
//
// Unknown reads by ids, and the newest messages of the channel. Errors are the
// store's.
func Unknown(ctx context.Context, st ReferenceStore, c earshot.Channel, anchor earshot.Message, p assemble.Policy, limit int) ([]Reference, error) {
	if anchor.Isolated() || limit <= 0 {
		return nil, nil
	}
	u := unknownReferences{store: st, scope: c.Scope(), known: map[earshot.MessageID]bool{anchor.ID: true}, limit: limit}
	if err := u.chain(ctx, anchor); err != nil {
		return nil, err
	}
	look := 0
	for _, list := range [][]assemble.Section{p.First, p.Later} {
		for _, s := range list {
			if s.Section.Source() == assemble.SourceChannel {
				look = max(look, s.WithDefaults().Look)
			}
		}
	}
	if look = min(look, maxUnknownLook); look == 0 {
		return u.found, nil
	}
	newest, err := st.Newest(ctx, u.scope, earshot.Whole(), anchor.Position(), look)
	if err != nil {
		return nil, err
	}
	return u.found, u.among(ctx, newest)
}

// A unknownReferences collects the references whose messages a store does not know.
type unknownReferences struct {
	store ReferenceStore
	scope earshot.Scope
	known map[earshot.MessageID]bool // known to the store, or found already
	found []Reference
	limit int
}

// chain follows the references up from m, and finds the one that leads nowhere.
func (u *unknownReferences) chain(ctx context.Context, m earshot.Message) error {
	for range maxWalk {
		r, ok := referenceOf(m)
		if !ok || u.known[r.ID] {
			return nil
		}
		u.known[r.ID] = true
		above, err := u.store.ByID(ctx, u.scope, r.ID)
		if err != nil {
			return err
		}
		if len(above) == 0 {
			u.found = append(u.found, r)
			return nil
		}
		m = above[0]
	}
	return nil
}

// among finds references of a list in the order of Position.
func (u *unknownReferences) among(ctx context.Context, list []earshot.Message) error {
	for _, m := range list {
		u.known[m.ID] = true
	}
	var refs []Reference
	var ids []earshot.MessageID
	for i := len(list) - 1; i >= 0; i-- {
		if r, ok := referenceOf(list[i]); ok && !u.known[r.ID] && !list[i].Deleted {
			u.known[r.ID] = true
			refs, ids = append(refs, r), append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	stored, err := u.store.ByID(ctx, u.scope, ids...)
	if err != nil {
		return err
	}
	have := make(map[earshot.MessageID]bool, len(stored))
	for _, m := range stored {
		have[m.ID] = true
	}
	for _, r := range refs {
		if !have[r.ID] && len(u.found) < u.limit {
			u.found = append(u.found, r)
		}
	}
	return nil
}

// referenceOf returns what m points to; ok is false where it points to nothing, or
// to itself.
func referenceOf(m earshot.Message) (r Reference, ok bool) {
	id := m.ReplyTo
	if id == m.ID {
		id = ""
	}
	r = Reference{ID: cmp.Or(id, m.Root()), Thread: m.Root(), Root: id == ""}
	return r, r.ID != ""
}
