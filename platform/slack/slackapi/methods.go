package slackapi

// Methods of the Web API that have a rate of their own here, or are treated in
// their own way. Any other method can be called by its name.
const (
	OpenConnection = "apps.connections.open"
	History        = "conversations.history"
	Replies        = "conversations.replies"
	Post           = "chat.postMessage"
	Update         = "chat.update"
	Delete         = "chat.delete"
	StartStream    = "chat.startStream"
	AppendStream   = "chat.appendStream"
	StopStream     = "chat.stopStream"
	OpenView       = "views.open"
	BeginUpload    = "files.getUploadURLExternal"
	EndUpload      = "files.completeUploadExternal"
)

// A rateTier is how often a method is called. Slack's own limits (docs.slack.dev, Rate
// limits) are a little higher, so that a call waits here rather than being
// refused there.
type rateTier struct {
	perMinute float64
	burst     int // 0: all of the minute's calls may come at once
}

var (
	tier2 = rateTier{15, 5}
	tier3 = rateTier{40, 10}
	tier4 = rateTier{90, 20}
	// The calls that give answers their final text may all come at the beginning
	// of a minute, so that many people who ask at once are answered at once:
	// "rate limit windows are per minute" (docs.slack.dev, Rate limits). Reads have
	// a small burst and a steady rate instead, because a turn waits for a read
	// only for seconds.
	updates = rateTier{45, 0} // chat.update, of tier 3
	streams = rateTier{18, 0} // chat.startStream and chat.stopStream, of tier 2
	// posting is about one message a second and channel, the burst included.
	posting = rateTier{57, 2}
	// slowest is for history, with commercially distributed apps outside the
	// Marketplace.
	slowest = rateTier{1, 1}
)

// tiers has the tiers of the methods that Earshot calls. Others have tier 2.
var tiers = map[string]rateTier{
	OpenConnection:       tier3,
	"usergroups.list":    tier2,
	"team.info":          tier3,
	StartStream:          streams,
	StopStream:           streams,
	History:              tier3,
	Replies:              tier3,
	"conversations.info": tier3,
	"bots.info":          tier3,
	Update:               updates,
	Delete:               tier3,
	"reactions.add":      tier3,
	"users.info":         tier4,
	"files.info":         tier4,
	"chat.postEphemeral": tier4,
	AppendStream:         tier4,
	OpenView:             tier4,
	"views.publish":      tier4,
	BeginUpload:          tier4,
	EndUpload:            tier4,
	"auth.test":          tier4,

	"assistant.threads.setStatus": tier4,

	"assistant.threads.setSuggestedPrompts": tier3,
	"assistant.threads.setTitle":            tier3,
}
