package contexts

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/search"
)

// recallTime bounds the search for one context, as the bot's does. The first search
// in a channel reads all of it, and a later one continues where it stopped.
const recallTime = 3 * time.Second

// A recallSearch searches once for one context, which may be gathered twice with the same
// query. When the search fails, the context is made without it.
type recallSearch struct {
	maker *Maker
	done  bool
	hits  []search.Hit
	err   error
}

// Finder returns what searches for one context.
func (m *Maker) Finder() gather.Finder { return &recallSearch{maker: m} }

// Search implements [gather.Finder].
func (r *recallSearch) Search(ctx context.Context, at earshot.Scope, q search.Query) ([]search.Hit, error) {
	if r.done {
		return r.hits, r.err
	}
	within, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	r.hits, r.err = r.maker.searcher.Search(within, at, q)
	if r.done = ctx.Err() == nil; r.done && r.err != nil {
		r.maker.options.Log.WarnContext(ctx, "recall: the search failed", "platform", at.Platform, "workspace", at.Workspace, "channel", at.Channel, "err", r.err)
	}
	return r.hits, r.err
}
