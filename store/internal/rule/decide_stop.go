package rule

import "github.com/earshot-ai/earshot"

// CheckStop normalises who stops a turn.
func CheckStop(by earshot.AuthorID) (earshot.AuthorID, error) {
	if by = text(by); len(by) > MaxID {
		return by, tooLong("who stops", len(by))
	}
	return by, nil
}

// DecideStop decides about [earshot.Stopper.StopTurn]. Open approvals stay open: who
// answers the turn withdraws them by its end.
func DecideStop(q StoredTurn, by earshot.AuthorID, now earshot.Time) (Change, error) {
	if err := q.checkUnfinished(); err != nil {
		return Change{}, err
	}
	if q.Stopped != 0 {
		return Change{}, nil
	}
	q.Stopped, q.StoppedBy = max(now, 1), by
	var c Change
	if q.State == earshot.TurnWaiting {
		c.wake(q, now)
	} else {
		q.Updated = now
		c.Turns = []StoredTurn{q}
	}
	return c, nil
}

// WithoutStopper returns a turn after a person was erased, with what they did up to a
// time.
func WithoutStopper(q StoredTurn, id earshot.AuthorID, until earshot.Time) StoredTurn {
	if q.StoppedBy == id && q.Stopped <= until {
		q.StoppedBy = ""
	}
	return q
}
