// Package daemon puts the parts together and runs them: a store, a model, a
// platform and the bot between them. The program and the end-to-end tests
// start the same one.
//
//	d, err := daemon.Open(ctx, daemon.Options{Config: c, Policy: policy})
//	defer d.Close()
//	err = d.Run(ctx) // until ctx ends
//
// Start with [Open] and [Daemon]. Each platform is opened in a file of its own.
// The goroutines are Run's: the bot's, those of the platform and of the HTTP
// fronts, and the one that forgets what is no longer needed; Run returns after
// they have.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// Options are what a daemon is made of. Zero values mean the defaults, but for
// Config, which is whole, with Store set.
type Options struct {
	Config config.Config
	Policy assemble.Policy // default: standard
	// Store is used in place of Config.Store, and not closed.
	Store earshot.Store
	// LocalPlatform is the platform of the stored workspace that the local
	// platform speaks in, where it was imported from another.
	LocalPlatform earshot.Platform
	DryRun        bool             // nothing is posted
	Version       string           // of the program, as earshot status and the metrics show it
	Log           *slog.Logger     // nil discards
	Done          func(bot.Report) // hears of every turn that ends; nil is fine
	// Patience is how long Open waits for a platform that does not answer,
	// before the daemon runs without it and asks again. Default: 10 s.
	Patience time.Duration
	// Confirm is how long after Slack has said that the bot is gone it is asked
	// again, before anything is erased. Default: a minute.
	Confirm time.Duration
	Outside Outside // for tests
}

// A Screen says what a terminal is given; see [local.Screen].
type Screen = local.Screen

// A Daemon is the parts, put together. Its fields are for reading.
type Daemon struct {
	Store  bot.Store
	Models []ModelInfo // the one that answers, then the one that does if it fails
	// Identity is who the bot is, as far as that was known when Open returned:
	// Slack may have been unreachable, and then its id is "".
	Identity earshot.Identity
	Platform earshot.Platform
	// Chat is the local platform's; nil on another.
	Chat *local.Chat
	// Place says for people where the bot lives, "" where that goes without
	// saying.
	Place string
	// Address is where the HTTP front listens, "" when there is none, and Path
	// what it serves there. On the local platform Token is what it wants, and
	// Made says that it was made at this start.
	Address string
	Path    string
	Token   secret.Secret
	Made    bool
	// Health is where probes and metrics are served, "" when they are not.
	Health string

	bot      *bot.Bot
	presence Presence
	log      *slog.Logger
	fronts   []front
	parts    []func(context.Context) error // the bot, and what runs beside it, until ctx ends
	reach    func() reach                  // how the platform is
	calls    func() []earshot.CallCount    // of its API; nil where it has none
	meters   *metrics.Metrics
	owned    bool // the store is ours to close

	mu    sync.Mutex // guards ended
	ended chan struct{}
}

// Open puts the parts together. Nothing is answered before Run. Errors name
// what to do. Whoever gets a Daemon closes it.
func Open(ctx context.Context, o Options) (*Daemon, error) {
	c := o.Config
	d := &Daemon{Models: Models(c), log: o.Log, ended: make(chan struct{}), reach: func() reach { return reach{known: true} }}
	d.presence = presence(o, d.Models)
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.meters = metrics.New(metrics.Sources{
		Depth: d.depth, Calls: d.called, Version: o.Version,
		Up: func() bool { r := d.reach(); return r.known && !r.down },
	})
	for _, step := range []func(context.Context, Options) error{d.openStore, d.openPlatform, d.openHealth} {
		if err := step(ctx, o); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

func (d *Daemon) openStore(ctx context.Context, o Options) error {
	st := o.Store
	if st == nil {
		var err error
		if st, err = store.Open(ctx, o.Config.Store, &store.Options{Log: d.log}); err != nil {
			return err
		}
		d.owned = true
	}
	queue, ok := st.(bot.Store)
	if !ok {
		if d.owned {
			return errors.Join(errors.New("this store keeps no turns; use sqlite:PATH"), st.Close())
		}
		return errors.New("this store keeps no turns")
	}
	d.Store = queue
	return nil
}

// openPlatform opens the platform that is configured and puts the bot on it.
func (d *Daemon) openPlatform(ctx context.Context, o Options) error {
	switch o.Config.Platform {
	case config.PlatformSlack:
		return d.openSlack(ctx, o)
	default:
		return d.openLocal(ctx, o)
	}
}

// openBot makes the bot that answers on a platform.
func (d *Daemon) openBot(ctx context.Context, o Options, p bot.Platform, who earshot.Identity) error {
	c := o.Config
	learned, err := Calibrate(ctx, d.Store)
	if err != nil {
		return fmt.Errorf("calibrate the counter: %w", err)
	}
	answers, err := o.Outside.model(c, d.Models, learned.learn, d.log)
	if err != nil {
		return err
	}
	count := func() assemble.Counter { return learned.counter(d.Models[0]) }
	if c.Counter != config.CounterAuto {
		fixed, err := tokens.For(c.Counter)
		if err != nil {
			return fmt.Errorf("counter: %w", err)
		}
		count = func() assemble.Counter { return fixed }
	}
	var fault func(string)
	if c.Fault != "" {
		var ok bool
		if fault, ok = bot.KillAt(c.Fault); !ok {
			return fmt.Errorf("EARSHOT_FAULT: %q is no point; use one of %s", c.Fault, strings.Join(slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints()), ", "))
		}
	}
	d.bot = bot.New(bot.Options{
		Store: d.Store, Model: answers, Platform: p, Identity: who, Count: count,
		Policy: policy(c, o.Policy), Budget: c.Budget.Assemble(), Instructions: c.Agent.Instructions, MaxTokens: c.Limits.MaxTokens,
		Answer: bot.Answer{Roots: c.Answer.AutoAnswer, OwnedThreads: c.Answer.OwnedThreads, Bots: c.Answer.Bots, Each: c.Answer.Each},
		Limits: bot.Limits{
			Fresh:    time.Duration(c.Answer.FreshMinutes) * time.Minute,
			Post:     time.Duration(c.Answer.PostMinutes) * time.Minute,
			Parallel: c.Answer.Parallel,
			Generate: time.Duration(c.Limits.Seconds) * time.Second,
			Lease:    time.Duration(c.Lease.Seconds) * time.Second,
			Files:    time.Duration(c.Limits.FileSeconds) * time.Second,
			Rounds:   c.Limits.Rounds, Result: c.Limits.ResultBytes,
		},
		Files: files(c, p), FileTokens: fileTokens(d.Models[0]), Zone: c.Context.Zone,
		Placeholder: placeholder(c), Log: d.log, DryRun: o.DryRun, Done: d.done(o.Done), Fault: fault,
		Owner: o.Outside.Owner, NewKey: o.Outside.NewKey, Now: o.Outside.now(),
	})
	return nil
}

// placeholder returns what stands where the answer will be, "" for none.
func placeholder(c config.Config) string {
	switch {
	case c.Platform == config.PlatformSlack && c.Slack.Reply != config.ReplyPost:
		return c.Slack.Placeholder
	case c.Platform == config.PlatformLocal && c.Local.Placeholder:
		return "…"
	}
	return ""
}

// Run answers until ctx ends, and returns nil after what was under way has
// come to rest: no event is taken that is not kept, and no post is left half
// done. An error is one of the platform, an HTTP front or the store; the rest
// is stopped then too.
func (d *Daemon) Run(ctx context.Context) error {
	parts := append([]func(context.Context) error{d.forget, d.attend}, d.parts...)
	for _, f := range d.fronts {
		parts = append(parts, f.serve)
	}
	var began time.Time
	err := together(ctx, append(parts, func(ctx context.Context) error {
		<-ctx.Done()
		began = time.Now()
		d.stopping(context.WithoutCancel(ctx))
		return nil
	})...)
	d.log.Info("stopped", "took", time.Since(began))
	return err
}

// stopping says how much is still to be brought to rest.
func (d *Daemon) stopping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	depth, err := d.Store.Depth(ctx, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting)
	if err != nil {
		d.log.Info("stopping", "err", err)
		return
	}
	turns := 0
	for _, n := range depth {
		turns += n
	}
	d.log.Info("stopping", "turns", turns)
}

// together runs parts until ctx or the first of them ends, and returns once all
// have. That a part was cancelled then is no error.
func together(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make([]error, len(parts))
	var running sync.WaitGroup
	for i, part := range parts {
		running.Go(func() {
			defer stop()
			if failed[i] = part(ctx); ctx.Err() != nil && errors.Is(failed[i], context.Canceled) {
				failed[i] = nil
			}
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// Close gives back what Open took. Call it after Run has returned.
func (d *Daemon) Close() error {
	var problems []error
	for _, f := range d.fronts {
		if err := f.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	if d.owned && d.Store != nil {
		problems = append(problems, d.Store.Close())
	}
	return errors.Join(problems...)
}

// done returns what the bot tells of ended turns.
func (d *Daemon) done(also func(bot.Report)) func(bot.Report) {
	return func(r bot.Report) {
		d.meters.Turn(r.Turn.State, r.Usage)
		if also != nil {
			also(r)
		}
		d.mu.Lock()
		close(d.ended)
		d.ended = make(chan struct{})
		d.mu.Unlock()
	}
}
