package rule

import "github.com/earshot-ai/earshot"

// ChannelLookUps returns a query for channels of each kind that there is, for tests of
// the engines' plans.
func ChannelLookUps() []earshot.ChannelQuery {
	var out []earshot.ChannelQuery
	for n := range 1 << 6 {
		var q earshot.ChannelQuery
		if n&1 != 0 {
			q.Limit = 5
		}
		if n&2 != 0 {
			q.After = &earshot.Channel{Platform: earshot.Slack, Workspace: "T1", Name: "room-1", ID: "C1"}
		}
		if n&4 != 0 {
			q.Platform = earshot.Slack
		}
		if n&8 != 0 {
			q.Workspaces = []earshot.WorkspaceID{"T1"}
		}
		if n&16 != 0 {
			q.Names = []string{"room-1"}
		}
		if n&32 != 0 {
			q.IDs = []earshot.ChannelID{"C1"}
		}
		out = append(out, q)
	}
	return out
}
