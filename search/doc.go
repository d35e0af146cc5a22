// Package search finds messages within one channel of a store.
//
// Start with [New], which makes a [Searcher] over a store, [Searcher.Search],
// which asks one channel, and [Query], which says what is looked for. A [Hit]
// is a message with its score and what the score is made of.
//
//	s := search.New(store, nil)
//	hits, err := s.Search(ctx, channel.Scope(), search.Query{Text: "why did the import hang", At: now})
//
// There is no search of several channels: a Searcher is given one channel with
// every query, and ranks by that channel's statistics alone.
//
// The ranking is in the package search/index, an index of one channel in
// memory. A store keeps the search terms of each message beside it; a Searcher
// builds a channel's index from them at the first search, brings it up to date
// before every further one, and drops the indexes that were not used for
// longest when all together grow too large. Nothing of it is on disk.
package search
