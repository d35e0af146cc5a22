package slackmsg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// share is an attachment as Slack makes it of a message that a person forwards.
const share = `"is_share":true,"is_msg_unfurl":true,"channel_id":"C1","channel_team":"T1","author_id":"U2","author_name":"Bob Maier","author_subname":"bob",` +
	`"author_link":"https://x.slack.com/team/U2","from_url":"https://x.slack.com/archives/C1/p1699999999000100","ts":"1699999999.000100","color":"D0D0D0","mrkdwn_in":["text"],` +
	`"fallback":"[November 14th, 2023 2:13 PM] bob: down","footer":"Posted in #general"`

func TestWhatAMessageQuotesIsNotItsText(t *testing.T) {
	t.Parallel()
	const person = `"user":"U1","text":"see"`
	bob := earshot.SharedContent{Kind: earshot.Forward, ID: "U2", Author: "Bob Maier", Place: "#general", Time: 1699999999000100, Text: "the <db> is down, <@U1|Alice>"}
	with := func(change func(*earshot.SharedContent)) earshot.SharedContent {
		s := bob
		change(&s)
		return s
	}
	const down = `"text":"the &lt;db&gt; is down, <@U1>"`
	for name, tt := range map[string]struct {
		in, text string
		want     []earshot.SharedContent
	}{
		"a forward is Slack's word for author, place and time": {
			person + `,"attachments":[{` + share + `,` + down + `}]`, "see", []earshot.SharedContent{bob}},
		"the blocks of a forward say the same once": {
			person + `,"attachments":[{` + share + `,` + down + `,"message_blocks":[{"message":{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"the <db> is down, "},{"type":"user","user_id":"U1"}]}]}]}}]}]`, "see", []earshot.SharedContent{bob}},
		"a forward without a text has that of its blocks": {
			person + `,"attachments":[{` + share + `,"message_blocks":[{"message":{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"from afar"}]}]}]}}]}]`, "see",
			[]earshot.SharedContent{with(func(s *earshot.SharedContent) { s.Text = "from afar" })}},
		"a forward alone leaves the text empty": {
			`"user":"U1","text":"","attachments":[{` + share + `,` + down + `}]`, "", []earshot.SharedContent{bob}},
		"a link to a message is the same as a forward": {
			person + `,"attachments":[{` + strings.Replace(share, `"is_share":true,`, "", 1) + `,` + down + `}]`, "see", []earshot.SharedContent{bob}},
		"the users list names who is not named": {
			person + `,"attachments":[{` + strings.Replace(strings.Replace(share, `"author_name":"Bob Maier",`, "", 1), `"U2"`, `"U3"`, 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{with(func(s *earshot.SharedContent) { s.ID, s.Author = "U3", "Sam" })}},
		"a direct message has no name": {
			person + `,"attachments":[{` + strings.Replace(share, `"C1"`, `"D1"`, 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{with(func(s *earshot.SharedContent) { s.Place = "direct message" })}},
		"a channel that is not known is named by the footer": {
			person + `,"attachments":[{` + strings.Replace(strings.Replace(share, `"C1"`, `"C9"`, 1), "Posted in #general", "Thread in #support", 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{with(func(s *earshot.SharedContent) { s.Place = "#support" })}},
		"and not at all by one that names none": {
			person + `,"attachments":[{` + strings.Replace(strings.Replace(share, `"C1"`, `"C9"`, 1), "Posted in #general", "Thread in Slack Conversation", 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{with(func(s *earshot.SharedContent) { s.Place = "" })}},
		"an app's own post vouches for nothing": {
			`"user":"U1","bot_id":"B7","text":"see","attachments":[{` + share + `,` + down + `}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob Maier", Place: "x.slack.com", Text: bob.Text + "\nPosted in #general"}}},
		"nor does a bot without a user": {
			`"subtype":"bot_message","bot_id":"B7","username":"pins","text":"see","attachments":[{` + share + `,` + down + `}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob Maier", Place: "x.slack.com", Text: bob.Text + "\nPosted in #general"}}},
		"nor an app that unfurls a person's link": {
			person + `,"attachments":[{` + share + `,` + down + `,"is_app_unfurl":true,"app_unfurl_url":"https://x.io","bot_id":"B7","app_id":"A7"}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob Maier", Place: "x.slack.com", Text: bob.Text + "\nPosted in #general"}}},
		"a share without an author is believed as little": {
			person + `,"attachments":[{` + strings.Replace(share, `"author_id":"U2",`, "", 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob Maier", Place: "x.slack.com", Text: bob.Text + "\nPosted in #general"}}},
		"or without a channel": {
			person + `,"attachments":[{` + strings.Replace(share, `"channel_id":"C1",`, "", 1) + `,` + down + `}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob Maier", Place: "x.slack.com", Text: bob.Text + "\nPosted in #general"}}},
		"a page's preview is of its host": {
			`"user":"U1","text":"<https://x.io>","attachments":[{"from_url":"https://x.io/a?b=1","original_url":"https://x.io/a?b=1","service_name":"X","title":"Launch","title_link":"https://evil.io","text":"today","fallback":"X: Launch","image_url":"https://x.io/i.png"}]`, "<https://x.io>",
			[]earshot.SharedContent{{Kind: earshot.Link, Author: "X", Place: "x.io", Text: "Launch\ntoday"}}},
		"a page with a picture only is no quote": {
			`"user":"U1","text":"<https://x.io>","attachments":[{"from_url":"https://x.io/a","service_name":"X","image_url":"https://x.io/i.png"}]`, "<https://x.io>", nil},
		"an app's preview is the app's": {
			`"user":"U1","text":"<https://x.io>","attachments":[{"app_unfurl_url":"https://x.io/1","is_app_unfurl":true,"bot_id":"B7","title":"ENG-1","text":"by Alice","footer":"tracker"}]`, "<https://x.io>",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Place: "x.io", Text: "ENG-1\nby Alice\ntracker"}}},
		"what an app attaches in a person's name is the app's": {
			`"user":"U1","bot_id":"B7","text":"","attachments":[{"author_name":"Helen","title":"party","text":"yes","fields":[{"title":"by","value":"app"}],"ts":1699999999}]`, "",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Helen", Text: "party\nyes\nby: app"}}},
		"what a bot attaches is what it says": {
			`"subtype":"bot_message","bot_id":"B1","username":"CI","text":"","attachments":[{"title":"Build 809 failed","text":"timed out","fields":[{"title":"Tests","value":"1 failed"}],"footer":"ci","ts":1699999999}]`,
			"Build 809 failed\ntimed out\nTests: 1 failed\nci", nil},
		"a table that a person pastes is theirs": {
			person + `,"attachments":[{"id":1,"fallback":"[no preview available]","blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"a"},{"type":"raw_text","text":"b"}]]}]}]`, "see\na | b", nil},
		"nor is one in the message itself lost": {
			`"user":"U1","text":"see","blocks":[{"type":"data_table","caption":"devices","rows":[[{"type":"raw_text","text":"a"},{"type":"raw_number","value":3}]]},{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"see"}]}]}]`, "see\ndevices\na | 3", nil},
		"a table with an author is not": {
			person + `,"attachments":[{"id":1,"author_name":"Bob","blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}]}]`, "see",
			[]earshot.SharedContent{{Kind: earshot.AppQuote, Author: "Bob", Text: "a"}}},
		"one quote is told once": {
			person + `,"attachments":[{` + share + `,` + down + `},{` + share + `,` + down + `}]`, "see", []earshot.SharedContent{bob}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := decode(t, `{"type":"message","ts":"1700000000.000100",`+tt.in+`}`).Message
			if m.Text != tt.text || m.Mentions != nil {
				t.Errorf("text: got %q mentioning %q, want %q", m.Text, m.Mentions, tt.text)
			}
			if diff := cmp.Diff(tt.want, m.Shared); diff != "" {
				t.Errorf("shared (-want +got):\n%s", diff)
			}
		})
	}
}

// What Slack adds to a message later is no edit; what its author attaches is.
func TestAChangeOfWhatIsQuoted(t *testing.T) {
	t.Parallel()
	forward := `"attachments":[{` + share + `,"text":"down"}]`
	for name, tt := range map[string]struct {
		before, after string
		want          Kind
	}{
		"a preview comes":                   {`"text":"a"`, `"text":"a","attachments":[{"from_url":"https://x.io","title":"X"}]`, Ignored},
		"a preview goes":                    {`"text":"a","attachments":[{"from_url":"https://x.io","title":"X"}]`, `"text":"a"`, Ignored},
		"a linked message comes":            {`"text":"a"`, `"text":"a",` + strings.Replace(forward, `"is_share":true,`, "", 1), Ignored},
		"a forward follows its original":    {`"text":"a",` + forward, `"text":"a",` + strings.Replace(forward, `"down"`, `"up"`, 1), Ignored},
		"a forward comes":                   {`"text":"a"`, `"text":"a",` + forward, Edit},
		"a forward of another message":      {`"text":"a",` + forward, `"text":"a",` + strings.ReplaceAll(forward, "1699999999.000100", "1699999999.000200"), Edit},
		"a bot's attachment says something": {`"user":"U0BOT","text":"a","attachments":[{"text":"running"}]`, `"user":"U0BOT","text":"a","attachments":[{"text":"done"}]`, Edit},
		"an app's, in a person's name":      {`"bot_id":"B1","text":"a","attachments":[{"text":"running"}]`, `"bot_id":"B1","text":"a","attachments":[{"text":"done"}]`, Edit},
	} {
		message := func(s string) string { return `{"user":"U1","ts":"1700000000.000100",` + s + `}` }
		if d := decode(t, `{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":`+message(tt.after)+`,"previous_message":`+message(tt.before)+`}`); d.Kind != tt.want {
			t.Errorf("%s: got %q %q, want %q", name, d.Kind, d.Reason, tt.want)
		}
	}
}

// A part is one field of an attachment that has text, as JSON around a word.
type part struct{ field, before, after string }

// parts are the fields of attachments and blocks that the decoder reads, each
// with what surrounds the word.
var parts = []part{
	{"pretext", `"pretext":"`, `"`}, {"author_name", `"author_name":"`, `"`}, {"title", `"title":"`, `"`}, {"text", `"text":"`, `"`},
	{"fields", `"fields":[{"title":"`, `"}]`}, {"footer", `"footer":"Posted in #`, `"`},
	{"blocks", `"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"`, `"}}]`},
	{"message_blocks", `"message_blocks":[{"message":{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"`, `"}]}]}]}}]`},
}

// blockParts are blocks with one word each.
var blockParts = []part{
	{"section", `{"type":"section","text":{"type":"mrkdwn","text":"`, `"}}`}, {"section field", `{"type":"section","fields":[{"type":"plain_text","text":"`, `"}]}`},
	{"accessory", `{"type":"section","accessory":{"type":"image","alt_text":"`, `"}}`}, {"header", `{"type":"header","text":{"type":"plain_text","text":"`, `"}}`},
	{"context", `{"type":"context","elements":[{"type":"mrkdwn","text":"`, `"}]}`}, {"context image", `{"type":"context","elements":[{"type":"image","alt_text":"`, `"}]}`},
	{"image title", `{"type":"image","title":{"type":"plain_text","text":"`, `"}}`}, {"image", `{"type":"image","alt_text":"`, `"}`}, {"markdown", `{"type":"markdown","text":"`, `"}`},
	{"table", `{"type":"table","rows":[[{"type":"raw_text","text":"`, `"}]]}`}, {"input", `{"type":"input","label":{"type":"plain_text","text":"`, `"}}`},
	{"list", `{"type":"rich_text","elements":[{"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"`, `"}]}]}]}`},
	{"quote", `{"type":"rich_text","elements":[{"type":"rich_text_quote","elements":[{"type":"text","text":"`, `"}]}]}`},
	{"preformatted", `{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":"`, `"}]}]}`},
}

// marks are the ways in which Slack and apps mark attachments.
var marks = []string{
	``, `"is_share":true,"channel_id":"C9","author_id":"U2","ts":"1.000002",`, `"is_msg_unfurl":true,"channel_id":"C9","author_id":"U2","ts":"1.000002",`,
	`"is_share":true,`, `"from_url":"https://x.io/a",`, `"is_app_unfurl":true,"app_unfurl_url":"https://x.io/b","bot_id":"B7",`, `"bot_id":"B7",`,
}

// senders are who posts a message.
var senders = []string{
	`"user":"U1",`, `"user":"U1","bot_id":"B7",`, `"user":"U0BOT","bot_id":"B0",`, `"subtype":"bot_message","bot_id":"B1","username":"CI",`, `"subtype":"channel_topic","user":"U1",`,
}

// Every field that has text ends up in Text or in Shared, and never in both:
// whoever posts it, however it is marked and with whatever beside it.
func TestEveryTextOfAnAttachmentIsToldOnOneSide(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 5000 {
		var told []string
		word := func() string {
			told = append(told, fmt.Sprintf("w%dx%d", i, len(told)))
			return told[len(told)-1]
		}
		var list []string
		for range 1 + rng.IntN(3) {
			var fields []string
			for _, p := range parts {
				switch {
				case rng.IntN(2) == 0:
				case p.field == "blocks":
					b := blockParts[rng.IntN(len(blockParts))]
					fields = append(fields, `"blocks":[`+b.before+word()+b.after+`]`)
				default:
					fields = append(fields, p.before+word()+p.after)
				}
			}
			if len(fields) == 0 {
				fields = append(fields, `"fallback":"`+word()+`"`)
			}
			rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			list = append(list, `{`+marks[rng.IntN(len(marks))]+strings.Join(fields, ",")+`}`)
		}
		in := `{"type":"message","ts":"1700000000.000100",` + senders[rng.IntN(len(senders))] + `"text":"` + word() + `","attachments":[` + strings.Join(list, ",") + `]}`
		m := decode(t, in).Message
		for n, w := range told {
			text := slices.Contains(wordsOf(m.Text), w)
			shared := 0
			for _, s := range m.Shared {
				for _, part := range []string{s.Author, s.Place, s.Text} {
					if slices.Contains(wordsOf(part), w) {
						shared++
					}
				}
			}
			switch {
			case text && shared > 0, !text && shared != 1:
				t.Fatalf("%q stands in Text: %v, in Shared %d times\n%s\ntext %q\nshared %+v", w, text, shared, in, m.Text, m.Shared)
			case n == len(told)-1 && !text:
				t.Fatalf("the message's own text is not in Text:\n%s\n%+v", in, m)
			}
		}
	}
}

func wordsOf(s string) []string { return strings.Fields(comparableWords(s)) }
