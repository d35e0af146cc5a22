package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

const twoServers = `
tools:
  budget: 3000
  mcp:
    - name: github
      url: https://mcp.example.com/${REGION}/mcp
      headers: {Authorization: "Bearer ${GITHUB_TOKEN}", X-Team: core}
      timeout_seconds: 20
      allow: [get_*, list_*]
      deny: [get_secret]
      approve: always
      channels: [C1]
      users: [U1, U2]
      oauth: {token_url: "https://id.example.com/token", client_id: bot, client_secret: "${CLIENT_SECRET}", scopes: [read]}
    - name: files
      command: npx
      args: [-y, "@modelcontextprotocol/server-filesystem", /srv/docs]
      env: {LOG_LEVEL: debug, API_KEY: "${FILES_KEY}"}
      approve: [write_file]
`

func TestServersOfToolsAreRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(write(t, twoServers), []string{"REGION=eu", "GITHUB_TOKEN=ghp_canary", "CLIENT_SECRET_FILE=" + file, "FILES_KEY=canary-files"})
	if err != nil {
		t.Fatal(err)
	}
	list := c.Tools.Servers()
	if len(list) != 2 || c.Tools.Budget != 3000 {
		t.Fatalf("got %v", list)
	}
	a, b := list[0], list[1]
	got := []string{
		a.URL, a.Headers["Authorization"], a.Headers["X-Team"], fmt.Sprint(a.Timeout), fmt.Sprint(a.Allow, a.Deny, a.Approve, a.Channels, a.Users), a.OAuth.Secret.Reveal(), fmt.Sprint(len(a.Secrets)),
		b.Command, fmt.Sprint(b.Args), b.Env["LOG_LEVEL"], b.Env["API_KEY"], fmt.Sprint(b.Approve, len(b.Secrets), b.OAuth),
	}
	want := []string{
		"https://mcp.example.com/eu/mcp", "Bearer ghp_canary", "core", "20s", "[get_* list_*] [get_secret] [always] [C1] [U1 U2]", "from-a-file", "3",
		"npx", "[-y @modelcontextprotocol/server-filesystem /srv/docs]", "debug", "canary-files", "[write_file] 1 <nil>",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	text, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	for where, s := range map[string]string{"a written file": text, "what is printed": fmt.Sprintf("%+v", c)} {
		if strings.Contains(s, "canary") || strings.Contains(s, "from-a-file") {
			t.Errorf("a secret stands in %s:\n%s", where, s)
		}
	}
}

func TestWhatIsWrongWithServersOfTools(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ name, yaml, want string }{
		{"a variable that is not set", "{name: a, url: 'https://x/${NO_SUCH}'}", "tools.mcp[0].url: the variable NO_SUCH is not set; set it, or NO_SUCH_FILE"},
		{"a secret in the file", "{name: a, url: 'https://x/', headers: {Authorization: Bearer canary}}", "tools.mcp[0].headers.Authorization: a secret is not read from this file: write ${NAME}"},
		{"a secret in the environment of a child", "{name: a, command: x, env: {MY_TOKEN: canary}}", "tools.mcp[0].env.MY_TOKEN: a secret is not read from this file"},
		{"a client's secret", "{name: a, url: 'https://x/', oauth: {token_url: 'https://y/', client_id: i, client_secret: canary}}", "tools.mcp[0].oauth.client_secret: a secret is not read from this file"},
		{"no name", "{url: 'https://x/'}", `tools.mcp[0].name: "" cannot stand before a tool's name; use letters`},
		{"a name with two underscores", "{name: a__b, url: 'https://x/'}", `tools.mcp[0].name: "a__b" cannot stand`},
		{"neither url nor command", "{name: a}", "tools.mcp[0].url: is missing; set url, or command"},
		{"both", "{name: a, url: 'https://x/', command: x}", "tools.mcp[0].command: stands beside url; keep one of them"},
		{"no URL", "{name: a, url: 'canary://'}", "tools.mcp[0].url: is not of the form https://host/path"},
		{"a time that is none", "{name: a, url: 'https://x/', timeout_seconds: -1}", "tools.mcp[0].timeout_seconds: is -1; use seconds from 1 to 3600"},
		{"a word of approve that is none", "{name: a, url: 'https://x/', approve: sometimes}", "tools.mcp[0].approve: must be"},
		{"an unknown key", "{name: a, url: 'https://x/', token: canary}", "tools.mcp[0].token: unknown key; secrets are not read from this file"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(write(t, "tools:\n  mcp:\n    - "+one.yaml+"\n"), nil)
			if err == nil || !strings.Contains(err.Error(), one.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %s", err, one.want)
			}
		})
	}
	_, err := config.Load(write(t, "tools:\n  mcp:\n    - {name: a, command: x}\n    - {name: a, command: y}\n"), nil)
	if want := `tools.mcp[1].name: "a" is the name of tools.mcp[0] too; give each its own`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
