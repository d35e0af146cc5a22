// Package partial is an [earshot.Store] that keeps some channels in memory: of
// what is said there the disk holds only what a running turn needs.
//
// Start with [New], then queue.go, which says what of a turn is where. The rule
// that makes it sound: what decides (leases, the order of turns, the journal, the
// outbox) is always the disk's, so that kills and replicas find it; what was said
// is always the memory's, and a turn's question is on the disk too until the turn
// has ended. Then the disk gets a tombstone for the question, whose erasure removes
// the turn's input, journal and posts with it. There is no session in such a
// channel, so nothing on the disk can disagree with the memory of another replica.
//
// See docs/decisions/123-no-store.md.
package partial

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
)

// A Store is the disk's for all channels but the transient ones.
type Store struct {
	earshot.Store // the disk
	memory        earshot.Store
	transient     func(earshot.Scope) bool
	log           *slog.Logger

	mu      sync.Mutex                // guards what follows
	held    map[author]earshot.Author // whose names the disk does not have
	erased  map[author]bool           // who were erased: the disk decides on their names
	running map[question]earshot.TurnID
	read    map[earshot.TurnID][]earshot.MessageID // what the journals of these turns may repeat
	// followed is the newest erasure that the memory has followed; those that began
	// before this store was made do not concern it.
	followed earshot.ErasureID
	began    earshot.Time

	commits sync.Mutex // held while a draft in a transient channel is committed
}

// An author is one of a workspace's.
type author struct {
	platform  earshot.Platform
	workspace earshot.WorkspaceID
	id        earshot.AuthorID
}

// A question is the anchor of a turn that this process has claimed.
type question struct {
	scope earshot.Scope
	id    earshot.MessageID
}

// New returns a store over disk that keeps in memory what is said in the transient
// channels; began is the time now. It closes both.
func New(disk, memory earshot.Store, transient func(earshot.Scope) bool, began earshot.Time, log *slog.Logger) *Store {
	return &Store{
		Store: disk, memory: memory, transient: transient, log: log,
		held: map[author]earshot.Author{}, erased: map[author]bool{}, running: map[question]earshot.TurnID{}, read: map[earshot.TurnID][]earshot.MessageID{}, began: began,
	}
}

// of returns the store that has what was said in a channel.
func (s *Store) of(scope earshot.Scope) earshot.Store {
	if s.transient(scope) {
		return s.memory
	}
	return s.Store
}

// Erase implements [earshot.Store].
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	if err := s.Store.Erase(ctx, scope); err != nil {
		return err
	}
	spoken, err := s.memory.Since(ctx, scope, 0, 0)
	if err != nil {
		return err
	}
	if err := s.memory.Erase(ctx, scope); err != nil {
		return err
	}
	left, err := s.Channels(ctx)
	if err != nil {
		return err
	}
	last := !slices.ContainsFunc(left, func(c earshot.ChannelInfo) bool {
		return c.Platform == scope.Platform && c.Workspace == scope.Workspace
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range spoken { // who speaks elsewhere is asked for again
		delete(s.held, author{scope.Platform, scope.Workspace, m.Author.ID})
	}
	maps.DeleteFunc(s.held, func(a author, _ earshot.Author) bool {
		return last && a.platform == scope.Platform && a.workspace == scope.Workspace
	})
	return nil
}

// EraseWorkspace implements [earshot.Store].
func (s *Store) EraseWorkspace(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID) error {
	if err := errors.Join(s.Store.EraseWorkspace(ctx, p, w), s.memory.EraseWorkspace(ctx, p, w)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.held, func(a author, _ earshot.Author) bool { return a.platform == p && a.workspace == w })
	maps.DeleteFunc(s.erased, func(a author, _ bool) bool { return a.platform == p && a.workspace == w })
	return nil
}

// MoveChannel implements [earshot.Store]. Where the new id is transient and the old one
// is not, or the other way round, what the memory has stays with the id that it is of.
func (s *Store) MoveChannel(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error {
	if err := s.Store.MoveChannel(ctx, from, to); err != nil {
		return err
	}
	if err := s.memory.MoveChannel(ctx, from, to); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range s.running {
		if q.scope == from { // it is claimed again
			s.letGo(q)
		}
	}
	return nil
}

// Close implements [earshot.Store].
func (s *Store) Close() error { return errors.Join(s.Store.Close(), s.memory.Close()) }
