package rule

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// Claimable reports whether the lease can be claimed: there is a turn to answer,
// and nobody holds the lease at now, not even the claimer itself. Of several an
// engine claims the one with the smallest Lowest.
func (x StoredLease) Claimable(now earshot.Time, hold time.Duration) bool {
	return x.Lowest != 0 && (x.Until <= now || x.Until > MisdatedBound(now, hold))
}

// skew is how far the clocks of replicas may differ. No lease is kept back
// (Release's notBefore) for as long.
const skew = 30 * time.Minute

// MisdatedBound returns the bound beyond which the end of a lease cannot be right: it
// was written by a clock that has been set back since. Such a lease counts as
// free.
func MisdatedBound(now earshot.Time, hold time.Duration) earshot.Time {
	return LeaseEnd(now, hold+skew)
}

// Claimed returns the lease after owner has claimed it. Each claim raises the
// fence by one.
func (x StoredLease) Claimed(owner string, now earshot.Time, hold time.Duration) StoredLease {
	x.Owner, x.Fence, x.Until = owner, x.Fence+1, LeaseEnd(now, hold)
	return x
}

// Left reports whether the last holder did not give the lease back. Where such a
// lease can be claimed, its holder has crashed or hangs.
func (x StoredLease) Left() bool { return x.Owner != "" }

// Claimed returns the lowest turn of a conversation that was just claimed; left
// is Left of its lease before the claim. A claim counts in Tries, or in Ends if
// the last holder crashed while it answered the turn: a turn that is still open
// was not being answered. ClaimSQL does the same.
func (q StoredTurn) Claimed(left bool, now earshot.Time) StoredTurn {
	if left && q.State != earshot.TurnOpen {
		q.Ends++
	} else {
		q.Tries++
	}
	if q.State == earshot.TurnOpen {
		q.State = earshot.TurnClaimed
	}
	q.Updated = now
	return q
}

// ClaimSQL sets in the row of a turn what [StoredTurn.Claimed] sets, but for updated.
func ClaimSQL(left bool) string {
	const claimed = `state = CASE state WHEN 'open' THEN 'claimed' ELSE state END, `
	if !left {
		return claimed + `tries = tries + 1`
	}
	return claimed + `tries = tries + CASE state WHEN 'open' THEN 1 ELSE 0 END, ends = ends + CASE state WHEN 'open' THEN 0 ELSE 1 END`
}

// DecideRenew decides about [earshot.Queue.Renew].
func DecideRenew(x StoredLease, lease earshot.Lease, now earshot.Time, hold time.Duration) (StoredLease, error) {
	x.Until = LeaseEnd(now, hold)
	return x, x.Check(lease)
}

// DecideRelease decides about [earshot.Queue.Release]. ok is false when somebody else
// has the lease by now; then nothing is written. Otherwise the conversation's
// unfinished turns become what [StoredTurn.Released] returns, and the first in line is
// looked up again.
func DecideRelease(x StoredLease, lease earshot.Lease, notBefore earshot.Time) (_ StoredLease, ok bool) {
	ok = x.Check(lease) == nil
	x.Owner, x.Until = "", notBefore
	return x, ok
}

// Released returns a turn after its lease was given back. In SQL, ReleaseSQL is
// set in the rows that ReleasedSQL selects; other rows do not change.
func (q StoredTurn) Released() StoredTurn {
	if q.State == earshot.TurnClaimed {
		q.State = earshot.TurnOpen
	}
	return q
}

// What [StoredTurn.Released] does to a row, and to which.
const (
	ReleaseSQL  = `state = 'open'`
	ReleasedSQL = `state = 'claimed'`
)
