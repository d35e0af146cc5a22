package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/disgoorg/disgo/discord"

	"github.com/earshot-ai/earshot/internal/pause"
)

// Bounds of identifies.
const (
	identifyEvery = 5 * time.Second // for one key (Gateway, Session Start Limit)
	limitFor      = 10 * time.Minute
	// reserve is how many of a day's identifies are left alone: Discord resets the
	// token of a bot that uses up all.
	reserve = 5
)

// Identifies say when shards may identify: shards whose ids are equal modulo
// max_concurrency one in five seconds, and no more a day than Discord allows. It is
// safe for concurrent use.
type Identifies struct {
	limit func(ctx context.Context) (discord.SessionStartLimit, error)
	now   func() time.Time

	mu    sync.Mutex // guards what follows
	known discord.SessionStartLimit
	at    time.Time // when known was asked for
	next  map[int]time.Time
}

// NewIdentifies returns Identifies for all shards of a bot. limit asks Discord, such
// as GET /gateway/bot; now is nil for time.Now.
func NewIdentifies(limit func(ctx context.Context) (discord.SessionStartLimit, error), now func() time.Time) *Identifies {
	if now == nil {
		now = time.Now
	}
	return &Identifies{limit: limit, now: now, next: map[int]time.Time{}}
}

// Wait returns when a shard may identify. The error is ctx's, or that of asking for
// the limits.
func (x *Identifies) Wait(ctx context.Context, shard int) error {
	for {
		if err := x.refresh(ctx); err != nil {
			return err
		}
		wait := x.take(shard)
		if wait <= 0 {
			return ctx.Err()
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// refresh asks for the limits where they are not known or old.
func (x *Identifies) refresh(ctx context.Context) error {
	x.mu.Lock()
	known := !x.at.IsZero() && x.now().Sub(x.at) < limitFor
	x.mu.Unlock()
	if known {
		return nil
	}
	limit, err := x.limit(ctx)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known, x.at = limit, x.now()
	x.known.MaxConcurrency = max(1, limit.MaxConcurrency)
	return nil
}

// take books an identify, or returns how long it has to wait.
func (x *Identifies) take(shard int) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.now()
	if x.known.Remaining <= min(reserve, x.known.Total/2) {
		reset := x.at.Add(time.Duration(x.known.ResetAfter) * time.Millisecond)
		x.at = time.Time{} // ask again then
		return min(max(reset.Sub(now), identifyEvery), limitFor)
	}
	key := shard % x.known.MaxConcurrency
	if wait := x.next[key].Sub(now); wait > 0 {
		return wait
	}
	x.next[key] = now.Add(identifyEvery)
	x.known.Remaining--
	return 0
}
