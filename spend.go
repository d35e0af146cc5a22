package earshot

import (
	"context"
	"time"
)

// A Spend is what models have used: tokens of all kinds, and their cost in millionths of
// the currency of the prices.
type Spend struct {
	Tokens int64
	Cost   int64
}

// A Purse is whose use of models is counted: everybody's (the zero Purse), a workspace's, a
// channel's, or a person's in a workspace.
type Purse struct {
	Platform  Platform
	Workspace WorkspaceID
	Channel   ChannelID
	Author    AuthorID
}

// A PurseLimit is a purse with the most that is used from it on one day; in Most 0 is no
// limit.
type PurseLimit struct {
	Purse Purse
	Most  Spend
}

// A PurseSum is what is used from a purse on one day, with what turns under way may use yet.
type PurseSum struct {
	Day   Time // when it began, see [DayOf]
	Purse Purse
	Spend Spend
}

// A SpendChange is what a turn uses.
type SpendChange struct {
	Turn TurnID // holds Held; 0: nothing is held
	Day  Time   // any moment of the day on which it is used
	Used Spend  // comes on top of what was used before
	// Held is what the turn may use yet, in place of what it has held so far: it counts as
	// used until the turn says otherwise, or the day has passed.
	Held   Spend
	Purses []PurseLimit // from which it is used, each once; always the same ones for a turn
	// Bounded refuses the change where a purse would have more than its limit.
	Bounded bool
}

// A SpendResult is what has come of a change.
type SpendResult struct {
	Sums []PurseSum // of the change's purses, in their order: after it, or as they are where it was refused
	Full []Purse    // would have more than their limit: nothing was changed
	Near []Purse    // have come to [NearLimit] of their limit, for the first time on this day
}

// NearLimit is at which share of a day's limit somebody is told, in hundredths.
const NearLimit = 80

// SpendKept is how long sums are kept.
const SpendKept = 3 * 24 * time.Hour

// DayOf returns when the day of a moment began: days are those of UTC.
func DayOf(t Time) Time {
	const day = Time(24 * time.Hour / time.Microsecond)
	return t - ((t%day)+day)%day
}

// Over reports whether a is more than a limit allows.
func (s Spend) Over(most Spend) bool {
	return most.Tokens > 0 && s.Tokens > most.Tokens || most.Cost > 0 && s.Cost > most.Cost
}

// Share returns how much of a limit is used, in hundredths, rounded down; 0 where there is
// none.
func (s Spend) Share(most Spend) int {
	share := 0
	if most.Tokens > 0 {
		share = int(float64(s.Tokens) / float64(most.Tokens) * 100)
	}
	if most.Cost > 0 {
		share = max(share, int(float64(s.Cost)/float64(most.Cost)*100))
	}
	return share
}

// Plus returns the sum of two.
func (s Spend) Plus(x Spend) Spend { return Spend{s.Tokens + x.Tokens, s.Cost + x.Cost} }

// Spends counts what models use by day, for all replicas of one store.
type Spends interface {
	// Spend changes the sums of purses, in one transaction, or none of them. Replicas that
	// do so at once see each other's changes. ErrInvalid for a negative amount, or for one
	// that no model can use. It does not wait for the disk: a power cut may undo the changes
	// of the last moments.
	Spend(ctx context.Context, c SpendChange) (SpendResult, error)
	// Spent returns the sums of a day, given by any moment of it, by their purses: everybody's
	// first.
	Spent(ctx context.Context, day Time) ([]PurseSum, error)
	// PruneSpends deletes the sums of days that began before a time, and what turns held on
	// them, and returns how many sums.
	PruneSpends(ctx context.Context, before Time) (int, error)
}
