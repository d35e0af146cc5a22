package config

import (
	"fmt"
	"slices"
	"strings"
)

// A Discord sets how the bot works on Discord. Its token is in [Keys].
type Discord struct {
	APIURL      string       `yaml:"api_url" env:"EARSHOT_DISCORD_API_URL" doc:"the URL of Discord's REST API with its version, such as that of an emulator. Empty: Discord's own."`
	GatewayURL  string       `yaml:"gateway_url" env:"EARSHOT_DISCORD_GATEWAY_URL" doc:"the URL of the gateway, ws:// or wss://. Empty: the one that the API names."`
	Shards      int          `yaml:"shards" env:"EARSHOT_DISCORD_SHARDS" doc:"into how many shards the bot's guilds are divided. 0: as many as Discord recommends, which is 1 below 1,000 guilds or so."`
	ShardIDs    []int        `yaml:"shard_ids" env:"EARSHOT_DISCORD_SHARD_IDS" doc:"the shards that this process connects, from 0. Empty: all. It needs discord.shards."`
	Reply       string       `yaml:"reply" env:"EARSHOT_DISCORD_REPLY" doc:"how an answer appears: update (a placeholder that becomes the answer) or post (once it is complete)."`
	Notify      string       `yaml:"notify" env:"EARSHOT_DISCORD_NOTIFY" doc:"how whoever asked learns of an answer: edit (by the placeholder that becomes it, of which Discord notifies nobody) or post (the placeholder is deleted, and the answer is a reply that notifies them)."`
	Placeholder string       `yaml:"placeholder" env:"EARSHOT_DISCORD_PLACEHOLDER" doc:"the text of the placeholder."`
	Thread      string       `yaml:"thread" env:"EARSHOT_DISCORD_THREAD" doc:"where a mention in a channel is answered: off (below it, as a reply) or on_mention (in a thread of its own)."`
	Commands    bool         `yaml:"commands" env:"EARSHOT_DISCORD_COMMANDS" doc:"whether the bot registers its commands (/ask, /why, /stop, /forget, /help, and Ask about this in a message's menu) and answers them. Commands of the application that are another program's stay as they are."`
	Allow       DiscordAllow `yaml:"allow" doc:"where the bot listens and whom it answers; ids, and everything where a list is empty"`
	OnLeave     string       `yaml:"on_leave" env:"EARSHOT_DISCORD_ON_LEAVE" doc:"what happens to the stored messages of a channel that is deleted or hidden from the bot, and of a guild that removes it: keep or purge."`
}

// A DiscordAllow says where the bot listens and whom it answers.
type DiscordAllow struct {
	Channels []string `yaml:"channels" env:"EARSHOT_DISCORD_ALLOW_CHANNELS" doc:"channels, categories or threads. What is said elsewhere is not stored; direct messages are not bound by it."`
	Roles    []string `yaml:"roles" env:"EARSHOT_DISCORD_ALLOW_ROLES" doc:"roles whose members are answered. What others say is stored and not answered."`
	Users    []string `yaml:"users" env:"EARSHOT_DISCORD_ALLOW_USERS" doc:"users who are answered, whatever their roles. Alone it is the only list of who is answered; it binds direct messages too."`
}

// The values of discord.notify.
const (
	NotifyEdit = "edit"
	NotifyPost = "post"
)

// The values of discord.thread.
const (
	ThreadOff       = "off"
	ThreadOnMention = "on_mention"
)

func defaultDiscord() Discord {
	return Discord{Reply: ReplyUpdate, Notify: NotifyEdit, Placeholder: "…", Thread: ThreadOff, OnLeave: LeaveKeep, Commands: true}
}

// checkDiscord checks the settings of Discord that are neither a choice nor a
// number.
func (c Config) checkDiscord(bad problemReport) {
	d := c.Discord
	if rest, ok := strings.CutPrefix(d.GatewayURL, "ws"); d.GatewayURL != "" && (!ok || !goodURL("http"+rest)) {
		bad("discord.gateway_url", "is not of the form wss://host/")
	}
	if len(d.ShardIDs) > 0 && d.Shards == 0 {
		bad("discord.shards", "is missing; set how many shards there are in all, or leave discord.shard_ids out")
	}
	seen := map[int]bool{}
	for _, id := range d.ShardIDs {
		switch {
		case id < 0 || d.Shards > 0 && id >= d.Shards:
			bad("discord.shard_ids", "%d is none of the %d shards, which count from 0", id, d.Shards)
		case seen[id]:
			bad("discord.shard_ids", "%d stands there twice", id)
		}
		seen[id] = true
	}
	for _, list := range []struct {
		key string
		ids []string
	}{{"discord.allow.channels", d.Allow.Channels}, {"discord.allow.roles", d.Allow.Roles}, {"discord.allow.users", d.Allow.Users}} {
		if i := slices.IndexFunc(list.ids, func(id string) bool { return !isSnowflake(id) }); i >= 0 {
			bad(list.key, "%q is no id; in Discord, switch on Developer Mode under Advanced in your settings, and take Copy ID from its menu", list.ids[i])
		}
	}
}

// isSnowflake reports whether s is an id of Discord: a number of 15 to 20 digits.
func isSnowflake(s string) bool {
	return len(s) >= 15 && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// CheckDiscordKeys returns what is missing for the bot to work on Discord, or nil.
// Each error names the variable and where to find its value.
func (c Config) CheckDiscordKeys() []error {
	const find = "find it under Bot, Reset Token, in your application at discord.com/developers (docs/discord.md)"
	token := c.Keys.DiscordBotToken.Reveal()
	switch {
	case token == "":
		return []error{fmt.Errorf("DISCORD_BOT_TOKEN is not set: %s", find)}
	case strings.HasPrefix(token, "Bot "):
		return []error{fmt.Errorf("DISCORD_BOT_TOKEN is not such a token: set the token alone, without the word Bot; %s", find)}
	}
	return nil
}
