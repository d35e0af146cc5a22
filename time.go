package earshot

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Time is an instant in microseconds since 1970-01-01 00:00 UTC. The zero
// Time means "none": never edited, no bound.
type Time int64

// ErrTime is returned by [ParseTime] for a text that is no time.
var ErrTime = errors.New("not an RFC 3339 time or a Slack ts")

// A Clock is a store that has a clock of its own, as a database on another machine has.
// Whoever writes times into the store takes them from there, so that replicas agree
// about them: the clocks of their machines may differ, and jump.
type Clock interface {
	// Now returns the time by the store's clock. It does not ask the store each time,
	// and is safe for concurrent use.
	Now() time.Time
}

// ClockOf returns the clock of a store that has one, else machine.
func ClockOf(store any, machine func() time.Time) func() time.Time {
	if c, ok := store.(Clock); ok {
		return c.Now
	}
	return machine
}

// TimeOf returns t to the microsecond, rounded down.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// UTC returns t as a time.Time in UTC.
func (t Time) UTC() time.Time { return time.UnixMicro(int64(t)).UTC() }

// IsZero reports whether t is the zero Time.
func (t Time) IsZero() bool { return t == 0 }

// String writes t as RFC 3339 in UTC with up to six decimals, and the zero
// Time as "". It is the form of every time in Earshot's JSON.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// TS returns t as a Slack ts: seconds, a dot, six decimals.
func (t Time) TS() string { return fmt.Sprintf("%d.%06d", t/1e6, t%1e6) }

// ParseTime reads an RFC 3339 time with any offset and precision, or a Slack
// ts such as "1700000005.000100" (seconds, a dot, up to six decimals). What is
// finer than a microsecond is dropped. The error is [ErrTime].
func ParseTime(s string) (Time, error) {
	if t, ok := parseTS(s); ok {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	if err != nil || strings.ContainsRune(s, ',') || t.Year() < 1 || t.Year() > 9999 {
		return 0, ErrTime
	}
	return TimeOf(t), nil
}

// parseTS reads a Slack ts. Slack writes ten digits, a dot and six digits;
// fewer are accepted.
func parseTS(s string) (Time, bool) {
	whole, frac, ok := strings.Cut(s, ".")
	if !ok || len(whole) == 0 || len(whole) > 11 || len(frac) == 0 || len(frac) > 6 {
		return 0, false
	}
	var v int64
	for _, c := range []byte(whole + frac + "000000"[len(frac):]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return Time(v), true
}

// A Position is a message's place in its channel: by time, then by id as
// bytes. It is the order of what was said; the order in which it became known
// is [Message.Seq].
type Position struct {
	Time Time
	ID   MessageID
}

// Compare returns -1, 0 or +1 as p stands before, at or after q.
func (p Position) Compare(q Position) int {
	switch {
	case p.Time < q.Time:
		return -1
	case p.Time > q.Time:
		return 1
	}
	return strings.Compare(string(p.ID), string(q.ID))
}

// IsZero reports whether p is the zero Position, which as a bound means none.
func (p Position) IsZero() bool { return p == Position{} }
