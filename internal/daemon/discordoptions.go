package daemon

import (
	"sync"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/discord"
)

// adapterOptions configure the adapter of a daemon, which passes what it hears on.
func (s *discordService) adapterOptions(of sharedParts) discord.Options {
	x := of.options.Outside
	o := discordSettings(of.options.Config)
	o.Store, o.Log = of.heard(s.events.Choose), of.options.Log
	// The adapter's own clock is not replaced: it measures time, and must not
	// jump with the wall clock.
	o.HTTPClient, o.Jitter = x.Client, x.Jitter
	if x.Dial != nil {
		o.Dialer = &websocket.Dialer{NetDialContext: x.Dial}
	}
	o.Choose, o.Say = s.events.Choose, s.events.Say
	if of.options.Config.Discord.Commands {
		o.Command = s.events.Command
	}
	o.Up = sync.OnceFunc(func() { close(s.hears) })
	o.Acknowledged, o.Refused, o.Missed, o.Left, o.Joined = of.meters.Acknowledged, of.noteRefused, s.events.noteMissed, s.events.leaveChannel, s.joinGuild
	return o
}

// discordSettings returns the part of an adapter's options that is configured.
func discordSettings(c config.Config) discord.Options {
	d := c.Discord
	return discord.Options{
		APIURL: d.APIURL, GatewayURL: d.GatewayURL, Token: c.Keys.DiscordBotToken,
		Shards: d.Shards, ShardIDs: d.ShardIDs, Reply: d.Reply, Notify: d.Notify, Thread: d.Thread, Purge: d.OnLeave == config.LeavePurge,
		Allow:     discord.Allow{Channels: d.Allow.Channels, Roles: d.Allow.Roles, Users: d.Allow.Users},
		Reactions: c.Answer.Reactions,
	}
}
