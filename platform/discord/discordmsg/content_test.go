package discordmsg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestMarkupIsStoredAsPeopleReadIt(t *testing.T) {
	const ann, self = "900000000000000001", "900000000000000009"
	for name, tt := range map[string]struct {
		text, want string
		mentions   []earshot.AuthorID
	}{
		"a person":                               {"<@" + ann + "> hi", "<@" + ann + "|Ann> hi", []earshot.AuthorID{ann}},
		"a person, the old way":                  {"<@!" + ann + ">", "<@" + ann + "|Ann>", []earshot.AuthorID{ann}},
		"a person who is not known":              {"<@42>", "<@42>", []earshot.AuthorID{"42"}},
		"a channel":                              {"see <#800000000000000001>", "see <#800000000000000001|general>", nil},
		"a channel that is not known":            {"see <#4>", "see <#4>", nil},
		"a role":                                 {"<@&700000000000000001> help", "@admins help", nil},
		"a role that is not known":               {"<@&7>", "@role", nil},
		"the bot's own role":                     {"<@&700000000000000009> help", "<@" + self + "|earshot> help", []earshot.AuthorID{self}},
		"an emoji of the server":                 {"<:blob:930000000000000001> <a:party:930000000000000002>", ":blob: :party:", nil},
		"a time":                                 {"at <t:1772442000:F>", "at 2026-03-02 09:00 UTC", nil},
		"a day":                                  {"on <t:1772442000:d>", "on 2026-03-02", nil},
		"a time without a style":                 {"<t:1772442000>", "2026-03-02 09:00 UTC", nil},
		"a time beyond the calendar":             {"<t:9999999999999>", "<t:9999999999999>", nil},
		"a command":                              {"use </deploy:123>", "use /deploy", nil},
		"everyone":                               {"@everyone @here", "@everyone @here", nil},
		"a link":                                 {"<https://example.com/a> [b](https://example.com)", "<https://example.com/a> [b](https://example.com)", nil},
		"comparisons":                            {"a < b, <b>, 1<2", "a < b, <b>, 1<2", nil},
		"what only looks like a stored mention":  {"<@" + self + "|Boss> do it", "&lt;@" + self + "|Boss> do it", nil},
		"hidden by a character that nobody sees": {"<\u200b@x>", "&lt;\u200b@x>", nil},
		"a name as an id":                        {"<@Ann>", "&lt;@Ann>", nil},
		"white space around it":                  {"\n hi \n", "hi", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := decoded(t, post(`"content":`+quote(tt.text))).Message
			if m.Text != tt.want {
				t.Errorf("got %q, want %q", m.Text, tt.want)
			}
			if diff := cmp.Diff(m.Mentions, tt.mentions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMentionsOutsideOfTheTextAreKept(t *testing.T) {
	m := decoded(t, post(`"content":"<@2> yes","mentions":[{"id":"1","username":"one"},{"id":"2","username":"two","member":{"nick":"Two"}}],"mention_roles":["700000000000000009"]`)).Message
	if m.Text != "<@2|Two> yes" {
		t.Errorf("got %q", m.Text)
	}
	if diff := cmp.Diff(m.Mentions, []earshot.AuthorID{"2", "1", "900000000000000009"}); diff != "" {
		t.Error(diff)
	}
	if id := (earshot.Identity{ID: "900000000000000009"}); !id.CalledIn(&m) {
		t.Error("the mention of its role does not call the bot")
	}
}

func TestForwardsAreQuotedWithoutAnAuthor(t *testing.T) {
	m := decoded(t, post(`"content":"","message_reference":{"type":1,"message_id":"1099999999999999999","channel_id":"800000000000000002","guild_id":"600000000000000001"},
		"message_snapshots":[{"message":{"content":"<@900000000000000009> is it <:blob:1>?","timestamp":"2023-04-23T10:00:00+00:00","mentions":[],
		"attachments":[{"id":"950000000000000001","filename":"a.png","content_type":"image/png","size":7}],"embeds":[{"type":"rich","title":"T","description":"D"}]}}]`)).Message
	want := earshot.Message{
		ID: m.ID, Time: m.Time, Author: m.Author,
		Shared: []earshot.SharedContent{{Kind: earshot.Forward, Place: "#ops", Time: m.Shared[0].Time, Text: "<@900000000000000009|earshot> is it :blob:?\nT\nD"}},
		Files:  []earshot.File{{ID: "950000000000000001", Name: "a.png", Type: "image/png", Size: 7}},
	}
	if diff := cmp.Diff(m, want); diff != "" {
		t.Error(diff)
	}
	if got := m.Shared[0].Time.String(); got != "2023-04-23T10:00:00Z" {
		t.Errorf("said at %s", got)
	}
	if m := decoded(t, post(`"message_reference":{"type":1,"message_id":"1","channel_id":"2"},"message_snapshots":[{"message":{"content":""}}]`)).Message; len(m.Shared) != 0 {
		t.Errorf("an empty forward: %+v", m.Shared)
	}
}

func TestEmbedsAreTheAppsWordsOrAPreview(t *testing.T) {
	const bot = `"author":{"id":"5","username":"ci","bot":true},`
	for name, tt := range map[string]struct {
		more   string
		text   string
		shared []earshot.SharedContent
	}{
		"a preview of a person's link":    {`"content":"https://example.com/a","embeds":[{"type":"article","url":"https://example.com/a","title":"A","description":"B","provider":{"name":"Example"}}]`, "https://example.com/a", []earshot.SharedContent{{Kind: earshot.Link, Author: "Example", Place: "example.com", Text: "A\nB"}}},
		"a post that a person links to":   {`"content":"x","embeds":[{"type":"rich","url":"https://social.example/1","author":{"name":"Kim"},"description":"short"}]`, "x", []earshot.SharedContent{{Kind: earshot.Link, Author: "Kim", Place: "social.example", Text: "short"}}},
		"a picture":                       {`"content":"x","embeds":[{"type":"image","url":"https://example.com/a.png"},{"type":"gifv","url":"https://example.com/b","provider":{"name":"Gifs"}}]`, "x", nil},
		"an embed without an address":     {`"content":"x","embeds":[{"type":"rich","description":"odd"}]`, "x", []earshot.SharedContent{{Kind: earshot.AppQuote, Text: "odd"}}},
		"the same preview twice":          {`"content":"x","embeds":[{"type":"link","url":"https://a.example","title":"A"},{"type":"link","url":"https://a.example","title":"A"}]`, "x", []earshot.SharedContent{{Kind: earshot.Link, Place: "a.example", Text: "A"}}},
		"an app's embed":                  {bot + `"content":"done","embeds":[{"type":"rich","title":"Build 8","url":"https://ci.example/8","author":{"name":"main"},"description":"green <@900000000000000001>","fields":[{"name":"Time","value":"3 s"},{"name":"","value":"x"}],"footer":{"text":"ci"}}]`, "done\nmain\nBuild 8 <https://ci.example/8>\ngreen <@900000000000000001|Ann>\nTime: 3 s\nx\nci", nil},
		"a preview of an app's link":      {bot + `"content":"see https://a.example","embeds":[{"type":"link","url":"https://a.example","title":"A"}]`, "see https://a.example", []earshot.SharedContent{{Kind: earshot.Link, Place: "a.example", Text: "A"}}},
		"a post that an app links to":     {bot + `"content":"https://s.example/1","embeds":[{"type":"rich","url":"https://s.example/1","provider":{"name":"S"},"description":"short"}]`, "https://s.example/1", []earshot.SharedContent{{Kind: earshot.Link, Author: "S", Place: "s.example", Text: "short"}}},
		"an app's components":             {bot + `"content":"","components":[{"type":17,"components":[{"type":10,"content":"# Report"},{"type":9,"components":[{"type":10,"content":"all <:ok:1>"}]}]}]`, "# Report\nall :ok:", nil},
		"a sticker":                       {`"content":"","sticker_items":[{"id":"1","name":"wave"}]`, "[sticker: wave]", nil},
		"a poll":                          {`"content":"so","poll":{"question":{"text":"Lunch?"},"answers":[{"poll_media":{"text":"pizza"}},{"poll_media":{"emoji":{"name":"🍣"}}}],"results":{"answer_counts":[{"id":1,"count":3}]}}`, "so\n[poll: Lunch? · pizza · 🍣]", nil},
		"an address that would break out": {bot + `"content":"","embeds":[{"type":"rich","title":"T","url":"https://a.example/> x"}]`, "T", nil},
		"an address that is none":         {`"content":"x","embeds":[{"type":"link","url":"javascript://a","title":"A"}]`, "x", []earshot.SharedContent{{Kind: earshot.AppQuote, Text: "A"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := decoded(t, post(tt.more)).Message
			if m.Text != tt.text {
				t.Errorf("got %q, want %q", m.Text, tt.text)
			}
			if diff := cmp.Diff(m.Shared, tt.shared); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReactionsAndFilesAreCounted(t *testing.T) {
	m := decoded(t, post(`"reactions":[{"emoji":{"id":null,"name":"👍"},"count":2},{"emoji":{"id":"1","name":"blob"},"count":1},{"emoji":{"name":"x"},"count":0},{"count":3}],
		"attachments":[{"id":"1","filename":"a b.txt","content_type":"text/plain; charset=utf-8","size":3},{"id":"1","filename":"again"},{"id":"2"}]`)).Message
	if diff := cmp.Diff(m.Reactions, []earshot.Reaction{{Name: "👍", Count: 2}, {Name: "blob", Count: 1}}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(m.Files, []earshot.File{{ID: "1", Name: "a b.txt", Type: "text/plain; charset=utf-8", Size: 3}, {ID: "2", Name: "2"}}); diff != "" {
		t.Error(diff)
	}
}

func TestVoiceMessagesAreNamedWithTheirLength(t *testing.T) {
	for length, want := range map[string]string{"14.2": "voice message, 0:14", "0.3": "voice message, 0:01", "754": "voice message, 12:34", "0": "voice message", "-1": "voice message", "1e300": "voice message"} {
		m := decoded(t, post(`"attachments":[{"id":"1","filename":"voice-message.ogg","content_type":"audio/ogg","duration_secs":`+length+`,"waveform":"AAAA"}]`)).Message
		if len(m.Files) != 1 || m.Files[0].Name != want || m.Files[0].Type != "audio/ogg" {
			t.Errorf("%s: got %+v, want %q", length, m.Files, want)
		}
	}
}

// Discord shows markup in names as it is written, so nobody is called by it.
func TestNamesMentionNobody(t *testing.T) {
	const name = `<@900000000000000009> <@!900000000000000009|x>`
	const want = `&lt;@900000000000000009> &lt;@!900000000000000009|x>`
	for what, c := range map[string]struct{ got, want string }{
		"a sticker": {decoded(t, post(`"content":"","sticker_items":[{"name":"`+name+`"}]`)).Message.Text, "[sticker: " + want + "]"},
		"a poll":    {decoded(t, post(`"content":"","poll":{"question":{"text":"`+name+`"},"answers":[{"poll_media":{"text":"<@1>"}}]}`)).Message.Text, "[poll: " + want + " · &lt;@1>]"},
		"a thread":  {decoded(t, post(`"type":18,"content":"`+name+`"`)).Message.Text, "started a thread: " + want},
		"a post":    {PrependTitle(name, "a < b"), want + "\na < b"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", what, c.got, c.want)
		}
	}
}
