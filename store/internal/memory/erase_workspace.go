package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// EraseWorkspace implements [earshot.Store].
func (s *Store) EraseWorkspace(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID) error {
	at := workspace{rule.ID(p), rule.ID(w)}
	for _, scope := range s.scopesIn(at) {
		if err := s.Erase(ctx, scope); err != nil {
			return err
		}
	}
	return s.write(ctx, func() error {
		delete(s.authors, at)
		maps.DeleteFunc(s.bars, func(k barKey, _ rule.Bar) bool { return k.workspace == at })
		s.calls = slices.DeleteFunc(s.calls, func(c earshot.CallCount) bool { return c.Platform == at.platform && c.Workspace == at.id })
		maps.DeleteFunc(s.notes, func(key string, _ []byte) bool { return rule.NamesWorkspace(key, at.platform, at.id) })
		maps.DeleteFunc(s.rates, func(key string, _ earshot.Time) bool { return rule.NamesWorkspace(key, at.platform, at.id) })
		maps.DeleteFunc(s.spends.sums, func(k purseDay, _ rule.Purse) bool { return rule.PurseIn(k.purse, at.platform, at.id) })
		s.dropErasures(at)
		return nil
	})
}

// scopesIn returns the workspace's channels of which anything is stored.
func (s *Store) scopesIn(at workspace) []earshot.Scope {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := map[earshot.Scope]bool{}
	for scope := range s.channels {
		found[scope] = true
	}
	for id := range s.conversations {
		found[id.Scope] = true
	}
	for _, t := range s.queue.turns {
		found[t.Conversation.Scope] = true
	}
	maps.DeleteFunc(found, func(c earshot.Scope, _ bool) bool { return c.Platform != at.platform || c.Workspace != at.id })
	return slices.Collect(maps.Keys(found))
}

// dropErasures removes the workspace's erasures. Of the newest of all its number stays,
// which must not be given again.
func (s *Store) dropErasures(at workspace) {
	last := len(s.erasures) - 1
	for i, x := range s.erasures {
		if i != last || x.Of.Platform != at.platform || x.Of.Workspace != at.id {
			continue
		}
		blank := *x
		blank.Of = earshot.ErasureOf{Platform: at.platform, Before: x.Of.Before, Forget: x.Of.Forget}
		blank.Channel, blank.At = "", ""
		if blank.Ended == 0 {
			blank.Ended = s.time()
		}
		s.erasures[i] = &blank
	}
	s.erasures = slices.DeleteFunc(s.erasures, func(x *rule.Erasure) bool { return x.Of.Platform == at.platform && x.Of.Workspace == at.id })
}
