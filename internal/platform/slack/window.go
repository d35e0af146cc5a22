package slack

import "time"

// A window allows a number of calls in any minute, however close together they
// are. It is not safe for concurrent use.
type window struct {
	most int
	at   []time.Time // when calls were or are to be made, in order
}

// next returns when a further call may be made, at the earliest from then on.
func (w *window) next(from time.Time) time.Time {
	if w.forget(from); len(w.at) < w.most {
		return from
	}
	if at := w.at[len(w.at)-w.most].Add(time.Minute); at.After(from) {
		return at
	}
	return from
}

// free returns how many calls may be made now.
func (w *window) free(now time.Time) int {
	w.forget(now)
	return max(0, w.most-len(w.at))
}

// forget drops the calls that count no more.
func (w *window) forget(now time.Time) {
	kept := 0
	for kept < len(w.at) && now.Sub(w.at[kept]) >= time.Minute {
		kept++
	}
	w.at = append(w.at[:0], w.at[kept:]...)
}
