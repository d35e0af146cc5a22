package main

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// A bundle is for people whom the bot's users do not know: nothing in it says what was
// said, by whom, and where.
func TestABundleNamesNobody(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "canary-home")
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"canary-key of \"canary-tenant\" at https://canary.example/keys for canary@example.com is not valid"}}`, http.StatusUnauthorized)
	}))
	defer failing.Close()
	environ := []string{
		"HOME=" + folder, "EARSHOT_DB=" + filepath.Join(folder, "chat.db"), "OPENAI_BASE_URL=" + failing.URL + "/v1", "OPENAI_API_KEY=canary-secret",
		"EARSHOT_AGENT_NAME=canary-bot", "EARSHOT_AGENT_ALIASES=canary-alias", "EARSHOT_INSTRUCTIONS=say canary", "EARSHOT_INSPECT_URL=https://canary.example",
	}
	earshot := func(input string, args ...string) (string, int) {
		var out, problems bytes.Buffer
		code := run(t.Context(), append([]string{"earshot"}, args...), environ, strings.NewReader(input), &out, &problems)
		return out.String() + problems.String(), code
	}
	if said, code := earshot("/as canary-person\n@canary-bot what is the canary doing?\n", "serve"); code != exitOK || !strings.Contains(said, "went wrong") {
		t.Fatalf("serve: %d\n%s", code, said)
	}
	bundle := filepath.Join(t.TempDir(), "report.zip")
	said, code := earshot("", "doctor", "--bundle", bundle)
	if code != exitFailed || !strings.Contains(said, "✗ model: ") || !strings.Contains(said, "! failed turns: 1 turn") || !strings.Contains(said, "1 fault, ") {
		t.Errorf("doctor: %d\n%s", code, said)
	}
	z, err := zip.OpenReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	read := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		read[f.Name] = string(text)
		if i := strings.Index(strings.ToLower(string(text)), "canary"); i >= 0 {
			t.Errorf("%s says …%s…", f.Name, text[max(0, i-60):min(len(text), i+40)])
		}
	}
	for name, want := range map[string]string{"version.json": `"go"`, "findings.json": `"failed turns"`, "turns.json": `"state": "failed"`, "earshot.yaml": "name: (10 characters)"} {
		if !strings.Contains(read[name], want) {
			t.Errorf("%s lacks %s:\n%s", name, want, read[name])
		}
	}
	if said, code := earshot("", "doctor", "--bundle", bundle); code != exitFailed || !strings.Contains(said, "file exists") {
		t.Errorf("a bundle that is there: %d\n%s", code, said)
	}
}
