package sidecar

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxAuthors bounds one request of authors.
const MaxAuthors = 1000

// wideKey is the answer to a caller that reaches some channels only, where it would
// change what others see.
var wideKey = &visible.Refusal{Kind: visible.Forbidden, Code: "workspace_key_needed", Detail: "this key is for some channels, and this changes a whole workspace; use a key of the workspace"}

// PutChannel stores a channel with all that is said of it: what is empty is stored as
// empty. Which channel is meant is as for Events.
func (s *Service) PutChannel(ctx context.Context, p access.Principal, c earshot.Channel) (earshot.Channel, error) {
	if p.ReadOnly || p.Fixed != nil {
		return c, visible.ReadOnly
	}
	switch {
	case c.ID == "" || len(c.ID) > 512:
		return c, visible.InvalidField("id", "must have 1 to 512 bytes")
	case len(c.Name) > maxName:
		return c, visible.InvalidField("name", fmt.Sprintf("must have at most %d bytes", maxName))
	case len(c.Topic) > maxTopic:
		return c, visible.InvalidField("topic", fmt.Sprintf("must have at most %d bytes", maxTopic))
	case len(c.Purpose) > maxTopic:
		return c, visible.InvalidField("purpose", fmt.Sprintf("must have at most %d bytes", maxTopic))
	}
	found, _, err := s.target(ctx, p, c, "")
	if err != nil {
		return c, err
	}
	c.Platform, c.Workspace = found.Platform, found.Workspace
	if c.Kind == "" {
		c.Kind = found.Kind
	}
	return c, s.storeChannel(ctx, c)
}

// PutAuthors stores names, kinds and zones of a workspace's authors, and returns how
// many. An empty full name or zone leaves what is stored. Without a platform they are
// stored for each on which the workspace has channels.
func (s *Service) PutAuthors(ctx context.Context, p access.Principal, w earshot.WorkspaceID, platform earshot.Platform, authors []earshot.Author) (int, error) {
	w, err := s.writes(p, w, platform, "workspace")
	if err != nil {
		return 0, err
	}
	if !p.Reach.AllChannels() {
		return 0, wideKey
	}
	if len(authors) == 0 || len(authors) > MaxAuthors {
		return 0, visible.InvalidField("authors", fmt.Sprintf("must be 1 to %d", MaxAuthors))
	}
	for i, a := range authors {
		at := fmt.Sprintf("authors[%d]", i)
		switch {
		case a.ID == "" || len(a.ID) > 512:
			return 0, visible.InvalidField(at+".id", "must have 1 to 512 bytes")
		case len(a.Name) > maxName || len(a.FullName) > maxName:
			return 0, visible.InvalidField(at+".name", fmt.Sprintf("and full_name must have at most %d bytes", maxName))
		case len(a.Zone) > maxID:
			return 0, visible.InvalidField(at+".zone", fmt.Sprintf("must have at most %d bytes", maxID))
		}
	}
	platforms, err := s.platformsOf(ctx, w, platform)
	if err != nil {
		return 0, err
	}
	for _, one := range platforms {
		if err := s.store.PutAuthors(ctx, one, w, authors...); err != nil {
			return 0, fmt.Errorf("store authors: %w", err)
		}
	}
	return len(authors), nil
}
