// Package counted has a store for tests that counts what it is asked: [Store] counts
// the calls, and the rows that reads return. It also lets something happen between two
// calls. [Crowd] puts many channels into one.
//
//	st := counted.New(real)
//	ask(st)
//	calls, rows := st.Counts()
package counted

import (
	"context"
	"iter"
	"sync"

	"github.com/earshot-ai/earshot"
)

// A Store passes calls on to another store and counts them. A row is what a read
// returns one of: a message, a channel, a turn. Close is not counted.
type Store struct {
	earshot.Store
	Crowded int // how many channels Crowd put into it

	mu     sync.Mutex // guards what follows
	calls  int
	rows   int
	before func(call int)
}

// New returns a store that counts the calls of another.
func New(of earshot.Store) *Store { return &Store{Store: of} }

// Reset counts from zero again. It has before, unless it is nil, called ahead of each
// call from here on, with the number of the call, from 1.
func (st *Store) Reset(before func(call int)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.calls, st.rows, st.before = 0, 0, before
}

// Counts returns how many calls there were and how many rows they have returned.
func (st *Store) Counts() (calls, rows int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.calls, st.rows
}

// step counts a call, and returns the store that it goes to.
func (st *Store) step() earshot.Store {
	st.mu.Lock()
	st.calls++
	call, before := st.calls, st.before
	st.mu.Unlock()
	if before != nil {
		before(call)
	}
	return st.Store
}

// read counts the rows of a read that ended with err, and returns err.
func (st *Store) read(rows int, err error) error {
	if err == nil {
		st.mu.Lock()
		st.rows += rows
		st.mu.Unlock()
	}
	return err
}

// countRows counts the rows of a read as they are yielded.
func countRows[T any](st *Store, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for x, err := range rows {
			if !yield(x, st.read(1, err)) {
				return
			}
		}
	}
}

// PutChannels implements [earshot.Bulk], which every store of package store is.
func (st *Store) PutChannels(ctx context.Context, list ...earshot.Channel) error {
	return st.step().(earshot.Bulk).PutChannels(ctx, list...) //nolint:forcetypeassert // see above
}

// RecordBatches implements [earshot.Bulk].
func (st *Store) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.RecordResult, error) {
	return st.step().(earshot.Bulk).RecordBatches(ctx, list...) //nolint:forcetypeassert // see above
}

// Scrub implements [earshot.Scrubber], where the store does.
func (st *Store) Scrub(ctx context.Context) error {
	if disk, ok := st.Store.(earshot.Scrubber); ok {
		return disk.Scrub(ctx)
	}
	return nil
}
