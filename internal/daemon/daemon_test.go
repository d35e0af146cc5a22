package daemon_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
)

func defaults(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	c.Store = "sqlite:" + filepath.Join(t.TempDir(), "d.db")
	return c
}

// keyed has one provider's key.
func keyed(provider string, key secret.Secret) map[string]config.ProviderKey {
	return map[string]config.ProviderKey{provider: {Key: key}}
}

func TestModelsAreChosenByWhatIsSet(t *testing.T) {
	t.Parallel()
	key := secret.New("k")
	for _, c := range []struct {
		name string
		set  func(c *config.Config)
		want []daemon.ModelInfo
	}{
		{"nothing", func(*config.Config) {}, []daemon.ModelInfo{{Provider: "offline", Name: "offline", Why: "no key and no base URL is set"}}},
		{"a key", func(c *config.Config) { c.Keys.Providers = keyed("gemini", key) }, []daemon.ModelInfo{{Provider: "gemini", Name: "gemini-3.8-flash", Why: "GEMINI_API_KEY is set"}}},
		{"a base URL and a name", func(c *config.Config) {
			c.Keys.Providers, c.Model.Name = map[string]config.ProviderKey{"openai": {URL: "http://127.0.0.1/v1"}}, "qwen3"
		},
			[]daemon.ModelInfo{{Provider: "openai", Name: "qwen3", Why: "OPENAI_BASE_URL is set"}}},
		{"a provider over a key", func(c *config.Config) { c.Keys.Providers, c.Model.Provider = keyed("anthropic", key), "offline" },
			[]daemon.ModelInfo{{Provider: "offline", Name: "offline", Why: "model.provider"}}},
		{"a fallback", func(c *config.Config) {
			c.Keys.Providers, c.Model.Fallback.Provider = keyed("anthropic", key), "offline"
		},
			[]daemon.ModelInfo{{Provider: "anthropic", Name: "claude-sonnet-5-5", Why: "ANTHROPIC_API_KEY is set"}, {Provider: "offline", Name: "offline", Why: "model.fallback.provider"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			c.set(&cfg)
			if diff := cmp.Diff(daemon.Models(cfg), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func TestPriceOf(t *testing.T) {
	t.Parallel()
	prices := map[string]config.Price{"gpt-5": {Input: 1}, "gpt-5-mini": {Input: 2, Output: 8}}
	for model, want := range map[string]float64{"gpt-5": 1, "gpt-5-2026-01-01": 1, "gpt-5-mini-x": 2, "claude": 0} {
		if got, ok := daemon.PriceOf(prices, model); got.Input != want || ok != (want > 0) {
			t.Errorf("%s: got %v, %v; want %v", model, got, ok, want)
		}
	}
	if got, want := daemon.Cost(prices["gpt-5-mini"], earshot.Usage{Input: 1_000_000, Output: 500_000}), 6.0; got != want {
		t.Errorf("cost %v, want %v", got, want)
	}
}

func TestItAnswersOverHTTPAndStopsCleanly(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Local.Listen = "127.0.0.1:0"
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	heard, err := d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "bob", Text: "@earshot hello"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(ctx, heard.Turn); err != nil {
		t.Fatal(err)
	}
	if q, err := d.Store.QueuedTurn(ctx, heard.Turn); err != nil || q.State != earshot.TurnDone {
		t.Errorf("the turn is %s, %v; want done", q.State, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.Address+"/v1/channels", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.Token.Reveal())
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != http.StatusOK || !d.TokenGenerated {
		t.Errorf("got %v, %v, made %v; want 200 with a token that was made", res, err, d.TokenGenerated)
	} else {
		res.Body.Close()
	}
	stop()
	if err := <-ran; err != nil {
		t.Errorf("Run: %v", err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestOpenRefusesWrongSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(c *config.Config)
		want string
	}{
		{"a provider without its key", func(c *config.Config) { c.Model.Provider = "anthropic" }, "ANTHROPIC_API_KEY is not set"},
		{"a summariser without its key", func(c *config.Config) { c.Summary.Provider = "openai" }, "OPENAI_API_KEY is not set"},
		{"an unknown fault", func(c *config.Config) { c.Fault = "nowhere" }, "use one of before_commit"},
		{"a public address", func(c *config.Config) { c.Local.Listen = "0.0.0.0:0" }, "loopback"},
		{"no store", func(c *config.Config) { c.Store = "redis://x" }, "not a store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := defaults(t)
			c.set(&cfg)
			d, err := daemon.Open(t.Context(), daemon.Options{Config: cfg})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want %q", d, err, c.want)
			}
		})
	}
}
