// Package discord is the adapter of Discord: events come in by the gateway and leave
// as [bot.Event], replies go out by the REST API, history and files are read for
// those who ask.
//
// A Platform is one application with its bot, in all the guilds that it is in. A
// guild is a workspace; direct messages are the workspace
// [discordmsg.DirectMessages]. A platform thread is a thread of its channel
// ([discordmsg.Channel.Where]).
//
// For who changes the package, the files by their first word:
//
//	identity      who the bot is: asked of Discord, remembered in the store
//	events        what comes in: events.go says what is made of each type
//	directory     guilds, channels, threads, roles and names, as events tell them
//	proxies       webhooks that post again what a person wrote
//	reply         what goes out, as [bot.Platform] asks
//	history       for backfill; files for media
//	membership    guilds and channels joined and left
//	check         what "earshot check" looks at
//
// Underneath: discordapi makes every call, internal/gateway holds the connections,
// discordmsg decodes.
package discord

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// A Platform is Discord as a bot sees it. It is safe for concurrent use.
type Platform struct {
	o      Options
	client *discordapi.Client

	identity earshot.Identity
	app      string // the application's id
	known    bool   // Enter or Recall has succeeded
}

// Identity returns who the bot is.
func (p *Platform) Identity() earshot.Identity { return p.identity }
