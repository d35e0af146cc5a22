package discordmsg

import (
	"strconv"
	"time"

	"github.com/earshot-ai/earshot"
)

// callLength returns how long a call lasted, in whole minutes, or "" while it lasts and where
// that is not told (Message Call Object).
func callLength(v value) string {
	ended, err := earshot.ParseTime(v.Get("call").At("ended_timestamp"))
	if err != nil {
		return ""
	}
	began, ok := timeOf(v.At("id"), v.At("timestamp"))
	length := time.Duration(ended-began) * time.Microsecond
	if !ok || length < 0 {
		return ""
	}
	switch n := int64(length / time.Minute); n {
	case 0:
		return "less than a minute"
	case 1:
		return "1 minute"
	default:
		return strconv.FormatInt(n, 10) + " minutes"
	}
}
