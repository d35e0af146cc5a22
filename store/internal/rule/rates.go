package rule

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// For each key a store keeps "next": the moment after the last booked one, which
// is the theoretical arrival time of the generic cell rate algorithm (ITU-T
// I.371). A call may be made up to (Burst-1)*Every before its moment.

// CheckRate checks the arguments of BookCalls and BlockCalls, and returns the
// normalised key.
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

// NewBooking returns the booking; next is the key's next moment after it.
func NewBooking(r earshot.Rate, calls int, next earshot.Time) earshot.Booking {
	first := next - earshot.Time(Span(r, calls))
	return earshot.Booking{From: first - earshot.Time(Span(r, r.Burst-1)), Every: r.Every.Truncate(time.Microsecond), Calls: calls}
}

// BlockedUntil returns the least value of a key's next moment that lets no call be
// made before until.
func BlockedUntil(r earshot.Rate, until earshot.Time) earshot.Time {
	return until + earshot.Time(Span(r, r.Burst-1))
}
