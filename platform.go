package earshot

import "strconv"

// A Platform is where a workspace lives.
type Platform string

// The platforms that Earshot has adapters for. Local is a real platform without a
// network. An Input may name any other platform.
const (
	Slack   Platform = "slack"
	Discord Platform = "discord"
	Local   Platform = "local"
)

// A PlatformInfo is what is known of a platform where its adapter is not at hand. Of a
// platform without an adapter only Title is set.
type PlatformInfo struct {
	// Title is its name in a sentence, such as "Slack".
	Title string
	// References says that people answer a message by referring to it, and not in a
	// thread below it.
	References bool
	// TimeOf reads from the id of a message when it was sent; ok is false where the id
	// does not tell. It is nil where no id does.
	TimeOf func(MessageID) (at Time, ok bool)
}

// platforms has a row for each platform with an adapter.
var platforms = map[Platform]PlatformInfo{
	Slack:   {Title: "Slack", TimeOf: func(id MessageID) (Time, bool) { return parseTS(string(id)) }},
	Discord: {Title: "Discord", References: true, TimeOf: snowflakeTime},
	Local:   {Title: "local"},
}

// Info returns what is known of a platform.
func (p Platform) Info() PlatformInfo {
	if info, ok := platforms[p]; ok {
		return info
	}
	return PlatformInfo{Title: string(p)}
}

// Known reports whether Earshot has an adapter for the platform.
func (p Platform) Known() bool {
	_, ok := platforms[p]
	return ok
}

const (
	// snowflakeEpoch is Discord's first millisecond.
	// https://docs.discord.com/developers/reference#snowflakes
	snowflakeEpoch = 1420070400000
	// snowflakeDigits is how many digits Discord's ids have at least, since its first
	// year. A shorter number is somebody else's id.
	snowflakeDigits = 17
)

// snowflakeTime returns when a message of Discord was sent, to the millisecond.
func snowflakeTime(id MessageID) (Time, bool) {
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil || len(id) < snowflakeDigits {
		return 0, false
	}
	return Time((int64(n>>22) + snowflakeEpoch) * 1000), true
}
