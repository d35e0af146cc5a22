package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
)

func TestMain(m *testing.M) {
	lineEvery = time.Hour // also of the commands in scripts, which are this program
	testscript.Main(tests{m}, map[string]func(){"earshot": main})
}

// tests are the package's, after which the program that the kill tests have
// built is removed.
type tests struct{ *testing.M }

func (t tests) Run() int {
	defer os.RemoveAll(killFolder)
	return t.M.Run()
}

// serving are the scripts that have the program answer while it runs.
var serving = regexp.MustCompile(`earshot (serve|simulate)\b`)

// scripts returns the scripts to run: with -short those whose program answers
// while it runs, which are the ones that the race detector can say something of.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(name string) bool {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return testing.Short() && !serving.Match(text)
	})
}

// TestScripts runs the program as a person would; each script says in its first
// lines what it is about.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"jsonlines": jsonLines},
		Setup: func(env *testscript.Env) error {
			env.Setenv("EARSHOT_DB", "")
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/data")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("COLUMNS", "100")
			failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
			}))
			env.Defer(failing.Close)
			env.Setenv("FAILING", failing.URL+"/v1")
			if err := errors.Join(fakeSlack(env), fakeDiscord(env)); err != nil {
				return err
			}
			return os.MkdirAll(env.WorkDir+"/data", 0o755)
		},
	})
}

// jsonLines fails a script unless each line of an output, stdout or stderr, is a JSON
// object, and there is one.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonlines stdout|stderr")
	}
	lines := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%v in %s: %s", err, args[0], line)
		}
		lines++
	}
	if lines == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
}

// fakeSlack gives a script a Slack of its own, whose app it may be.
func fakeSlack(env *testscript.Env) error {
	s, err := simulate.NewSlack(&simulate.SlackOptions{SocketMode: true})
	if err != nil {
		return err
	}
	env.Defer(func() { _ = s.Close() })
	s.AddChannel(simulate.Channel{Name: "general", Members: []string{s.App().UserID}})
	s.AddChannel(simulate.Channel{Name: "elsewhere"})
	env.Setenv("SLACK_API", s.URL()+"/api/")
	env.Setenv("BOT_TOKEN", s.App().BotToken)
	env.Setenv("APP_TOKEN", s.App().AppToken)
	return nil
}

// fakeDiscord gives a script a Discord of its own, whose bot it may be.
func fakeDiscord(env *testscript.Env) error {
	s, err := discord.New(&discord.Options{IdentifyEvery: -1})
	if err != nil {
		return err
	}
	env.Defer(func() { _ = s.Close() })
	env.Setenv("DISCORD_API", s.APIURL())
	env.Setenv("DISCORD_GATEWAY", s.GatewayURL())
	env.Setenv("DISCORD_TOKEN", s.App().Token)
	env.Setenv("DISCORD_CHANNEL", s.AddChannel(discord.Channel{Name: "general"}))
	env.Setenv("DISCORD_HIDDEN", s.AddChannel(discord.Channel{Name: "board", Private: true}))
	return nil
}
