package bot

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/searcher"
)

// searched is a store with the search over it, which tools then use: what a
// turn recalls and what its model looks for come from one index.
type searched struct {
	Store
	*searcher.Searcher
}

// recallTime bounds the search for what a turn recalls. A channel's first search
// reads all of it, and goes on from there the next time.
const recallTime = 3 * time.Second

// A finder searches for one turn, once: a turn gathers again when it knows its
// files, or when its session ends, and asks for the same. Where the search fails
// the turn goes without recall, and the operator is told.
type finder struct {
	*turn
	done bool
	hits []searcher.Hit
	err  error
}

func (f *finder) Search(ctx context.Context, s earshot.Scope, q search.Query) ([]searcher.Hit, error) {
	if f.done {
		return f.hits, f.err
	}
	within, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	f.hits, f.err = f.search.Search(within, s, q)
	if f.done = ctx.Err() == nil; f.done && f.err != nil {
		f.Log.Warn("recall: the search failed", append(about(f.lease.Conversation), "turn", f.queued.ID, "err", f.err)...)
	}
	return f.hits, f.err
}
