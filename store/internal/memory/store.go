// Package memory is an [earshot.Store] in Go maps and slices: for tests, for first
// tries, and as the simplest implementation to read. It forgets everything on
// Close.
//
// One lock guards everything. A stored message is replaced, never changed in place,
// so that a read can use it after giving back the lock.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Store is an [earshot.Store] in memory.
type Store struct {
	now func() time.Time

	mu            sync.RWMutex // guards what follows
	closed        bool
	channels      map[earshot.Scope]*channel
	authors       map[workspace]map[earshot.AuthorID]earshot.Author
	conversations map[earshot.ConversationID]*conversation
	keys          map[idempotencyKey]earshot.ConversationID
	anchors       map[agentKey]bool       // answered
	erased        int64                   // the highest sequence of an erased channel
	calls         []earshot.CallCount     // by rule.CompareCalls
	rates         map[string]earshot.Time // up to when calls under a key are booked
	spends        spends
	notes         map[string][]byte // by key
	queue         queue
	drafts        map[earshot.TurnID]*rule.StoredDraft // replaced, never changed in place
	erasures      []*rule.Erasure                      // by id
	bars          bars                                 // what is not recorded again
	tally         earshot.ErasureCounts                // what deletions have removed; a step of an erasure sets it to zero
	agents        map[earshot.AgentID]bool             // who have conversations; only with a bound
	bound         *evictor                             // nil: none
}

type workspace struct {
	platform earshot.Platform
	id       earshot.WorkspaceID
}

// An idempotencyKey is an agent's in a workspace, whatever the channel.
type idempotencyKey struct {
	agent     earshot.AgentID
	workspace earshot.WorkspaceID
	key       string
}

// An agentKey names something that belongs to an agent within a scope, such as an
// anchor.
type agentKey struct {
	agent earshot.AgentID
	scope earshot.Scope
	id    string
}

// Open returns an empty store. It reads the time of conversations and turns
// from now.
func Open(now func() time.Time) *Store {
	return &Store{
		now:           now,
		channels:      map[earshot.Scope]*channel{},
		authors:       map[workspace]map[earshot.AuthorID]earshot.Author{},
		conversations: map[earshot.ConversationID]*conversation{},
		keys:          map[idempotencyKey]earshot.ConversationID{},
		anchors:       map[agentKey]bool{},
		notes:         map[string][]byte{},
		queue:         newQueue(),
		drafts:        map[earshot.TurnID]*rule.StoredDraft{},
		rates:         map[string]earshot.Time{},
		spends:        spends{map[purseDay]rule.Purse{}, map[earshot.TurnID]rule.Held{}},
		bars:          bars{},
	}
}

// OpenBounded is Open of a store that evicts what is over its limits.
func OpenBounded(now func() time.Time, l Limits) *Store {
	s := Open(now)
	s.bound, s.agents = newEvictor(l), map[earshot.AgentID]bool{}
	return s
}

// Close closes the store. Later calls of other methods return [os.ErrClosed].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// write runs f under the lock, alone.
func (s *Store) write(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	defer s.trim()
	return f()
}

// read runs f under the lock, together with other reads.
func (s *Store) read(ctx context.Context, f func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	return f()
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("memory store: %w", os.ErrClosed)
	}
	return ctx.Err()
}

// channel returns what is stored of a scope, creating it.
func (s *Store) channel(scope earshot.Scope) *channel {
	c := s.channels[scope]
	if c == nil {
		c = newChannel()
		c.seq = s.erased
		c.info = earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel}
		s.channels[scope] = c
	}
	return c
}

// PutChannel implements [earshot.Messages].
func (s *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	c, err := rule.CheckChannel(c)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		at := s.channel(c.Scope())
		if rule.NamesMembers(c) && at.info.Kind != "" && at.info.Name == "" && s.bars.people(workspace{c.Platform, c.Workspace}) {
			c.Name, c.Purpose = "", ""
		}
		at.info, at.told = rule.PutChannel(at.info, at.told, c, s.bars.of(c.Scope()))
		return nil
	})
}

// Channel implements [earshot.Messages].
func (s *Store) Channel(ctx context.Context, scope earshot.Scope) (earshot.Channel, error) {
	var out earshot.Channel
	err := s.read(ctx, func() error {
		c := s.channels[rule.Scope(scope)]
		if c == nil {
			return rule.NoChannel(scope.Channel)
		}
		out = c.info
		return nil
	})
	return out, err
}

// Channels implements [earshot.Messages].
func (s *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return s.FindChannels(ctx, earshot.ChannelQuery{})
}

// FindChannels implements [earshot.Messages].
func (s *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	picks := rule.ChannelPicks(q)
	var out []earshot.ChannelInfo
	err := s.read(ctx, func() error {
		for _, c := range s.channels {
			if !slices.ContainsFunc(picks, func(p rule.ChannelPick) bool { return p.Has(c.info) }) {
				continue
			}
			info := earshot.ChannelInfo{Channel: c.info, Messages: len(c.whole)}
			for root, list := range c.threads {
				if root != "" && len(list) > 0 {
					info.Threads++
				}
			}
			if n := len(c.whole); n > 0 {
				info.First, info.Last = c.whole[0].Time, c.whole[n-1].Time
			}
			out = append(out, info)
		}
		return nil
	})
	return rule.JoinChannels(q.Limit, out, nil), err
}

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil {
		return err
	}
	at := workspace{rule.ID(p), rule.ID(w)}
	return s.write(ctx, func() error {
		if s.authors[at] == nil {
			s.authors[at] = map[earshot.AuthorID]earshot.Author{}
		}
		for _, a := range authors {
			if s.bars.names(at, a.ID) && !s.spoke(at, a.ID) {
				continue
			}
			s.authors[at][a.ID] = rule.Author(s.authors[at][a.ID], a)
		}
		return nil
	})
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	var out []earshot.Author
	err := s.read(ctx, func() error {
		all := s.authors[workspace{rule.ID(p), rule.ID(w)}]
		if len(ids) == 0 {
			out = slices.AppendSeq(out, maps.Values(all))
		}
		for _, id := range rule.IDs(ids) {
			if a, ok := all[id]; ok {
				out = append(out, a)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return out, err
}

// PutCoverage implements [earshot.Messages].
func (s *Store) PutCoverage(ctx context.Context, scope earshot.Scope, list ...earshot.Coverage) error {
	scope, err := rule.CheckScope(scope)
	if err != nil {
		return err
	}
	if list, err = rule.CheckCoverage(list); err != nil || len(list) == 0 {
		return err
	}
	return s.write(ctx, func() error {
		for _, c := range list {
			at := coverageKey{c.Thread, c.From, c.To}
			if c.State == "" {
				delete(s.channel(scope).coverage, at)
			} else {
				s.channel(scope).coverage[at] = c
			}
		}
		return nil
	})
}

// Coverage implements [earshot.Messages].
func (s *Store) Coverage(ctx context.Context, scope earshot.Scope) ([]earshot.Coverage, error) {
	var out []earshot.Coverage
	err := s.read(ctx, func() error {
		if c := s.channels[rule.Scope(scope)]; c != nil {
			for _, v := range c.coverage {
				out = append(out, v)
			}
			out = append(out, c.gaps()...)
		}
		out = rule.CoverageAbove(out, s.bars.of(rule.Scope(scope)).Floor())
		return nil
	})
	slices.SortFunc(out, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out, err
}

// Covered implements [earshot.Messages].
func (s *Store) Covered(ctx context.Context, why string) ([]earshot.Scope, error) {
	var out []earshot.Scope
	err := s.read(ctx, func() error {
		for at, c := range s.channels {
			for _, e := range c.coverage {
				if e.Thread == "" && e.To == 0 && e.State == earshot.Known && e.Why == rule.Text(why) {
					out = append(out, at)
				}
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b earshot.Scope) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Channel, b.Channel))
	})
	return slices.Compact(out), err
}
