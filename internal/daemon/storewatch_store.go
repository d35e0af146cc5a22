package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// A watched store is a store of which a storeWatch sees the writes by which events
// come in, and those that are made all the time. Their errors name the store.
type watched struct {
	earshot.Store
	watch *storeWatch
}

// Accept implements [earshot.Inbox].
func (s watched) Accept(ctx context.Context, at earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.Accepted, error) {
	out, err := s.Store.Accept(ctx, at, e, ask)
	return out, s.watch.wrote(ctx, err)
}

// Record implements [earshot.Messages].
func (s watched) Record(ctx context.Context, at earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error) {
	out, err := s.Store.Record(ctx, at, messages...)
	return out, s.watch.wrote(ctx, err)
}

// Tell implements [earshot.Messages].
func (s watched) Tell(ctx context.Context, at earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error) {
	out, err := s.Store.Tell(ctx, at, messages...)
	return out, s.watch.wrote(ctx, err)
}

// React implements [earshot.Messages].
func (s watched) React(ctx context.Context, at earshot.Scope, x earshot.Reacted) (earshot.Recorded, error) {
	out, err := s.Store.React(ctx, at, x)
	return out, s.watch.wrote(ctx, err)
}

// PutChannel implements [earshot.Messages].
func (s watched) PutChannel(ctx context.Context, c earshot.Channel) error {
	return s.watch.wrote(ctx, s.Store.PutChannel(ctx, c))
}

// PutAuthors implements [earshot.Messages].
func (s watched) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	return s.watch.wrote(ctx, s.Store.PutAuthors(ctx, p, w, authors...))
}

// PutCoverage implements [earshot.Messages].
func (s watched) PutCoverage(ctx context.Context, at earshot.Scope, list ...earshot.Coverage) error {
	return s.watch.wrote(ctx, s.Store.PutCoverage(ctx, at, list...))
}

// PutNote implements [earshot.Notes].
func (s watched) PutNote(ctx context.Context, n earshot.Note) error {
	return s.watch.wrote(ctx, s.Store.PutNote(ctx, n))
}

// DropNote implements [earshot.Notes].
func (s watched) DropNote(ctx context.Context, key string) error {
	return s.watch.wrote(ctx, s.Store.DropNote(ctx, key))
}

// Notes implements [earshot.Notes].
func (s watched) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	out, err := s.Store.Notes(ctx, prefix, limit)
	return out, s.watch.read(ctx, err)
}

// Claim implements [earshot.Leases].
func (s watched) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	l, turns, err := s.Store.Claim(ctx, agent, owner, now, hold)
	return l, turns, s.watch.wrote(ctx, err)
}

// ClaimSummary implements [earshot.Summaries].
func (s watched) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	c, err := s.Store.ClaimSummary(ctx, agent, owner, over, now, hold)
	return c, s.watch.wrote(ctx, err)
}

// AddCalls implements [earshot.Meter].
func (s watched) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	return s.watch.wrote(ctx, s.Store.AddCalls(ctx, counts...))
}

// Scrub implements [earshot.Scrubber], where the store does.
func (s watched) Scrub(ctx context.Context) error {
	if disk, ok := s.Store.(earshot.Scrubber); ok {
		return disk.Scrub(ctx)
	}
	return nil
}
