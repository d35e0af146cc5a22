package slackapi

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
)

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

func (w *window) take(_, at time.Time) {
	w.at = append(w.at, at)
	slices.SortFunc(w.at, time.Time.Compare)
}

func (w *window) free(now time.Time) (calls, most int) {
	w.forget(now)
	return max(0, w.most-len(w.at)), w.most
}

// forget drops the calls that count no more.
func (w *window) forget(now time.Time) {
	kept := 0
	for kept < len(w.at) && now.Sub(w.at[kept]) >= time.Minute {
		kept++
	}
	w.at = append(w.at[:0], w.at[kept:]...)
}

// tokens allow a steady rate and a burst.
type tokens struct{ *rate.Limiter }

func (t tokens) next(from time.Time) time.Time {
	missing := 1 - t.TokensAt(from)
	if missing <= 0 {
		return from
	}
	return from.Add(time.Duration(missing / float64(t.Limit()) * float64(time.Second)))
}

func (t tokens) take(from, _ time.Time) { t.ReserveN(from, 1) }

func (t tokens) free(now time.Time) (calls, most int) {
	return max(0, int(t.TokensAt(now))), t.Burst()
}
