// Package backfill loads into the store what was said when the agent did not
// listen.
//
// The store comes first: where the agent has heard all of a thread, no platform
// is asked. Otherwise the root and the newest messages are fetched while the
// turn waits, and older ones in the background, within the platform's rate
// limits. What could not be loaded is recorded as coverage, Missing or Stale, so
// that unknown never looks like empty. docs/decisions/057 says what is concluded
// from history, and what not.
//
// Start with [Source], which a platform implements, [Open], [Filler.Fill] for a
// turn and [Filler.Missed] for a time without a connection:
//
//	f, err := backfill.Open(ctx, backfill.Options{Store: st, Source: p, Platform: earshot.Slack, Workspace: w, Handle: handle})
//	go f.Run(ctx)
//	err = f.Fill(ctx, channel, anchor, anchor.Root())
//
// For who changes the package: a timeline is what is fetched together, a thread
// or a channel's top level. fill.go has the steps of one fill:
//
//	channels.go    the timelines in memory, loaded from the store
//	next.go        which window is fetched next, for a turn or in the background
//	rate.go        when the platform may be asked
//	page.go        one request, and what is known by it
//	record.go      the page's messages into the store, deletions included
//	threads.go     which threads a page of the top level shows to have changed
//	save.go        the coverage into the store
//
// tools.go does the same for a tool's request, worker.go and queue.go in the
// background, gaps.go when events were missed. The module's internal/coverage is
// the pure part: sets of time, what is known, what to ask for.
//
// Unstable: what this package exports may change with any version.
package backfill
