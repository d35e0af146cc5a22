package postgres

import (
	"context"
	"sync"
)

// firstStats is how many messages a store adds before it analyzes the tables for
// the first time.
const firstStats = 1000

// stats keeps the planner's statistics up to date while this process adds messages:
// it runs ANALYZE after the first 1,000 and whenever their number has doubled. The
// server's autovacuum does that too, but a minute later. Until then an import would
// read a large table by plans that were made for an empty one.
type stats struct {
	store   *Store
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	added  int
	next   int
	busy   bool
	closed bool
}

// grown counts messages that were added.
func (x *stats) grown(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.added += n
	if x.closed || x.busy || x.added < max(x.next, firstStats) {
		return
	}
	x.next, x.busy = 2*x.added, true
	x.running.Go(x.analyze)
}

func (x *stats) analyze() {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if _, err := x.store.pool.Exec(ctx, `ANALYZE message, thread, revision`); err != nil {
		x.store.log.Warn("the planner's statistics are not up to date; reads may be slow for a minute", "err", err)
	}
	x.mu.Lock()
	x.busy = false
	x.mu.Unlock()
}

// close waits for an ANALYZE that is running and starts no other.
func (x *stats) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.running.Wait()
}
