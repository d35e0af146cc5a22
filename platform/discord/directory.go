package discord

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A place is a Discord channel or thread.
type place struct {
	discordmsg.Channel
	guild string // "" for a DM
	name  string
	topic string
	at    earshot.Channel // in which its messages are kept: of a thread its parent, else itself
}

// channel returns the channel of Earshot in which the place's messages are kept.
func (x place) channel() earshot.Channel { return x.at }

// thread returns the thread that the place's messages belong to; "" for a channel's
// top level.
func (x place) thread() earshot.MessageID { _, t := x.Where(); return t }

// target returns the id of the Discord channel in which a reply belongs: the thread's
// or, at the top level, the channel's. A forum post's first message stands at the
// forum's top level with its own id as Thread, and its thread has that id too.
func target(x bot.Place) string {
	if x.Thread != "" {
		return string(x.Thread)
	}
	return home(x.Channel.ID, x.Anchor)
}

// home returns the id of the Discord channel that has a stored message.
func home(c earshot.ChannelID, m earshot.Message) string {
	if m.Thread != "" {
		return string(m.Thread)
	}
	return string(c)
}

// A directory is what is known of guilds, channels, threads, roles and names.
type directory struct{ p *Platform }

func newDirectory(p *Platform) *directory { return &directory{p: p} }

// place returns a Discord channel by its id. One that is not known is asked for.
func (d *directory) place(ctx context.Context, id string) (place, error) {
	return place{}, earshot.ErrNotFound
}

// names returns what the decoder resolves ids with. guild is "" for DMs.
func (d *directory) names(guild string) discordmsg.Names {
	return discordmsg.Names{Self: string(d.p.identity.ID)}
}
