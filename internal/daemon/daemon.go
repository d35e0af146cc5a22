// Package daemon wires the parts together and runs them: a store, a model, a
// platform and the bot between them. The program and the end-to-end tests start
// the same daemon.
//
//	d, err := daemon.Open(ctx, daemon.Options{Config: c, Policy: policy})
//	defer d.Close()
//	err = d.Run(ctx) // until ctx ends
//
// Start with [Open], which wires from top to bottom: store, model, platform
// with its bot (local.go; slack.go and discord.go over link.go), HTTP fronts. The goroutines are Run's: the
// bot's, those of the platform and of the HTTP fronts, the heartbeat, the
// pruning and the resuming of erasures. Run returns after all of them have ended.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
	"github.com/earshot-ai/earshot/internal/daemon/otlp"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tools/mcpclient"
)

// A Screen describes a terminal; see [local.Screen].
type Screen = local.Screen

// What people do in [Daemon.Chat]: see [local.NewMessage] and [local.Choice].
type (
	NewMessage = local.NewMessage
	Choice     = local.Choice
)

// A Daemon is a bot with everything that it needs, ready to run. Its fields are
// read-only.
type Daemon struct {
	Store  earshot.Store
	Models []ModelInfo // the model that answers, then its fallback
	// Identity is who the bot is, as far as that was known when Open returned:
	// its id is "" while the platform has never been reached.
	Identity earshot.Identity
	Platform earshot.Platform
	// Chat is the local platform's; nil on another.
	Chat *local.Chat
	// Location says in a sentence where the bot lives; "" on the local platform.
	Location string
	// Address is where the platform's HTTP front listens, "" when there is none,
	// and Path what it serves.
	Address string
	Path    string
	// Token is what requests to the local platform's front must carry.
	// TokenGenerated reports that it was not configured and is valid for this
	// run only.
	Token          secret.Secret
	TokenGenerated bool
	// API is the address of the HTTP API, "" when it is not served.
	API string
	// Inspect is the URL of the inspector, "" when it is not served, and InspectToken
	// what opens it; empty where it is open. Visit is the link for a person: it has the
	// token, so print it for the operator only. InspectGenerated reports that the token
	// was not configured and is valid for this run only.
	Inspect          string
	InspectToken     secret.Secret
	InspectGenerated bool
	Visit            string
	// Health is the address of probes and metrics, "" when they are not served.
	Health string

	sharedParts
	run    []func(context.Context) error // everything that runs until ctx ends
	closes []func() error                // in the order of opening
}

// sharedParts is what every part of a daemon may use. It is complete before the
// platform is opened.
type sharedParts struct {
	options   Options // with defaults
	store     earshot.Store
	disk      *storeWatch
	search    *search.Searcher
	owner     string // of its presence
	began     time.Time
	meters    *metrics.Metrics
	traces    *tracer        // nil: none are made
	collector *otlp.Exporter // nil: nothing is sent
	responder responder
	ended     *broadcast // of turns
	caches    *caches
	lists     *allowList
	erase     chan struct{} // holds one: an erasure is begun here
	rules     *rules
	tools     *mcpclient.Client       // nil: no servers are configured
	apiAt     *atomic.Pointer[string] // where the API listens, once it does
	services
}

// Open wires a daemon. Nothing is answered before Run. Errors name the remedy.
// The caller closes the Daemon.
func Open(ctx context.Context, o Options) (*Daemon, error) {
	problems := CheckStart(o.Config)
	if o.Outside.Model != nil {
		problems = kindOf(o.Config).keys(o.Config)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return openDaemon(ctx, o.withDefaults(), withBot)
}

// OpenSidecar wires a daemon without a platform, a model and a bot: it has the API
// only. Config.API.Listen "" means [config.SidecarListen].
func OpenSidecar(ctx context.Context, o Options) (*Daemon, error) {
	o = o.withDefaults()
	o.Config.API.Listen = cmp.Or(o.Config.API.Listen, config.SidecarListen)
	return openDaemon(ctx, o, alone)
}

// A daemonKind is what sets one kind of daemon apart from another.
type daemonKind struct {
	models   func(config.Config) []ModelInfo
	answers  func(context.Context, Options, earshot.Store, []ModelInfo) (responder, error)
	platform func(context.Context, sharedParts) (platform, error)
	tools    bool // it has tools of one's own
}

// The kinds of daemons.
var (
	withBot = daemonKind{Models, newResponder, func(ctx context.Context, s sharedParts) (platform, error) {
		return kindOf(s.options.Config).open(ctx, s)
	}, true}
	alone = daemonKind{func(config.Config) []ModelInfo { return nil }, counting, openAlone, false}
)

// openDaemon opens the store of a daemon, and wires it.
func openDaemon(ctx context.Context, o Options, k daemonKind) (*Daemon, error) {
	st, closeStore, err := openStore(ctx, o)
	if err != nil {
		return nil, err
	}
	o.Outside.Now = earshot.ClockOf(st, o.Outside.Now) // all that it writes is by one clock
	watch := newStoreWatch(o, st)
	if err := watch.begin(ctx); err != nil {
		return nil, errors.Join(err, closeStore())
	}
	o.Log = watch.quiet(o.Log)
	for _, g := range o.Config.Gone {
		o.Log.Warn("a setting counts for nothing", "setting", g)
	}
	d, err := k.open(ctx, o, watchedStore{st, watch}, watch)
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	d.closes = append(d.closes, closeStore)
	return d, nil
}

// open wires a daemon over a store that is watched.
func (k daemonKind) open(ctx context.Context, o Options, st earshot.Store, watch *storeWatch) (_ *Daemon, err error) {
	models := k.models(o.Config)
	byChannel, err := newRules(o.Config, o.Policy)
	if err != nil {
		return nil, err
	}
	keeper := newRetainer(o, st)
	if err := keeper.Begin(ctx); err != nil {
		return nil, err
	}
	keeper = keeper.withStore(o)
	st = keeper.store
	answers, err := k.answers(ctx, o, st, models)
	if err != nil {
		return nil, err
	}
	byChannel.brains = answers.brains
	meters := metrics.New(o.Version)
	for _, m := range answers.calls {
		m.counted = meters.Model(m.info.Provider, m.info.Name)
	}
	me := newPresence(o, models)
	found, err := o.newSearch(st, meters.NotEncoded)
	if err != nil {
		return nil, err
	}
	collector, err := newExporter(o, me.Owner)
	if err != nil {
		return nil, err
	}
	s := sharedParts{
		traces: newTracer(o, collector), collector: collector, options: o, store: st, disk: watch, search: found, owner: me.Owner, began: o.Outside.clock(), meters: meters,
		responder: answers, ended: newBroadcast(), caches: &caches{}, lists: &allowList{}, erase: make(chan struct{}, 1), rules: byChannel, apiAt: &atomic.Pointer[string]{},
	}
	if s.services, err = s.openServices(); err != nil {
		return nil, err
	}
	if k.tools {
		if s.tools, err = startTools(ctx, o, meters, byChannel.offers); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, s.closeTools())
			}
		}()
	}
	if err := s.wasAway(ctx); err != nil {
		return nil, err
	}
	p, err := k.platform(ctx, s)
	if err != nil {
		return nil, err
	}
	keeper.forget, watch.missed = p.forget, p.missed
	if collector != nil {
		collector.Gather = meters.Gatherer(s.sources(p))
	}
	seen := s.inspector(p)
	var fronts fronts
	defer func() {
		if err != nil {
			err = errors.Join(err, fronts.Close())
		}
	}()
	for _, f := range []struct {
		address string
		handler http.Handler
	}{{p.listen, p.handler}, {o.Config.API.Listen, s.api()}, {o.Config.Health.Listen, healthHandler(s, p)}, {o.Config.Inspect.Listen, seen.handler}} {
		if err := fronts.listen(ctx, f.address, f.handler, o.Log); err != nil {
			return nil, err
		}
	}
	at := fronts[1].Address()
	s.apiAt.Store(&at)
	me.API, me.Inspect = at, inspectURL(o.Config.Inspect, fronts[3].Address())
	run := append(p.run, fronts.Run, watch.Run, s.askAtStart,
		heartbeat{store: st, log: o.Log, presence: me, now: o.Outside.clock}.Run,
		pruner{store: st, log: o.Log, now: o.Outside.clock}.Run, keeper.Run,
		(&eraser{store: st, log: o.Log, clear: s.caches.clear, begun: s.erase}).Run,
	)
	if !o.DryRun {
		run = append(run, found.Encode, s.expireApprovals)
	}
	return &Daemon{
		Store: st, Models: models, Identity: p.identity, Platform: p.name, Chat: p.chat, Location: p.location,
		Address: fronts[0].Address(), Path: p.path, Token: p.token, TokenGenerated: p.tokenGenerated,
		API: fronts[1].Address(), Health: fronts[2].Address(),
		Inspect: me.Inspect, InspectToken: seen.token, InspectGenerated: !seen.token.Empty() && o.Config.Keys.InspectToken.Empty(), Visit: visitLink(me.Inspect, seen.token),
		sharedParts: s, run: run, closes: []func() error{fronts.Close, s.closeTools},
	}, nil
}

// openStore opens the configured store, or takes the one in the options, which
// it does not close.
func openStore(ctx context.Context, o Options) (earshot.Store, func() error, error) {
	if o.Store != nil {
		return o.Store, func() error { return nil }, nil
	}
	st, err := store.Open(ctx, o.Config.Store, &store.Options{Log: o.Log})
	if err != nil {
		return nil, nil, err
	}
	return st, st.Close, nil
}

// Close releases what Open opened. Call it after Run has returned; a second
// call does nothing.
func (d *Daemon) Close() error {
	var problems []error
	for _, c := range d.closes {
		if err := c(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// noteRefused is told of every event that was not taken; it comes again.
func (s sharedParts) noteRefused(err error) {
	s.meters.Refused()
	s.disk.refuses(err)
	s.options.Log.Error("an event was not kept; it comes again", "err", err)
}

// committed is told of every turn that is committed through the API.
func (s sharedParts) committed(c sidecar.Committed) {
	s.traces.committed(c)
	s.ended.notify()
}

// turnEnded is told of every turn that ends in this process.
func (s sharedParts) turnEnded(r bot.Report) {
	s.meters.Turn(r.Turn, r.Usage)
	s.traces.turn(r)
	s.options.Done(r)
	s.ended.notify()
}
