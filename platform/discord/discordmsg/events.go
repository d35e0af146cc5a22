package discordmsg

import "github.com/earshot-ai/earshot"

// A DeleteEvent is an event about deleted messages, which carries nothing but ids.
type DeleteEvent struct {
	IDs     []earshot.MessageID
	Channel string // Discord's: a channel or a thread
	Guild   string
}

// maxDeleted is how many ids of a bulk deletion are read; Discord sends 100 at most.
const maxDeleted = 1000

// ReadDeleteEvent reads MESSAGE_DELETE and MESSAGE_DELETE_BULK. ok is false where raw
// tells no message.
func ReadDeleteEvent(raw []byte) (d DeleteEvent, ok bool) {
	v, _, err := parseValue(raw)
	if err != nil {
		return DeleteEvent{}, false
	}
	d = DeleteEvent{Channel: snowflake(v.At("channel_id")), Guild: snowflake(v.At("guild_id"))}
	ids := v.Get("ids").List
	if id := v.Get("id"); !id.Absent() {
		ids = append([]value{id}, ids...)
	}
	for _, x := range ids[:min(len(ids), maxDeleted)] {
		if id := snowflake(x.Str()); id != "" {
			d.IDs = append(d.IDs, earshot.MessageID(id))
		}
	}
	return d, len(d.IDs) > 0 && d.Channel != ""
}

// Tombstone returns a deleted message. It stands where the message stood.
func Tombstone(id earshot.MessageID) earshot.Message {
	t, _ := TimeOf(string(id))
	return earshot.Message{ID: id, Time: t, Deleted: true}
}

// Stamp returns only the id and the time of a message, also where [Decode] fails on
// the rest. ok is false where it has no usable id.
func Stamp(raw []byte) (id earshot.MessageID, t earshot.Time, ok bool) {
	v, _, err := parseValue(raw)
	s := v.At("id")
	if err != nil || !isSnowflake(s) {
		return "", 0, false
	}
	t, ok = timeOf(s, v.At("timestamp"))
	return earshot.MessageID(s), t, ok
}
