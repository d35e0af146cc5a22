package gather

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
)

// reactorStore is a Store that knows who reacted.
type reactorStore interface {
	Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error)
}

// WithReactors puts beside the reactions of messages, in place, who is known to have
// given them, with the names of their profiles. A store that does not know it changes
// nothing.
func WithReactors(ctx context.Context, st AuthorStore, at earshot.Scope, list []earshot.Message) error {
	known, ok := st.(reactorStore)
	if !ok {
		return nil
	}
	var ids []earshot.MessageID
	for _, m := range list {
		if len(m.Reactions) > 0 && !m.Deleted {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	by, err := known.Reactors(ctx, at, ids...)
	if err != nil || len(by) == 0 {
		return err
	}
	who := map[earshot.AuthorID]bool{}
	for _, given := range by {
		for _, x := range given {
			who[x.ID] = true
		}
	}
	stored, err := st.Authors(ctx, at.Platform, at.Workspace, slices.Sorted(maps.Keys(who))...)
	if err != nil {
		return err
	}
	names := make(map[earshot.AuthorID]string, len(stored))
	for _, a := range stored {
		names[a.ID] = a.Name
	}
	for i, m := range list {
		given := by[m.ID]
		if len(given) == 0 {
			continue
		}
		list[i].Reactors = &earshot.Reactors{List: slices.Clone(given)}
		for j, x := range given {
			list[i].Reactors.List[j].Name = names[x.ID]
		}
	}
	return nil
}
