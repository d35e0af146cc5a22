package sidecar

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// Default is the platform of channels that callers tell of without naming one.
const Default = earshot.Platform("api")

// The bounds of names, in bytes.
const (
	maxID       = 128 // of an agent and of an alias, whose notes have them in their keys
	maxName     = 1000
	maxTopic    = 4096
	maxAliases  = 20
	maxPlatform = 64
)

// PutAgent stores who an agent is, or replaces it. Without a workspace it is the
// caller's only one. A caller that reaches some channels only has the agent in
// these, and changes it for nobody else.
func (s *Service) PutAgent(ctx context.Context, p access.Principal, a visible.Agent) (visible.Agent, error) {
	var err error
	if a.Workspace, err = s.writes(p, a.Workspace, a.Platform, "workspace"); err != nil {
		return visible.Agent{}, err
	}
	if err := checkAgent(a); err != nil {
		return visible.Agent{}, err
	}
	a.Channel = ""
	list := []visible.Agent{a}
	if !p.Reach.AllChannels() {
		list = nil
		for _, c := range p.Reach.Channels {
			one := a
			one.Channel = c
			list = append(list, one)
		}
	}
	for _, one := range list {
		note, err := one.Note()
		if err != nil {
			return visible.Agent{}, fmt.Errorf("put agent: %w", err)
		}
		if len(note.Key) > earshot.NoteKeyBytes {
			return visible.Agent{}, visible.InvalidField("id", "is too long together with its workspace")
		}
		if err := s.store.PutNote(ctx, note); err != nil {
			return visible.Agent{}, fmt.Errorf("put agent: %w", err)
		}
	}
	if !p.Reach.AllChannels() {
		return a, nil
	}
	platforms, err := s.platformsOf(ctx, a.Workspace, a.Platform)
	for _, platform := range platforms {
		if err == nil {
			err = s.store.PutAuthors(ctx, platform, a.Workspace, earshot.Author{ID: a.ID, Name: a.Name, Kind: earshot.Bot})
		}
	}
	return a, err
}

// checkAgent refuses an agent that breaks a bound.
func checkAgent(a visible.Agent) error {
	switch {
	case a.ID == "" || len(a.ID) > maxID:
		return visible.InvalidField("id", fmt.Sprintf("must have 1 to %d bytes", maxID))
	case a.Name == "" || len(a.Name) > maxName:
		return visible.InvalidField("name", fmt.Sprintf("must have 1 to %d bytes", maxName))
	case len(a.Aliases) > maxAliases:
		return visible.InvalidField("aliases", fmt.Sprintf("must be at most %d", maxAliases))
	}
	for i, x := range a.Aliases {
		if x == "" || len(x) > maxID {
			return visible.InvalidField(fmt.Sprintf("aliases[%d]", i), fmt.Sprintf("must have 1 to %d bytes", maxID))
		}
	}
	return nil
}

// platformsOf returns the platforms on which a workspace has channels: the given
// one, all where none is given, and [Default] where there is none yet.
func (s *Service) platformsOf(ctx context.Context, w earshot.WorkspaceID, given earshot.Platform) ([]earshot.Platform, error) {
	if given != "" {
		return []earshot.Platform{given}, nil
	}
	out, err := visible.To(s.store, access.Principal{}).Platforms(ctx, w)
	if err == nil && len(out) == 0 {
		out = append(out, Default)
	}
	return out, err
}

// writes returns the workspace that a caller means when it tells something of a
// workspace, or refuses.
func (s *Service) writes(p access.Principal, w earshot.WorkspaceID, platform earshot.Platform, path string) (earshot.WorkspaceID, error) {
	switch {
	case p.Kind == "":
		return "", visible.Absent
	case p.ReadOnly || p.Fixed != nil:
		return "", visible.ReadOnly
	case len(platform) > maxPlatform:
		return "", visible.InvalidField("platform", fmt.Sprintf("must have at most %d bytes", maxPlatform))
	case w == "" && len(p.Reach.Workspaces) == 1:
		return p.Reach.Workspaces[0], nil
	case w == "":
		return "", visible.InvalidField(path, "is required, because this key reaches "+p.Reach.String())
	case len(w) > maxID:
		return "", visible.InvalidField(path, fmt.Sprintf("must have at most %d bytes", maxID))
	case !p.Reach.HasWorkspace(w):
		return "", visible.Absent
	}
	return w, nil
}
