package main

import (
	"cmp"
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type costsCmd struct {
	By     string `enum:"day,channel,person,model,limit" default:"day" help:"Sum by day, channel, person or model; limit shows how much of the limits of this day is used."`
	Since  string `placeholder:"DAY" help:"From this day on, such as 2026-03-01 (UTC)."`
	Config string `short:"c" placeholder:"FILE" help:"A configuration file, for its prices (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *costsCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	var since earshot.Time
	if c.Since != "" {
		if since, err = earshot.ParseTime(c.Since + "T00:00:00Z"); err != nil {
			return usagef("--since: %q is no day; write it as 2026-03-01", c.Since)
		}
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	limits, err := l.limits(ctx, cfg)
	if err != nil {
		return err
	}
	if c.By == "limit" {
		return a.showLimits(limits)
	}
	prices, from, err := l.prices(ctx, cfg)
	if err != nil {
		return err
	}
	rows, err := c.sum(ctx, l, prices, since)
	if err != nil {
		return err
	}
	if a.json {
		out := []costJSON{}
		for _, r := range rows {
			out = append(out, costJSON{r, from})
		}
		return a.writeJSON(out)
	}
	if len(rows) == 0 {
		a.printf("no model was asked\n")
		return nil
	}
	t := terminal.NewTable(c.By, "turns", "calls", "read", "cache read", "cached", "cache written", "answered", "cost").Right(1, 2, 3, 4, 5, 6, 7, 8)
	for _, r := range append(rows, explain.Total(rows)) {
		t.Row(plain.Line(r.Key, 40), plain.Number(r.Turns), plain.Number(r.Calls), plain.Number(r.Input), plain.Number(r.Read), r.Percent(), plain.Number(r.Write), plain.Number(r.Output), r.Money())
	}
	a.printf("%s", t.Render(a.width))
	if line := limitsLine(limits); line != "" {
		a.printf("%s\n", line)
	}
	switch from {
	case fromDaemon:
		a.printf("%s\n", terminal.Faint("the prices are those of the daemon of this store"))
	case "":
		a.printf("%s\n", terminal.Faint("no prices are known: model.prices in the configuration sets them"))
	}
	return nil
}

// A costJSON is a sum as --json writes it.
type costJSON struct {
	explain.Row
	PricesFrom string `json:"prices_from,omitempty"` // config, daemon, or none
}

// Where prices come from.
const (
	fromConfig = "config"
	fromDaemon = "daemon"
)

// prices returns the prices of the configuration, or where it has none those of the
// daemon of this store that wrote last that it runs, and where they come from; "" where
// there are none.
func (l turnStore) prices(ctx context.Context, cfg config.Config) (map[string]config.Price, string, error) {
	if len(cfg.Model.Prices) > 0 {
		return cfg.Model.Prices, fromConfig, nil
	}
	list, err := daemon.Presences(ctx, l.store)
	if err != nil {
		return nil, "", err
	}
	for _, p := range list {
		if len(p.Prices) > 0 {
			return p.Prices, fromDaemon, nil
		}
	}
	return nil, "", nil
}

// sum adds up all turns that asked a model, by key in its order.
func (c *costsCmd) sum(ctx context.Context, l turnStore, prices map[string]config.Price, since earshot.Time) ([]explain.Row, error) {
	var sum explain.Sum
	for t, err := range l.turns.Spent(ctx, operator, explain.SpendingQuery{From: since}) {
		if err != nil {
			return nil, err
		}
		calls := t.Calls()
		if len(calls) == 0 {
			continue
		}
		key, err := c.key(ctx, l, t.Queued)
		if err != nil {
			return nil, err
		}
		sum.Add(calls, priceOf(prices), func(call explain.Call) string {
			if c.By == "model" {
				return call.Model
			}
			return key
		})
	}
	return sum.Rows(), nil
}

// key is what a turn is summed by, unless that is the model.
func (c *costsCmd) key(ctx context.Context, l turnStore, t earshot.QueuedTurn) (string, error) {
	switch c.By {
	case "day":
		return plain.Day(t.Opened), nil
	case "model":
		return "", nil
	}
	row, err := l.row(ctx, t)
	if c.By == "person" {
		return cmp.Or(row.By, "(deleted)"), err
	}
	return row.ChannelName, err
}

// priceOf returns the prices of a configuration.
func priceOf(prices map[string]config.Price) explain.Price {
	return func(model string, u earshot.Usage) (float64, bool) {
		p, ok := daemon.PriceOf(prices, model)
		return daemon.Cost(p, u), ok
	}
}
