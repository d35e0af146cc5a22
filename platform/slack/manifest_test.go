package slack_test

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/slack"
)

// The app manifest of docs/slack.md asks for what the bot needs, no more and no
// less, and the page says of each scope what is lost without it.
func TestTheManifestAsksForWhatIsNeeded(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/slack.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```yaml\n"+slack.Manifest+"```") {
		t.Error("docs/slack.md has another manifest than manifest.yaml")
	}
	var manifest struct {
		OAuth struct {
			Scopes struct {
				Bot []string `yaml:"bot"`
			} `yaml:"scopes"`
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			} `yaml:"interactivity"`
		} `yaml:"settings"`
	}
	if err := yaml.Unmarshal([]byte(slack.Manifest), &manifest); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range slack.ScopeNeeds() {
		want = append(want, n.Scope)
		if !strings.Contains(string(page), "| `"+n.Scope+"` | "+n.Costs) {
			t.Errorf("the page does not say that without %s %s", n.Scope, n.Costs)
		}
	}
	slices.Sort(want)
	slices.Sort(manifest.OAuth.Scopes.Bot)
	if diff := cmp.Diff(manifest.OAuth.Scopes.Bot, want); diff != "" {
		t.Errorf("scopes: -manifest +needed\n%s", diff)
	}
	if !manifest.Settings.Interactivity.Enabled {
		t.Error("the manifest does not switch interactivity on: no click arrives")
	}
	for _, event := range []string{"app_mention", "message.channels", "message.groups", "message.im", "message.mpim"} {
		if !slices.Contains(manifest.Settings.Events.Bot, event) {
			t.Errorf("the manifest does not subscribe to %s", event)
		}
	}
}

// The link has the whole manifest, as JSON.
func TestTheLinkHasTheManifest(t *testing.T) {
	t.Parallel()
	link, err := url.Parse(slack.ManifestURL())
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal([]byte(link.Query().Get("manifest_json")), &got); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSON([]byte(slack.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" || link.Host != "api.slack.com" || link.Query().Get("new_app") != "1" {
		t.Errorf("%s: -link +manifest\n%s", link, diff)
	}
}
