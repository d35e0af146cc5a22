package inspect

import (
	"net/url"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/visible"
)

// placeOf returns the channel that parameters name.
func placeOf(platform, workspace, channel string) visible.Place {
	return visible.Place{Platform: earshot.Platform(platform), Workspace: earshot.WorkspaceID(workspace), Channel: earshot.ChannelID(channel)}
}

// linkTo returns the address of a view with a query, of which empty values are left
// out. The pairs are names and values in turn.
func linkTo(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// scopeParams returns the pairs that name a channel, followed by others.
func scopeParams(s earshot.Scope, pairs ...string) []string {
	return append([]string{"platform", string(s.Platform), "workspace", string(s.Workspace), "channel", string(s.Channel)}, pairs...)
}

// The permalinks that views give each other.

func turnLink(id earshot.TurnID) string { return "/turns/" + strconv.FormatInt(int64(id), 10) }

// chatLink leads to a channel, or to a thread of it.
func chatLink(s earshot.Scope, thread earshot.MessageID) string {
	return linkTo("/chat", scopeParams(s, "thread", string(thread))...)
}

// chatAt leads to the place of a message in its channel.
func chatAt(s earshot.Scope, m earshot.MessageID) string {
	return linkTo("/chat", scopeParams(s, "at", string(m))...)
}

// contextLink leads to what the bot would see if it answered a message.
func contextLink(s earshot.Scope, m earshot.MessageID) string {
	return linkTo("/context", scopeParams(s, "message", string(m))...)
}

func conversationLink(id earshot.ConversationID) string {
	return linkTo("/conversation", scopeParams(id.Scope, "agent", string(id.Agent), "name", id.Name)...)
}

// asFile returns the address of the current page in another form: with .json, or as
// the picture /NAME.svg.
func (v *visit) asFile(ending string) string {
	path := v.URL.Path
	if path == "/" {
		path = "/index"
	}
	u := url.URL{Path: path + ending, RawQuery: v.URL.RawQuery}
	return u.RequestURI()
}
