package sidecar

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// Channels returns the channels that a caller may see, in the store's order. A
// capability lists none: a channel's counts and times tell what came after its anchor.
func (s *Service) Channels(ctx context.Context, p access.Principal) ([]earshot.ChannelInfo, error) {
	if p.Kind == access.Capability {
		return nil, toolsOnly
	}
	all, err := s.store.Channels(ctx)
	if err != nil {
		return nil, err
	}
	var seen []earshot.ChannelInfo
	for _, c := range all {
		if p.Sees(c.Scope()) {
			seen = append(seen, c)
		}
	}
	return seen, nil
}
