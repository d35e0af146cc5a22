package sidecar

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// How far one page of a list of conversations looks: listLook reads of listRead. Those
// that the caller may not see are among them, and those of other owners.
const (
	listLook = 5
	listRead = 200
)

// A ListQuery selects an agent's conversations. What is "" selects all.
type ListQuery struct {
	Agent earshot.AgentID // required
	Owner string
	Place visible.Place
	After *earshot.Conversation // the page's first comes after it
	Limit int                   // of a page, 1 to MaxPage
}

// ChatConversations returns a page of an agent's conversations that the caller may see,
// the newest first by when they were created. more is where to go on, nil at the end; a
// page before it may be short, or empty, where much was passed over.
func (s *Service) ChatConversations(ctx context.Context, p access.Principal, q ListQuery) (page []earshot.Conversation, more *earshot.Conversation, err error) {
	if err := chatCaller(p); err != nil {
		return nil, nil, err
	}
	if q.Agent == "" {
		return nil, nil, visible.InvalidField("agent_id", "is required: whose conversations; GET /v1/agents has the agents")
	}
	from := earshot.ConversationQuery{Agent: q.Agent, Platform: q.Place.Platform, Workspaces: p.Reach.Workspaces, Channels: p.Reach.Channels, After: q.After, Limit: listRead}
	switch at := q.Place; {
	case at.Channel != "":
		c, err := s.to(p).Resolve(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		from.Platform, from.Workspaces, from.Channels = c.Platform, []earshot.WorkspaceID{c.Workspace}, []earshot.ChannelID{c.ID}
	case at.Workspace != "" && !p.Reach.HasWorkspace(at.Workspace):
		return nil, nil, visible.Absent
	case at.Workspace != "":
		from.Workspaces = []earshot.WorkspaceID{at.Workspace}
	}
	for look := 1; ; look++ {
		list, err := s.store.FindConversations(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		for i, c := range list {
			if !p.Sees(c.ID.Scope) || !visible.Owns(p, c) || q.Owner != "" && q.Owner != c.About.Owner {
				continue
			}
			if len(page) == q.Limit {
				return page, &page[len(page)-1], nil
			}
			page = append(page, list[i])
		}
		if len(list) < listRead {
			return page, nil, nil
		}
		from.After = &list[listRead-1]
		if last := from.After.Created; look >= listLook && list[0].Created != last {
			// Where to go on is told as a time, since the last one may be hidden from the
			// caller. Those of that time come again.
			page = slices.DeleteFunc(page, func(c earshot.Conversation) bool { return c.Created == last })
			return page, &earshot.Conversation{ID: earshot.ConversationID{Agent: q.Agent}, Created: last}, nil
		}
	}
}
