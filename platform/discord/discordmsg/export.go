package discordmsg

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// An ExportHeader is what a file of DiscordChatExporter says before its messages: of
// which channel or thread they are.
type ExportHeader struct {
	Guild      string // "" for direct messages
	Channel    ChannelInfo
	ParentName string       // of a thread, the name of its channel
	Exported   earshot.Time // when it was written; 0 where an old version does not say
}

// ReadExportHeader reads an object with the guild and the channel of such a file. ok
// is false where raw has none.
func ReadExportHeader(raw []byte) (h ExportHeader, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return ExportHeader{}, false
	}
	g, c := v.Get("guild"), v.Get("channel")
	h.Channel = ChannelInfo{Name: oneLine(c.At("name")), Topic: tolerant.CutBytes(strings.TrimSpace(c.At("topic")), 4096)}
	h.Channel.ID = snowflake(c.At("id"))
	if !g.Object() || h.Channel.ID == "" {
		return ExportHeader{}, false
	}
	h.Channel.Type = numberOf(exportChannelTypes, c.At("type"), GuildText)
	if h.Guild = snowflake(g.At("id")); strings.Trim(h.Guild, "0") == "" || h.Channel.Type == DM || h.Channel.Type == GroupDM {
		h.Guild = "" // direct messages have the guild 0
	}
	h.Channel.Guild = h.Guild
	// What is called the category is the parent: of a thread, the channel that it
	// is in (JsonMessageWriter: "Original schema did not account for threads").
	h.Channel.Parent = snowflake(c.At("categoryId"))
	h.Channel.Private = h.Channel.Type == PrivateThread || h.Channel.Type == GroupDM
	if h.Channel.Thread() {
		h.ParentName = oneLine(c.At("category"))
	}
	h.Exported, _ = earshot.ParseTime(v.At("exportedAt"))
	return h, true
}

// exportChannelTypes are DiscordChatExporter's names of the types of channels
// (ChannelKind).
var exportChannelTypes = map[string]int{
	"GuildTextChat": GuildText, "DirectTextChat": DM, "GuildVoiceChat": GuildVoice, "DirectGroupTextChat": GroupDM, "GuildNews": GuildAnnouncement,
	"GuildNewsThread": AnnouncementThread, "GuildPublicThread": PublicThread, "GuildPrivateThread": PrivateThread, "GuildStageVoice": GuildStage,
	"GuildForum": GuildForum, "GuildMedia": GuildMedia,
}

// numberOf returns the number of a name, a number as it is, and of others the default.
func numberOf(names map[string]int, s string, otherwise int) int {
	if t, ok := names[s]; ok {
		return t
	}
	t, err := strconv.Atoi(s)
	if err != nil {
		return otherwise
	}
	return t
}

// exportTypes are DiscordChatExporter's names of the types of messages (MessageKind).
// Those without a name are written as numbers.
var exportTypes = map[string]int{
	"Default": typeDefault, "RecipientAdd": typeRecipientAdd, "RecipientRemove": typeRecipientRemove, "Call": typeCall,
	"ChannelNameChange": typeNameChange, "ChannelIconChange": typeIconChange, "ChannelPinnedMessage": typePinned, "GuildMemberJoin": typeJoin,
	"ThreadCreated": typeThreadCreated, "Reply": typeReply, "ThreadStarterMessage": typeStarter, "PollResult": typePollResult,
	"ChatInputCommand": typeCommand, "ContextMenuCommand": typeMenuCommand,
}

// DecodeExport reads one message of a file of DiscordChatExporter. What it finds is as
// if Discord had told it, as far as the file says: the time zone of times, the users
// of reactions and the looks of embeds are left out.
//
// A starter (Decoded.Starter) whose text the file has gives it as Referenced.
func DecodeExport(raw []byte, h ExportHeader, names Names) (DecodedMessage, error) {
	v, deep, err := parseValue(raw)
	if err != nil {
		return DecodedMessage{}, err
	}
	if !v.Object() {
		return DecodedMessage{}, ErrNotMessage
	}
	r := &reader{names: names}
	if deep {
		r.note("nested too deep")
	}
	t := numberOf(exportTypes, v.At("type"), typeDefault)
	d, err := r.decode(r.fromExport(v, h, t), true)
	if err != nil {
		return DecodedMessage{}, err
	}
	labels := exportLabels(v)
	d.Message.Text = withMentions(d.Message.Text, labels)
	for i := range d.Message.Shared {
		d.Message.Shared[i].Text = withMentions(d.Message.Shared[i].Text, labels)
	}
	if d.Starter {
		r.exportedStarter(&d, v, names)
	}
	d.Notes = r.notes
	return d, nil
}

// exportedStarter takes what a thread's starter has been given of the message that
// it stands for.
func (r *reader) exportedStarter(d *DecodedMessage, v value, names Names) {
	id := v.Get("reference").At("messageId")
	if !isSnowflake(id) || strings.TrimSpace(v.At("content")) == "" {
		return
	}
	m := d.Message
	m.ID, m.Edited = earshot.MessageID(id), 0
	m.Time, _ = timeOf(id, v.At("timestamp"))
	p := &mentionedPeople{names: names, known: map[string]string{}}
	m.Text = withMentions(r.bounded(strings.TrimSpace(p.stored(v.At("content"))), "content"), exportLabels(v))
	d.Referenced = &DecodedMessage{Message: m, Channel: snowflake(v.Get("reference").At("channelId")), Guild: d.Guild, Whole: true}
}

func object(members ...member) value    { return value{Kind: '{', Members: members} }
func text(s string) value               { return value{Kind: '"', Text: s} }
func number(n int) value                { return value{Kind: '0', Text: strconv.Itoa(n)} }
func field(name string, v value) member { return member{Name: name, Value: v} }
func renameFields(v value, of ...string) value { // of: Discord's name, the export's name
	out := value{Kind: '{'}
	for i := 0; i < len(of); i += 2 {
		if x := v.Get(of[i+1]); !x.Absent() {
			out.Members = append(out.Members, field(of[i], x))
		}
	}
	return out
}

// mapList makes a list of objects with other names. What is no list, and what is no
// object, stays as it is, to be noted.
func mapList(l value, make func(value) value) value {
	if !l.Array() {
		return l
	}
	out := value{Kind: '['}
	for _, x := range l.List {
		if x.Object() {
			x = make(x)
		}
		out.List = append(out.List, x)
	}
	return out
}

// fromExport writes a message of a file as Discord would have.
func (r *reader) fromExport(v value, h ExportHeader, t int) value {
	out := renameFields(v, "id", "id", "timestamp", "timestamp", "edited_timestamp", "timestampEdited", "poll", "poll")
	out.Members = append(out.Members,
		field("type", number(t)), field("channel_id", text(h.Channel.ID)), field("guild_id", text(h.Guild)),
		field("content", exportContent(v, t)), field("author", exportUser(v.Get("author"))),
		field("member", renameFields(v.Get("author"), "nick", "nickname")),
		field("mentions", mapList(v.Get("mentions"), exportUser)),
		field("reactions", v.Get("reactions")),
		field("call", renameFields(v, "ended_timestamp", "callEndedTimestamp")),
		field("interaction", exportInteraction(v.Get("interaction"))))
	out.Members = append(out.Members, exportBody(v)...)
	if a := v.Get("author"); a.Get("isBot").Bool() && strings.Trim(a.At("discriminator"), "0") == "" {
		// Bots have a discriminator, webhooks have none. The answer to a command is
		// a bot's in any case.
		if t != typeCommand && t != typeMenuCommand && !v.Get("interaction").Object() {
			out.Members = append(out.Members, field("webhook_id", a.Get("id")))
		}
	}
	ref := v.Get("reference")
	if !ref.Object() {
		return out
	}
	kind := referenceReply
	if forwarded := v.Get("forwardedMessage"); ref.At("type") == "Forward" || forwarded.Object() {
		kind = referenceForward
		if forwarded.Object() {
			m := renameFields(forwarded, "content", "content", "timestamp", "timestamp", "edited_timestamp", "timestampEdited")
			m.Members = append(m.Members, exportBody(forwarded)...)
			out.Members = append(out.Members, field("message_snapshots", value{Kind: '[', List: []value{object(field("message", m))}}))
		}
	}
	x := renameFields(ref, "message_id", "messageId", "channel_id", "channelId", "guild_id", "guildId")
	x.Members = append(x.Members, field("type", number(kind)))
	out.Members = append(out.Members, field("message_reference", x))
	return out
}

// exportBody is what a message and a forwarded message both have.
func exportBody(v value) []member {
	return []member{
		field("attachments", mapList(v.Get("attachments"), func(f value) value {
			x := renameFields(f, "id", "id", "filename", "fileName", "size", "fileSizeBytes", "description", "description", "title", "title")
			if t := mediaType(f.At("fileName")); t != "" {
				x.Members = append(x.Members, field("content_type", text(t)))
			}
			return x
		})),
		field("embeds", v.Get("embeds")), field("sticker_items", v.Get("stickers")),
		field("components", mapList(v.Get("components"), func(c value) value { return exportComponent(c, 0) })),
	}
}

// exportComponentTypes are DiscordChatExporter's names of the types of components that it
// writes with words (MessageComponentType).
var exportComponentTypes = map[string]int{"ActionRow": 1, "Button": componentButton}

// exportComponent writes a component, and those within it, as Discord would have.
func exportComponent(c value, depth int) value {
	out := renameFields(c, "label", "label", "url", "url", "emoji", "emoji")
	out.Members = append(out.Members, field("type", number(numberOf(exportComponentTypes, c.At("type"), 0))))
	if depth < maxExportDepth {
		out.Members = append(out.Members, field("components", mapList(c.Get("components"), func(c value) value { return exportComponent(c, depth+1) })))
	}
	return out
}

// maxExportDepth is how deep components stand within others.
const maxExportDepth = 8

// exportInteraction writes who used a command as Discord would have.
func exportInteraction(x value) value {
	if !x.Object() {
		return value{}
	}
	out := renameFields(x, "id", "id", "name", "name")
	u := x.Get("user")
	user := renameFields(u, "id", "id", "username", "name", "global_name", "nickname")
	out.Members = append(out.Members, field("user", user))
	return out
}

// exportUser writes a user as Discord would have. The nickname is the name that
// people see: of the member, else of the user.
func exportUser(u value) value {
	if !u.Object() {
		return u
	}
	out := renameFields(u, "id", "id", "username", "name", "bot", "isBot")
	out.Members = append(out.Members, field("member", renameFields(u, "nick", "nickname")))
	return out
}

// exportContent is a message's content. That of system messages is a sentence of
// DiscordChatExporter's, in which only a channel's new name is the message's own
// (MessageExtensions.GetFallbackContent).
func exportContent(v value, t int) value {
	if t < typeRecipientAdd || t > typeThreadCreated {
		return v.Get("content")
	}
	said := strings.TrimSpace(v.At("content"))
	if t == typeNameChange {
		if name, ok := strings.CutPrefix(said, "Changed the channel name: "); ok {
			return text(name)
		}
		return text("")
	}
	switch said {
	case "Changed the channel icon.", "Pinned a message.", "Started a thread.", "Joined the server.":
		return text("")
	}
	return text(said)
}

// A mentionLabel is how a mention stands in the content of an export: as the name.
type mentionLabel struct{ name, id string }

// exportLabels returns the names of those whom a message mentions, the longest first,
// without names that two of them have.
func exportLabels(v value) []mentionLabel {
	var out []mentionLabel
	ids := map[string]string{}
	for _, u := range v.Get("mentions").List[:min(len(v.Get("mentions").List), maxElements)] {
		id, name := snowflake(u.At("id")), cmp.Or(u.At("nickname"), u.At("name"))
		if id == "" || strings.TrimSpace(name) == "" || ids[name] == id {
			continue
		}
		if ids[name] != "" {
			ids[name] = "?"
			continue
		}
		ids[name] = id
		out = append(out, mentionLabel{name, id})
	}
	out = sortedLabels(out)
	kept := out[:0]
	for _, l := range out {
		if ids[l.name] == l.id {
			kept = append(kept, l)
		}
	}
	return kept
}
