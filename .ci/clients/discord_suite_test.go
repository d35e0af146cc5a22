package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestAnEverydayBotOfDiscordJSLivesInTheFakeDiscord runs a suite on a library that is not
// ours: each of its checks expects what Discord's documents say, of the objects, caches
// and events of discord.js.
func TestAnEverydayBotOfDiscordJSLivesInTheFakeDiscord(t *testing.T) {
	t.Parallel()
	node, library := newNode(t), peer(t, "discord.js")
	s := suiteWorld(t)
	dir := t.TempDir()
	copyFile(t, filepath.Join("testdata", "discord-suite.mjs"), filepath.Join(dir, "suite.mjs"))
	if err := os.Symlink(filepath.Dir(library), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "suite.mjs") //nolint:gosec // the test's own
	cmd.Dir, cmd.Env = dir, append(os.Environ(),
		"DISCORD_API="+s.URL()+"/api", "DISCORD_BOT_TOKEN="+s.App().Token, "DISCORD_APP="+s.App().ID, "PEOPLE="+s.URL()+"/simulate",
		"STRANGER="+s.AddUser(discord.User{Name: "stranger", Outside: true}), "CLOSED="+s.AddUser(discord.User{Name: "closed", NoDMs: true}),
	)
	judge(t, cmd, "discord-suite.mjs", 80)
	lacks(t, s, "GET /thoughts/of/discord")
}

// TestAnEverydayBotOfDiscordPyLivesInTheFakeDiscord does the same with another library:
// commands with a prefix, slash commands that it synchronises, reactions, threads, edits
// and deletions.
func TestAnEverydayBotOfDiscordPyLivesInTheFakeDiscord(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "aiohttp, discord")
	s := suiteWorld(t)
	cmd := exec.Command(python, filepath.Join("testdata", "discord_everyday.py")) //nolint:gosec // the test's own
	cmd.Env = append(os.Environ(),
		"DISCORD_API="+s.APIURL(), "DISCORD_GATEWAY="+s.GatewayURL(), "DISCORD_BOT_TOKEN="+s.App().Token, "DISCORD_GUILD="+s.Guild(),
		"PEOPLE="+s.URL()+"/simulate", "PYTHONDONTWRITEBYTECODE=1",
	)
	judge(t, cmd, "discord_everyday.py", 20)
	lacks(t, s)
}

// judge runs a suite, and makes each of its checks a test.
func judge(t *testing.T, cmd *exec.Cmd, source string, least int) {
	t.Helper()
	got := results(t, start(t, cmd))
	names := checksOf(t, source)
	if len(names) < least {
		t.Errorf("the suite has %d checks, want %d at least", len(names), least)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			switch r, ran := got[name]; {
			case !ran:
				t.Error("the suite does not get here")
			case !r.OK:
				t.Error(r.Error)
			}
		})
	}
}

// lacks fails for each route that was called and is not in the fake, but for those that
// were called for it.
func lacks(t *testing.T, s *discord.Discord, meant ...string) {
	t.Helper()
	for _, m := range s.Missing() {
		if !slices.Contains(meant, m.Route) {
			t.Errorf("the fake Discord lacks %s, which was called %d times", m.Route, m.Times)
		}
	}
}

// suiteWorld is a server with two people, a channel with old messages, and a role above
// the bot's.
func suiteWorld(t *testing.T) *discord.Discord {
	t.Helper()
	s, err := discord.New(&discord.Options{Unlimited: true, App: discord.App{Permissions: discord.AllPermissions}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	mara := s.AddUser(discord.User{Name: "mara", GlobalName: "Mara Vos", Nick: "Mara"})
	s.AddUser(discord.User{Name: "sam", GlobalName: "Sam"})
	s.AddChannel(discord.Channel{Name: "general"})
	archive := s.AddChannel(discord.Channel{Name: "archive"})
	for i := range 2 {
		s.Post(discord.PostedMessage{Channel: archive, User: mara, Text: "long ago", At: time.Now().Add(-15*24*time.Hour + time.Duration(i)*time.Minute)})
	}
	s.AddRole(discord.Role{Name: "boss", Position: 9})
	return s
}

// A checked is what a check of the suite says.
type checked struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	Done  bool   `json:"done"`
}

// results are what the checks say, by their names.
func results(t *testing.T, r *running) map[string]checked {
	t.Helper()
	found := make(chan map[string]checked, 1)
	go func() {
		all := map[string]checked{}
		lines := bufio.NewScanner(r.stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var c checked
			if json.Unmarshal(lines.Bytes(), &c) != nil {
				continue
			}
			if c.Done {
				break
			}
			all[c.Check] = c
		}
		found <- all
	}()
	select {
	case all := <-found:
		return all
	case <-time.After(patience):
		t.Fatalf("the suite does not end within %v:\n%s", patience, r.stderr())
	}
	return nil
}

var suiteCheck = regexp.MustCompile(`(?m)^@?check\("([^"]+)"`)

// checksOf are the names of a suite's checks, in order.
func checksOf(t *testing.T, file string) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range suiteCheck.FindAllStringSubmatch(string(source), -1) {
		names = append(names, found[1])
	}
	return names
}
