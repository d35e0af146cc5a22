package daemon

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/summarize"
)

// Summariser returns the model that summarises; false where none is configured,
// and summaries are made without one.
func Summariser(c config.Config) (ModelInfo, bool) {
	s := c.Summary
	if s.Provider == "" {
		return ModelInfo{}, false
	}
	info := ModelInfo{Provider: s.Provider, Name: s.Name, Why: "summary.provider"}
	if info.Name == "" {
		p, _ := providers.Of(info.Provider)
		info.Name = p.Model
	}
	return info, true
}

// summariser makes the model that summarises, with retries and a breaker of its
// own, so that its failures do not keep the model from answering that shares its
// provider. It is nil where none is configured.
func (x Outside) summariser(c config.Config, log *slog.Logger) (llm.Model, error) {
	info, configured := Summariser(c)
	m := x.Summariser
	switch {
	case m != nil:
		return m, nil
	case !configured:
		return nil, nil
	}
	m, err := newProviderModel(c.Keys, info, c.Summary.BaseURL, nil)
	if err != nil {
		return nil, fmt.Errorf("model %s of %s, which summarises: %w", info.Name, info.Provider, err)
	}
	return model.Retry(model.Break(m, model.NewBreaker(info.Provider, nil)), &model.RetryOptions{Logger: log}), nil
}

// summaries returns what summarises the long conversations of an agent between
// turns, until its ctx ends. A dry run writes nothing, and so no summaries.
func (s sharedParts) summaries(who earshot.Identity) func(context.Context) error {
	if s.options.DryRun {
		return func(ctx context.Context) error { <-ctx.Done(); return nil }
	}
	return summarize.New(s.summariesOf(who)).Run
}

// summariesOf returns how the conversations of an agent are summarised.
func (s sharedParts) summariesOf(who earshot.Identity) summarize.Options {
	o, c := s.options, s.options.Config
	info, _ := Summariser(c)
	return summarize.Options{
		Store: s.store, Identity: who, Counter: s.responder.counter, Model: s.responder.summariser, Name: info.Name,
		Turns: c.Summary.Turns, Zone: c.Context.Zone, Trust: c.Context.Trust.Rule(), AllowList: s.lists.ask,
		Ended: s.ended.next, Owner: o.Outside.Owner, Now: o.Outside.now(), Log: o.Log,
		Done: func(r summarize.Report) { s.meters.Summary(r.By, r.Err != nil, r.Usage) },
	}
}
