package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

func TestDiscordIsConfiguredInTheFileAndByVariables(t *testing.T) {
	t.Parallel()
	path := write(t, `
platform: discord
discord:
  gateway_url: ws://127.0.0.1:9/
  shards: 4
  shard_ids: [0, 2]
  thread: on_mention
  allow:
    channels: [1090000000000000001, "1090000000000000002"] # quoted or not
    roles: [1090000000000000003]
`)
	got, err := config.Load(path, []string{"EARSHOT_DISCORD_ALLOW_USERS=1090000000000000004,1090000000000000005", "DISCORD_BOT_TOKEN=a.b.c"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default().Discord
	want.GatewayURL, want.Shards, want.ShardIDs, want.Thread = "ws://127.0.0.1:9/", 4, []int{0, 2}, config.ThreadOnMention
	want.Allow = config.DiscordAllow{
		Channels: []string{"1090000000000000001", "1090000000000000002"}, Roles: []string{"1090000000000000003"},
		Users: []string{"1090000000000000004", "1090000000000000005"},
	}
	if diff := cmp.Diff(got.Discord, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if got.Platform != config.PlatformDiscord || got.Keys.DiscordBotToken.Reveal() != "a.b.c" {
		t.Errorf("the platform is %s and the token %q", got.Platform, got.Keys.DiscordBotToken.Reveal())
	}
}

func TestProblemsOfDiscordNameTheirRemedy(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, `
discord:
  api_url: discord.com
  gateway_url: https://gateway
  reply: stream
  thread: always
  notify: loudly
  on_leave: burn
  shards: 2
  shard_ids: [1, 1, 2]
  reconcile_hours: -1
  allow: {channels: [general], roles: ["@everyone"], users: [7]}
  token: canary
`), nil)
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{
		"discord.api_url: is not of the form", "discord.gateway_url: is not of the form wss://host/",
		`discord.reply: "stream" is unknown; use one of update, post`, `discord.notify: "loudly" is unknown; use one of edit, post`, `discord.thread: "always" is unknown; use one of off, on_mention`,
		`discord.on_leave: "burn" is unknown`, "discord.shard_ids: 1 stands there twice", "discord.shard_ids: 2 is none of the 2 shards",
		"discord.reconcile_hours: is gone, take it out: history is read", `discord.allow.channels: "general" is no id; in Discord, switch on Developer Mode`,
		`discord.allow.roles: "@everyone" is no id`, `discord.allow.users: "7" is no id`, "discord.token: unknown key; secrets are not read from this file",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("a secret is shown:\n%v", err)
	}
	if _, err := config.Load(write(t, "discord: {shard_ids: [1]}\n"), nil); err == nil || !strings.Contains(err.Error(), "discord.shards: is missing") {
		t.Errorf("got %v", err)
	}
}

func TestATokenOfDiscordIsAskedForWithItsPlace(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"":          "DISCORD_BOT_TOKEN is not set: find it under Bot, Reset Token",
		"Bot a.b.c": "without the word Bot",
		"a.b.c":     "",
	} {
		c, err := config.Load("", []string{"DISCORD_BOT_TOKEN=" + token})
		if err != nil {
			t.Fatal(err)
		}
		problems := c.CheckDiscordKeys()
		if (len(problems) > 0) != (want != "") || len(problems) > 0 && !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%q: got %v, want %q", token, problems, want)
		}
		if len(problems) > 0 && token != "" && strings.Contains(problems[0].Error(), "a.b.c") {
			t.Errorf("the token is shown: %v", problems)
		}
	}
}
