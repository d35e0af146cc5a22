package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// A reloader has a daemon take up its configuration again with each SIGHUP, which Windows
// does not have.
type reloader struct {
	load  func() (config.Config, error)
	log   *slog.Logger
	asked chan os.Signal
	// hungUp reports whether the terminal was closed in which the bot runs, of which the
	// signal tells too.
	hungUp func() bool
}

// newReloader catches the signal until Run ends.
func newReloader(a *app, log *slog.Logger, load func() (config.Config, error)) *reloader {
	r := &reloader{load: load, log: log, asked: make(chan os.Signal, 1), hungUp: func() bool { return false }}
	if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		r.hungUp = func() bool { return !term.IsTerminal(int(in.Fd())) }
	}
	signal.Notify(r.asked, syscall.SIGHUP)
	return r
}

// Run reads the configuration at each signal, until ctx ends or the terminal is closed, when
// it calls stop. A configuration with a fault changes nothing.
func (r *reloader) Run(ctx context.Context, d *daemon.Daemon, stop func()) {
	defer signal.Stop(r.asked)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.asked:
		}
		if r.hungUp() {
			stop()
			return
		}
		c, err := r.load()
		if err == nil {
			err = d.Reload(c)
		}
		if err != nil {
			r.log.Error("the configuration is not taken up: what held goes on to hold", "err", err)
		}
	}
}
