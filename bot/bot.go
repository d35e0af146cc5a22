package bot

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tools"
)

// A Bot answers on one platform as one agent. It is safe for concurrent use.
type Bot struct {
	Options
	agent  earshot.AgentID
	wake   chan struct{}    // holds a token when there may be work
	search *search.Searcher // for recall, and for the tools:
	index  *tools.Index

	mu       sync.Mutex // guards channels
	channels map[earshot.Scope]earshot.Channel
}

// New returns a bot. It panics when a required option is missing.
func New(o Options) *Bot {
	for name, missing := range map[string]bool{
		"Store": o.Store == nil, "Model": o.Model == nil, "Platform": o.Platform == nil,
		"Identity.ID": o.Identity.ID == "", "Counter": o.Counter == nil && o.Count == nil,
	} {
		if missing {
			panic("bot.New: Options." + name + " is required")
		}
	}
	if o.Policy.Name == "" && o.Policy.First == nil {
		o.Policy = assemble.Standard()
	}
	if o.Budget == (assemble.Budget{}) {
		o.Budget = assemble.DefaultBudget()
	}
	if o.Answer.BotTurns <= 0 {
		o.Answer.BotTurns = 3
	}
	o.Limits = o.Limits.withDefaults()
	if o.Count == nil {
		o.Count = func() assemble.Counter { return o.Counter }
	}
	if o.Owner == "" {
		o.Owner = rand.Text()
	}
	if o.NewKey == nil {
		o.NewKey = func() string { return rand.Text()[:24] }
	}
	if o.Jitter == nil {
		o.Jitter = mathrand.Float64
	}
	if o.Now == nil {
		o.Now = func() earshot.Time { return earshot.TimeOf(time.Now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Done == nil {
		o.Done = func(Report) {}
	}
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	search := search.New(o.Store, nil)
	return &Bot{
		Options: o, agent: earshot.AgentID(o.Identity.ID), wake: make(chan struct{}, 1),
		search: search, index: tools.NewIndex(searched{o.Store, search}, 0),
		channels: map[earshot.Scope]earshot.Channel{},
	}
}

// Run answers what is to be answered until ctx ends, and then returns nil once
// what was being posted is posted. While the store fails it asks again, after
// a second at first and every 30 s at last. The one error that ends it is that
// of a store that is closed ([os.ErrClosed]). Calling Run again is safe.
func (b *Bot) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	places := newSlots(b.Limits.Parallel)
	var down storeDown
	for places.enter(ctx) {
		own := &slot{work: places.work}
		if own.take(ctx) != nil {
			places.leave(1)
			break
		}
		lease, turns, err := b.claim(ctx)
		if err != nil {
			own.give()
			places.leave(1)
		}
		if closed := down.retry(ctx, b, err); closed != nil {
			return closed
		}
		if err != nil {
			continue
		}
		held, stop := b.hold(ctx, lease)
		taken := 1
		if b.suspect(turns) {
			own.give() // the others need slots to come to their end
			taken += places.empty()
		}
		running.Go(func() {
			defer places.leave(taken)
			defer own.give()
			defer stop()
			b.work(ctx, held, lease, turns, own)
			b.hurry() // more may have come for this conversation
		})
	}
	return nil
}

// suspect reports whether what is answered next may be what ends processes: so
// many have ended with it that few more may. It is then answered while this
// process does nothing else. So a message that kills the process is given up
// alone, and those that were answered beside it can still be answered.
func (b *Bot) suspect(turns []earshot.QueuedTurn) bool {
	const alone = 3 // processes that may still end
	return len(turns) > 0 && turns[0].Ends >= max(b.Limits.Tries-alone, (b.Limits.Tries+1)/2)
}

// idle waits until there may be work, or ctx ends.
func (b *Bot) idle(ctx context.Context) {
	poll := time.NewTimer(b.Limits.Poll)
	defer poll.Stop()
	select {
	case <-b.wake:
	case <-poll.C:
	case <-ctx.Done():
	}
}

// hurry tells Run that there may be work.
func (b *Bot) hurry() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
