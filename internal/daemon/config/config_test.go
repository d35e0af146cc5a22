package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/secret"
)

var secrets = cmp.Comparer(func(x, y secret.Secret) bool { return x.Reveal() == y.Reveal() })

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheDefaultsAreValid(t *testing.T) {
	t.Parallel()
	got, err := config.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, config.Default(), secrets); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

func TestTheFileOverridesTheDefaultsAndTheEnvironmentTheFile(t *testing.T) {
	t.Parallel()
	path := write(t, `
agent:
  name: harbour
  aliases: [B1, B2]
policy: delta
budget: {tokens: 4000}
answer:
  auto_answer: true
  each: false
limits:
  rounds:          # a key without a value keeps its default
model:
  provider: openai
  name: "qwen3:8b"
  base_url: http://127.0.0.1:11434/v1
  prices:
    qwen3:8b: {input: 1, output: 2.5}
`)
	got, err := config.Load(path, []string{"EARSHOT_POLICY=window", "EARSHOT_ANSWER_EACH=true", "EARSHOT_MODEL=", "ANTHROPIC_API_KEY=k", "EARSHOT_LEASE_SECONDS=2"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Agent.Name, want.Agent.Aliases = "harbour", []string{"B1", "B2"}
	want.Policy, want.Budget.Tokens, want.Answer.AutoAnswer, want.Answer.Each = "window", 4000, true, true
	want.Model.Provider, want.Model.Name, want.Model.BaseURL = "openai", "qwen3:8b", "http://127.0.0.1:11434/v1"
	want.Model.Prices = map[string]config.Price{"qwen3:8b": {Input: 1, Output: 2.5}}
	want.Keys.Providers, want.Lease.Seconds = map[string]config.ProviderKey{"anthropic": {Key: secret.New("k")}}, 2
	if diff := cmp.Diff(got, want, secrets); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if got, want := got.Budget.Assemble().Session, 16000; got != want {
		t.Errorf("the session may hold %d tokens, want %d", got, want)
	}
}

func TestChannelsHaveSettingsOfTheirOwn(t *testing.T) {
	t.Parallel()
	path := write(t, `answer: {may_mention: thread}
links: {hosts: [grafana.example.com]}
channels:
  C0123: {may_mention: channel}
  C0456: {hosts: []}
`)
	got, err := config.Load(path, []string{"EARSHOT_LINK_HOSTS=a.example,b.example"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Answer.MayMention, want.Links.Hosts = config.MentionThread, []string{"a.example", "b.example"}
	want.Channels = []config.Rule{
		{At: "channels.C0123", Match: config.Match{ID: config.List{"C0123"}}, MayMention: config.MentionChannel},
		{At: "channels.C0456", Match: config.Match{ID: config.List{"C0456"}}, Hosts: []string{}},
	}
	if diff := cmp.Diff(got, want, secrets); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	path = write(t, `answer: {may_mention: all}
links: {hosts: ["https://a.example", "*.b.example"]}
channels:
  C1: {may_mention: here, hosts: [a.example/x], colour: blue}
`)
	_, err = config.Load(path, nil)
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, part := range []string{`answer.may_mention: "all" is unknown; use one of asker, thread, channel`, `links.hosts: "https://a.example" is no host`, `links.hosts: "*.b.example" is no host`, `channels.C1.may_mention: "here" is unknown`, `channels.C1.hosts: "a.example/x" is no host`, `channels.C1.colour: unknown key`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in:\n%v", part, err)
		}
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	path := write(t, `agent:
  nam: x
budget:
  tokens: many
  limit: -1
summary: {provider: offline, turns: 1, tokens: 9}
colour: blue
answer: [1]
model:
  provider: clippy
  api_key: sk-canary
  prices:
    m: {input: -1, per: 2}
local:
  listen: 0.0.0.0:80
`)
	_, err := config.Load(path, []string{"EARSHOT_ROUNDS=lots", "EARSHOT_COUNTER=words", "OPENAI_BASE_URL=user:canary@host", "EARSHOT_ZONE=Mars/Olympus"})
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{
		":2: agent.nam: unknown key; use one of aliases, history, id, instructions, kind, name, url",
		":4: budget.tokens: must be a whole number",
		":7: colour: unknown key; use one of agent,",
		":8: answer: must be a block of keys",
		":11: model.api_key: unknown key; secrets are not read from this file",
		":13: model.prices.m.per: unknown key",
		"EARSHOT_ROUNDS: must be a whole number",
		"budget.limit: is -1; use a number from 1",
		`model.provider: "clippy" is unknown; use one of ` + strings.Join(providers.Names(), ", ") + `, offline`,
		`summary.provider: "offline" is unknown; use one of ` + strings.Join(providers.Names(), ", "), "summary.turns: is 1; use a number from 2",
		":6: summary.tokens: is gone, take it out: a summary has 1,200 tokens at the most",
		"counter: ", "model.prices.m: must not be negative", "local.listen: must be a loopback address",
		"OPENAI_BASE_URL: is not of the form", `context.zone: "Mars/Olympus" is no time zone; use an IANA name`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if got, want := strings.Count(err.Error(), "\n")+1, 17; got != want {
		t.Errorf("%d lines, want %d:\n%v", got, want, err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("a secret is shown:\n%v", err)
	}
}

// A key that was copied with white space around it is the key; one that has more in it
// is refused with what that is, whichever service it is of, and is not shown.
func TestAKeyThatWasCopiedWithMoreThanItselfIsTrimmedOrRefused(t *testing.T) {
	t.Parallel()
	names := providers.KeyVariables()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Keys]()) {
		if name := f.Tag.Get("env"); name != "" && !(strings.HasPrefix(name, "EARSHOT_") && strings.HasSuffix(name, "_TOKEN")) { // those are of the operator's own choice
			names = append(names, name)
		}
	}
	if len(names) < 8 {
		t.Fatalf("only %v were found", names)
	}
	for _, name := range names {
		for value, want := range map[string]string{
			"canary\n": "", "canary\r\n": "", " \tcanary ": "", "\ufeffcanary": "a character in it that no key has",
			"can ary": "a space in it", "can\nary": "a line break in it", `"canary"`: "quotes around it", "'canary'\n": "quotes around it", "can\u200bary": "a character in it that no key has",
		} {
			c, err := config.Load("", []string{name + "=" + value})
			switch {
			case want == "" && err != nil:
				t.Errorf("%s=%q: %v", name, value, err)
			case want == "" && !slices.ContainsFunc(keys(c), func(k string) bool { return k == "canary" }):
				t.Errorf("%s=%q is not trimmed", name, value)
			case want != "" && (err == nil || !strings.Contains(err.Error(), name+": has "+want)):
				t.Errorf("%s=%q: got %v, want that it has %s", name, value, err, want)
			}
			if err != nil && strings.Contains(err.Error(), "ary") {
				t.Errorf("%s: a secret is shown: %v", name, err)
			}
		}
	}
	if c, err := config.Load("", []string{"SLACK_BOT_TOKEN= \n", "EARSHOT_LOCAL_TOKEN=two words\n"}); err != nil || !c.Keys.SlackBotToken.Empty() || c.Keys.LocalToken.Reveal() != "two words" {
		t.Errorf("got %v: white space is no token, and an own one may have a space in it", err)
	}
}

// keys returns the secrets of a configuration.
func keys(c config.Config) []string {
	var out []string
	v := reflect.ValueOf(c.Keys)
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(secret.Secret); ok && !s.Empty() {
			out = append(out, s.Reveal())
		}
	}
	for _, p := range c.Keys.Providers {
		out = append(out, p.Key.Reveal())
	}
	return out
}

// TestAZoneIsOneThatTheAssemblerKnows has names that a machine may take for a
// zone, by its own files or its settings, and that no prompt can be made in.
func TestAZoneMustBeKnownToTheAssembler(t *testing.T) {
	t.Parallel()
	for zone, ok := range map[string]bool{
		"UTC": true, "Europe/Berlin": true, "America/Argentina/Ushuaia": true,
		"localtime": false, "Local": false, "posixrules": false, "posix/Europe/Berlin": false, "europe/berlin": false, "Europe": false, `""`: false,
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(write(t, "context:\n  zone: "+zone+"\n"), nil)
			if ok && err != nil {
				t.Errorf("got %v", err)
			}
			if !ok && (err == nil || !strings.Contains(err.Error(), "is no time zone; use an IANA name")) {
				t.Errorf("got %v, want that it is no time zone", err)
			}
		})
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing but comments is no problem", "# nothing\n", ""},
		{"an empty file is no problem", "", ""},
		{"no YAML", "agent: [", "earshot.yaml: "},
		{"a key twice", "policy: delta\npolicy: window\n", "policy"},
		{"a list", "- policy\n", "the configuration: must be a block of keys"},
		{"a text in place of a block", "agent: earshot\n", ":1: agent: must be a block of keys"},
		{"a list in place of a text", "policy: [a]\n", ":1: policy: must be a text"},
		{"two documents", "policy: delta\n---\npolicy: window\n", "holds 2 documents"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(write(t, c.text), nil)
			if c.want == "" && err != nil {
				t.Errorf("got %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestSecretsComeFromFilesAndAreNotShown(t *testing.T) {
	t.Parallel()
	path := write(t, " canary\n")
	c, err := config.Load("", []string{"GEMINI_API_KEY_FILE=" + path})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Keys.Providers["gemini"].Key.Reveal(), "canary"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if s := fmt.Sprintf(verb, c); strings.Contains(s, "canary") || strings.Contains(s, fmt.Sprintf("%x", "canary")) {
			t.Errorf("%s shows it: %s", verb, s)
		}
	}
	_, err = config.Load("", []string{"GEMINI_API_KEY_FILE=" + path, "GEMINI_API_KEY=x", "OPENAI_API_KEY_FILE=" + write(t, "\n"), "ANTHROPIC_API_KEY_FILE=/no/such"})
	for _, want := range []string{"GEMINI_API_KEY: GEMINI_API_KEY_FILE is set too", "is empty", "ANTHROPIC_API_KEY_FILE: open /no/such"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:80": true, "localhost:1": true, "127.8.8.8:1": true,
		":80": false, "0.0.0.0:80": false, "10.0.0.1:80": false, "127.0.0.1": false, "localhost.example.com:80": false, "127.0.0.1:": false,
	} {
		if got := config.IsLoopback(addr); got != want {
			t.Errorf("Loopback(%q) = %v, want %v", addr, got, want)
		}
	}
}

func TestMissingSlackKeysAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		environ []string
		want    []string // one substring a problem
	}{
		{"nothing is set", nil, []string{"SLACK_BOT_TOKEN is not set", "SLACK_APP_TOKEN is not set, and neither is slack.listen"}},
		{"sockets", []string{"SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1"}, nil},
		{"HTTP", []string{"SLACK_BOT_TOKEN=xoxb-1", "EARSHOT_LISTEN=:8080", "SLACK_SIGNING_SECRET=s"}, nil},
		{"HTTP without a secret", []string{"SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "EARSHOT_LISTEN=:8080"}, []string{"SLACK_SIGNING_SECRET is not set"}},
		{"tokens that were mixed up", []string{"SLACK_BOT_TOKEN=xapp-canary", "SLACK_APP_TOKEN=xoxb-canary"},
			[]string{"SLACK_BOT_TOKEN is not such a token", "SLACK_APP_TOKEN is not such a token"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Load("", append(c.environ, "EARSHOT_PLATFORM=slack"))
			if err != nil {
				t.Fatal(err)
			}
			got := cfg.CheckSlackKeys()
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %d problems", got, len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(got[i].Error(), want) || strings.Contains(got[i].Error(), "canary") {
					t.Errorf("got %q, want %q and no token", got[i], want)
				}
			}
		})
	}
}

func TestSettingsOfTheEncoder(t *testing.T) {
	t.Parallel()
	const model, url = "EARSHOT_EMBEDDINGS_MODEL=m", "EARSHOT_EMBEDDINGS_URL=http://127.0.0.1:11434/v1"
	for want, environ := range map[string][]string{
		"":                                    {model, url, "EARSHOT_EMBEDDINGS_DIMENSIONS=256", "EARSHOT_EMBEDDINGS_KEY=k"},
		"search.embeddings.model: is missing": {url},
		"search.embeddings.url: is missing":   {model},
		"search.embeddings.url: is not of":    {model, "EARSHOT_EMBEDDINGS_URL=canary@host"},
		"search.embeddings.dimensions: is -1": {model, url, "EARSHOT_EMBEDDINGS_DIMENSIONS=-1"},
	} {
		_, err := config.Load("", environ)
		if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%v: %v, want %q", environ, err, want)
		}
	}
	for _, own := range []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:11434/v1"} {
		if _, err := config.Load("", []string{model, own}); err != nil {
			t.Errorf("with %s: %v", own, err)
		}
	}
}

// A variable that was a setting once does not keep a bot from starting, and is said.
func TestAVariableThatWasASettingIsSaidAndCountsForNothing(t *testing.T) {
	t.Parallel()
	c, err := config.Load("", []string{"EARSHOT_SLACK_SOCKETS=3", "EARSHOT_RESULT_BYTES=lots"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"EARSHOT_RESULT_BYTES is gone, take it out: a tool's result has 64 KiB at the most",
		"EARSHOT_SLACK_SOCKETS is gone, take it out: two Socket Mode connections are open",
	}
	if !slices.Equal(c.Gone, want) {
		t.Errorf("got %q, want %q", c.Gone, want)
	}
}
