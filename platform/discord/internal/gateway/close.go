package gateway

import "fmt"

// Codes with which Discord closes a connection (Opcodes and Status Codes, Gateway
// Close Event Codes).
const (
	authenticationFailed = 4004
	invalidSequence      = 4007
	sessionTimedOut      = 4009
	invalidShard         = 4010
	shardingRequired     = 4011
	invalidVersion       = 4012
	invalidIntents       = 4013
	disallowedIntents    = 4014
)

// leaving is the code with which a shard closes a connection: after 1000 or 1001
// Discord would end the session too.
const leaving = 4000

// A CloseError is Discord's refusal of a shard for which connecting again is no
// remedy.
type CloseError struct {
	Code int // from 4000 on
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("discord closed the gateway connection with code %d: %s", e.Code, e.remedy())
}

func (e *CloseError) remedy() string {
	switch e.Code {
	case authenticationFailed:
		return "the token is not valid: check DISCORD_BOT_TOKEN, or reset the token on the application's page Bot"
	case invalidShard:
		return "discord.shards and discord.shard_ids do not fit together: ids count from 0 and are below the number of shards"
	case shardingRequired:
		return "the bot is in too many servers for so few shards: leave out discord.shards, so that Discord's own number is used"
	case invalidVersion:
		return "Discord no longer speaks version 10 of the gateway: a newer Earshot is needed"
	case invalidIntents:
		return "it does not know the intents that were asked for: a newer Earshot is needed"
	case disallowedIntents:
		return "an intent is not allowed: switch on the privileged intents that docs/discord.md names, on the application's page Bot"
	}
	return "going on is useless"
}

// isFatalCode reports whether a close code means that connecting again is no remedy.
func isFatalCode(code int) bool {
	switch code {
	case authenticationFailed, invalidShard, shardingRequired, invalidVersion, invalidIntents, disallowedIntents:
		return true
	}
	return false
}
