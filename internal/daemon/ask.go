package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
)

// A ModelAsked is how a model answered the question whether it is there.
type ModelAsked struct {
	ModelInfo
	Took time.Duration
	Err  error  // nil: it answered
	Card string // what an agent's card says that it is; "": it has none
}

// Says is that it is there: an agent is not asked anything.
func (a ModelAsked) Says() string {
	switch {
	case a.Card != "":
		return a.String() + " is " + a.Card
	case a.IsAgent():
		return a.String() + " listens"
	}
	return a.String() + " answers"
}

// Remedy says what to do about Err; "" where nothing is known to help.
func (a ModelAsked) Remedy() string {
	var e *llm.Error
	switch {
	case a.Err == nil:
		return ""
	case !errors.As(a.Err, &e):
		return "set what is missing (docs/configuration.md)"
	case a.IsAgent() && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden):
		return "compare EARSHOT_AGENT_KEY with what the agent takes"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		p, _ := providers.Of(a.Provider)
		return "compare the key with the provider's page: " + p.Key
	case e.Status == http.StatusNotFound:
		return "compare the model's name and the base URL with the provider's page; earshot models says which are set"
	case e.Status == http.StatusTooManyRequests || e.Status == http.StatusPaymentRequired:
		return "look at the quota and the credit of the key on the provider's page"
	case a.Provider == agentProvider:
		return "start the agent, and compare agent.url with where it listens"
	case e.Status == 0:
		return "see whether this machine reaches the provider, and whether the base URL is right"
	}
	return ""
}

// askPatience is how long a model may take to say that it is there.
const askPatience = 30 * time.Second

// askModels asks the models that answer, and those that decide and summarise, for one token
// each, in order, without retries. client may be nil.
func askModels(ctx context.Context, c config.Config, client *http.Client, tell func(ModelAsked)) {
	list, urls := modelsAndURLs(c)
	ask := func(c config.Config, info ModelInfo, url string) {
		asked := ModelAsked{ModelInfo: info}
		began := time.Now()
		if info.Provider == agentProvider {
			asked.Card, asked.Err = reachAgent(ctx, c, client)
		} else if m, err := newProviderModel(c.Keys, info, url, client); err != nil {
			asked.Err = err
		} else {
			asked.Err = askModel(ctx, m)
		}
		if asked.Took = time.Since(began); ctx.Err() == nil {
			tell(asked)
		}
	}
	for i, info := range list {
		ask(c, info, urls[i])
	}
	all := c.Answering()
	for _, i := range slices.Sorted(maps.Keys(all)) {
		if of := all[i]; i >= 0 && brainOf(of) != brainOf(c) {
			info := Models(of)[0]
			info.Why = c.Channels[i].At
			ask(of, info, of.Model.BaseURL)
		}
	}
}

// modelsAndURLs are the models that answer, and those that decide and summarise, each with its
// base URL from the settings.
func modelsAndURLs(c config.Config) (list []ModelInfo, urls []string) {
	list = Models(c)
	urls = []string{c.Model.BaseURL, c.Model.Fallback.BaseURL}[:len(list)]
	if info, ok := ambientModel(c, list); ok {
		list, urls = append(list, info), append(urls, c.Model.BaseURL)
	}
	if info, ok := Summariser(c); ok {
		list, urls = append(list, info), append(urls, c.Summary.BaseURL)
	}
	return list, urls
}

// askModel asks a model for one token. Some models cannot begin with one, and say so:
// they are asked for more.
func askModel(ctx context.Context, m llm.Model) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	ask := func(tokens int) error {
		_, err := m.Generate(ctx, llm.Request{
			Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("Are you there?")}}}, MaxTokens: tokens,
		}, nil)
		return err
	}
	err := ask(1)
	if e := (*llm.Error)(nil); errors.As(err, &e) && e.Status == http.StatusBadRequest {
		err = ask(64)
	}
	return err
}

// askAtStart asks the models once, and tells of each.
func (s sharedParts) askAtStart(ctx context.Context) error {
	if s.options.Asked != nil && s.options.Outside.Model == nil {
		askModels(ctx, s.options.Config, nil, s.options.Asked)
	}
	<-ctx.Done()
	return nil
}

// CheckModel returns an error where the offline model would answer on a platform with
// other people, and nobody has asked for it: everything would look well, and the first
// question get an answer that no model has made.
func CheckModel(c config.Config) error {
	if kindOf(c).check == nil || c.Model.Provider != "" || Models(c)[0].Provider != providers.Offline {
		return nil
	}
	return fmt.Errorf("model.provider: no key and no base URL of a model is set; set %s (or a *_BASE_URL), or ask for answers without a model by name, with model.provider: %s (EARSHOT_MODEL_PROVIDER=%[2]s)", providers.AnyKey(), providers.Offline)
}

// CheckStart returns what keeps a bot from starting with a configuration that is
// right in itself: keys that its platform and its models need, and a model.
func CheckStart(c config.Config) []error {
	problems := kindOf(c).keys(c)
	for _, err := range []error{CheckModel(c), checkMoney(c)} {
		if err != nil {
			problems = append(problems, err)
		}
	}
	list, urls := modelsAndURLs(c)
	for i, info := range list {
		if _, err := newConfigured(c, info, urls[i], nil); err != nil {
			problems = append(problems, fmt.Errorf("model %s of %s: %w", info.Name, info.Provider, err))
		}
	}
	return problems
}

// IgnoredSettings returns the settings of who the bot is that its platform does not take from
// the configuration, in words; "" for none. named is the bot's name there, "" where it
// is not known.
func IgnoredSettings(c config.Config, named string) string {
	if c.Platform == config.PlatformLocal {
		return ""
	}
	var keys []string
	standard := config.Default().Agent
	if c.Agent.Name != standard.Name && c.Agent.Name != named {
		keys = append(keys, fmt.Sprintf("agent.name %q", c.Agent.Name))
	}
	if c.Agent.ID != standard.ID {
		keys = append(keys, fmt.Sprintf("agent.id %q", c.Agent.ID))
	}
	if len(keys) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the configuration has no effect: who the bot is, %s says (%s); rename it there", strings.Join(keys, " and "), earshot.Platform(c.Platform).Info().Title, cmp.Or(named, "its app's own name"))
}
