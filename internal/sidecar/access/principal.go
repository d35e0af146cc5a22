// Package access says who calls the sidecar and how far they reach: API keys, JSON
// Web Tokens of an OIDC issuer, and capabilities that fix one channel.
//
// Start with [Principal], which is a caller, and [Gate], which makes one from a
// bearer token. [CreateKey] makes a key. Nothing here reads a message: whoever
// does takes its scope from the Principal.
package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Kind says how a caller was recognised.
type Kind string

// The kinds of callers.
const (
	Key        Kind = "key"        // an API key
	User       Kind = "user"       // a JWT: a person, or a program on behalf of one
	Capability Kind = "capability" // a token that Earshot made for one channel
	Local      Kind = "local"      // whoever started the process, such as earshot mcp --stdio
)

// A Principal is a caller. It is made for each request and never changed.
type Principal struct {
	ID       string // unique, such as key:k4f… or user:ISSUER SUBJECT; a capability has its owner's
	Name     string // for logs and pages
	Kind     Kind
	Reach    Reach
	ReadOnly bool
	Subject  string           // of a user: the token's sub; "" else
	Actor    string           // of a user: the program that acts for the subject (act.sub); "" else
	Fixed    *CapabilityScope // of a capability; nil else
	Expires  earshot.Time     // when the token ends; zero: never
}

// A Reach is what a principal may see. An empty list bounds nothing.
type Reach struct {
	Workspaces []earshot.WorkspaceID
	Channels   []earshot.ChannelID
}

// Has reports whether the reach includes a channel.
func (r Reach) Has(s earshot.Scope) bool {
	return r.HasWorkspace(s.Workspace) && (len(r.Channels) == 0 || slices.Contains(r.Channels, s.Channel))
}

// HasWorkspace reports whether the reach includes something of a workspace.
func (r Reach) HasWorkspace(w earshot.WorkspaceID) bool {
	return len(r.Workspaces) == 0 || slices.Contains(r.Workspaces, w)
}

// AllChannels reports whether the reach includes every channel of its workspaces.
func (r Reach) AllChannels() bool { return len(r.Channels) == 0 }

// String says it in words, of many ids the first.
func (r Reach) String() string {
	in := "every workspace"
	if len(r.Workspaces) > 0 {
		in = named("workspace", r.Workspaces)
	}
	if r.AllChannels() {
		return in
	}
	return named("channel", r.Channels) + " of " + in
}

// named names things of a kind.
func named[T ~string](kind string, ids []T) string {
	const most = 5
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, string(id))
	}
	if len(ids) > most {
		names = append(names, fmt.Sprintf("%d more", len(ids)-most))
	}
	if len(ids) > 1 {
		kind += "s"
	}
	return kind + " " + strings.Join(names, ", ")
}

// A CapabilityScope is what a capability is for: the tools of one turn, in one channel, up to
// one message.
type CapabilityScope struct {
	Scope        earshot.Scope
	Conversation earshot.ConversationID
	At           earshot.Position // of the anchor; zero is no bound
	Zone         string           // IANA name, of the context that it was made with; "" says nothing
	Expires      earshot.Time
}

// Sees reports whether the principal may read a channel. What it may not read, it
// is told does not exist. The zero Principal, which nobody is, sees nothing, and a
// user nothing of what another user keeps to themselves ([NewOwnChannel]).
func (p Principal) Sees(s earshot.Scope) bool {
	return p.Kind != "" && p.Reach.Has(s) && (p.Fixed == nil || p.Fixed.Scope == s) && p.owns(s)
}
