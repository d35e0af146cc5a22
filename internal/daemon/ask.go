package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
)

// A ModelAsked is how a model answered the question whether it is there.
type ModelAsked struct {
	ModelInfo
	Took time.Duration
	Err  error // nil: it answered
}

// Remedy says what to do about Err; "" where nothing is known to help.
func (a ModelAsked) Remedy() string {
	var e *llm.Error
	switch {
	case a.Err == nil:
		return ""
	case !errors.As(a.Err, &e):
		return "set what is missing (docs/configuration.md)"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return "compare the key with the provider's page: " + keyVariables[a.Provider]
	case e.Status == http.StatusNotFound:
		return "compare the model's name and the base URL with the provider's page; earshot models says which are set"
	case e.Status == http.StatusTooManyRequests || e.Status == http.StatusPaymentRequired:
		return "look at the quota and the credit of the key on the provider's page"
	case e.Status == 0:
		return "see whether this machine reaches the provider, and whether the base URL is right"
	}
	return ""
}

// keyVariables have the key of each provider.
var keyVariables = map[string]string{
	config.Anthropic: "ANTHROPIC_API_KEY", config.Gemini: "GEMINI_API_KEY", config.OpenAI: "OPENAI_API_KEY",
}

// askPatience is how long a model may take to say that it is there.
const askPatience = 30 * time.Second

// askModels asks the models that answer, and the one that summarises, for one token
// each, in order, without retries. client may be nil.
func askModels(ctx context.Context, c config.Config, client *http.Client, tell func(ModelAsked)) {
	list := Models(c)
	urls := []string{c.Model.BaseURL, c.Model.Fallback.BaseURL}[:len(list)]
	if info, ok := Summariser(c); ok {
		list, urls = append(list, info), append(urls, c.Summary.BaseURL)
	}
	for i, info := range list {
		asked := ModelAsked{ModelInfo: info}
		m, err := provider(c.Keys, info, urls[i], client)
		if asked.Err = err; err == nil {
			began := time.Now()
			asked.Err = askModel(ctx, m)
			asked.Took = time.Since(began)
		}
		if ctx.Err() != nil {
			return
		}
		tell(asked)
	}
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
func (s shared) askAtStart(ctx context.Context) error {
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
	if c.Platform != config.PlatformSlack && c.Platform != config.PlatformDiscord || c.Model.Provider != "" || Models(c)[0].Provider != config.Offline {
		return nil
	}
	return fmt.Errorf("model.provider: no key and no base URL of a model is set; set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY (or a *_BASE_URL), or ask for answers without a model by name, with model.provider: %s (EARSHOT_MODEL_PROVIDER=%s)", config.Offline, config.Offline)
}

// CheckStart returns what keeps a bot from starting with a configuration that is
// right in itself: keys that its platform needs, and a model.
func CheckStart(c config.Config) []error {
	problems := checkKeys(c)
	if err := CheckModel(c); err != nil {
		problems = append(problems, err)
	}
	return problems
}

// checkKeys returns which keys its platform lacks.
func checkKeys(c config.Config) []error {
	switch c.Platform {
	case config.PlatformSlack:
		return c.CheckSlackKeys()
	case config.PlatformDiscord:
		return c.CheckDiscordKeys()
	}
	return nil
}

// Ignored returns the settings of who the bot is that its platform does not take from
// the configuration, in words; "" for none. named is the bot's name there, "" where it
// is not known.
func Ignored(c config.Config, named string) string {
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
	title := map[string]string{config.PlatformSlack: "Slack", config.PlatformDiscord: "Discord"}[c.Platform]
	return fmt.Sprintf("%s of the configuration has no effect: who the bot is, %s says (%s); rename it there", strings.Join(keys, " and "), title, cmp.Or(named, "its app's own name"))
}
