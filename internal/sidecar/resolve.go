package sidecar

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// placesAge is how old the list of channels may be, and placesMiss how old when a
// channel is missing in it.
const (
	placesAge  = 2 * time.Second
	placesMiss = 100 * time.Millisecond
)

// maxGuesses bounds in how many workspaces a channel is looked for besides the list.
const maxGuesses = 8

// A Place names a channel as callers do: by its id, and by what else is needed
// to tell it from channels with the same id.
type Place struct {
	Channel   earshot.ChannelID
	Workspace earshot.WorkspaceID // "" where the id is enough
	Platform  earshot.Platform    // "" where the id is enough
}

// Resolve returns the channel that a caller means. What is not stored and what the
// caller may not see is the same refusal. If several channels that it may see have
// the id, the refusal says to name the workspace or the platform.
func (s *Service) Resolve(ctx context.Context, p access.Principal, at Place) (earshot.Channel, error) {
	for _, again := range []bool{false, true} {
		scopes, err := s.places.of(ctx, s, at.Channel, again)
		if err != nil {
			return earshot.Channel{}, err
		}
		found, err := s.seen(ctx, p, at, s.places.guesses(p, at, scopes))
		switch {
		case err != nil:
			return earshot.Channel{}, err
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return earshot.Channel{}, &Refusal{Kind: Invalid, Code: "ambiguous_channel", Path: "channel", Detail: "is the id of several channels; name the workspace, and the platform if need be"}
		}
	}
	return earshot.Channel{}, absent
}

// seen returns those of the channels that are stored, fit the place and may be
// seen.
func (s *Service) seen(ctx context.Context, p access.Principal, at Place, scopes []earshot.Scope) ([]earshot.Channel, error) {
	var found []earshot.Channel
	for _, sc := range scopes {
		if at.Workspace != "" && at.Workspace != sc.Workspace || at.Platform != "" && at.Platform != sc.Platform || !p.Sees(sc) {
			continue
		}
		c, err := s.store.Channel(ctx, sc)
		if errors.Is(err, earshot.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

// places remembers which channels have which id. Channels are never renamed, so
// what it remembers is looked up before it is used, and never wrong.
type places struct {
	mu   sync.Mutex
	byID map[earshot.ChannelID][]earshot.Scope
	read time.Time
}

// of returns the channels with an id. It reads the list again when it is old, and
// where the caller misses one.
func (l *places) of(ctx context.Context, s *Service, id earshot.ChannelID, again bool) ([]earshot.Scope, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest := placesAge
	if again {
		oldest = placesMiss
	}
	if age := s.options.Now().Sub(l.read); age >= 0 && age < oldest {
		return l.byID[id], nil
	}
	list, err := s.store.Channels(ctx)
	if err != nil {
		return nil, err
	}
	l.byID = map[earshot.ChannelID][]earshot.Scope{}
	for _, c := range list {
		l.byID[c.ID] = append(l.byID[c.ID], c.Scope())
	}
	l.read = s.options.Now()
	return l.byID[id], nil
}

// guesses adds to scopes where else the channel may be, as far as the request or
// the caller's reach names workspaces: somebody else may have stored it since the
// list was read.
func (l *places) guesses(p access.Principal, at Place, scopes []earshot.Scope) []earshot.Scope {
	workspaces, platforms := p.Reach.Workspaces, []earshot.Platform{earshot.Slack, earshot.Discord, earshot.Local, Default}
	if at.Workspace != "" {
		workspaces = []earshot.WorkspaceID{at.Workspace}
	}
	if at.Platform != "" {
		platforms = []earshot.Platform{at.Platform}
	}
	scopes = slices.Clone(scopes)
	for _, w := range workspaces[:min(len(workspaces), maxGuesses)] {
		for _, platform := range platforms {
			if sc := (earshot.Scope{Platform: platform, Workspace: w, Channel: at.Channel}); !slices.Contains(scopes, sc) {
				scopes = append(scopes, sc)
			}
		}
	}
	return scopes
}

// learn adds a channel that this service has just stored.
func (l *places) learn(sc earshot.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.byID[sc.Channel] {
		if known == sc {
			return
		}
	}
	if l.byID == nil {
		l.byID = map[earshot.ChannelID][]earshot.Scope{}
	}
	l.byID[sc.Channel] = append(l.byID[sc.Channel], sc)
}
