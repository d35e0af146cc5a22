package gather

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// An AuthorStore is what [Named] and [NameAsker] need of an [earshot.Store].
type AuthorStore interface {
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
}

// Named gives messages the names that their authors go by now, in place: those of a
// profile that was told, which has an AsOf, also for what was said before; and where a
// message has no name, any that is stored. An author that is named so has an AsOf.
func Named(ctx context.Context, st AuthorStore, at earshot.Scope, list []earshot.Message) error {
	return named(ctx, st, at, list, true)
}

// named is [Named]; without all, messages that have a name keep it.
func named(ctx context.Context, st AuthorStore, at earshot.Scope, list []earshot.Message, all bool) error {
	ids := map[earshot.AuthorID]bool{}
	for _, m := range list {
		if m.Author.ID != "" && !m.Deleted && (all || m.Author.Name == "") {
			ids[m.Author.ID] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	which := make([]earshot.AuthorID, 0, len(ids))
	for id := range ids {
		which = append(which, id)
	}
	slices.Sort(which)
	stored, err := st.Authors(ctx, at.Platform, at.Workspace, which...)
	if err != nil {
		return err
	}
	profiles := map[earshot.AuthorID]earshot.Author{}
	for _, a := range stored {
		profiles[a.ID] = a
	}
	for i := range list {
		a := &list[i].Author
		p := profiles[a.ID]
		if p.Name == "" || list[i].Deleted || a.Name != "" && (p.AsOf == 0 || !all) {
			continue
		}
		a.Name, a.FullName, a.AsOf = p.Name, cmp.Or(p.FullName, a.FullName), max(p.AsOf, 1)
		if a.Kind == earshot.Human || a.Kind == "" {
			a.Kind = cmp.Or(p.Kind, a.Kind)
		}
	}
	return nil
}

// NameAsker sets the name of somebody who asks by an emoji, where the store has one.
func NameAsker(ctx context.Context, st AuthorStore, at earshot.Scope, by *assemble.EmojiAsker) error {
	list, err := st.Authors(ctx, at.Platform, at.Workspace, by.ID)
	for _, a := range list {
		by.Name = a.Name
	}
	return err
}
