package config_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// What is written reads back as it was, also with every setting that is commented out.
func TestAFileReadsBackAsItWas(t *testing.T) {
	t.Parallel()
	commentedOut := regexp.MustCompile(`(?m)^( *)#(\w+:)`)
	for _, platform := range config.Platforms {
		c := config.Default()
		c.Platform = platform
		c.Store = "postgres://bot@db:5432/earshot?sslmode=disable"
		c.Agent.Instructions = "Answer in one line: \"yes\" # or no.\nNever in two."
		c.Agent.Aliases = []string{"U1", "on"}
		c.Model = config.Model{Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Name: "llama3:8b", Prices: map[string]config.Price{"llama3:8b": {Input: 0.5}}}
		c.Retention.Keep = []config.Retaining{{Workspace: "T1", Days: "30"}}
		text, err := c.File()
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"as written": text, "with each setting": commentedOut.ReplaceAllString(text, "$1$2")} {
			got, err := config.Load(write(t, text), nil)
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", platform, name, err, text)
			}
			if diff := cmp.Diff(got, c, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(config.Config{}, "Keys")); diff != "" {
				t.Errorf("%s, %s: -got +want\n%s\n%s", platform, name, diff, text)
			}
		}
	}
}
