package sidecar

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
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

// An Agent is a bot as callers name it.
type Agent struct {
	earshot.Identity
	Workspace earshot.WorkspaceID
	Platform  earshot.Platform  // "" is every platform of the workspace
	Channel   earshot.ChannelID // "" is every channel of the workspace
}

// agentNote is the JSON of an agent's note.
type agentNote struct {
	ID        earshot.AuthorID    `json:"id"`
	Name      string              `json:"name"`
	Aliases   []earshot.AuthorID  `json:"aliases,omitempty"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Platform  earshot.Platform    `json:"platform,omitempty"`
	Channel   earshot.ChannelID   `json:"channel,omitempty"`
}

// agentPrefix begins the keys of agents' notes. Workspace, platform or *, id, and
// for an agent of one channel the channel follow.
const agentPrefix = "agent/"

// escaped writes an id so that a note's key can hold it.
func escaped(id string) string { return strings.ReplaceAll(url.PathEscape(id), "~", "%7E") }

func (a Agent) key() string {
	platform := "*"
	if a.Platform != "" {
		platform = escaped(string(a.Platform))
	}
	key := agentPrefix + escaped(string(a.Workspace)) + "/" + platform + "/" + escaped(string(a.ID))
	if a.Channel != "" {
		key += "/" + escaped(string(a.Channel))
	}
	return key
}

// PutAgent stores who an agent is, or replaces it. Without a workspace it is the
// caller's only one. A caller that reaches some channels only has the agent in
// these, and changes it for nobody else.
func (s *Service) PutAgent(ctx context.Context, p access.Principal, a Agent) (Agent, error) {
	var err error
	if a.Workspace, err = s.writes(p, a.Workspace, a.Platform, "workspace"); err != nil {
		return Agent{}, err
	}
	if err := a.check(); err != nil {
		return Agent{}, err
	}
	a.Channel = ""
	list := []Agent{a}
	if !p.Reach.AllChannels() {
		list = nil
		for _, c := range p.Reach.Channels {
			one := a
			one.Channel = c
			list = append(list, one)
		}
	}
	for _, one := range list {
		data, err := json.Marshal(agentNote{one.ID, one.Name, one.Aliases, one.Workspace, one.Platform, one.Channel})
		if err != nil {
			return Agent{}, fmt.Errorf("put agent: %w", err)
		}
		if len(one.key()) > earshot.NoteKeyBytes {
			return Agent{}, invalid("id", "is too long together with its workspace")
		}
		if err := s.store.PutNote(ctx, earshot.Note{Key: one.key(), Data: data}); err != nil {
			return Agent{}, fmt.Errorf("put agent: %w", err)
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

// check refuses an agent that breaks a bound.
func (a Agent) check() error {
	switch {
	case a.ID == "" || len(a.ID) > maxID:
		return invalid("id", fmt.Sprintf("must have 1 to %d bytes", maxID))
	case a.Name == "" || len(a.Name) > maxName:
		return invalid("name", fmt.Sprintf("must have 1 to %d bytes", maxName))
	case len(a.Aliases) > maxAliases:
		return invalid("aliases", fmt.Sprintf("must be at most %d", maxAliases))
	}
	for i, x := range a.Aliases {
		if x == "" || len(x) > maxID {
			return invalid(fmt.Sprintf("aliases[%d]", i), fmt.Sprintf("must have 1 to %d bytes", maxID))
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
	out, err := s.platformsIn(ctx, access.Principal{}, w)
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
		return "", absent
	case p.ReadOnly || p.Fixed != nil:
		return "", readOnly
	case len(platform) > maxPlatform:
		return "", invalid("platform", fmt.Sprintf("must have at most %d bytes", maxPlatform))
	case w == "" && len(p.Reach.Workspaces) == 1:
		return p.Reach.Workspaces[0], nil
	case w == "":
		return "", invalid(path, "is required, because this key is for more than one workspace")
	case len(w) > maxID:
		return "", invalid(path, fmt.Sprintf("must have at most %d bytes", maxID))
	case !p.Reach.HasWorkspace(w):
		return "", absent
	}
	return w, nil
}

// Agents returns the agents that a caller put or may act for, by workspace,
// platform, id and channel.
func (s *Service) Agents(ctx context.Context, p access.Principal) ([]Agent, error) {
	if p.Kind == access.Capability {
		return nil, toolsOnly
	}
	all, err := s.agents(ctx, agentPrefix)
	if err != nil {
		return nil, err
	}
	var seen []Agent
	for _, a := range all {
		reached := p.Reach.HasWorkspace(a.Workspace) && (p.Fixed == nil || p.Fixed.Scope.Workspace == a.Workspace)
		if reached && a.Channel != "" {
			reached = p.Reach.AllChannels() || slices.Contains(p.Reach.Channels, a.Channel)
			reached = reached && (p.Fixed == nil || p.Fixed.Scope.Channel == a.Channel)
		}
		if reached {
			seen = append(seen, a)
		}
	}
	slices.SortFunc(seen, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Channel, b.Channel))
	})
	return seen, nil
}

// agents reads the notes of agents.
func (s *Service) agents(ctx context.Context, prefix string) ([]Agent, error) {
	notes, err := s.store.Notes(ctx, prefix, 0)
	if err != nil {
		return nil, fmt.Errorf("read agents: %w", err)
	}
	list := make([]Agent, 0, len(notes))
	for _, n := range notes {
		var x agentNote
		if err := json.Unmarshal(n.Data, &x); err != nil {
			return nil, fmt.Errorf("read agent %s: %w", n.Key, err)
		}
		list = append(list, Agent{earshot.Identity{ID: x.ID, Name: x.Name, Aliases: x.Aliases}, x.Workspace, x.Platform, x.Channel})
	}
	return list, nil
}

// Agent returns the agent that a request means in a channel: the one with this id,
// or where id is "" the only one that is known there. An author that is known to be
// a bot is an agent too, without aliases. The refusal tells the caller to name or to
// put one.
func (s *Service) Agent(ctx context.Context, p access.Principal, at earshot.Scope, id earshot.AuthorID) (earshot.Identity, error) {
	if !p.Sees(at) {
		return earshot.Identity{}, absent
	}
	list, err := s.agents(ctx, agentPrefix+escaped(string(at.Workspace))+"/")
	if err != nil {
		return earshot.Identity{}, err
	}
	known := map[earshot.AuthorID]Agent{}
	for _, a := range list {
		if a.Platform != "" && a.Platform != at.Platform || a.Channel != "" && a.Channel != at.Channel {
			continue
		}
		if old, ok := known[a.ID]; !ok || a.closer(old) {
			known[a.ID] = a
		}
	}
	if id == "" {
		switch len(known) {
		case 0:
			return earshot.Identity{}, &Refusal{Kind: Invalid, Code: "unknown_agent", Path: "agent", Detail: "is needed: no agent is known here; tell who it is with PUT /v1/agents/{id}"}
		case 1:
			for _, a := range known {
				return a.Identity, nil
			}
		}
		return earshot.Identity{}, &Refusal{Kind: Invalid, Code: "ambiguous_agent", Path: "agent", Detail: "is needed: several agents are known here"}
	}
	if a, ok := known[id]; ok {
		return a.Identity, nil
	}
	for _, a := range list { // in the notes' order
		if a, ok := known[a.ID]; ok && a.Is(id) {
			return a.Identity, nil
		}
	}
	authors, err := s.store.Authors(ctx, at.Platform, at.Workspace, id)
	if err != nil {
		return earshot.Identity{}, err
	}
	if len(authors) == 1 && authors[0].Kind == earshot.Bot && authors[0].Name != "" {
		return earshot.Identity{ID: id, Name: authors[0].Name}, nil
	}
	return earshot.Identity{}, &Refusal{Kind: Invalid, Code: "unknown_agent", Path: "agent", Detail: "is not known here; tell who it is with PUT /v1/agents/{id}"}
}

// closer reports whether a was said of fewer channels than b.
func (a Agent) closer(b Agent) bool {
	if (a.Channel != "") != (b.Channel != "") {
		return a.Channel != ""
	}
	return a.Platform != "" && b.Platform == ""
}
