package discordmsg

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// A ChannelInfo is a channel or a thread as Discord describes it.
type ChannelInfo struct {
	Channel
	Guild    string // "" where the object does not tell, and in a DM
	Name     string // without #; of a DM, of whom it is with
	Topic    string
	Hidden   bool             // the bot may not see it, and Discord tells nothing of it but its place
	Private  bool             // not everyone in the guild may see it, as far as the object tells
	Owner    earshot.AuthorID // of a thread: who started it
	Messages int              // of a thread: how many, without its starter; negative when unknown
	Last     earshot.Time     // of its last message; 0 when unknown
	Archived bool             // of a thread
	Applied  string           // of a thread: the ids of its tags, with commas between them
}

// ReadChannel reads a channel or thread object. ok is false where raw is none.
func ReadChannel(raw []byte) (c ChannelInfo, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return ChannelInfo{}, false
	}
	return channelOf(v)
}

// viewChannel is the permission to see a channel (Discord's documentation, Permissions).
const viewChannel = 1 << 10

// hiddenChannel is the flag of a channel that the bot may not see (Discord's
// documentation, Obfuscated Channels). Its name is a placeholder.
const hiddenChannel = 1 << 17

func channelOf(v value) (ChannelInfo, bool) {
	id := v.At("id")
	if !isSnowflake(id) {
		return ChannelInfo{}, false
	}
	c := ChannelInfo{
		Channel: Channel{ID: id, Type: int(v.Get("type").Int()), Parent: snowflake(v.At("parent_id"))},
		Guild:   snowflake(v.At("guild_id")), Name: oneLine(v.At("name")), Topic: tolerant.CutBytes(strings.TrimSpace(v.At("topic")), 4096),
		Owner: earshot.AuthorID(snowflake(v.At("owner_id"))), Archived: v.Get("thread_metadata").Get("archived").Bool(),
	}
	if c.Hidden = v.Get("flags").Int()&hiddenChannel != 0 && !c.Thread(); c.Hidden {
		c.Name, c.Topic = "", ""
	}
	c.Applied = joinIDs(v.Get("applied_tags"))
	c.Messages = threadSize(v)
	c.Last, _ = TimeOf(v.At("last_message_id"))
	c.Private = c.Type == PrivateThread || c.Type == GroupDM
	for _, o := range v.Get("permission_overwrites").List {
		deny, err := strconv.ParseUint(o.At("deny"), 10, 64)
		if err == nil && deny&viewChannel != 0 && c.Guild != "" && o.At("id") == c.Guild {
			c.Private = true
		}
	}
	if c.Name == "" {
		var names []string
		for _, u := range v.Get("recipients").List {
			if n := displayName(u); n != "" && len(names) < 10 {
				names = append(names, n)
			}
		}
		c.Name = strings.Join(names, ", ")
	}
	return c, true
}

// maxTags is how many tags a forum's post has at most (Discord's documentation, Channel
// Object, applied_tags).
const maxTags = 5

// joinIDs returns the ids of a list, with commas between them.
func joinIDs(v value) string {
	var ids []string
	for _, x := range v.List[:min(len(v.List), maxTags)] {
		if id := snowflake(x.Str()); id != "" {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, ",")
}

// maxForumTags is how many tags a forum has at most (Channel Object, available_tags).
const maxForumTags = 20

// ReadTags returns the tags that a forum's object offers, by id: their names. ok is false
// where it tells none.
func ReadTags(raw []byte) (tags map[string]string, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return nil, false
	}
	list := v.Get("available_tags")
	if !list.Array() {
		return nil, false
	}
	tags = map[string]string{}
	for _, x := range list.List[:min(len(list.List), maxForumTags)] {
		if id, name := snowflake(x.At("id")), oneLine(x.At("name")); id != "" && name != "" {
			tags[id] = name
		}
	}
	return tags, true
}

// Subject returns what a thread of another channel is called: nil for any other channel,
// and where nobody has named it. post says that it is a forum's post, and tags are the forum's,
// by id.
func (c *ChannelInfo) Subject(post bool, tags map[string]string) *earshot.Subject {
	if _, thread := c.Where(); thread == "" || string(thread) != c.ID || c.Type == PrivateThread || c.Name == "" {
		return nil
	}
	x := &earshot.Subject{Name: c.Name, Post: post}
	for id := range strings.SplitSeq(c.Applied, ",") {
		if name := tags[id]; name != "" {
			x.Tags = append(x.Tags, name)
		}
	}
	return x
}

// Earshot returns what is stored of the channel that has its messages, for a channel
// that is no thread of another one. guild is its guild, "" for direct messages.
func (c ChannelInfo) Earshot(guild string) earshot.Channel {
	id, _ := c.Where()
	out := earshot.Channel{Platform: earshot.Discord, Workspace: Workspace(guild), ID: id, Name: c.Name, Topic: c.Topic, Kind: earshot.KindChannel}
	switch {
	case c.Type == DM:
		out.Kind = earshot.KindDM
	case c.Private:
		out.Kind = earshot.KindGroup
	}
	return out
}

// counting is when Discord began to count a thread's messages beyond maxCounted
// (Discord's documentation, Channel Object, message_count).
const counting earshot.Time = 1_656_633_600_000_000 // 2022-07-01

const maxCounted = 50

// threadSize returns how many messages a thread has by its object, negative where the
// object does not tell or stopped to count.
func threadSize(v value) int {
	n := v.Get("message_count")
	begun, _ := TimeOf(v.At("id"))
	if n.Absent() || n.Int() < 0 || n.Int() > 1<<30 || n.Int() >= maxCounted && begun < counting {
		return -1
	}
	return int(n.Int())
}

// Replies returns what a thread's object tells of its messages: nil where it has
// none, and 0 for what is not known.
func (c *ChannelInfo) Replies() *earshot.Activity {
	if c.Messages == 0 {
		return nil
	}
	return &earshot.Activity{Count: max(0, c.Messages), Last: c.Last}
}

// Workspace returns the workspace of a guild; of "", that of direct messages.
func Workspace(guild string) earshot.WorkspaceID {
	if guild == "" {
		return DirectMessages
	}
	return earshot.WorkspaceID(guild)
}
