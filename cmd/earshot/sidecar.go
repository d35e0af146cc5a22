package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type sidecarCmd struct {
	Config  string         `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Listen  string         `placeholder:"ADDR" help:"Where to serve (default: 127.0.0.1:7301)."`
	Health  string         `placeholder:"ADDR" help:"Serve /healthz, /readyz and /metrics (Prometheus) on an address such as 127.0.0.1:9464, without authentication."`
	Inspect inspectAddress `placeholder:"ADDR" help:"Serve the inspector, a web page that shows what the model saw (ADDR may be left out: 127.0.0.1:7300)."`
	Policy  string         `short:"p" placeholder:"NAME|FILE" help:"The policy of contexts that name none: a built-in one or a file (default: standard)." predictor:"policy"`
}

// garbageRoom is how many bytes of garbage may collect beyond what the collector
// allows a small heap. A context leaves more than a megabyte, and an idle sidecar
// keeps about ten: without room the collector runs 25 times a second at 200 contexts
// a second, and takes a third of their time. The bytes themselves are never touched,
// so they take no memory.
const garbageRoom = 64 << 20

func (c *sidecarCmd) Run(ctx context.Context, a *app) error {
	cfg, err := c.load(a)
	if err := a.mayStart(cfg, err); err != nil {
		return err
	}
	policy, err := loadPolicy(cfg.Policy)
	if err != nil {
		return err
	}
	st, err := a.create(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	room := make([]byte, garbageRoom)
	defer runtime.KeepAlive(room)
	d, err := daemon.OpenSidecar(ctx, daemon.Options{
		Config: cfg, Policy: policy, Store: st, Version: buildVersion(), Log: a.logger(cfg.Log, a.terminal && !a.json),
	})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := announceAPI(ctx, a, st, d, cfg); err != nil {
		return err
	}
	return d.Run(ctx)
}

// load returns the configuration. Flags are applied as variables of the
// environment, so that they are checked with the rest.
func (c *sidecarCmd) load(a *app) (config.Config, error) {
	flags := *a
	flags.setenv("EARSHOT_API", c.Listen)
	flags.setenv("EARSHOT_INSPECT", string(c.Inspect))
	flags.setenv("EARSHOT_POLICY", c.Policy)
	flags.setenv("EARSHOT_HEALTH", c.Health)
	cfg, err := flags.config(c.Config)
	a.db, a.err, a.errTerminal = flags.db, flags.err, flags.errTerminal
	return cfg, err
}

// announceAPI writes where a sidecar listens, and what is missing to call it.
func announceAPI(ctx context.Context, a *app, st earshot.Store, d *daemon.Daemon, c config.Config) error {
	at := apiURL(d, c)
	missing, err := a.keyMissing(ctx, st)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{
			"address": d.API, "url": at, "policy": c.Policy, "health": d.Health, "has_key": missing == "", "version": buildVersion(), "inspect": d.Visit,
		})
	}
	if a.jsonLogs() {
		a.logger(c.Log, false).Info("serving", "address", d.API, "url", at, "policy", c.Policy, "health", d.Health, "has_key", missing == "", "inspect", d.Inspect)
		if d.InspectGenerated { // no log may have its token
			a.printf("%s\n", inspectLines(d))
		}
		return nil
	}
	a.printf("%s\n", apiLines(at, missing))
	if d.Inspect != "" {
		a.printf("%s\n", inspectLines(d))
	}
	if d.Health != "" {
		a.printf("health on http://%s: /healthz, /readyz, /metrics\n", d.Health)
	}
	return nil
}

// apiURL returns the URL to call the API at.
func apiURL(d *daemon.Daemon, c config.Config) string {
	return cmp.Or(strings.TrimRight(c.API.URL, "/"), "http://"+daemon.Reachable(d.API))
}

// apiLines says where the API is, and which command makes a key where there is none.
func apiLines(url, missing string) string {
	s := fmt.Sprintf("%s, with its routes in %s/openapi.json, and MCP on %s/mcp; docs/http.md begins with five lines that get a context", terminal.Strong("HTTP API on "+url), url, url)
	if missing != "" {
		s += "\nthere is no key yet, so every request is refused; make one: " + terminal.Mark(missing)
	}
	return s
}

// keyMissing returns the command that makes a key, "" where one is stored that has
// not expired.
func (a *app) keyMissing(ctx context.Context, st earshot.Store) (string, error) {
	keys, err := access.Keys(ctx, st)
	if err != nil {
		return "", err
	}
	for _, k := range keys {
		if !k.Expired(earshot.ClockOf(st, time.Now)()) {
			return "", nil
		}
	}
	return a.keyCommand(), nil
}

// keyCommand is the command that makes a key in the store of the command line.
func (a *app) keyCommand() string {
	command := "earshot key create --name bot"
	if a.db != "" {
		command += " --db " + shellWord(a.shownDB())
	}
	return command
}
