// Package backfill brings what was said when nobody listened into the store.
//
// The store comes first: where the agent has heard all of a thread, no platform
// is asked. Otherwise the root and the newest messages are fetched while the
// turn waits, and older ones in the background, within the platform's limits.
// What could not be had is coverage in the store, Missing or Stale, so that
// unknown never looks like empty. docs/decisions/057 says what is concluded
// from history, and what not.
//
// Start with [Source], which a platform implements, [Open], [Filler.Fill] for a
// turn and [Filler.Missed] for a time without a connection:
//
//	f, err := backfill.Open(ctx, backfill.Options{Store: st, Source: p, Platform: earshot.Slack, Workspace: w, Handle: handle})
//	go f.Run(ctx)
//	err = f.Fill(ctx, channel, anchor, anchor.Root())
package backfill
