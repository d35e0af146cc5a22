package bot

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
)

// A searchedStore is a store with the search over it. The tools find the search
// there, so that a turn's recall and its tools use one index.
type searchedStore struct {
	Store
	*search.Searcher
}

// recallTime bounds the search of one turn. The first search in a channel reads
// all of it, and a later one continues where it stopped.
const recallTime = 3 * time.Second

// A recallSearch searches once for one turn, which may gather several times with the
// same query. When the search fails, the turn goes without recall, and the
// operator is told.
type recallSearch struct {
	*claimedTurn
	done bool
	hits []search.Hit
	err  error
}

// Search implements [gather.Finder].
func (r *recallSearch) Search(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error) {
	if r.done {
		return r.hits, r.err
	}
	within, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	r.hits, r.err = r.search.Search(within, s, q)
	if r.done = ctx.Err() == nil; r.done && r.err != nil {
		r.log.Warn("recall: the search failed", "err", r.err)
	}
	return r.hits, r.err
}
