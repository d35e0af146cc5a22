package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheDocumentPassesTheLintersOfOthers runs Redocly's and Spectral's own rules over
// docs/openapi.json: whoever generates a client from it begins with one of them.
func TestTheDocumentPassesTheLintersOfOthers(t *testing.T) {
	t.Parallel()
	document, err := filepath.Abs(filepath.Join(module, "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	rules := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, args := range map[string][]string{
		"redocly":  {peer(t, "@redocly", "cli", "bin", "cli.js"), "lint", "--config", rules("redocly.yaml", "extends: [recommended-strict]\n"), document},
		"spectral": {peer(t, "@stoplight", "spectral-cli", "dist", "index.js"), "lint", "--fail-severity", "warn", "--ruleset", rules("spectral.yaml", "extends: [spectral:oas]\n"), document},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), newNode(t), args...) //nolint:gosec // a peer
			cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
