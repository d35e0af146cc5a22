package postgres

import (
	"context"
	"sync"
)

// firstStats is how many messages a store adds before it has the planner look
// at the tables for the first time.
const firstStats = 1000

// stats keep the planner's statistics up with what this process adds: after
// 1,000 messages, and whenever it has added as many again as before. The
// server does the same of itself, a minute later: too late for an import,
// which would read a large table by plans made for an empty one.
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

// close waits for what is under way and begins nothing more.
func (x *stats) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.running.Wait()
}
