package rule

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// Claimable reports whether the lease can be claimed: there is a turn to
// answer, and nobody holds the lease at now, the claimer included. A store
// claims the line with the lowest Lowest.
func (x Line) Claimable(now earshot.Time, hold time.Duration) bool {
	return x.Lowest != 0 && (x.Until <= now || x.Until > Misdated(now, hold))
}

// skew is by how much clocks of replicas may differ, and more than a lease is
// kept back for.
const skew = 30 * time.Minute

// Misdated returns from when on the end of a lease lies too far ahead of now:
// the clock that it was written by has gone back since, and it is nobody's.
func Misdated(now earshot.Time, hold time.Duration) earshot.Time { return Until(now, hold+skew) }

// Claimed returns a line whose lease owner has taken. Each taking raises the
// fence.
func (x Line) Claimed(owner string, now earshot.Time, hold time.Duration) Line {
	x.Owner, x.Fence, x.Until = owner, x.Fence+1, Until(now, hold)
	return x
}

// Left reports whether the lease has a holder who did not give it back. Once it
// can be claimed, its holder has ended or hangs.
func (x Line) Left() bool { return x.Owner != "" }

// Claimed returns the lowest turn of a line that was just claimed; left is the
// line's Left from before. An open turn was not taken up by who left the lease.
// ClaimSQL is the same.
func (q Queued) Claimed(left bool, now earshot.Time) Queued {
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

// ClaimSQL sets in the row of a turn what [Queued.Claimed] sets, but for updated.
func ClaimSQL(left bool) string {
	const claimed = `state = CASE state WHEN 'open' THEN 'claimed' ELSE state END, `
	if !left {
		return claimed + `tries = tries + 1`
	}
	return claimed + `tries = tries + CASE state WHEN 'open' THEN 1 ELSE 0 END, ends = ends + CASE state WHEN 'open' THEN 0 ELSE 1 END`
}

// Renew decides about [earshot.Queue.Renew].
func Renew(x Line, lease earshot.Lease, now earshot.Time, hold time.Duration) (Line, error) {
	x.Until = Until(now, hold)
	return x, x.Held(lease)
}

// Release decides about [earshot.Queue.Release]; ok is false when the lease is
// another's by now, and theirs to give back. The conversation's unfinished turns
// become what [Queued.Released] returns.
func Release(x Line, lease earshot.Lease, notBefore earshot.Time) (_ Line, ok bool) {
	ok = x.Held(lease) == nil
	x.Owner, x.Until = "", notBefore
	return x, ok
}

// Released returns a turn whose lease was given back. ReleaseSQL is the same for
// the turns that ReleasedSQL selects; the others stay as they are.
func (q Queued) Released() Queued {
	if q.State == earshot.TurnClaimed {
		q.State = earshot.TurnOpen
	}
	return q
}

// What [Queued.Released] does to a row, and to which.
const (
	ReleaseSQL  = `state = 'open'`
	ReleasedSQL = `state = 'claimed'`
)
