package discord

import (
	"context"
	"net/url"
)

// permissions are what the bot needs, as an invite link asks for them: View Channels,
// Send Messages, Read Message History, Create Public Threads, Send Messages in Threads.
const permissions = "309237713920"

// InviteURL returns the link by which somebody with Manage Server adds an
// application's bot to a server, with the permissions that it needs.
func InviteURL(app string) string {
	return "https://discord.com/oauth2/authorize?" + url.Values{"client_id": {app}, "scope": {"bot"}, "permissions": {permissions}}.Encode()
}

// A FindingState says what a finding means.
type FindingState string

// The states of a finding. Bad: the bot does not work. Poor: it works less well.
// Unknown: it was not tested.
const (
	Good    FindingState = "good"
	Poor    FindingState = "poor"
	Bad     FindingState = "bad"
	Unknown FindingState = "unknown"
)

// A Finding is what a check found of one thing.
type Finding struct {
	What   string       `json:"what"`
	State  FindingState `json:"state"`
	Found  string       `json:"found"`
	Costs  string       `json:"costs,omitempty"`  // what does not work like this
	Remedy string       `json:"remedy,omitempty"` // what to do about it
}

// A CheckRequest says what is checked besides the token, the intents and the servers.
type CheckRequest struct {
	// Channels are ids of channels or threads in which a message may be posted, which
	// is removed again. None: nothing is posted anywhere.
	Channels []string
}

// Check tests whether a bot with these options works on Discord: the token, the
// intents, the servers that it is in, and, in the channels that r names, what it may
// do there. It calls tell with each finding, one after the other. It posts only in
// those channels and stores nothing.
func Check(ctx context.Context, o Options, r CheckRequest, tell func(Finding)) {
	p, err := Open(ctx, o)
	if err != nil {
		tell(Finding{What: "bot token", State: Bad, Found: err.Error(), Costs: "the bot cannot run"})
		return
	}
	tell(Finding{What: "bot token", State: Good, Found: "it is " + p.identity.Name})
}
