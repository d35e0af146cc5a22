package discordmsg

import "github.com/earshot-ai/earshot"

// The types of channels that matter here (Discord's documentation, Channel Types).
const (
	GuildText          = 0
	DM                 = 1
	GuildVoice         = 2
	GroupDM            = 3
	GuildAnnouncement  = 5
	AnnouncementThread = 10
	PublicThread       = 11
	PrivateThread      = 12
	GuildStage         = 13
	GuildForum         = 15
	GuildMedia         = 16
)

// DirectMessages is the workspace of DMs, which belong to no guild.
const DirectMessages earshot.WorkspaceID = "@me"

// A Channel is the part of a Discord channel that says where its messages are kept.
type Channel struct {
	ID     string
	Type   int
	Parent string // of a thread, the channel that it is in; else "" or a category
}

// Thread reports whether the channel is a thread, such as a post of a forum.
func (c Channel) Thread() bool {
	return c.Type == AnnouncementThread || c.Type == PublicThread || c.Type == PrivateThread
}

// Where returns where messages of a Discord channel are kept: in which channel of
// Earshot, and as replies in which thread ("" for the top level).
//
// To Discord a thread is a channel of its own. Here it is a thread of the channel
// that it is in, under the thread's id, which is also the id of the message that it
// was started from and of a forum post's first message. A private thread has readers
// of its own, so it is a channel of its own, in which all that is said is one thread.
func (c Channel) Where() (earshot.ChannelID, earshot.MessageID) {
	switch {
	case c.Type == PrivateThread, c.Thread() && c.Parent == "":
		return earshot.ChannelID(c.ID), earshot.MessageID(c.ID)
	case c.Thread():
		return earshot.ChannelID(c.Parent), earshot.MessageID(c.ID)
	}
	return earshot.ChannelID(c.ID), ""
}
