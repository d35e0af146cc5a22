package discord

import (
	"cmp"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// Permalink implements [bot.Linker]. A thread is a channel of its own there; a direct
// message is of no server.
func (p *Platform) Permalink(c earshot.Channel, m earshot.Message) string {
	guild := strings.TrimPrefix(string(c.Workspace), string(discordmsg.DirectMessages))
	return "https://discord.com/channels/" + cmp.Or(guild, "@me") + "/" + p.home(c.ID, m) + "/" + string(m.ID)
}
