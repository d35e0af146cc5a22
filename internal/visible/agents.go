package visible

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
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

// escapeID writes an id so that a note's key can hold it.
func escapeID(id string) string { return strings.ReplaceAll(url.PathEscape(id), "~", "%7E") }

// Note returns the note under which an agent is stored.
func (a Agent) Note() (earshot.Note, error) {
	data, err := json.Marshal(agentNote{a.ID, a.Name, a.Aliases, a.Workspace, a.Platform, a.Channel})
	return earshot.Note{Key: a.key(), Data: data}, err
}

func (a Agent) key() string {
	platform := "*"
	if a.Platform != "" {
		platform = escapeID(string(a.Platform))
	}
	key := agentPrefix + escapeID(string(a.Workspace)) + "/" + platform + "/" + escapeID(string(a.ID))
	if a.Channel != "" {
		key += "/" + escapeID(string(a.Channel))
	}
	return key
}

// Agents returns the agents that a caller put or may act for, by workspace,
// platform, id and channel.
func (v *View) Agents(ctx context.Context) ([]Agent, error) {
	p := v.caller
	if p.Kind == access.Capability {
		return nil, ToolsOnly
	}
	all, err := v.agents(ctx, agentPrefix)
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
func (v *View) agents(ctx context.Context, prefix string) ([]Agent, error) {
	notes, err := v.store.Notes(ctx, prefix, 0)
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
func (v *View) Agent(ctx context.Context, at earshot.Scope, id earshot.AuthorID) (earshot.Identity, error) {
	if !v.caller.Sees(at) {
		return earshot.Identity{}, Absent
	}
	list, err := v.agents(ctx, agentPrefix+escapeID(string(at.Workspace))+"/")
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
			return earshot.Identity{}, &Refusal{Kind: Invalid, Code: "unknown_agent", Path: "agent", Detail: "is needed: no agent is known here; tell who it is with PUT /v1/agents/{id} and {\"name\": …}"}
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
	authors, err := v.store.Authors(ctx, at.Platform, at.Workspace, id)
	if err != nil {
		return earshot.Identity{}, err
	}
	if len(authors) == 1 && authors[0].Kind == earshot.Bot && authors[0].Name != "" {
		return earshot.Identity{ID: id, Name: authors[0].Name}, nil
	}
	return earshot.Identity{}, &Refusal{Kind: Invalid, Code: "unknown_agent", Path: "agent", Detail: "is not known here; tell who it is with PUT /v1/agents/{id} and {\"name\": …}"}
}

// closer reports whether a was said of fewer channels than b.
func (a Agent) closer(b Agent) bool {
	if (a.Channel != "") != (b.Channel != "") {
		return a.Channel != ""
	}
	return a.Platform != "" && b.Platform == ""
}

// AgentOf returns the agent of a conversation. An unregistered agent is named by its
// id.
func (v *View) AgentOf(ctx context.Context, id earshot.ConversationID) (earshot.Identity, error) {
	identity, err := v.Agent(ctx, id.Scope, earshot.AuthorID(id.Agent))
	var r *Refusal
	if errors.As(err, &r) && r.Code == "unknown_agent" {
		return earshot.Identity{ID: earshot.AuthorID(id.Agent), Name: string(id.Agent)}, nil
	}
	return identity, err
}

// AnyAgent returns the agent that is meant in a channel, as [View.Agent] does.
// Where none is known and none is named, it is the stored bot named earshot, else a
// new one of that name, as for the command earshot context.
func (v *View) AnyAgent(ctx context.Context, at earshot.Scope, id earshot.AuthorID) (earshot.Identity, error) {
	const name = "earshot"
	identity, err := v.Agent(ctx, at, id)
	var r *Refusal
	if id != "" || !errors.As(err, &r) || r.Code != "unknown_agent" {
		return identity, err
	}
	authors, err := v.store.Authors(ctx, at.Platform, at.Workspace)
	if err != nil {
		return earshot.Identity{}, err
	}
	for _, a := range authors {
		if a.Kind != earshot.Bot || !strings.EqualFold(a.Name, name) {
			continue
		}
		aliases := identity.Aliases
		if identity.ID != "" {
			aliases = append(aliases, identity.ID)
		}
		// Slack gives one bot a bot id and a user id; mentions name the last of the two.
		identity = earshot.Identity{ID: a.ID, Name: a.Name, Aliases: aliases}
	}
	if identity.ID == "" {
		return earshot.Identity{ID: name, Name: name}, nil
	}
	return identity, nil
}
