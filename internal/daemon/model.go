package daemon

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
	"github.com/earshot-ai/earshot/secret"
)

// A ModelInfo names a model that is configured.
type ModelInfo struct {
	Provider string
	Name     string
	Why      string // what made it the one: a setting or a variable
}

// general is the model of each provider where none is named: one that answers
// quickly, calls tools and costs little, among those that the provider had no
// plans to shut down in November 2026. At OpenAI it is one that takes tools
// by chat completions as it is.
var general = map[string]string{
	config.Anthropic: "claude-sonnet-5-5",
	config.Gemini:    "gemini-3.8-flash",
	config.OpenAI:    "gpt-5.4-mini",
	config.Offline:   llm.OfflineName,
}

// Models returns the models that a configuration names, in the order in which
// they are asked. Without a key or a base URL that is the offline one.
func Models(c config.Config) []ModelInfo {
	first := ModelInfo{Provider: c.Model.Provider, Name: c.Model.Name, Why: "model.provider"}
	if first.Provider == "" {
		first.Provider, first.Why = config.Offline, "no key and no base URL is set"
		k := c.Keys
		for _, p := range []struct {
			provider, why string
			set           bool
		}{
			{config.Anthropic, "ANTHROPIC_API_KEY", !k.AnthropicKey.Empty()}, {config.Anthropic, "ANTHROPIC_BASE_URL", k.AnthropicURL != ""},
			{config.Gemini, "GEMINI_API_KEY", !k.GeminiKey.Empty()}, {config.Gemini, "GOOGLE_GEMINI_BASE_URL", k.GeminiURL != ""},
			{config.OpenAI, "OPENAI_API_KEY", !k.OpenAIKey.Empty()}, {config.OpenAI, "OPENAI_BASE_URL", k.OpenAIURL != ""},
		} {
			if p.set {
				first.Provider, first.Why = p.provider, p.why+" is set"
				break
			}
		}
	}
	list := []ModelInfo{first}
	if f := c.Model.Fallback; f.Provider != "" {
		list = append(list, ModelInfo{Provider: f.Provider, Name: f.Name, Why: "model.fallback.provider"})
	}
	for i := range list {
		if list[i].Name == "" || list[i].Provider == config.Offline {
			list[i].Name = general[list[i].Provider]
		}
	}
	return list
}

// newModel makes the model that answers: each one is asked again where that may
// help, left alone while its provider is down, and replaced by the next. What
// each answers is told to learn.
func newModel(c config.Config, list []ModelInfo, learn func(llm.Response), log *slog.Logger) (llm.Model, error) {
	breakers := map[string]*model.Breaker{}
	var models []llm.Model
	var problems []error
	for i, info := range list {
		if info.Provider == config.Offline {
			models = append(models, measured{llm.Offline{}, info.Name, learn})
			continue
		}
		url := c.Model.BaseURL
		if i > 0 {
			url = c.Model.Fallback.BaseURL
		}
		m, err := provider(c.Keys, info, url)
		if err != nil {
			problems = append(problems, fmt.Errorf("model %s of %s: %w", info.Name, info.Provider, err))
			continue
		}
		if breakers[info.Provider] == nil {
			breakers[info.Provider] = model.NewBreaker(info.Provider, nil)
		}
		m = measured{m, info.Name, learn}
		models = append(models, model.Retry(model.Break(m, breakers[info.Provider]), &model.RetryOptions{Logger: log}))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return model.Fallback(log, models...), nil
}

// provider makes the adapter of one model. url is where its API is; "" for the
// provider's own variable.
func provider(k config.Keys, info ModelInfo, url string) (llm.Model, error) {
	o := model.Options{Model: info.Name, BaseURL: url}
	or := func(key secret.Secret, elsewhere string) model.Options {
		o.APIKey = secret.New(key.Reveal())
		if o.BaseURL == "" {
			o.BaseURL = elsewhere
		}
		return o
	}
	switch info.Provider {
	case config.Anthropic:
		return anthropic.New(or(k.AnthropicKey, k.AnthropicURL))
	case config.Gemini:
		return gemini.New(or(k.GeminiKey, k.GeminiURL))
	case config.OpenAI:
		return openai.New(or(k.OpenAIKey, k.OpenAIURL))
	}
	return nil, fmt.Errorf("there is no provider %q", info.Provider)
}

// OpenModel makes the model that a configuration names, for what asks one
// outside of a bot: with retries, and with the fallback where there is one. The
// offline model stands in where no key and no base URL is set, as the info says.
func OpenModel(c config.Config, log *slog.Logger) (llm.Model, ModelInfo, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	list := Models(c)
	m, err := newModel(c, list, func(llm.Response) {}, log)
	return m, list[0], err
}
