package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// Channels returns the channels that a caller may see, in the store's order. A
// capability lists none: a channel's counts and times tell what came after its anchor.
func (s *Service) Channels(ctx context.Context, p access.Principal) ([]earshot.ChannelInfo, error) {
	if p.Kind == access.Capability {
		return nil, toolsOnly
	}
	return s.visible(ctx, p, earshot.ChannelQuery{}, 0)
}

// RecentChannels returns at most limit of the channels that a caller may see, the one
// in which something was said last first, and whether there are more. Where there are,
// they are those in which an agent was asked last, and then the first in the store's
// order.
func (s *Service) RecentChannels(ctx context.Context, p access.Principal, limit int) (list []earshot.ChannelInfo, more bool, err error) {
	first, more, err := s.ChannelsAfter(ctx, p, nil, limit)
	if err != nil {
		return nil, false, err
	}
	if more {
		turns, err := s.NewestTurns(ctx, p, MaxTurns)
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
			c, err := s.one(ctx, p, Place{at.Channel, at.Workspace, at.Platform})
			if errors.Is(err, absent) {
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
func (s *Service) Namesakes(ctx context.Context, p access.Principal, of []earshot.ChannelInfo) ([]earshot.ChannelInfo, error) {
	var names []string
	for _, c := range of {
		if c.Name != "" && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return s.visible(ctx, p, earshot.ChannelQuery{Names: names}, 0)
}
