package visible

import (
	"context"
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A Place names a channel as callers do: by its id, and by what else is needed
// to tell it from channels with the same id.
type Place struct {
	Channel   earshot.ChannelID
	Workspace earshot.WorkspaceID // "" where the id is enough
	Platform  earshot.Platform    // "" where the id is enough
}

// PlaceOf names a channel by all that tells it from others.
func PlaceOf(at earshot.Scope) Place {
	return Place{Channel: at.Channel, Workspace: at.Workspace, Platform: at.Platform}
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
func (v *View) Resolve(ctx context.Context, at Place) (earshot.Channel, error) {
	if at.Workspace != "" && at.Platform != "" {
		sc := earshot.Scope{Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel}
		if !v.caller.Sees(sc) {
			return earshot.Channel{}, Absent
		}
		c, err := v.store.Channel(ctx, sc)
		if errors.Is(err, earshot.ErrNotFound) {
			err = Absent
		}
		return c, err
	}
	c, err := v.Info(ctx, at)
	return c.Channel, err
}

// Info is Resolve with how much of the channel is stored.
func (v *View) Info(ctx context.Context, at Place) (earshot.ChannelInfo, error) {
	found, err := v.Channels(ctx, at.query(), 2)
	switch {
	case err != nil:
		return earshot.ChannelInfo{}, err
	case len(found) == 0:
		return earshot.ChannelInfo{}, Absent
	case len(found) > 1:
		return earshot.ChannelInfo{}, &Refusal{Kind: Invalid, Code: "ambiguous_channel", Path: "channel", Detail: "is the id of several channels; name the workspace, and the platform if need be"}
	}
	return found[0], nil
}

// Find returns the channel that a person means, by its id or by its name,
// with # or without. What the caller may not see is refused as what does not exist.
func (v *View) Find(ctx context.Context, at Place) (earshot.Channel, error) {
	c, err := v.Resolve(ctx, at)
	var r *Refusal
	if !errors.As(err, &r) || r.Kind != NotFound {
		return c, err
	}
	want := strings.TrimPrefix(string(at.Channel), "#")
	if want == "" {
		return earshot.Channel{}, Absent
	}
	q := at.query()
	q.IDs, q.Names = nil, []string{want, strings.ToLower(want), strings.ToUpper(want)}
	found, err := v.Channels(ctx, q, 2)
	switch {
	case err != nil:
		return earshot.Channel{}, err
	case len(found) == 0:
		return earshot.Channel{}, Absent
	case len(found) == 1:
		return found[0].Channel, nil
	}
	return earshot.Channel{}, &Refusal{Kind: Invalid, Code: "ambiguous_channel", Path: "channel", Detail: "is the name of several channels; give its id"}
}

// Only returns the one channel that a caller reaches, if its key or its capability
// fixes one. A channel that is not stored yet has no platform; reads of it find
// nothing.
func (v *View) Only(ctx context.Context) (at earshot.Scope, ok bool, err error) {
	if v.caller.Fixed != nil {
		return v.caller.Fixed.Scope, true, nil
	}
	if len(v.caller.Reach.Channels) != 1 {
		return earshot.Scope{}, false, nil
	}
	at.Channel = v.caller.Reach.Channels[0]
	c, err := v.Resolve(ctx, Place{Channel: at.Channel})
	var r *Refusal
	switch {
	case err == nil:
		return c.Scope(), true, nil
	case errors.As(err, &r) && r.Kind == NotFound:
		return at, true, nil
	case errors.As(err, &r):
		return earshot.Scope{}, false, nil // the id of several channels, among which the caller has to choose
	}
	return earshot.Scope{}, false, err
}

// What Channels reads at a time, and up to how many workspaces of a reach are looked
// through one by one for an id or a name.
const (
	channelsPage = 200
	fewWorkspace = 8
)

// Channels lists the channels of a query that the caller sees, at most limit (0: all),
// in the store's order. It reads no others, but where few of those that have an id or
// a name are the caller's. The limit of the query is set here.
func (v *View) Channels(ctx context.Context, q earshot.ChannelQuery, limit int) ([]earshot.ChannelInfo, error) {
	p := v.caller
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
		q.Limit = max(limit, channelsPage) // there may be channels of other users among them
	}
	var list []earshot.ChannelInfo
	for {
		page, err := v.store.FindChannels(ctx, q)
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
		q.After, q.Limit = &page[len(page)-1].Channel, channelsPage
	}
}

// Platforms returns the platforms on which a workspace has channels that the caller
// reaches, in order. It skips from one to the next.
func (v *View) Platforms(ctx context.Context, w earshot.WorkspaceID) ([]earshot.Platform, error) {
	q := earshot.ChannelQuery{Workspaces: []earshot.WorkspaceID{w}, IDs: v.caller.Reach.Channels, Limit: 1}
	var out []earshot.Platform
	for {
		found, err := v.store.FindChannels(ctx, q)
		if err != nil || len(found) == 0 {
			return out, err
		}
		out = append(out, found[0].Platform)
		q.After = &earshot.Channel{Platform: found[0].Platform, Workspace: w + "~"} // behind all of its channels there
	}
}
