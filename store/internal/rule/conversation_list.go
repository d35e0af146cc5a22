package rule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// NormaliseConversationQuery returns a query as the stores write what it names.
func NormaliseConversationQuery(q earshot.ConversationQuery) earshot.ConversationQuery {
	q.Agent, q.Platform, q.Workspaces, q.Channels = text(q.Agent), text(q.Platform), slices.Clone(q.Workspaces), slices.Clone(q.Channels)
	for i, w := range q.Workspaces {
		q.Workspaces[i] = text(w)
	}
	for i, c := range q.Channels {
		q.Channels[i] = text(c)
	}
	if q.After != nil {
		after := *q.After
		after.ID = Conversation(after.ID)
		q.After = &after
	}
	return q
}

// SelectsConversation reports whether a conversation is one of a query's.
func SelectsConversation(q earshot.ConversationQuery, c earshot.Conversation) bool {
	at := c.ID.Scope
	return c.ID.Agent == q.Agent && (q.Platform == "" || at.Platform == q.Platform) &&
		(len(q.Workspaces) == 0 || slices.Contains(q.Workspaces, at.Workspace)) &&
		(len(q.Channels) == 0 || slices.Contains(q.Channels, at.Channel)) &&
		(q.After == nil || CompareConversations(*q.After, c) < 0)
}

// CompareConversations orders conversations of one agent as a list has them.
func CompareConversations(a, b earshot.Conversation) int {
	x, y := a.ID.Scope, b.ID.Scope
	return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(string(x.Platform), string(y.Platform)), strings.Compare(string(x.Workspace), string(y.Workspace)),
		strings.Compare(string(x.Channel), string(y.Channel)), strings.Compare(a.ID.Name, b.ID.Name))
}
