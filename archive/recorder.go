package archive

import (
	"context"
	"hash/maphash"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// How much a call of the store is given.
const (
	batchMessages = 256
	batchBytes    = 1 << 20 // of text
)

// writersPerWorker is how many batches wait for the store per worker: they wait
// for the disk more than for a processor, and what waits shares a commit.
const writersPerWorker = 4

// A Sink is what an import needs of an [earshot.Store].
type Sink interface {
	PutChannel(ctx context.Context, c earshot.Channel) error
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error)
	PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error
}

// A recorder writes channels and messages to a store in batches. Batches of one
// channel are written one after the other in the order they were put, so a
// channel's sequence does not depend on timing; batches of different channels
// go in parallel and share calls, since an export may hold a hundred thousand
// conversations of one message.
type recorder struct {
	store    bulkImport
	writers  []*batchWriter
	seed     maphash.Seed
	progress func(Progress)
	done     func() (done, total int64)

	mu     sync.Mutex // guards counts, and calls of progress
	counts Counts
}

// A batchWriter gathers batches and writes them in one goroutine.
type batchWriter struct {
	full chan []earshot.Batch

	mu   sync.Mutex // guards what follows
	open []earshot.Batch
	size batchSize
}

// A batchSize is how much is in a batch, or in several.
type batchSize struct{ messages, bytes int }

func (s batchSize) full() bool { return s.messages >= batchMessages || s.bytes >= batchBytes }

// sizeOf counts a message with what it quotes and its metadata.
func sizeOf(m earshot.Message) batchSize {
	s := batchSize{1, len(m.Text)}
	for _, x := range m.Shared {
		s.bytes += len(x.Text)
	}
	for k, v := range m.Metadata {
		s.bytes += len(k) + len(v)
	}
	return s
}

func (s *batchSize) add(o batchSize) { s.messages, s.bytes = s.messages+o.messages, s.bytes+o.bytes }

// startRecorder makes a recorder whose writers run in g until finish is called.
func startRecorder(ctx context.Context, g *errgroup.Group, store Sink, o Options, done func() (done, total int64)) *recorder {
	r := &recorder{store: bulkOf(store), writers: make([]*batchWriter, writersPerWorker*o.Workers), seed: maphash.MakeSeed(), progress: o.Progress, done: done}
	for i := range r.writers {
		r.writers[i] = &batchWriter{full: make(chan []earshot.Batch, 2)}
		g.Go(func() error { return r.write(ctx, r.writers[i]) })
	}
	return r
}

func (r *recorder) write(ctx context.Context, l *batchWriter) error {
	for list := range l.full {
		if err := r.record(ctx, list); err != nil {
			return err
		}
	}
	l.mu.Lock() // finish was called: nobody puts any more
	defer l.mu.Unlock()
	return r.record(ctx, l.open)
}

// record writes batches and counts what came of it.
func (r *recorder) record(ctx context.Context, list []earshot.Batch) error {
	if err := ctx.Err(); err != nil || len(list) == 0 {
		return err
	}
	out, err := r.store.RecordBatches(ctx, list...)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, outcomes := range out {
		for _, x := range outcomes {
			r.counts.count(x.Change)
		}
	}
	if r.progress != nil {
		done, total := r.done()
		r.progress(Progress{Done: done, Total: total, Messages: r.counts.Total()})
	}
	return nil
}

// put hands a batch to the writer of its channel.
func (r *recorder) put(ctx context.Context, b earshot.Batch, n batchSize) error {
	if n.messages == 0 {
		return nil
	}
	l := r.writers[maphash.Comparable(r.seed, b.Scope)%uint64(len(r.writers))]
	l.mu.Lock()
	defer l.mu.Unlock() // also while the writer is full: the order of a channel's batches is kept
	l.open = append(l.open, b)
	l.size.add(n)
	if !l.size.full() {
		return nil
	}
	select {
	case l.full <- l.open:
		l.open, l.size = nil, batchSize{}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish tells the writers that nothing follows. No put may come after it.
func (r *recorder) finish() {
	for _, l := range r.writers {
		close(l.full)
	}
}

// A batcher fills batches of one channel.
type batcher struct {
	to    *recorder
	scope earshot.Scope
	open  []earshot.Message
	size  batchSize
}

func (b *batcher) add(ctx context.Context, m earshot.Message) error {
	b.open = append(b.open, m)
	b.size.add(sizeOf(m))
	if !b.size.full() {
		return nil
	}
	return b.flush(ctx)
}

func (b *batcher) flush(ctx context.Context) error {
	batch, n := earshot.Batch{Scope: b.scope, Messages: b.open}, b.size
	b.open, b.size = nil, batchSize{}
	return b.to.put(ctx, batch, n)
}

// A rootSet counts threads, or conversations, by hashes of their ids: there may
// be millions.
type rootSet map[uint64]struct{}

var rootSeed = maphash.MakeSeed()

// add reports whether the id, which may have several parts, is new to s.
func (s rootSet) add(id ...string) bool {
	var h maphash.Hash
	h.SetSeed(rootSeed)
	for _, part := range id {
		maphash.WriteComparable(&h, part)
	}
	n := len(s)
	s[h.Sum64()] = struct{}{}
	return len(s) > n
}
