package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// ChannelInfo returns a channel with how much of it is stored.
func (r *Reader) ChannelInfo(ctx context.Context, p access.Principal, at visible.Place) (earshot.ChannelInfo, error) {
	c, err := r.To(p).Info(ctx, at)
	if err == nil {
		err = visible.Reads(p, c.Scope())
	}
	if err != nil {
		return earshot.ChannelInfo{}, err
	}
	return c, nil
}

// ChannelsAfter returns a page of the channels that a caller may see, in the store's
// order: those after the one given (nil: from the first), and whether there are more.
func (r *Reader) ChannelsAfter(ctx context.Context, p access.Principal, after *earshot.Channel, limit int) (page []earshot.ChannelInfo, more bool, err error) {
	if p.Kind == access.Capability {
		return nil, false, visible.ToolsOnly
	}
	list, err := r.To(p).Channels(ctx, earshot.ChannelQuery{After: after}, limit+1)
	return list[:min(limit, len(list))], len(list) > limit, err
}

// RecentChannels returns at most limit of the channels that a caller may see, the one
// in which something was said last first, and whether there are more. Where there are,
// they are those in which an agent was asked last, and then the first in the store's
// order.
func (r *Reader) RecentChannels(ctx context.Context, p access.Principal, limit int) (list []earshot.ChannelInfo, more bool, err error) {
	first, more, err := r.ChannelsAfter(ctx, p, nil, limit)
	if err != nil {
		return nil, false, err
	}
	if more {
		turns, err := r.NewestTurns(ctx, p, MaxTurns)
		if err != nil {
			return nil, false, err
		}
		asked := map[earshot.Scope]bool{}
		for _, t := range turns {
			at := t.Conversation.Scope
			if asked[at] || len(list) == limit {
				continue
			}
			asked[at] = true
			c, err := r.To(p).Info(ctx, visible.PlaceOf(at))
			if errors.Is(err, visible.Absent) {
				continue // erased meanwhile
			}
			if err != nil {
				return nil, false, err
			}
			list = append(list, c)
		}
		first = slices.DeleteFunc(first, func(c earshot.ChannelInfo) bool { return asked[c.Scope()] })
	}
	list = append(list, first[:min(len(first), limit-len(list))]...)
	slices.SortStableFunc(list, func(a, b earshot.ChannelInfo) int { return cmp.Compare(b.Last, a.Last) })
	return list, more, nil
}

// Namesakes returns the channels that a caller may see and that are called as one of
// these, in either case of the letters A to Z.
func (r *Reader) Namesakes(ctx context.Context, p access.Principal, of []earshot.ChannelInfo) ([]earshot.ChannelInfo, error) {
	var names []string
	for _, c := range of {
		if c.Name != "" && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return r.To(p).Channels(ctx, earshot.ChannelQuery{Names: names}, 0)
}
