package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/plain"
)

// A daemonJSON is a daemon as --json writes it, from its heartbeat in the store.
type daemonJSON struct {
	Running  bool   `json:"running"`
	Kind     string `json:"kind"` // bot or sidecar
	Platform string `json:"platform"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Fallback string `json:"fallback,omitempty"`
	Policy   string `json:"policy"`
	Version  string `json:"version,omitempty"`
	DryRun   bool   `json:"dry_run,omitempty"`
	API      string `json:"api,omitempty"` // the address of the HTTP API
	Since    string `json:"since"`
	Seen     string `json:"seen"`

	since, seen earshot.Time
}

// daemons lists the daemons that run over the store, the one with the latest
// heartbeat first; where none runs, the last one that did.
func (l turnStore) daemons(ctx context.Context) ([]daemonJSON, error) {
	list, err := daemon.Presences(ctx, l.store)
	if err != nil {
		return nil, err
	}
	now := earshot.TimeOf(earshot.ClockOf(l.store, time.Now)())
	out := []daemonJSON{}
	for _, p := range list {
		kind := "bot"
		if p.Sidecar() {
			kind = "sidecar"
		}
		out = append(out, daemonJSON{
			Running: p.Running(now), Kind: kind, API: p.API, Platform: p.Platform, Provider: p.Provider, Model: p.Model, Fallback: p.Fallback, Policy: p.Policy,
			Version: p.Version, DryRun: p.DryRun, Since: p.Since.String(), Seen: p.Seen.String(), since: p.Since, seen: p.Seen,
		})
	}
	running := slices.DeleteFunc(slices.Clone(out), func(d daemonJSON) bool { return !d.Running })
	if len(running) > 0 {
		return running, nil
	}
	return out[:min(1, len(out))], nil
}

// daemonLines returns the daemons as lines for people.
func daemonLines(list []daemonJSON) string {
	if len(list) == 0 {
		return "daemon  none has been seen over this store\n"
	}
	if last := list[0]; !last.Running && last.Kind == "sidecar" {
		return fmt.Sprintf("daemon  none has been seen since %s; the last was a sidecar\n", plain.Minute(last.seen))
	} else if !last.Running {
		return fmt.Sprintf("daemon  none has been seen since %s; the last had the model %s\n", plain.Minute(list[0].seen), plain.Line(list[0].Model, 60))
	}
	var b strings.Builder
	for _, d := range list {
		if fmt.Fprintf(&b, "daemon  running since %s", plain.Minute(d.since)); d.Kind == "sidecar" {
			b.WriteString(" as a sidecar")
		} else {
			fmt.Fprintf(&b, " on %s, model %s (%s)", plain.Line(d.Platform, 20), plain.Line(d.Model, 60), plain.Line(d.Provider, 20))
		}
		if d.Fallback != "" {
			fmt.Fprintf(&b, ", then %s", plain.Line(d.Fallback, 60))
		}
		fmt.Fprintf(&b, "; policy %s, version %s", plain.Line(d.Policy, 60), plain.Line(d.Version, 40))
		if d.API != "" {
			fmt.Fprintf(&b, "; HTTP API on %s", plain.Line(d.API, 60))
		}
		if d.DryRun {
			b.WriteString("; dry run")
		}
		b.WriteString("\n")
	}
	return b.String()
}
