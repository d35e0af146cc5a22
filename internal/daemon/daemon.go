// Package daemon puts the parts together and runs them: a store, a model, a
// platform and the bot between them. The program and the end-to-end tests
// start the same one.
//
//	d, err := daemon.Open(ctx, daemon.Options{Config: c, Policy: policy})
//	defer d.Close()
//	err = d.Run(ctx) // until ctx ends
//
// Start with [Open] and [Daemon]. The goroutines are Run's: the bot's, and that
// of the HTTP front where there is one; Run returns after they have.
package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/config"
	"github.com/earshot-ai/earshot/internal/platform/local"
	"github.com/earshot-ai/earshot/internal/secret"
	"github.com/earshot-ai/earshot/internal/tokens"
	"github.com/earshot-ai/earshot/store"
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
	Log           *slog.Logger     // nil discards
	Done          func(bot.Report) // hears of every turn that ends; nil is fine
}

// A Screen says what a terminal is given; see [local.Screen].
type Screen = local.Screen

// A Daemon is the parts, put together. Its fields are for reading.
type Daemon struct {
	Store    bot.Store
	Models   []ModelInfo // the one that answers, then the one that does if it fails
	Counter  assemble.Counter
	Identity earshot.Identity
	Chat     *local.Chat
	// Address is where the HTTP front listens, "" when there is none; Token is
	// what it wants, and Made says that it was made at this start.
	Address string
	Token   secret.Secret
	Made    bool

	bot      *bot.Bot
	log      *slog.Logger
	listener net.Listener
	owned    bool // the store is ours to close

	mu    sync.Mutex // guards ended
	ended chan struct{}
}

// Open puts the parts together. Nothing is answered before Run. Errors name
// what to do. Whoever gets a Daemon closes it.
func Open(ctx context.Context, o Options) (*Daemon, error) {
	c := o.Config
	d := &Daemon{
		Models: Models(c), log: o.Log, ended: make(chan struct{}),
		Identity: earshot.Identity{ID: earshot.AuthorID(c.Agent.ID), Name: c.Agent.Name},
	}
	for _, a := range c.Agent.Aliases {
		d.Identity.Aliases = append(d.Identity.Aliases, earshot.AuthorID(a))
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	for _, step := range []func(context.Context, Options) error{d.openStore, d.openPlatform, d.listen} {
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

// openPlatform opens the platform and puts the bot on it.
func (d *Daemon) openPlatform(ctx context.Context, o Options) error {
	c := o.Config
	p, err := local.Open(ctx, d.Store, &local.Options{
		Agent: d.Identity, Platform: o.LocalPlatform, Workspace: earshot.WorkspaceID(c.Local.Workspace),
	})
	if err != nil {
		return fmt.Errorf("open the local platform: %w", err)
	}
	answers, err := newModel(c, d.Models, d.log)
	if err != nil {
		return err
	}
	if d.Counter, err = tokens.For(c.Counter); err != nil {
		return fmt.Errorf("counter: %w", err)
	}
	var fault func(string)
	if c.Fault != "" {
		var ok bool
		if fault, ok = bot.KillAt(c.Fault); !ok {
			return fmt.Errorf("EARSHOT_FAULT: %q is no point; use one of %s", c.Fault, strings.Join(bot.FaultPoints(), ", "))
		}
	}
	d.bot = bot.New(bot.Options{
		Store: d.Store, Model: answers, Platform: p, Identity: d.Identity, Counter: d.Counter,
		Policy: o.Policy, Budget: c.Budget.Assemble(), Instructions: c.Agent.Instructions, MaxTokens: c.Limits.MaxTokens,
		Answer: bot.Answer{Roots: c.Answer.AutoAnswer, OwnedThreads: c.Answer.OwnedThreads, Bots: c.Answer.Bots, Each: c.Answer.Each},
		Limits: bot.Limits{
			Fresh:    time.Duration(c.Answer.FreshMinutes) * time.Minute,
			Generate: time.Duration(c.Limits.Seconds) * time.Second,
			Lease:    time.Duration(c.Lease.Seconds) * time.Second,
			Rounds:   c.Limits.Rounds, Result: c.Limits.ResultBytes,
		},
		Log: d.log, DryRun: o.DryRun, Done: d.done(o.Done), Fault: fault,
	})
	d.Chat = p.Chat(d.bot.Handle)
	return nil
}

// listen takes the address of the HTTP front, so that it is known, and taken,
// before anything runs.
func (d *Daemon) listen(ctx context.Context, o Options) error {
	addr := o.Config.Local.Listen
	if addr == "" {
		return nil
	}
	if !config.Loopback(addr) {
		return errors.New("local.listen: must be a loopback address with a port, such as 127.0.0.1:8484")
	}
	var err error
	if d.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr); err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	d.Address = d.listener.Addr().String()
	if d.Token = o.Config.Keys.LocalToken; d.Token.Empty() {
		d.Token, d.Made = secret.New(rand.Text()), true
	}
	return nil
}

// drain is how long requests that are under way are waited for at the end.
const drain = 5 * time.Second

// Run answers until ctx ends, and returns nil after what was under way has
// come to rest: no event is taken that is not kept, and no post is left half
// done. An error is one of the HTTP front or the store; the rest is stopped
// then too.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var front error
	var running sync.WaitGroup
	if d.listener != nil {
		// No deadline for writing: a page is small, and its reader local.
		srv := &http.Server{Handler: d.Chat.Handler(d.Token.Reveal()), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
		running.Go(func() {
			defer stop()
			if err := srv.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
				front = fmt.Errorf("serve %s: %w", d.Address, err)
			}
		})
		running.Go(func() {
			<-ctx.Done()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
			defer cancel()
			if err := srv.Shutdown(end); err != nil {
				_ = srv.Close()
			}
		})
	}
	err := d.bot.Run(ctx)
	stop()
	running.Wait()
	return errors.Join(err, front)
}

// Close gives back what Open took. Call it after Run has returned.
func (d *Daemon) Close() error {
	var problems []error
	if d.listener != nil {
		if err := d.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
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
		if also != nil {
			also(r)
		}
		d.mu.Lock()
		close(d.ended)
		d.ended = make(chan struct{})
		d.mu.Unlock()
	}
}

// look is how often a turn is looked at that another replica may end.
const look = 200 * time.Millisecond

// Wait returns once a turn has ended, here or elsewhere, or ctx has.
func (d *Daemon) Wait(ctx context.Context, id earshot.TurnID) error {
	for {
		d.mu.Lock()
		ended := d.ended
		d.mu.Unlock()
		t, err := d.Store.QueuedTurn(ctx, id)
		if err != nil {
			return fmt.Errorf("wait for turn %d: %w", id, err)
		}
		if Final(t.State) {
			return nil
		}
		timer := time.NewTimer(look)
		select {
		case <-ended:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// Final reports whether nothing more happens to a turn in this state by
// itself.
func Final(s earshot.TurnState) bool {
	switch s {
	case earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting:
		return false
	}
	return true
}
