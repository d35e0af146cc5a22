// Package coverage is what is known of a channel's history, and what to ask for
// next. It is pure: times and pages are passed in, nothing is fetched or stored
// here, and nothing is locked.
//
//   - [Spans]: sets of time stretches.
//   - [Heard]: when the agent received a channel's events, and which gaps there are.
//   - [Timeline]: what is known of one thread or of the channel's top level. It
//     takes in pages ([Timeline.Learn]), names what is missing
//     ([Timeline.NewestMissing]), the window to ask for ([Timeline.Window]) and
//     what the store is to keep ([Timeline.Entries]).
//   - [AddCoverage], [Begin]: the stored entries after somebody has said what is known, or
//     has begun to tell a channel's events.
//   - [OfThread]: what the entries of a channel leave open of one thread.
//   - estimate.go: how long a window must be to hold the newest page of a thread
//     whose pages begin with the oldest.
package coverage
