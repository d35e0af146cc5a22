package discordmsg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var general = ExportHeader{Guild: "600000000000000001", Channel: ChannelInfo{Channel: Channel{ID: "800000000000000001"}, Name: "general"}}

// exported is a message of DiscordChatExporter with the fields of more, which may
// repeat a field.
func exported(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"id":"1100000000000000000","type":"Default","timestamp":"2023-04-24T12:07:17.011+02:00","timestampEdited":null,"callEndedTimestamp":null,"isPinned":false,"content":"hi",
		"author":{"id":"900000000000000001","name":"ann.w","discriminator":"0000","nickname":"Ann W","color":null,"isBot":false,"roles":[],"avatarUrl":"x"},
		"attachments":[],"embeds":[],"stickers":[],"reactions":[],"mentions":[],"inlineEmojis":[]` + more + `}`
}

func exportDecoded(t *testing.T, raw string) DecodedMessage {
	t.Helper()
	d, err := DecodeExport([]byte(raw), general, guild)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What the gateway tells and what an export tells of one message is the same, so that
// a message that comes from both is stored once and unchanged.
func TestAnExportTellsTheSameAsTheGateway(t *testing.T) {
	const ref = `{"messageId":"1099999999999999999","channelId":"800000000000000001","guildId":"600000000000000001"}`
	const bob = `{"id":"900000000000000002","name":"bobby","nickname":"Bob Frei","discriminator":"0000","isBot":false}`
	for name, tt := range map[string]struct{ live, export string }{
		"a message": {``, ``},
		"an edit":   {`"edited_timestamp":"2023-04-24T11:00:00.5+00:00"`, `"timestampEdited":"2023-04-24T13:00:00.5+02:00"`},
		"a reply": {
			`"type":19,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`,
			`"type":"Reply","reference":` + ref},
		"mentions": {
			`"content":"<@900000000000000002>, <@!900000000000000002>'s <:blob:1> 👍","mentions":[{"id":"900000000000000002","username":"bobby","global_name":"Bob Frei"}]`,
			`"content":"@Bob Frei, @Bob Frei's :blob: 👍","mentions":[` + bob + `]`},
		"mentions that were not written as names": {
			`"content":"<@900000000000000002>","mentions":[{"id":"900000000000000002","username":"bobby","global_name":"Bob Frei"}]`,
			`"content":"<@900000000000000002>","mentions":[` + bob + `]`},
		"a file": {
			`"attachments":[{"id":"1","filename":"a.PNG","content_type":"image/png","size":3}]`,
			`"attachments":[{"id":"1","url":"x","fileName":"a.PNG","fileSizeBytes":3}]`},
		"reactions and a sticker": {
			`"content":"","sticker_items":[{"id":"1","name":"wave","format_type":1}],"reactions":[{"emoji":{"id":null,"name":"👍"},"count":2}]`,
			`"content":"","stickers":[{"id":"1","name":"wave","format":"Png"}],"reactions":[{"emoji":{"id":"","name":"👍","code":"thumbsup"},"count":2,"users":[]}]`},
		"a preview": {
			`"content":"x","embeds":[{"type":"link","url":"https://a.example/1","title":"A","description":"B"}]`,
			`"content":"x","embeds":[{"url":"https://a.example/1","title":"A","description":"B","images":[],"fields":[]}]`},
		"a forward": {
			`"content":"","message_reference":{"type":1,"message_id":"1","channel_id":"800000000000000002"},"message_snapshots":[{"message":{"content":"quoted","timestamp":"2023-04-23T10:00:00Z","attachments":[{"id":"4","filename":"b.txt","content_type":"text/plain","size":1}]}}]`,
			`"content":"","reference":{"type":"Forward","messageId":"1","channelId":"800000000000000002"},"forwardedMessage":{"timestamp":"2023-04-23T12:00:00+02:00","content":"quoted","attachments":[{"id":"4","fileName":"b.txt","fileSizeBytes":1}],"embeds":[],"stickers":[]}`},
		"a bot's embed": {
			`"author":{"id":"5","username":"ci","bot":true,"discriminator":"1234"},"embeds":[{"type":"rich","title":"T","description":"D","fields":[{"name":"N","value":"V"}],"footer":{"text":"F"}}]`,
			`"author":{"id":"5","name":"ci","nickname":"ci","discriminator":"1234","isBot":true},"embeds":[{"title":"T","url":null,"description":"D","footer":{"text":"F"},"images":[],"fields":[{"name":"N","value":"V","isInline":false}]}]`},
		"a webhook": {
			`"author":{"id":"910000000000000001","username":"Ren","bot":true,"discriminator":"0000"},"webhook_id":"910000000000000001"`,
			`"author":{"id":"910000000000000001","name":"Ren","nickname":"Ren","discriminator":"0000","isBot":true}`},
		"a command with its name": {
			`"type":20,"author":{"id":"5","username":"ci","bot":true},"interaction":{"id":"6","type":2,"name":"deploy","user":{"id":"1","username":"ann.w","global_name":"Ann W"}},"interaction_metadata":{"id":"6","type":2,"user":{"id":"1","username":"ann.w","global_name":"Ann W"}}`,
			`"type":"20","author":{"id":"5","name":"ci","nickname":"ci","discriminator":"0000","isBot":true},"interaction":{"id":"6","name":"deploy","user":{"id":"1","name":"ann.w","nickname":"Ann W","isBot":false}}`},
		"buttons": {
			`"author":{"id":"5","username":"ci","bot":true},"components":[{"type":1,"components":[{"type":2,"style":5,"label":"Log","url":"https://ci.example/8","emoji":{"id":null,"name":"📄"}}]}]`,
			`"author":{"id":"5","name":"ci","nickname":"ci","discriminator":"1234","isBot":true},"components":[{"type":"ActionRow","components":[{"type":"Button","style":"Link","label":"Log","url":"https://ci.example/8","customId":null,"emoji":{"id":"","name":"📄","code":"page"}}]}]`},
		"a reply without a type of its own": {
			`"type":0,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`,
			`"type":"Default","reference":` + ref},
		"a call": {
			`"type":3,"content":"","call":{"participants":[],"ended_timestamp":"2023-04-24T10:19:40+00:00"}`,
			`"type":"Call","content":"Started a call that lasted 12 minutes.","callEndedTimestamp":"2023-04-24T12:19:40+02:00"`},
		"somebody joins": {`"type":7,"content":""`, `"type":"GuildMemberJoin","content":"Joined the server."`},
		"a new name":     {`"type":4,"content":"ops"`, `"type":"ChannelNameChange","content":"Changed the channel name: ops"`},
		"a pin":          {`"type":6,"content":""`, `"type":"ChannelPinnedMessage","content":"Pinned a message.","reference":` + ref},
		"the use of a command": {
			`"type":20,"author":{"id":"5","username":"ci","bot":true,"discriminator":"0000"},"webhook_id":"5","interaction_metadata":{"id":"6"}`,
			`"type":"20","author":{"id":"5","name":"ci","nickname":"ci","discriminator":"0000","isBot":true},"interaction":{"id":"6","name":"deploy","user":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			live := decoded(t, post(`"member":{"nick":null}`+prefixed(tt.live)))
			if diff := cmp.Diff(exportDecoded(t, exported(tt.export)).Message, live.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func prefixed(more string) string {
	if more == "" {
		return ""
	}
	return "," + more
}

func TestNamesInAnExportAreMentionsOnlyWhereTheyMustBe(t *testing.T) {
	const people = `"mentions":[{"id":"1","name":"a","nickname":"Ann"},{"id":"2","name":"b","nickname":"Ann Lee"},{"id":"3","name":"c","nickname":"Twin"},{"id":"4","name":"d","nickname":"Twin"}]`
	for name, tt := range map[string]struct{ text, want string }{
		"the longer name first":          {"@Ann Lee and @Ann", "<@2|Ann Lee> and <@1|Ann>"},
		"a longer word":                  {"@Annabel, @Ann.", "@Annabel, <@1|Ann>."},
		"somebody who is not mentioned":  {"@Bob", "@Bob"},
		"a name that two have":           {"@Twin", "@Twin"},
		"an address":                     {"me@Ann and @", "me<@1|Ann> and @"},
		"a mention that is one already":  {"<@1> @Ann", "<@1|Ann> <@1|Ann>"},
		"what only looks like a mention": {"<@Ann>", "&lt;<@1|Ann>>"},
	} {
		t.Run(name, func(t *testing.T) {
			m := exportDecoded(t, exported(people+`,"content":`+quote(tt.text))).Message
			if m.Text != tt.want {
				t.Errorf("got %q, want %q", m.Text, tt.want)
			}
			if len(m.Mentions) != 4 {
				t.Errorf("mentions: %v", m.Mentions)
			}
		})
	}
}

func TestTheHeadOfAnExportSaysWhereItsMessagesAreFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want ExportHeader
	}{
		"a channel": {`{"guild":{"id":"6","name":"Home"},"channel":{"id":"8","type":"GuildTextChat","categoryId":"5","category":"Text","name":"general","topic":"all"}}`,
			ExportHeader{Guild: "6", Channel: ChannelInfo{Channel: Channel{ID: "8", Parent: "5"}, Guild: "6", Name: "general", Topic: "all"}}},
		"a thread": {`{"guild":{"id":"6"},"channel":{"id":"9","type":"GuildPublicThread","categoryId":"8","category":"general","name":"log"}}`,
			ExportHeader{Guild: "6", ParentName: "general", Channel: ChannelInfo{Channel: Channel{ID: "9", Type: PublicThread, Parent: "8"}, Guild: "6", Name: "log"}}},
		"a direct message": {`{"guild":{"id":"0"},"channel":{"id":"8","type":"DirectTextChat","name":"Ann"}}`,
			ExportHeader{Channel: ChannelInfo{Channel: Channel{ID: "8", Type: DM}, Name: "Ann"}}},
		"a type without a name": {`{"guild":{"id":"6"},"channel":{"id":"8","type":"16","name":"media"}}`,
			ExportHeader{Guild: "6", Channel: ChannelInfo{Channel: Channel{ID: "8", Type: GuildMedia}, Guild: "6", Name: "media"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ReadExportHeader([]byte(tt.raw))
			if diff := cmp.Diff(got, tt.want); !ok || diff != "" {
				t.Error(ok, diff)
			}
		})
	}
	for _, raw := range []string{`{}`, `{"guild":{"id":"6"}}`, `{"guild":7,"channel":{"id":"8"}}`, `{"guild":{},"channel":{"id":"x"}}`, `[]`, `{`} {
		if h, ok := ReadExportHeader([]byte(raw)); ok {
			t.Errorf("%s is a header: %+v", raw, h)
		}
	}
}

func TestAStartersTextInAnExportIsItsMessage(t *testing.T) {
	const ref = `"type":"21","reference":{"messageId":"1099999999999999999","channelId":"800000000000000002"}`
	if d := exportDecoded(t, exported(ref+`,"content":""`)); !d.Starter || d.Referenced != nil {
		t.Errorf("an empty starter: %+v", d)
	}
	d := exportDecoded(t, exported(ref+`,"content":"@Ann look","mentions":[{"id":"1","nickname":"Ann"}]`))
	if d.Referenced == nil {
		t.Fatal("its text is lost")
	}
	m := d.Referenced.Message
	at, _ := TimeOf("1099999999999999999")
	if m.ID != "1099999999999999999" || m.Time != at || m.Text != "<@1|Ann> look" || d.Referenced.Channel != "800000000000000002" || !strings.HasPrefix(m.Author.Name, "Ann") {
		t.Errorf("got %+v", d.Referenced)
	}
}
