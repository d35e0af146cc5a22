package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
)

// eraseEvery is how often a daemon looks for erasures that another process has left
// in the middle.
const eraseEvery = 30 * time.Second

// An eraser ends the erasures that a process which was stopped or killed has left
// open, has the store's files scrubbed of what others have deleted, and clears this
// process's caches after each erasure, whoever did it.
type eraser struct {
	store earshot.Store
	log   *slog.Logger
	clear func()              // drops the caches
	begun <-chan struct{}     // something is begun here: there is no need to wait
	seen  []earshot.ErasureID // the newest erasure and those that were open, at the last look
}

// caches drops what the parts of a daemon hold in memory of what people wrote.
type caches struct {
	mu   sync.Mutex // guards drop
	drop []func()
}

// add has clear call drop too.
func (c *caches) add(drop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop = append(c.drop, drop)
}

func (c *caches) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, drop := range c.drop {
		drop()
	}
}

// Run looks at the start and then every eraseEvery, until ctx ends. A store that
// fails is no reason to stop answering.
func (e *eraser) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := erasure.Resume(ctx, e.store, &erasure.Options{Log: e.log})
		if err == nil {
			err = errors.Join(e.clearCaches(ctx), erasure.Scrub(ctx, e.store, 0))
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("something is not erased yet", "err", err)
		}
		_ = waitFor(ctx, e.begun, eraseEvery) // its error is that of ctx
	}
	return nil
}

// clearCaches clears the caches if an erasure has begun or ended since the last call:
// then the newest is another one, or others are open.
func (e *eraser) clearCaches(ctx context.Context) error {
	newest, err := e.store.ErasureLog(ctx, false, 1)
	if err != nil {
		return err
	}
	open, err := e.store.ErasureLog(ctx, true, 0)
	if err != nil {
		return err
	}
	var now []earshot.ErasureID
	for _, x := range slices.Concat(newest, open) {
		now = append(now, x.ID)
	}
	if !slices.Equal(now, e.seen) {
		e.seen = now
		e.clear()
	}
	return nil
}
