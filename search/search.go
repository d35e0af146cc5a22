package search

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// A Store is what a Searcher needs of [earshot.Messages].
type Store interface {
	// Terms reads the search terms of what became known after seq, in the
	// order of Seq.
	Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error]
	// ByID returns those of the ids that are stored, tombstones too.
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// A Query says what is looked for in a channel; only Text or Authors need be
// set. `go doc search/index.Query` lists its fields.
type Query = index.Query

// Options are the settings of a Searcher. Zero fields mean the defaults.
type Options struct {
	// MaxBytes is how much memory all indexes together may take, by their own
	// estimate. The index that is being searched is kept even if it alone is
	// larger. The default is 256 MiB: channels with half a million messages in
	// all.
	MaxBytes int64
	// Meaning has messages found by what they mean too; nil: by their words alone.
	Meaning *Meaning
}

const defaultMaxBytes = 256 << 20

// A Hit is a message that was found, as the store has it now, and why it ranks
// where it does.
type Hit struct {
	index.Hit
	Message earshot.Message
}

// A Searcher finds messages. It is safe for concurrent use. Searches of one
// channel wait for one another only while its index is brought up to date, so that
// it is built once.
type Searcher struct {
	store     Store
	maxBytes  int64
	meaning   *meaning  // nil: none
	scratches sync.Pool // of *index.Scratch

	mu       sync.Mutex // guards what follows
	channels map[earshot.Scope]*channel
	bytes    int64 // the sum of all channels' counted
	clock    int64 // counts searches
}

// A channel is one channel's index.
type channel struct {
	// lock guards index and sketched: who reads them holds one of it, who changes them
	// holds all. A mutex would not do, because waiting honours ctx.
	lock  *semaphore.Weighted
	index *index.Index
	sketchedChannel

	counted  int64 // the index's bytes, as Searcher.bytes has them
	lastUsed int64 // Searcher.clock of the last search
}

// all is what a channel's lock has to give.
const all = math.MaxInt32

// New returns a Searcher over a store. o may be nil.
func New(store Store, o *Options) *Searcher {
	s := &Searcher{store: store, maxBytes: defaultMaxBytes, channels: map[earshot.Scope]*channel{}}
	s.scratches.New = func() any { return new(index.Scratch) }
	if o != nil && o.MaxBytes > 0 {
		s.maxBytes = o.MaxBytes
	}
	if o != nil && o.Meaning != nil {
		s.meaning = newMeaning(*o.Meaning)
	}
	return s
}

// Search returns the messages of a channel that match the query, the best
// first, at most [Query].Limit of them (0 means 8). What the store has when
// Search is called is found; a message that is deleted meanwhile is left out. A
// channel that is not stored has no hits. Errors are ctx's and the store's.
func (s *Searcher) Search(ctx context.Context, scope earshot.Scope, q Query) ([]Hit, error) {
	vector := s.meaning.query(ctx, scope, q)
	hits, current, err := s.search(ctx, scope, q, vector)
	if err == nil && !current {
		s.Forget(scope)
		hits, _, err = s.search(ctx, scope, q, vector)
	}
	return hits, err
}

// search is Search on the index that there is. current is false where the store
// lacks a message that the index has: the channel was erased since the index
// was built. A message that is only deleted leaves a tombstone.
func (s *Searcher) search(ctx context.Context, scope earshot.Scope, q Query, vector []int8) (hits []Hit, current bool, err error) {
	found, err := s.find(ctx, scope, q, vector)
	if err != nil || len(found) == 0 {
		return nil, true, err
	}
	ids := make([]earshot.MessageID, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	messages, err := s.store.ByID(ctx, scope, ids...)
	if err != nil {
		return nil, true, fmt.Errorf("read what was found: %w", err)
	}
	byID := make(map[earshot.MessageID]*earshot.Message, len(messages))
	for i := range messages {
		byID[messages[i].ID] = &messages[i]
	}
	hits = make([]Hit, 0, len(found))
	for _, h := range found {
		if m, ok := byID[h.ID]; ok && !m.Deleted {
			hits = append(hits, Hit{h, *m})
		}
	}
	return hits, len(byID) == len(found), nil
}

// find brings the channel's index up to date and searches it. After an error the next
// search goes on where the index ends.
func (s *Searcher) find(ctx context.Context, scope earshot.Scope, q Query, vector []int8) ([]index.Hit, error) {
	c := s.channel(scope)
	if err := c.lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	current, err := s.isCurrent(ctx, scope, c)
	if err == nil && !current {
		c.lock.Release(1)
		if err := c.lock.Acquire(ctx, all); err != nil {
			return nil, err
		}
		err = s.update(ctx, scope, c)
		c.lock.Release(all - 1)
	}
	defer c.lock.Release(1)
	if err != nil {
		return nil, err
	}
	if vector != nil {
		if q.Similar, err = s.similar(ctx, scope, c, vector, q); err != nil {
			return nil, err
		}
	}
	scratch := s.scratches.Get().(*index.Scratch)
	hits := c.index.SearchIn(q, scratch)
	s.scratches.Put(scratch)
	return hits, nil
}

// with calls f with a channel while nobody else uses it.
func (s *Searcher) with(ctx context.Context, scope earshot.Scope, f func(*channel) error) error {
	c := s.channel(scope)
	if err := c.lock.Acquire(ctx, all); err != nil {
		return err
	}
	defer c.lock.Release(all)
	return f(c)
}

// isCurrent reports whether a channel's index has all that the store has. One that is
// empty is not asked of the store: reading the first of much would be reading it twice.
func (s *Searcher) isCurrent(ctx context.Context, scope earshot.Scope, c *channel) (bool, error) {
	if c.index.Seq() == 0 {
		return false, nil
	}
	for _, err := range s.store.Terms(ctx, scope, c.index.Seq()) {
		return false, termsError(scope, err)
	}
	if s.meaning == nil {
		return true, nil
	}
	for _, err := range s.meaning.Store.Embeddings(ctx, scope, s.meaning.Encoder.Name(), c.read) {
		return false, embeddingsError(scope, err)
	}
	return true, nil
}

// update reads what a channel's index does not have yet. The caller holds all of its lock.
func (s *Searcher) update(ctx context.Context, scope earshot.Scope, c *channel) error {
	defer s.account(scope, c)
	defer c.index.Settle()
	for t, err := range s.store.Terms(ctx, scope, c.index.Seq()) {
		if err != nil {
			return termsError(scope, err)
		}
		c.index.Add(t)
		if t.Deleted { // its vector has gone from the store
			c.sketches.Put(t.ID, nil)
		}
	}
	if s.meaning == nil {
		return nil
	}
	return s.sketch(ctx, scope, c)
}

func termsError(scope earshot.Scope, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the search terms of %s: %w", scope.Channel, err)
}

// channel returns a channel's index, a new one when there is none.
func (s *Searcher) channel(scope earshot.Scope) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[scope]
	if c == nil {
		c = &channel{lock: semaphore.NewWeighted(all), index: index.New()}
		s.channels[scope] = c
	}
	s.clock++
	c.lastUsed = s.clock
	return c
}

// account counts the bytes of c, all of whose lock the caller holds, and evicts the
// channels that were not searched for longest until all fit. A channel that is
// being searched may be evicted too: that search ends on the index that it has.
func (s *Searcher) account(scope earshot.Scope, c *channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[scope] != c {
		return // evicted meanwhile
	}
	now := c.index.Bytes() + c.sketches.Bytes()
	s.bytes += now - c.counted
	c.counted = now
	for s.bytes > s.maxBytes && len(s.channels) > 1 {
		var oldest earshot.Scope
		var victim *channel
		for scope, other := range s.channels {
			if other != c && (victim == nil || other.lastUsed < victim.lastUsed) {
				oldest, victim = scope, other
			}
		}
		s.bytes -= victim.counted
		delete(s.channels, oldest)
	}
}

// Bytes returns how much memory all indexes together take, by their own estimate: it
// is above Options.MaxBytes only where one channel's index alone is.
func (s *Searcher) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Clear drops the indexes of all channels. The next search of a channel builds its
// index again from the store.
func (s *Searcher) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.channels)
	s.bytes = 0
}

// Forget drops a channel's index, such as after the channel was erased. The
// next search builds it again from the store.
func (s *Searcher) Forget(scope earshot.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[scope]; c != nil {
		s.bytes -= c.counted
		delete(s.channels, scope)
	}
}
