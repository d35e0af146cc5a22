package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
)

// A ModelInfo names a model that is configured.
type ModelInfo struct {
	Provider string
	Name     string
	Why      string // the setting or the variable that chose it
}

// defaultNames are the models of the providers where none is named: one that
// answers quickly, calls tools and costs little, among those that the provider
// had no plans to shut down in November 2026. OpenAI's takes tools in chat
// completions without further settings.
var defaultNames = map[string]string{
	config.Anthropic: "claude-sonnet-5-5",
	config.Gemini:    "gemini-3.8-flash",
	config.OpenAI:    "gpt-5.4-mini",
	config.Offline:   llm.OfflineName,
}

// Models returns the configured models: the one that answers, then its fallback
// where there is one. Without a provider, a key and a base URL the offline model
// answers.
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
			list[i].Name = defaultNames[list[i].Provider]
		}
	}
	return list
}

// newModel makes the model that answers, out of a list: each model is retried
// where that may help, a breaker stops calls while its provider is down, and
// the next model takes over. Every answer is passed to learn, and calls has the calls
// of each model.
func newModel(c config.Config, list []ModelInfo, learn func(llm.Response), calls []*modelCalls, log *slog.Logger) (llm.Model, error) {
	breakers := map[string]*model.Breaker{}
	var models []llm.Model
	var problems []error
	for i, info := range list {
		if info.Provider == config.Offline {
			models = append(models, measured{llm.Offline{}, info.Name, learn, calls[i]})
			continue
		}
		url := c.Model.BaseURL
		if i > 0 {
			url = c.Model.Fallback.BaseURL
		}
		m, err := provider(c.Keys, info, url, nil)
		if err != nil {
			problems = append(problems, fmt.Errorf("model %s of %s: %w", info.Name, info.Provider, err))
			continue
		}
		if breakers[info.Provider] == nil {
			breakers[info.Provider] = model.NewBreaker(info.Provider, nil)
		}
		m = measured{m, info.Name, learn, calls[i]}
		models = append(models, model.Retry(model.Break(m, breakers[info.Provider]), &model.RetryOptions{Logger: log}))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return model.Fallback(log, models...), nil
}

// provider makes the adapter of one model. url is the API's base URL; "" means
// that of the provider's own variable. client may be nil.
func provider(k config.Keys, info ModelInfo, url string, client *http.Client) (llm.Model, error) {
	o := model.Options{Model: info.Name, HTTPClient: client}
	switch info.Provider {
	case config.Offline:
		return llm.Offline{}, nil
	case config.Anthropic:
		o.APIKey, o.BaseURL = k.AnthropicKey, cmp.Or(url, k.AnthropicURL)
		return anthropic.New(o)
	case config.Gemini:
		o.APIKey, o.BaseURL = k.GeminiKey, cmp.Or(url, k.GeminiURL)
		return gemini.New(o)
	case config.OpenAI:
		o.APIKey, o.BaseURL = k.OpenAIKey, cmp.Or(url, k.OpenAIURL)
		return openai.New(o)
	}
	return nil, fmt.Errorf("there is no provider %q; use one of %s", info.Provider, strings.Join(config.Providers, ", "))
}

// OpenModel makes the configured model for callers that run no bot, with retries
// and its fallback, and says which it is: the offline one where none is
// configured.
func OpenModel(c config.Config, log *slog.Logger) (llm.Model, ModelInfo, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	list := Models(c)
	m, err := newModel(c, list, func(llm.Response) {}, newCalls(list), log)
	return m, list[0], err
}
