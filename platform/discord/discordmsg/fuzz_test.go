package discordmsg

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

var live = regexp.MustCompile(`<@[!&]?([0-9A-Za-z_.-]+)(\|[^<>\n]*)?>`)

// seeds are messages in both forms with everything in them.
var seeds = []string{
	post(`"guild_id":"6","member":{"nick":"A","roles":["7"]},"nonce":5,"edited_timestamp":"2023-04-24T11:00:00Z"`),
	post(`"content":"<@1> <@&700000000000000009> <#800000000000000001> <:b:1> <t:1:R> </x:1> <@1|x> <<@2>"`),
	post(`"type":19,"message_reference":{"type":0,"message_id":"1"},"referenced_message":` + post("")),
	post(`"type":21,"referenced_message":null,"thread":{"id":"9","type":11,"parent_id":"8","message_count":2}`),
	post(`"message_reference":{"type":1,"message_id":"1","channel_id":"800000000000000002"},"message_snapshots":[{"message":{"content":"x","embeds":[{"title":"t"}],"attachments":[{"id":"1"}]}}]`),
	post(`"webhook_id":"5","embeds":[{"type":"rich","title":"t","url":"https://a.example","fields":[{"name":"n","value":"v"}]}],"components":[{"type":17,"components":[{"type":10,"content":"c"}]}]`),
	post(`"poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"a"}}]},"sticker_items":[{"name":"s"}],"reactions":[{"emoji":{"name":"r"},"count":1}]`),
	post(`"attachments":[{"id":"1","filename":"_.pdf","title":"é","description":"d <@1>","clip_participants":[{"username":"u"}]}],"activity":{},"application":{"name":"n"}`),
	post(`"components":[{"type":9,"components":[{"type":10,"content":"c"}],"accessory":{"type":2,"label":"l","url":"https://a.example","emoji":{"name":"e"}}},{"type":1,"components":[{"type":3,"placeholder":"p","options":[{"label":"l","description":"d"}]},{"type":4,"label":"l","value":"v"}]},{"type":12,"items":[{"description":"d"}]},{"type":13,"name":"n"}]`),
	post(`"interaction":{"name":"n","user":{"username":"u]"}},"interaction_metadata":{"type":2,"target_user":{"username":"t"}},"poll":{"question":{"text":"q"},"answers":[{"answer_id":1,"poll_media":{"text":"a"}}],"results":{"is_finalized":true,"answer_counts":[{"id":1,"count":2}]}}`),
	post(`"type":24,"embeds":[{"type":"auto_moderation_message","description":"<@1>","fields":[{"name":"rule_name","value":"r"},{"name":"channel_id","value":"800000000000000001"}]}]`),
	post(`"type":3,"call":{"ended_timestamp":"2023-04-24T11:00:00Z"}`),
	exported(`"type":"Call","callEndedTimestamp":"2023-04-24T11:00:00Z","interaction":{"name":"n","user":{"name":"u"}},"components":[{"type":"ActionRow","components":[{"type":"Button","label":"l"}]}]`),
	exported(`"type":"Reply","reference":{"messageId":"1"},"content":"@Ann x","mentions":[{"id":"1","nickname":"Ann"}],"forwardedMessage":{"content":"f"}`),
	exported(`"type":"21","content":"x","reference":{"messageId":"1"},"stickers":[{"name":"s"}],"attachments":[{"id":"1","fileName":"a.png"}]`),
	`{"id":"1","content":"\ud800\u0000"}`, `[]`, `{"id":`,
}

// FuzzDecode holds the decoders to their promises: they never panic, what is stored is
// valid UTF-8 without NUL and bounded, the same input decodes to the same message, and
// a mention in the text is one that is told.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for what, decode := range map[string]func() (DecodedMessage, error){
			"live":   func() (DecodedMessage, error) { return Decode(raw, guild) },
			"export": func() (DecodedMessage, error) { return DecodeExport(raw, general, guild) },
		} {
			d, err := decode()
			again, errAgain := decode()
			if diff := cmp.Diff(d, again); diff != "" || (err == nil) != (errAgain == nil) {
				t.Fatalf("%s: decoding twice differs: %v, %v\n%s", what, err, errAgain, diff)
			}
			if err == nil {
				storable(t, d)
			}
		}
		_, _ = ReadDeleteEvent(raw)
		_, _ = ReadReaction(raw)
		_, _ = ReadMember(raw)
		_, _ = ReadChannel(raw)
		_, _ = ReadExportHeader(raw)
		_, _, _ = Stamp(raw)
	})
}

// storable fails where a store, or who shows it, could not take what was decoded.
func storable(t *testing.T, d DecodedMessage) {
	t.Helper()
	m := d.Message
	texts := []string{m.Text, string(m.ID), string(m.ReplyTo), string(m.Author.ID), m.Author.Name, m.Author.FullName, d.Nonce, d.Channel, d.Guild, d.ThreadName}
	for _, x := range m.Reactions {
		texts = append(texts, x.Name)
	}
	for _, x := range m.Shared {
		texts = append(texts, x.Author, x.Place, x.Text)
	}
	for _, x := range m.Files {
		texts = append(texts, string(x.ID), x.Name, x.Type)
	}
	for _, s := range append(texts, d.Notes...) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || len(s) > maxText {
			t.Errorf("cannot be stored: %.200q", s)
		}
	}
	if len(d.Notes) > maxNotes || len(m.Files)+len(m.Reactions)+len(m.Shared) > 3*maxElements {
		t.Errorf("unbounded: %d notes, %d files", len(d.Notes), len(m.Files))
	}
	for _, found := range live.FindAllStringSubmatch(m.Text, -1) {
		if id := earshot.AuthorID(found[1]); isSnowflake(found[1]) && !slices.Contains(m.Mentions, id) && len(m.Mentions) < 100 {
			t.Errorf("%q mentions %s, which is not told: %v", m.Text, id, m.Mentions)
		}
	}
	if d.Referenced != nil {
		storable(t, *d.Referenced)
	}
}

// Names and texts can be anything: what is decoded can be stored, and no name becomes
// a mention or a second line.
func TestNaughtyNamesAndTexts(t *testing.T) {
	raw, err := os.ReadFile(testData(t, "spec/naughty/blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil || len(list) < 500 {
		t.Fatalf("%d strings, %v", len(list), err)
	}
	list = append(list, "<@900000000000000009|x>", "a|b>c<", "x\u2028y", "\u202eevil", "@everyone", strings.Repeat("long ", 1000))
	for _, s := range list {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		q := string(b)
		for _, d := range []DecodedMessage{
			decoded(t, post(`"content":`+q+`,"member":{"nick":`+q+`},"attachments":[{"id":"1","filename":`+q+`}],"sticker_items":[{"name":`+q+`}]`)),
			exportDecoded(t, exported(`"content":`+q+`,"mentions":[{"id":"1","nickname":`+q+`}],"author":{"id":"1","nickname":`+q+`}`)),
			decoded(t, post(`"content":"<@1> <#1>","mentions":[{"id":"1","global_name":`+q+`}]`)),
		} {
			storable(t, d)
			if strings.ContainsAny(d.Message.Author.Name, "\n\r") || len([]rune(d.Message.Author.Name)) > maxName {
				t.Errorf("a name: %q", d.Message.Author.Name)
			}
		}
		m := decoded(t, post(`"content":"<@1>","mentions":[{"id":"1","global_name":`+q+`}]`)).Message
		if strings.Count(m.Text, "<") != 1 || strings.Count(m.Text, ">") != 1 || strings.Contains(m.Text, "\n") {
			t.Errorf("a name breaks out of its mention: %q", m.Text)
		}
	}
}
