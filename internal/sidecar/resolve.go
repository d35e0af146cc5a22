package sidecar

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// A Place names a channel as callers do: by its id, and by what else is needed
// to tell it from channels with the same id.
type Place struct {
	Channel   earshot.ChannelID
	Workspace earshot.WorkspaceID // "" where the id is enough
	Platform  earshot.Platform    // "" where the id is enough
}

// query selects the channels with a place's id.
func (at Place) query() earshot.ChannelQuery {
	q := earshot.ChannelQuery{Platform: at.Platform, IDs: []earshot.ChannelID{at.Channel}}
	if at.Workspace != "" {
		q.Workspaces = []earshot.WorkspaceID{at.Workspace}
	}
	return q
}

// Resolve returns the channel that a caller means. What is not stored and what the
// caller may not see is the same refusal. If several channels that it may see have
// the id, the refusal says to name the workspace or the platform.
func (s *Service) Resolve(ctx context.Context, p access.Principal, at Place) (earshot.Channel, error) {
	if at.Workspace != "" && at.Platform != "" {
		sc := earshot.Scope{Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel}
		if !p.Sees(sc) {
			return earshot.Channel{}, absent
		}
		c, err := s.store.Channel(ctx, sc)
		if errors.Is(err, earshot.ErrNotFound) {
			err = absent
		}
		return c, err
	}
	c, err := s.one(ctx, p, at)
	return c.Channel, err
}

// one is Resolve with how much of the channel is stored.
func (s *Service) one(ctx context.Context, p access.Principal, at Place) (earshot.ChannelInfo, error) {
	found, err := s.visible(ctx, p, at.query(), 2)
	switch {
	case err != nil:
		return earshot.ChannelInfo{}, err
	case len(found) == 0:
		return earshot.ChannelInfo{}, absent
	case len(found) > 1:
		return earshot.ChannelInfo{}, &Refusal{Kind: Invalid, Code: "ambiguous_channel", Path: "channel", Detail: "is the id of several channels; name the workspace, and the platform if need be"}
	}
	return found[0], nil
}

// What visible reads at a time, and up to how many workspaces of a reach are looked
// through one by one for an id or a name.
const (
	visiblePage  = 200
	fewWorkspace = 8
)

// visible lists the channels of a query that the caller sees, at most limit (0: all),
// in the store's order. It reads no others, but where few of those that have an id or
// a name are the caller's.
func (s *Service) visible(ctx context.Context, p access.Principal, q earshot.ChannelQuery, limit int) ([]earshot.ChannelInfo, error) {
	named := len(q.IDs)+len(q.Names) > 0
	if len(q.Workspaces) == 0 && (!named || len(p.Reach.Workspaces) <= fewWorkspace) {
		q.Workspaces = p.Reach.Workspaces
	}
	if !named {
		q.IDs = p.Reach.Channels
	}
	if p.Fixed != nil {
		q.Platform, q.Workspaces, q.IDs = p.Fixed.Scope.Platform, []earshot.WorkspaceID{p.Fixed.Scope.Workspace}, []earshot.ChannelID{p.Fixed.Scope.Channel}
	}
	if q.Limit = limit; limit > 0 && p.Kind == access.User {
		q.Limit = max(limit, visiblePage) // there may be channels of other users among them
	}
	var list []earshot.ChannelInfo
	for {
		page, err := s.store.FindChannels(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if p.Sees(c.Scope()) {
				list = append(list, c)
			}
		}
		if limit > 0 && len(list) >= limit {
			return list[:limit], nil
		}
		if q.Limit == 0 || len(page) < q.Limit {
			return list, nil
		}
		q.After, q.Limit = &page[len(page)-1].Channel, visiblePage
	}
}

// platformsIn returns the platforms on which a workspace has channels that the caller
// reaches, in order. It skips from one to the next.
func (s *Service) platformsIn(ctx context.Context, p access.Principal, w earshot.WorkspaceID) ([]earshot.Platform, error) {
	q := earshot.ChannelQuery{Workspaces: []earshot.WorkspaceID{w}, IDs: p.Reach.Channels, Limit: 1}
	var out []earshot.Platform
	for {
		found, err := s.store.FindChannels(ctx, q)
		if err != nil || len(found) == 0 {
			return out, err
		}
		out = append(out, found[0].Platform)
		q.After = &earshot.Channel{Platform: found[0].Platform, Workspace: w + "~"} // behind all of its channels there
	}
}
