package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// A ModelInfo names a model that is configured.
type ModelInfo struct {
	Provider string
	Name     string
	Why      string // the setting or the variable that chose it
}

// IsAgent reports whether it is an agent of one's own, in a model's place.
func (i ModelInfo) IsAgent() bool { return i.Provider == agentProvider }

// String is what it is called in a sentence: the model NAME.
func (i ModelInfo) String() string {
	if i.IsAgent() {
		return "the agent at agent.url"
	}
	return "the model " + plain.Line(i.Name, 60)
}

// Models returns the configured models: the one that answers, then its fallback
// where there is one. Without a provider, a key and a base URL the offline model
// answers.
func Models(c config.Config) []ModelInfo {
	first := ModelInfo{Provider: c.Model.Provider, Name: c.Model.Name, Why: "model.provider"}
	if hasAgent(c) {
		first = ModelInfo{Provider: agentProvider, Name: c.Agent.Kind, Why: "agent.kind"}
	}
	if first.Provider == "" {
		first.Provider, first.Why = providers.Offline, "no key and no base URL is set"
		for _, p := range providers.All {
			if k, set := c.Keys.Providers[p.Name]; set {
				first.Provider, first.Why = p.Name, p.Key+" is set"
				if k.Key.Empty() {
					first.Why = p.URL + " is set"
				}
				break
			}
		}
	}
	list := []ModelInfo{first}
	if f := c.Model.Fallback; f.Provider != "" {
		list = append(list, ModelInfo{Provider: f.Provider, Name: f.Name, Why: "model.fallback.provider"})
	}
	for i := range list {
		if list[i].Provider == providers.Offline {
			list[i].Name = llm.OfflineName
		} else if list[i].Name == "" {
			p, _ := providers.Of(list[i].Provider)
			list[i].Name = p.Model
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
		if info.Provider == providers.Offline {
			models = append(models, measuredModel{llm.Offline{}, info.Name, learn, calls[i]})
			continue
		}
		url := c.Model.BaseURL
		if i > 0 {
			url = c.Model.Fallback.BaseURL
		}
		m, err := newConfigured(c, info, url, nil)
		if err != nil {
			problems = append(problems, fmt.Errorf("model %s of %s: %w", info.Name, info.Provider, err))
			continue
		}
		if breakers[info.Provider] == nil {
			breakers[info.Provider] = model.NewBreaker(info.Provider, nil)
		}
		m = measuredModel{m, info.Name, learn, calls[i]}
		models = append(models, model.Retry(model.Break(m, breakers[info.Provider]), &model.RetryOptions{Logger: log}))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return model.Fallback(log, models...), nil
}

// newConfigured makes the agent, or the adapter of one model.
func newConfigured(c config.Config, info ModelInfo, url string, client *http.Client) (llm.Model, error) {
	if info.Provider == agentProvider {
		return newAgent(c, client)
	}
	return newProviderModel(c.Keys, info, url, client)
}

// newProviderModel makes the adapter of one model. url is the API's base URL; "" means
// that of the provider's own variable. client may be nil.
func newProviderModel(k config.Keys, info ModelInfo, url string, client *http.Client) (llm.Model, error) {
	if info.Provider == providers.Offline {
		return llm.Offline{}, nil
	}
	p, ok := providers.Of(info.Provider)
	if !ok {
		return nil, fmt.Errorf("there is no provider %q; use one of %s, %s", info.Provider, strings.Join(providers.Names(), ", "), providers.Offline)
	}
	key := k.Providers[p.Name]
	return p.New(model.Options{Model: info.Name, Provider: p.Name, APIKey: key.Key, BaseURL: cmp.Or(url, key.URL), HTTPClient: client})
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

// Requests yields the request of each answer of a turn, as the provider was sent it.
func Requests(ctx context.Context, st bot.Store, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
	return bot.Requests(ctx, st, q, requestBody)
}

// requestBody writes the body of a request as the adapter of a provider sends it.
func requestBody(provider string, s llm.SentBody, r llm.Request) ([]byte, error) {
	p, ok := providers.Of(provider)
	if !ok {
		return nil, fmt.Errorf("this program writes no requests to %s", provider)
	}
	return p.Body(s, r), nil
}
