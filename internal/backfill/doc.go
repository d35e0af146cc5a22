// Package backfill brings what was said when nobody listened into the store.
//
// The store comes first: where the agent has heard all of a thread, no platform
// is asked. Otherwise the root and the newest messages are fetched while the
// turn waits, and older ones in the background, within the platform's limits.
// What could not be had is coverage in the store, Missing or Stale, so that
// unknown never looks like empty.
//
// A platform offers its history as a [Source].
package backfill
