package discordmsg

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
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
	v, _, err := parse(raw)
	if err != nil {
		return ExportHeader{}, false
	}
	g, c := v.get("guild"), v.get("channel")
	h.Channel = ChannelInfo{Name: oneLine(c.at("name")), Topic: cutBytes(strings.TrimSpace(c.at("topic")), 4096)}
	h.Channel.ID = snowflake(c.at("id"))
	if !g.object() || h.Channel.ID == "" {
		return ExportHeader{}, false
	}
	h.Channel.Type = exportChannelType(c.at("type"))
	if h.Guild = snowflake(g.at("id")); strings.Trim(h.Guild, "0") == "" || h.Channel.Type == DM || h.Channel.Type == GroupDM {
		h.Guild = "" // direct messages have the guild 0
	}
	h.Channel.Guild = h.Guild
	// What is called the category is the parent: of a thread, the channel that it
	// is in (JsonMessageWriter: "Original schema did not account for threads").
	h.Channel.Parent = snowflake(c.at("categoryId"))
	h.Channel.Private = h.Channel.Type == PrivateThread || h.Channel.Type == GroupDM
	if h.Channel.Thread() {
		h.ParentName = oneLine(c.at("category"))
	}
	h.Exported, _ = earshot.ParseTime(v.at("exportedAt"))
	return h, true
}

// exportChannelTypes are DiscordChatExporter's names of the types of channels
// (ChannelKind).
var exportChannelTypes = map[string]int{
	"GuildTextChat": GuildText, "DirectTextChat": DM, "GuildVoiceChat": GuildVoice, "DirectGroupTextChat": GroupDM, "GuildNews": GuildAnnouncement,
	"GuildNewsThread": AnnouncementThread, "GuildPublicThread": PublicThread, "GuildPrivateThread": PrivateThread, "GuildStageVoice": GuildStage,
	"GuildForum": GuildForum, "GuildMedia": GuildMedia,
}

func exportChannelType(s string) int {
	if t, ok := exportChannelTypes[s]; ok {
		return t
	}
	t, err := strconv.Atoi(s)
	if err != nil {
		return GuildText
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

func exportType(s string) int {
	if t, ok := exportTypes[s]; ok {
		return t
	}
	t, err := strconv.Atoi(s)
	if err != nil {
		return typeDefault
	}
	return t
}

// DecodeExport reads one message of a file of DiscordChatExporter. What it finds is as
// if Discord had told it, as far as the file says: the time zone of times, the users
// of reactions and the looks of embeds are left out.
//
// A starter (Decoded.Starter) whose text the file has gives it as Referenced.
func DecodeExport(raw []byte, h ExportHeader, names Names) (Decoded, error) {
	v, deep, err := parse(raw)
	if err != nil {
		return Decoded{}, err
	}
	if !v.object() {
		return Decoded{}, ErrNotMessage
	}
	r := &reader{names: names}
	if deep {
		r.note("nested too deep")
	}
	t := exportType(v.at("type"))
	d, err := r.decode(r.fromExport(v, h, t), true)
	if err != nil {
		return Decoded{}, err
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
func (r *reader) exportedStarter(d *Decoded, v value, names Names) {
	id := v.get("reference").at("messageId")
	if !isSnowflake(id) || strings.TrimSpace(v.at("content")) == "" {
		return
	}
	m := d.Message
	m.ID, m.Edited = earshot.MessageID(id), 0
	m.Time, _ = timeOf(id, v.at("timestamp"))
	p := &people{names: names, known: map[string]string{}}
	m.Text = withMentions(r.bounded(strings.TrimSpace(p.stored(v.at("content"))), "content"), exportLabels(v))
	d.Referenced = &Decoded{Message: m, Channel: snowflake(v.get("reference").at("channelId")), Guild: d.Guild, Whole: true}
}

func object(members ...member) value    { return value{kind: '{', members: members} }
func text(s string) value               { return value{kind: '"', text: s} }
func number(n int) value                { return value{kind: '0', text: strconv.Itoa(n)} }
func field(name string, v value) member { return member{name: name, value: v} }
func renamed(v value, of ...string) value { // of: Discord's name, the export's name
	out := value{kind: '{'}
	for i := 0; i < len(of); i += 2 {
		if x := v.get(of[i+1]); !x.absent() {
			out.members = append(out.members, field(of[i], x))
		}
	}
	return out
}

// each makes a list of objects with other names. What is no list, and what is no
// object, stays as it is, to be noted.
func each(l value, make func(value) value) value {
	if !l.array() {
		return l
	}
	out := value{kind: '['}
	for _, x := range l.list {
		if x.object() {
			x = make(x)
		}
		out.list = append(out.list, x)
	}
	return out
}

// fromExport writes a message of a file as Discord would have.
func (r *reader) fromExport(v value, h ExportHeader, t int) value {
	out := renamed(v, "id", "id", "timestamp", "timestamp", "edited_timestamp", "timestampEdited", "poll", "poll")
	out.members = append(out.members,
		field("type", number(t)), field("channel_id", text(h.Channel.ID)), field("guild_id", text(h.Guild)),
		field("content", exportContent(v, t)), field("author", exportUser(v.get("author"))),
		field("member", renamed(v.get("author"), "nick", "nickname")),
		field("mentions", each(v.get("mentions"), exportUser)),
		field("reactions", v.get("reactions")))
	out.members = append(out.members, exportBody(v)...)
	if a := v.get("author"); a.get("isBot").bool() && strings.Trim(a.at("discriminator"), "0") == "" {
		// Bots have a discriminator, webhooks have none. The answer to a command is
		// a bot's in any case.
		if t != typeCommand && t != typeMenuCommand && !v.get("interaction").object() {
			out.members = append(out.members, field("webhook_id", a.get("id")))
		}
	}
	ref := v.get("reference")
	if !ref.object() {
		return out
	}
	kind := referenceReply
	if forwarded := v.get("forwardedMessage"); ref.at("type") == "Forward" || forwarded.object() {
		kind = referenceForward
		if forwarded.object() {
			m := renamed(forwarded, "content", "content", "timestamp", "timestamp", "edited_timestamp", "timestampEdited")
			m.members = append(m.members, exportBody(forwarded)...)
			out.members = append(out.members, field("message_snapshots", value{kind: '[', list: []value{object(field("message", m))}}))
		}
	}
	x := renamed(ref, "message_id", "messageId", "channel_id", "channelId", "guild_id", "guildId")
	x.members = append(x.members, field("type", number(kind)))
	out.members = append(out.members, field("message_reference", x))
	return out
}

// exportBody is what a message and a forwarded message both have.
func exportBody(v value) []member {
	return []member{
		field("attachments", each(v.get("attachments"), func(f value) value {
			x := renamed(f, "id", "id", "filename", "fileName", "size", "fileSizeBytes")
			if t := mediaType(f.at("fileName")); t != "" {
				x.members = append(x.members, field("content_type", text(t)))
			}
			return x
		})),
		field("embeds", v.get("embeds")), field("sticker_items", v.get("stickers")),
	}
}

// exportUser writes a user as Discord would have. The nickname is the name that
// people see: of the member, else of the user.
func exportUser(u value) value {
	if !u.object() {
		return u
	}
	out := renamed(u, "id", "id", "username", "name", "bot", "isBot")
	out.members = append(out.members, field("member", renamed(u, "nick", "nickname")))
	return out
}

// exportContent is a message's content. That of system messages is a sentence of
// DiscordChatExporter's, in which only a channel's new name is the message's own
// (MessageExtensions.GetFallbackContent).
func exportContent(v value, t int) value {
	if t < typeRecipientAdd || t > typeThreadCreated {
		return v.get("content")
	}
	said := strings.TrimSpace(v.at("content"))
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
	for _, u := range v.get("mentions").list[:min(len(v.get("mentions").list), maxElements)] {
		id, name := snowflake(u.at("id")), firstOf(u.at("nickname"), u.at("name"))
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
