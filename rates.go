package earshot

import (
	"context"
	"time"
)

// A Rate is a limit for calls: one in each Every, and after a pause up to Burst at
// once.
type Rate struct {
	Every time.Duration // more than 0
	Burst int           // at least 1
}

// A Booking permits a number of calls: the first at From or later, and each further
// one Every later than the one before. After a pause the times of the first Burst
// calls lie in the past.
type Booking struct {
	From  Time
	Every time.Duration
	Calls int
}

// Rates share rate limits among the replicas of one store. A replica books several
// calls at once, so that most calls need no write. Booked calls that it does not
// make are lost.
type Rates interface {
	// BookCalls books the next calls under a key. Each time is given out once, to one
	// replica, in order. It trusts the caller's now, which is to be the store's
	// ([Clock]): a caller whose clock is ahead delays the others.
	BookCalls(ctx context.Context, key string, r Rate, calls int, now Time) (Booking, error)
	// BlockCalls forbids calls under a key before a time. Calls that were booked
	// already are not taken back.
	BlockCalls(ctx context.Context, key string, r Rate, until Time) error
	// PruneRates deletes the keys whose last booked call lies before a time, and
	// returns how many.
	PruneRates(ctx context.Context, before Time) (int, error)
}
