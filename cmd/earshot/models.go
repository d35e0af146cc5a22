package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/desk"
)

type modelsCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *modelsCmd) Help() string {
	return `Says which models the bot asks, in which order and why, and for each that has answered how many tokens were
counted and how many the provider has reported: the factor between them, and the counter that would fit.`
}

// A modelJSON is a model as --json writes it.
type modelJSON struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Why      string  `json:"why,omitempty"` // of one that is configured
	Turns    int     `json:"turns"`
	Estimate int     `json:"estimate"`
	Actual   int     `json:"actual"`
	Factor   float64 `json:"factor,omitempty"`
	Counter  string  `json:"counter,omitempty"`
	Priced   bool    `json:"priced"`
}

func (c *modelsCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	out := []modelJSON{}
	for _, m := range daemon.Models(cfg) {
		_, priced := daemon.PriceOf(cfg.Model.Prices, m.Name)
		out = append(out, modelJSON{Provider: m.Provider, Model: m.Name, Why: m.Why, Priced: priced})
	}
	samples, err := c.samples(ctx, a)
	if err != nil {
		return err
	}
	for _, s := range samples {
		at := -1
		for i, m := range out {
			if m.Provider == s.Provider && m.Model == s.Model {
				at = i
			}
		}
		if at < 0 {
			_, priced := daemon.PriceOf(cfg.Model.Prices, s.Model)
			out = append(out, modelJSON{Provider: s.Provider, Model: s.Model, Priced: priced})
			at = len(out) - 1
		}
		m := &out[at]
		m.Turns, m.Estimate, m.Actual, m.Factor, m.Counter = s.Turns, s.Estimate, s.Actual, s.Factor(), s.Counter()
	}
	if a.json {
		return a.writeJSON(out)
	}
	t := desk.NewTable("provider", "model", "turns", "counted", "reported", "factor", "counter", "price", "").Right(2, 3, 4, 5)
	for _, m := range out {
		factor, price := "–", "none"
		if m.Turns > 0 {
			factor = fmt.Sprintf("%.2f", m.Factor)
		}
		if m.Priced {
			price = "set"
		}
		t.Row(m.Provider, desk.Strong(desk.Line(m.Model, 40)), desk.Number(m.Turns), desk.Number(m.Estimate), desk.Number(m.Actual), factor, m.Counter, price, desk.Faint(m.Why))
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

// samples reads what is known of models that have answered; nothing where
// there is no database yet.
func (c *modelsCmd) samples(ctx context.Context, a *app) ([]daemon.Sample, error) {
	l, err := a.ledgers(ctx)
	if err != nil {
		var none *usageError
		if errors.As(err, &none) {
			return nil, nil
		}
		return nil, err
	}
	defer l.Close()
	return daemon.Samples(ctx, l.store)
}
