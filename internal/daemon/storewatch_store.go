package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// A watchedStore is a store of which a storeWatch sees the writes by which events
// come in, and those that are made all the time. Their errors name the store.
type watchedStore struct {
	earshot.Store
	watch *storeWatch
}

// Accept implements [earshot.Inbox].
func (s watchedStore) Accept(ctx context.Context, at earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	out, err := s.Store.Accept(ctx, at, e, ask)
	return out, s.watch.wrote(ctx, err)
}

// Record implements [earshot.Messages].
func (s watchedStore) Record(ctx context.Context, at earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	out, err := s.Store.Record(ctx, at, messages...)
	return out, s.watch.wrote(ctx, err)
}

// Tell implements [earshot.Messages].
func (s watchedStore) Tell(ctx context.Context, at earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	out, err := s.Store.Tell(ctx, at, messages...)
	return out, s.watch.wrote(ctx, err)
}

// React implements [earshot.Messages].
func (s watchedStore) React(ctx context.Context, at earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	out, err := s.Store.React(ctx, at, x)
	return out, s.watch.wrote(ctx, err)
}

// PutChannel implements [earshot.Messages].
func (s watchedStore) PutChannel(ctx context.Context, c earshot.Channel) error {
	return s.watch.wrote(ctx, s.Store.PutChannel(ctx, c))
}

// PutAuthors implements [earshot.Messages].
func (s watchedStore) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	return s.watch.wrote(ctx, s.Store.PutAuthors(ctx, p, w, authors...))
}

// PutCoverage implements [earshot.Messages].
func (s watchedStore) PutCoverage(ctx context.Context, at earshot.Scope, list ...earshot.Coverage) error {
	return s.watch.wrote(ctx, s.Store.PutCoverage(ctx, at, list...))
}

// PutNote implements [earshot.Notes].
func (s watchedStore) PutNote(ctx context.Context, n earshot.Note) error {
	return s.watch.wrote(ctx, s.Store.PutNote(ctx, n))
}

// DropNote implements [earshot.Notes].
func (s watchedStore) DropNote(ctx context.Context, key string) error {
	return s.watch.wrote(ctx, s.Store.DropNote(ctx, key))
}

// Notes implements [earshot.Notes].
func (s watchedStore) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	out, err := s.Store.Notes(ctx, prefix, limit)
	return out, s.watch.read(ctx, err)
}

// Claim implements [earshot.Leases].
func (s watchedStore) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	l, turns, err := s.Store.Claim(ctx, agent, owner, now, hold)
	return l, turns, s.watch.wrote(ctx, err)
}

// ClaimSummary implements [earshot.Summaries].
func (s watchedStore) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	c, err := s.Store.ClaimSummary(ctx, agent, owner, over, now, hold)
	return c, s.watch.wrote(ctx, err)
}

// AddCalls implements [earshot.Meter].
func (s watchedStore) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	return s.watch.wrote(ctx, s.Store.AddCalls(ctx, counts...))
}

// Scrub implements [earshot.Scrubber], where the store does.
func (s watchedStore) Scrub(ctx context.Context) error {
	if disk, ok := s.Store.(earshot.Scrubber); ok {
		return disk.Scrub(ctx)
	}
	return nil
}
