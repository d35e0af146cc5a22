package discordmsg

import (
	"strconv"

	"github.com/earshot-ai/earshot"
)

// epoch is the first millisecond of 2015, from which snowflakes count
// (Discord's documentation, Snowflakes).
const epoch = 1420070400000

// maxID is the longest id: 64 bits have 20 digits, and a nonce 25 characters.
const maxID = 25

// TimeOf returns when the thing with a snowflake was made, to the millisecond. ok is
// false where id is none.
func TimeOf(id string) (earshot.Time, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil || n>>22 == 0 {
		return 0, false
	}
	return earshot.Time((int64(n>>22) + epoch) * 1000), true
}

// SnowflakeAt returns the smallest snowflake of a time, by which history can be asked
// for what was said from then on; "0" before 2015.
func SnowflakeAt(t earshot.Time) string {
	ms := int64(t)/1000 - epoch
	if ms <= 0 {
		return "0"
	}
	return strconv.FormatUint(uint64(ms)<<22, 10)
}

// timeOf returns a message's time: that of its id, else the timestamp.
func timeOf(id, timestamp string) (earshot.Time, bool) {
	if t, ok := TimeOf(id); ok {
		return t, true
	}
	t, err := earshot.ParseTime(timestamp)
	return t, err == nil
}

// IsID reports whether s can be an id of Discord.
func IsID(s string) bool { return isSnowflake(s) }

// isSnowflake reports whether s can be an id.
func isSnowflake(s string) bool {
	if s == "" || len(s) > 20 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// snowflake returns s where it can be an id, else "".
func snowflake(s string) string {
	if !isSnowflake(s) {
		return ""
	}
	return s
}
