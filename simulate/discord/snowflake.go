package discord

import (
	"strconv"
	"time"
)

// epoch is the first millisecond of 2015, from which snowflakes count.
const epoch = 1420070400000

// Snowflake returns the least id of a moment, for example to page from it.
func Snowflake(t time.Time) string {
	return strconv.FormatInt(max(t.UnixMilli()-epoch, 0)<<22, 10)
}

// Time returns when what has an id was made, to the millisecond; the zero time for
// what is no id.
func Time(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n>>22 + epoch).UTC()
}

// newID makes an id of this moment. Each is greater than those before, also where the
// clock stands still or goes back.
func (s *Discord) newID() string { return s.idAt(s.o.Now()) }

func (s *Discord) idAt(t time.Time) string {
	ms := t.UnixMilli() - epoch
	if ms > s.lastTime {
		s.lastTime, s.lastIncr = ms, 0
	} else if s.lastIncr++; s.lastIncr >= 1<<12 {
		s.lastTime, s.lastIncr = s.lastTime+1, 0
	}
	return strconv.FormatInt(s.lastTime<<22|int64(s.o.Seed&0x3ff)<<12|s.lastIncr, 10)
}

// number is an id as a number, 0 for what is none.
func number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// stamp writes a time as Discord does.
func stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000-07:00")
}
