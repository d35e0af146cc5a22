package earshot

import (
	"net/url"
	"strings"
)

// ParsePermalink reads the address of a message, as people copy it:
//
//	https://team.slack.com/archives/C1/p1700000005000100?thread_ts=…
//	https://discord.com/channels/GUILD/CHANNEL/MESSAGE
//
// Slack writes a ts without its dot, behind a p; that alone is read too, and names no
// channel. ok is false for anything else.
func ParsePermalink(s string) (channel ChannelID, id MessageID, ok bool) {
	if id, ok := bareTS(s); ok {
		return "", id, true
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", "", false
	}
	part := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(part) == 3 && part[0] == "archives":
		id, ok := bareTS(part[2])
		return ChannelID(part[1]), id, ok
	case len(part) == 4 && part[0] == "channels":
		_, ok := snowflakeTime(MessageID(part[3]))
		return ChannelID(part[2]), MessageID(part[3]), ok
	}
	return "", "", false
}

// bareTS reads a ts as it stands in a permalink.
func bareTS(s string) (id MessageID, ok bool) {
	digits, ok := strings.CutPrefix(s, "p")
	if !ok || len(digits) < 8 || len(digits) > 20 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	cut := len(digits) - 6
	return MessageID(digits[:cut] + "." + digits[cut:]), true
}
