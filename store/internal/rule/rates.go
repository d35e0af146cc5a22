package rule

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A key's next is the moment after the last that was booked: the theoretical
// arrival time of the generic cell rate algorithm (ITU-T I.371). A call may be
// made up to Burst-1 times Every before its moment.

// CheckRate checks what BookCalls and BlockCalls are given, and returns the key
// as it is stored.
func CheckRate(key string, r earshot.Rate, calls int) (string, error) {
	key = Text(key)
	switch {
	case key == "":
		return key, fmt.Errorf("%w: no key", earshot.ErrInvalid)
	case len(key) > MaxID:
		return key, tooLong("key", len(key))
	case r.Every < time.Microsecond || r.Burst < 1:
		return key, fmt.Errorf("%w: a rate of %d at once and one in %s", earshot.ErrInvalid, r.Burst, r.Every)
	case calls < 1:
		return key, fmt.Errorf("%w: %d calls are booked", earshot.ErrInvalid, calls)
	}
	return key, nil
}

// Span is how much of a key's time calls take, in microseconds.
func Span(r earshot.Rate, calls int) int64 { return int64(calls) * r.Every.Microseconds() }

// Booked returns what was booked when a key's next moved to now on: next is the
// key's after the booking.
func Booked(r earshot.Rate, calls int, next earshot.Time) earshot.Booking {
	first := next - earshot.Time(Span(r, calls))
	return earshot.Booking{From: first - earshot.Time(Span(r, r.Burst-1)), Every: r.Every.Truncate(time.Microsecond), Calls: calls}
}

// Blocked returns what a key's next is at least, when no call may be made
// before a moment.
func Blocked(r earshot.Rate, until earshot.Time) earshot.Time {
	return until + earshot.Time(Span(r, r.Burst-1))
}
