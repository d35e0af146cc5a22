package earshot

import (
	"context"
	"time"
)

// A Rate is how often something may be done: once in each Every, and after a
// pause up to Burst times at once.
type Rate struct {
	Every time.Duration // more than 0
	Burst int           // at least 1
}

// A Booking is a number of calls that may be made: the first at From or later,
// each further one Every later than the one before. The first Burst calls after
// a pause have their moments in the past.
type Booking struct {
	From  Time
	Every time.Duration
	Calls int
}

// Rates share rate limits among the replicas of one store. A replica books
// several calls at once, so that most calls cost no write; what it does not
// use is lost.
type Rates interface {
	// BookCalls books the next calls under a key. Moments are handed out once,
	// in order, by all replicas' clocks.
	BookCalls(ctx context.Context, key string, r Rate, calls int, now Time) (Booking, error)
	// BlockCalls says that no call under a key may be made before a moment. What
	// was booked before is not taken back.
	BlockCalls(ctx context.Context, key string, r Rate, until Time) error
	// PruneRates forgets the keys of which everything that was booked lies before
	// a moment, and returns how many.
	PruneRates(ctx context.Context, before Time) (int, error)
}
