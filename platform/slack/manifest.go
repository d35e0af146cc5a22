package slack

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"
)

// Manifest is the manifest of an app with the scopes and events that a bot needs, as
// docs/slack.md has it.
//
//go:embed manifest.yaml
var Manifest string

// ManifestURL opens Slack's page for a new app with the manifest filled in, in a browser
// that is signed in.
func ManifestURL() string {
	text, err := yaml.YAMLToJSON([]byte(Manifest))
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		panic(err) // the file beside is no YAML
	}
	// The page reads a plus as a plus.
	return "https://api.slack.com/apps?new_app=1&manifest_json=" + strings.ReplaceAll(url.QueryEscape(compact.String()), "+", "%20")
}
