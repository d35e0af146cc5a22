// Package searcher keeps the search indexes of channels in memory, over a
// store.
//
// A [Searcher] builds a channel's index on the first search, from the terms
// that the store keeps with each message, brings it up to date by sequence
// before every search, and evicts what was not searched for longest when all
// indexes together grow too large. Nothing of it is on disk: decision 083 says
// why.
//
//	s := searcher.New(store, nil)
//	hits, err := s.Search(ctx, scope, search.Query{Text: "migration hangs", At: now})
package searcher

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
)

// A Source is what a Searcher needs of [earshot.Messages].
type Source interface {
	// Terms reads the search terms of what became known after seq, in the
	// order of Seq.
	Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error]
	// ByID returns those of the ids that are stored, tombstones too.
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// Options are what a Searcher may be told. Zero fields mean the defaults.
type Options struct {
	// MaxBytes is how much all indexes together may hold, by their own
	// estimate; the one that is searched is kept even if it alone is larger.
	// The default is 256 MiB: channels with half a million messages in all.
	MaxBytes int64
}

const defaultMaxBytes = 256 << 20

// A Hit is a message that was found, and why.
type Hit struct {
	search.Hit
	Message earshot.Message
}

// A Searcher finds messages. It is safe for concurrent use. Searches of one
// channel wait for one another while its index is brought up to date, so that
// it is built once; those of other channels do not.
type Searcher struct {
	source   Source
	maxBytes int64

	mu       sync.Mutex // guards what follows
	channels map[earshot.Scope]*channel
	bytes    int64 // of all channels' held
	clock    int64 // counts searches
}

// A channel is one channel's index.
type channel struct {
	// turn holds one token: who has taken it may use index. It is a channel
	// and no mutex, so that who waits can give up.
	turn  chan struct{}
	index *search.Index

	held int64 // the index's bytes, as Searcher.bytes counts them
	used int64 // Searcher.clock of the last search
}

// New returns a Searcher over a store.
func New(source Source, o *Options) *Searcher {
	s := &Searcher{source: source, maxBytes: defaultMaxBytes, channels: map[earshot.Scope]*channel{}}
	if o != nil && o.MaxBytes > 0 {
		s.maxBytes = o.MaxBytes
	}
	return s
}

// Search returns the messages of a channel that match the query, the best
// first. What the store knows when Search is called is found. A message that
// is deleted meanwhile is left out.
func (s *Searcher) Search(ctx context.Context, scope earshot.Scope, q search.Query) ([]Hit, error) {
	hits, known, err := s.search(ctx, scope, q)
	if err == nil && !known {
		s.Forget(scope)
		hits, _, err = s.search(ctx, scope, q)
	}
	return hits, err
}

// search is Search, and reports whether the store knows all that was found. It
// does unless the channel was erased since its index was built: a message that
// is deleted leaves a tombstone.
func (s *Searcher) search(ctx context.Context, scope earshot.Scope, q search.Query) (hits []Hit, known bool, err error) {
	found, err := s.find(ctx, scope, q)
	if err != nil || len(found) == 0 {
		return nil, true, err
	}
	ids := make([]earshot.MessageID, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	messages, err := s.source.ByID(ctx, scope, ids...)
	if err != nil {
		return nil, true, fmt.Errorf("read what was found: %w", err)
	}
	byID := make(map[earshot.MessageID]earshot.Message, len(messages))
	for _, m := range messages {
		byID[m.ID] = m
	}
	hits = make([]Hit, 0, len(found))
	for _, h := range found {
		if m, ok := byID[h.ID]; ok && !m.Deleted {
			hits = append(hits, Hit{h, m})
		}
	}
	return hits, len(byID) == len(found), nil
}

// find searches the channel's index, which is built or brought up to date
// first. A failure on the way loses nothing: the next search goes on from
// where the index ends.
func (s *Searcher) find(ctx context.Context, scope earshot.Scope, q search.Query) ([]search.Hit, error) {
	c := s.channel(scope)
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		s.settle(scope, c)
		c.turn <- struct{}{}
	}()
	for t, err := range s.source.Terms(ctx, scope, c.index.Seq()) {
		if err != nil {
			return nil, fmt.Errorf("read the search terms of %s: %w", scope.Channel, err)
		}
		c.index.Add(t)
	}
	return c.index.Search(q), nil
}

// channel returns a channel's index, an empty one when there is none.
func (s *Searcher) channel(scope earshot.Scope) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[scope]
	if c == nil {
		c = &channel{turn: make(chan struct{}, 1), index: search.NewIndex()}
		c.turn <- struct{}{}
		s.channels[scope] = c
	}
	s.clock++
	c.used = s.clock
	return c
}

// settle counts what c holds now and evicts the channels that were not
// searched for longest until all fit. One that is being searched meanwhile is
// evicted too: the search ends on the index that it has. settle is called by
// who has c's turn.
func (s *Searcher) settle(scope earshot.Scope, c *channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[scope] != c {
		return // evicted meanwhile
	}
	s.bytes += c.index.Bytes() - c.held
	c.held = c.index.Bytes()
	for s.bytes > s.maxBytes && len(s.channels) > 1 {
		var oldest earshot.Scope
		var victim *channel
		for scope, other := range s.channels {
			if other != c && (victim == nil || other.used < victim.used) {
				oldest, victim = scope, other
			}
		}
		s.bytes -= victim.held
		delete(s.channels, oldest)
	}
}

// Forget drops a channel's index, such as after its history was erased.
func (s *Searcher) Forget(scope earshot.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[scope]; c != nil {
		s.bytes -= c.held
		delete(s.channels, scope)
	}
}

// Bytes returns what the indexes hold in memory, by their own estimate.
func (s *Searcher) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
