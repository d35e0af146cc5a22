package archive

import (
	"context"
	"hash/maphash"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// A batch is recorded in one transaction: messages of one channel, in order.
const (
	batchMessages = 256
	batchBytes    = 1 << 20 // of text
)

// lanesPerWorker is how many batches wait for the store per worker: they wait
// for the disk more than for a processor, and what waits shares a commit.
const lanesPerWorker = 4

// A Sink is what an import needs of an [earshot.Store].
type Sink interface {
	PutChannel(ctx context.Context, c earshot.Channel) error
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error)
	PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error
}

// A recorder writes messages to a store in batches. Batches of one channel are
// written one after the other in the order they were put, so a channel's
// sequence does not depend on timing; batches of different channels go in
// parallel and share commits.
type recorder struct {
	store    Sink
	lanes    []chan batch
	seed     maphash.Seed
	progress func(Progress)
	done     func() (done, total int64)

	mu     sync.Mutex // guards counts, and calls of progress
	counts Counts
}

type batch struct {
	scope    earshot.Scope
	messages []earshot.Message
}

// start makes a recorder whose writers run in g until finish is called.
func start(ctx context.Context, g *errgroup.Group, store Sink, o Options, done func() (done, total int64)) *recorder {
	r := &recorder{store: store, lanes: make([]chan batch, lanesPerWorker*o.Workers), seed: maphash.MakeSeed(), progress: o.Progress, done: done}
	for i := range r.lanes {
		r.lanes[i] = make(chan batch, 2)
		g.Go(func() error { return r.write(ctx, r.lanes[i]) })
	}
	return r
}

func (r *recorder) write(ctx context.Context, lane <-chan batch) error {
	for b := range lane {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := r.store.Record(ctx, b.scope, b.messages...)
		if err != nil {
			return err
		}
		r.mu.Lock()
		for _, x := range out {
			r.counts.count(x.Change)
		}
		if r.progress != nil {
			done, total := r.done()
			r.progress(Progress{Done: done, Total: total, Messages: r.counts.Total()})
		}
		r.mu.Unlock()
	}
	return nil
}

// put hands a batch to its channel's writer.
func (r *recorder) put(ctx context.Context, b batch) error {
	if len(b.messages) == 0 {
		return nil
	}
	lane := r.lanes[maphash.Comparable(r.seed, b.scope)%uint64(len(r.lanes))]
	select {
	case lane <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish tells the writers that nothing follows. No put may come after it.
func (r *recorder) finish() {
	for _, lane := range r.lanes {
		close(lane)
	}
}

// A batcher fills batches of one channel.
type batcher struct {
	to    *recorder
	scope earshot.Scope
	open  []earshot.Message
	bytes int
}

func (b *batcher) add(ctx context.Context, m earshot.Message) error {
	if b.open == nil {
		b.open = make([]earshot.Message, 0, batchMessages)
	}
	b.open = append(b.open, m)
	b.bytes += len(m.Text)
	for _, x := range m.Shared {
		b.bytes += len(x.Text)
	}
	if len(b.open) < batchMessages && b.bytes < batchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *batcher) flush(ctx context.Context) error {
	full := batch{b.scope, b.open}
	b.open, b.bytes = nil, 0
	return b.to.put(ctx, full)
}

// A rootSet counts threads without keeping their ids: a channel may have
// hundreds of thousands.
type rootSet map[uint64]struct{}

var rootSeed = maphash.MakeSeed()

func (s rootSet) add(id earshot.MessageID) { s[maphash.Comparable(rootSeed, id)] = struct{}{} }
