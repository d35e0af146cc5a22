package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxAuthors bounds one request of authors.
const MaxAuthors = 1000

// wideKey is the answer to a caller that reaches some channels only, where it would
// change what others see.
var wideKey = &visible.Refusal{Kind: visible.Forbidden, Code: "workspace_key_needed", Detail: "this key is for some channels, and this changes a whole workspace; use a key of the workspace"}

// MaxChannels bounds one request of channels.
const MaxChannels = 1000

// PutChannel stores a channel with all that is said of it: what is empty is stored as
// empty. Which channel is meant is as for Events.
func (s *Service) PutChannel(ctx context.Context, p access.Principal, c earshot.Channel) (earshot.Channel, error) {
	c, err := s.readChannel(ctx, p, c, "")
	if err != nil {
		return c, err
	}
	return c, s.storeChannel(ctx, c)
}

// PutChannels is PutChannel for several: all are checked first.
func (s *Service) PutChannels(ctx context.Context, p access.Principal, list []earshot.Channel) (int, error) {
	if len(list) == 0 || len(list) > MaxChannels {
		return 0, visible.InvalidField("channels", fmt.Sprintf("must be 1 to %d", MaxChannels))
	}
	out := make([]earshot.Channel, len(list))
	for i, c := range list {
		var err error
		if out[i], err = s.readChannel(ctx, p, c, fmt.Sprintf("channels[%d].", i)); err != nil {
			return 0, err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writesAtOnce)
	for _, c := range out {
		g.Go(func() error { return s.storeChannel(ctx, c) })
	}
	return len(out), g.Wait()
}

// readChannel checks what a caller says of a channel, and returns it as it is stored.
// The path is that of its fields.
func (s *Service) readChannel(ctx context.Context, p access.Principal, c earshot.Channel, path string) (earshot.Channel, error) {
	if p.ReadOnly || p.Fixed != nil {
		return c, visible.ReadOnly
	}
	switch {
	case c.ID == "" || len(c.ID) > 512:
		return c, visible.InvalidField(path+"id", "must have 1 to 512 bytes")
	case len(c.Name) > maxName:
		return c, visible.InvalidField(path+"name", fmt.Sprintf("must have at most %d bytes", maxName))
	case len(c.Topic) > maxTopic:
		return c, visible.InvalidField(path+"topic", fmt.Sprintf("must have at most %d bytes", maxTopic))
	case len(c.Purpose) > maxTopic:
		return c, visible.InvalidField(path+"purpose", fmt.Sprintf("must have at most %d bytes", maxTopic))
	}
	found, _, err := s.target(ctx, p, c, strings.TrimSuffix(path, "."))
	if err != nil {
		return c, err
	}
	c.Platform, c.Workspace = found.Platform, found.Workspace
	if c.Kind == "" {
		c.Kind = found.Kind
	}
	return c, nil
}

// PutAuthors stores names, kinds and zones of a workspace's authors, and returns how
// many. They hold for what was said before too: contexts are made with them. An empty
// full name or zone leaves what is stored. Without a platform they are stored for each
// on which the workspace has channels.
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
		profiles, err := s.profiles(ctx, one, w, authors)
		if err != nil {
			return 0, err
		}
		if err := s.store.PutAuthors(ctx, one, w, profiles...); err != nil {
			return 0, fmt.Errorf("store authors: %w", err)
		}
	}
	return len(authors), nil
}

// profiles returns authors as they are from now on, with what is stored of them where
// nothing new is said.
func (s *Service) profiles(ctx context.Context, platform earshot.Platform, w earshot.WorkspaceID, authors []earshot.Author) ([]earshot.Author, error) {
	ids := make([]earshot.AuthorID, len(authors))
	for i, a := range authors {
		ids[i] = a.ID
	}
	stored, err := s.store.Authors(ctx, platform, w, ids...)
	if err != nil {
		return nil, fmt.Errorf("look up authors: %w", err)
	}
	known := map[earshot.AuthorID]earshot.Author{}
	for _, a := range stored {
		known[a.ID] = a
	}
	now := s.now()
	out := slices.Clone(authors)
	for i, a := range out {
		have := known[a.ID]
		out[i].FullName, out[i].Zone = cmp.Or(a.FullName, have.FullName), cmp.Or(a.Zone, have.Zone)
		out[i].AsOf = max(now, have.AsOf+1) // told later than what is stored
		known[a.ID] = out[i]
	}
	return out, nil
}
