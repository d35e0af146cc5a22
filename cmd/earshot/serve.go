package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type serveCmd struct {
	Config   string         `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Platform string         `placeholder:"NAME" enum:",${platforms}" default:"" help:"Which platform: ${any_platform} (default: local)."`
	DryRun   bool           `help:"Post nothing; show what would be posted."`
	Listen   string         `placeholder:"ADDR" help:"Local: serve HTTP too, on a loopback address such as 127.0.0.1:8484. Slack: receive events by HTTP on an address such as :8080, under /slack/events, and clicks under /slack/interactions."`
	Health   string         `placeholder:"ADDR" help:"Serve /healthz, /readyz and /metrics (Prometheus) on an address such as 127.0.0.1:9464, without authentication."`
	API      string         `name:"api" placeholder:"ADDR" help:"Serve the HTTP API beside the bot, on an address such as 127.0.0.1:7301."`
	Inspect  inspectAddress `placeholder:"ADDR" help:"Serve the inspector, a web page that shows what the model saw (ADDR may be left out: 127.0.0.1:7300)."`
	Policy   string         `short:"p" placeholder:"NAME|FILE" help:"A built-in policy or a policy file (default: standard)." predictor:"policy"`
}

func (c *serveCmd) Run(ctx context.Context, a *app) error {
	read := func(a *app) (config.Config, error) {
		cfg, err := c.load(a)
		return cfg, a.mayStart(cfg, err, daemon.CheckStart(cfg)...)
	}
	again := *a // what reading changes of a is used while the bot runs
	cfg, err := read(a)
	if err != nil {
		return err
	}
	st, err := a.create(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	return service{config: cfg, store: st, dryRun: c.DryRun, read: func() (config.Config, error) { return read(&again) }}.run(ctx, a)
}

// load returns the configuration. Flags are applied as variables of the
// environment, so that they are checked with the rest.
func (c *serveCmd) load(a *app) (config.Config, error) {
	flags := *a
	flags.setenv("EARSHOT_PLATFORM", c.Platform)
	flags.setenv("EARSHOT_POLICY", c.Policy)
	flags.setenv("EARSHOT_HEALTH", c.Health)
	flags.setenv("EARSHOT_API", c.API)
	flags.setenv("EARSHOT_INSPECT", string(c.Inspect))
	cfg, err := flags.config(c.Config)
	if variable := map[string]string{config.PlatformLocal: "EARSHOT_LOCAL_LISTEN", config.PlatformSlack: "EARSHOT_LISTEN"}[cfg.Platform]; c.Listen != "" && variable != "" {
		flags.setenv(variable, c.Listen)
		cfg, err = flags.config(c.Config)
	} else if c.Listen != "" && err == nil {
		err = usagef("--listen: the platform %s serves nothing by HTTP; leave it out, or use --health for the probes", cfg.Platform)
	}
	a.db, a.err, a.errTerminal = flags.db, flags.err, flags.errTerminal
	return cfg, err
}

// mayStart joins the problems of a configuration that loaded with err: those of its
// policies and those that keep a bot from starting are reported with the rest.
func (a *app) mayStart(c config.Config, err error, further ...error) error {
	_, errPolicy := loadPolicy(c.Policy)
	problems := append([]error{err, errPolicy}, further...)
	for _, r := range c.Channels {
		if _, err := loadPolicy(r.Policy); err != nil {
			problems = append(problems, fmt.Errorf("%s.policy: %w", r.At, err))
		}
	}
	if all := errors.Join(problems...); all != nil {
		return usagef("%v", all)
	}
	return nil
}

// config returns the configuration from a file and the environment, with the
// store of the command line.
func (a *app) config(path string) (config.Config, error) {
	c, err := config.Load(cmp.Or(path, a.getenv("EARSHOT_CONFIG")), a.environ)
	if c.Log.Format == logJSON {
		a.logsJSON()
	}
	if err != nil {
		return c, usagef("%v", err)
	}
	if a.db == "" && c.Store != "" {
		a.db = c.Store
	}
	c.Store, err = a.spec()
	return c, err
}

// A service runs a bot, with its fronts.
type service struct {
	config  config.Config
	store   earshot.Store
	channel earshot.Channel // the first one, where its workspace was imported
	dryRun  bool
	read    func() (config.Config, error) // reads config again; nil: it is not read while the bot runs

	start       *inspect.Start // what the inspector's first page leads to
	inspectOpen bool           // it asks for no token
	noTerminal  bool           // people write on the page only
}

// run serves until ctx ends, or where the terminal is the only front until its
// input ends.
func (s service) run(ctx context.Context, a *app) error {
	policy, err := loadPolicy(s.config.Policy)
	if err != nil {
		return err
	}
	out := &lockedWriter{w: a.out}
	live := a.asks && !a.json
	d, err := daemon.Open(ctx, daemon.Options{
		Config: s.config, Policy: policy, Store: s.store, LocalPlatform: s.channel.Platform, LocalWorkspace: s.channel.Workspace, DryRun: s.dryRun, Version: buildVersion(),
		Log: a.logger(s.config.Log, live), Done: s.reportTurn(a, out), Asked: s.reportModel(a, out), Start: s.start, InspectOpen: s.inspectOpen,
	})
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	if s.read != nil {
		r := newReloader(a, a.logger(s.config.Log, live), s.read)
		running.Go(func() { r.Run(ctx, d, stop) })
	}
	if err := s.announce(ctx, a, d, out); err != nil {
		return err
	}
	var failed error
	running.Go(func() {
		defer stop()
		failed = d.Run(ctx)
	})
	if d.Chat != nil && !s.noTerminal && (live || d.Address == "" && d.Inspect == "") {
		err = d.Chat.Terminal(ctx, a.in, out, daemon.Screen{
			Person: daemon.Guest, Channel: cmp.Or(string(s.channel.ID), daemon.General), Width: a.width, Live: live,
			Wait: d.Wait, Why: func(ctx context.Context, w io.Writer, c earshot.Channel) error {
				return whyLast(ctx, d.Store, w, c, a.width)
			},
		})
		stop()
	}
	running.Wait()
	return errors.Join(err, failed)
}

// announce writes which model answers, and where.
func (s service) announce(ctx context.Context, a *app, d *daemon.Daemon, out io.Writer) error {
	first := d.Models[0]
	if a.json {
		about := map[string]any{
			"agent": d.Identity.ID, "provider": first.Provider, "model": first.Name, "policy": s.config.Policy,
			"dry_run": s.dryRun, "address": d.Address, "platform": d.Platform, "health": d.Health, "api": d.API, "inspect": d.Visit,
		}
		if d.TokenGenerated {
			about["token"] = d.Token.Reveal()
		}
		return a.writeJSON(about)
	}
	if a.jsonLogs() {
		a.logger(s.config.Log, false).Info("serving", "agent", d.Identity.ID, "provider", first.Provider, "model", first.Name, "policy", s.config.Policy, "dry_run", s.dryRun,
			"platform", d.Platform, "address", d.Address, "api", d.API, "inspect", d.Inspect, "health", d.Health)
		s.announceTokens(d, out)
		return nil
	}
	fmt.Fprintf(out, "%s answers with %s (%s)%s\n", terminal.Strong(plain.Line(d.Identity.Name, 40)), first, first.Why,
		map[bool]string{true: "; dry run: nothing is posted"}[s.dryRun])
	if d.Location != "" {
		fmt.Fprintf(out, "%s\n", plain.Line(d.Location, 200))
	}
	if d.Address != "" {
		fmt.Fprintf(out, "HTTP on http://%s%s\n", d.Address, d.Path)
	}
	if d.API != "" {
		missing, err := a.keyMissing(ctx, d.Store)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", apiLines(apiURL(d, s.config), missing))
	}
	if d.Inspect != "" && !d.InspectGenerated {
		fmt.Fprintf(out, "%s\n", inspectLines(d))
	}
	if d.Health != "" {
		fmt.Fprintf(out, "health on http://%s: /healthz, /readyz, /metrics\n", d.Health)
	}
	s.announceTokens(d, out)
	return nil
}

// announceTokens writes the tokens that were made for this run, which no log may have.
func (s service) announceTokens(d *daemon.Daemon, out io.Writer) {
	if d.InspectGenerated {
		fmt.Fprintf(out, "%s\n", inspectLines(d))
	}
	if d.TokenGenerated {
		fmt.Fprintf(out, "token of the HTTP address: %s (for this run; set EARSHOT_LOCAL_TOKEN to choose it)\n", d.Token.Reveal())
	}
}

// reportModel returns a function that says whether a model answers. Where programs read the
// output it is in the log alone.
func (s service) reportModel(a *app, out io.Writer) func(daemon.ModelAsked) {
	log, logs := a.logger(s.config.Log, false), a.json || a.jsonLogs()
	return func(m daemon.ModelAsked) {
		switch {
		case m.Provider == providers.Offline:
		case m.Err != nil && logs:
			log.Error("the model does not answer", "provider", m.Provider, "model", m.Name, "err", m.Err)
		case m.Err != nil:
			fmt.Fprintf(out, "%s\n", terminal.Bad(plain.Line(fmt.Sprintf("%s does not answer (%s): %v", m.ModelInfo, m.Why, m.Err), 400)))
			if r := m.Remedy(); r != "" {
				fmt.Fprintf(out, "    %s\n", r)
			}
		case logs && m.IsAgent():
			log.Info("the agent listens")
		case logs:
			log.Info("the model answers", "provider", m.Provider, "model", m.Name, "took", m.Took)
		default:
			fmt.Fprintf(out, "%s, in %s\n", m.Says(), m.Took.Round(time.Millisecond))
		}
	}
}

// reportTurn returns a function that reports turns which failed or were parked, and in
// a dry run the answers that were not posted.
func (s service) reportTurn(a *app, out io.Writer) func(bot.Report) {
	return func(r bot.Report) {
		switch {
		case a.jsonLogs() && r.Turn.State != earshot.TurnDone: // the log has it
		case r.Turn.State == earshot.TurnFailed, r.Turn.State == earshot.TurnParked:
			fmt.Fprintf(out, "%s\n", terminal.Bad(fmt.Sprintf("turn %d is %s: %s", r.Turn.ID, r.Turn.State, plain.Line(r.Turn.Why, 400))))
		case s.dryRun && r.Text != "":
			fmt.Fprintf(out, "%s\n%s\n", terminal.Mark(fmt.Sprintf("turn %d would say:", r.Turn.ID)), strings.TrimRight(plain.Clean(plain.Readable(r.Text)), "\n"))
		}
	}
}

// A lockedWriter may be used by several goroutines.
type lockedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
