package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type modelsCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

// A modelJSON is a model as --json writes it.
type modelJSON struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Why      string  `json:"why,omitempty"` // of one that is configured
	Answers  int     `json:"answers"`
	Estimate int     `json:"estimate"`
	Actual   int     `json:"actual"`
	Factor   float64 `json:"factor,omitempty"`
	Counter  string  `json:"counter"`
	Priced   bool    `json:"priced"`

	PriceFrom string `json:"price_from,omitempty"` // config or daemon
}

func (c *modelsCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	samples, prices, from, err := c.readSamples(ctx, a, cfg)
	if err != nil {
		return err
	}
	out := []modelJSON{}
	add := func(m daemon.ModelInfo, s daemon.Sample) {
		_, priced := daemon.PriceOf(prices, m.Name)
		counter := cfg.Counter
		if counter == config.CounterAuto {
			counter = s.Counter()
		}
		row := modelJSON{m.Provider, m.Name, m.Why, s.Answers, s.Counted, s.Reported, 0, counter, priced, ""}
		if priced {
			row.PriceFrom = from
		}
		if s.Answers > 0 {
			row.Factor = s.Factor()
		}
		out = append(out, row)
	}
	models := daemon.Models(cfg)
	if m, ok := daemon.Summariser(cfg); ok {
		models = append(models, m)
	}
	for _, m := range models {
		of := func(s daemon.Sample) bool { return s.Provider == m.Provider && s.Model == m.Name }
		s := daemon.Sample{}
		if i := slices.IndexFunc(samples, of); i >= 0 {
			s = samples[i]
		}
		samples = slices.DeleteFunc(samples, of)
		add(m, s)
	}
	for _, s := range samples {
		add(daemon.ModelInfo{Provider: s.Provider, Name: s.Model}, s)
	}
	if a.json {
		return a.writeJSON(out)
	}
	t := terminal.NewTable("provider", "model", "answers", "counted", "reported", "factor", "counter", "price", "").Right(2, 3, 4, 5)
	for _, m := range out {
		factor, price := "–", "none"
		if m.Answers > 0 {
			factor = fmt.Sprintf("%.2f", m.Factor)
		}
		if m.Priced {
			price = map[string]string{fromConfig: "set", fromDaemon: "of the daemon"}[m.PriceFrom]
		}
		t.Row(m.Provider, terminal.Strong(plain.Line(m.Model, 40)), plain.Number(m.Answers), plain.Number(m.Estimate), plain.Number(m.Actual), factor, m.Counter, price, terminal.Faint(m.Why))
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

// readSamples reads what is known of models that have answered, nothing where there is no
// database yet, and the prices with where they come from.
func (c *modelsCmd) readSamples(ctx context.Context, a *app, cfg config.Config) (samples []daemon.Sample, prices map[string]config.Price, from string, err error) {
	l, err := a.turnStore(ctx)
	if err != nil {
		var none *usageError
		if errors.As(err, &none) {
			return nil, cfg.Model.Prices, fromConfig, nil
		}
		return nil, nil, "", err
	}
	defer l.Close()
	learned, err := daemon.Calibrate(ctx, l.store)
	if err == nil {
		prices, from, err = l.prices(ctx, cfg)
	}
	if err != nil {
		return nil, nil, "", err
	}
	return learned.Samples(), prices, from, nil
}
