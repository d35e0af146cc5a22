package slackmsg

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// The shapes are those of docs.slack.dev, Reference: Block Kit, Blocks, and of
// the interfaces of @slack/types there.
func TestWhatABlockShows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ blocks, want string }{
		"a table's numbers and truth values": {
			`{"type":"table","rows":[[{"type":"raw_text","text":"host"},{"type":"raw_number","value":12.5,"text":"12.5 GB"},{"type":"raw_number","value":7},{"type":"raw_boolean","value":true},{"type":"raw_boolean","value":false,"text":"no"},{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"two\nlines"}]}]}]]}`,
			"host | 12.5 GB | 7 | true | no | two lines"},
		"a data table with its caption": {
			`{"type":"data_table","caption":"Disks","page_size":5,"rows":[[{"type":"raw_text","text":"host"},{"type":"raw_text","text":"used"}],[{"type":"raw_text","text":"db1"},{"type":"raw_number","value":3,"text":"3 %"}]]}`,
			"Disks\nhost | used\ndb1 | 3 %"},
		"a card": {
			`{"type":"card","block_id":"b","icon":{"type":"image","image_url":"https://x.io/i","alt_text":"Icon"},"title":{"type":"mrkdwn","text":"*Lamp*"},"subtitle":{"type":"mrkdwn","text":"for desks"},"hero_image":{"type":"image","image_url":"https://x.io/h","alt_text":"a lit desk"},"body":{"type":"mrkdwn","text":"by <@U1>"},"subtext":{"type":"plain_text","text":"in stock"},"actions":[{"type":"button","text":{"type":"plain_text","text":"Buy"},"value":"v"}]}`,
			"*Lamp*\nfor desks\na lit desk\nby <@U1|Alice>\nin stock"},
		"a carousel": {
			`{"type":"carousel","elements":[{"type":"card","title":{"type":"plain_text","text":"one"}},{"type":"card","body":{"type":"plain_text","text":"two"}}]}`,
			"one\ntwo"},
		"a container": {
			`{"type":"container","title":{"type":"plain_text","text":"Bulk update"},"subtitle":{"type":"mrkdwn","text":"2 records"},"width":"wide","is_collapsible":true,"child_blocks":[{"type":"section","text":{"type":"mrkdwn","text":"DCW-1"}},{"type":"divider"},{"type":"table","rows":[[{"type":"raw_text","text":"a"},{"type":"raw_text","text":"b"}]]}]}`,
			"Bulk update\n2 records\nDCW-1\na | b"},
		"of a container's two titles the rich one": {
			`{"type":"container","title":{"type":"plain_text","text":"plain"},"rich_text_title":{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"rich"}]}]},"child_blocks":[]}`,
			"rich"},
		"a plan with its tasks": {
			`{"type":"plan","title":"Thinking done","tasks":[{"type":"task_card","task_id":"t1","title":"Fetched","status":"complete","details":{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"profile"}]}]},"output":{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"ok"}]}]},"sources":[{"type":"url","url":"https://x.io/a","text":"A"},{"type":"url","url":"https://x.io/b","text":"B"}]},{"task_id":"t2","title":"Not typed","status":"pending"}]}`,
			"Thinking done\nFetched\nprofile\nok\n<https://x.io/a|A>\n<https://x.io/b|B>\nNot typed"},
		"a pie": {
			`{"type":"data_visualization","title":"Sweets","chart":{"type":"pie","segments":[{"label":"A","value":45},{"label":"B","value":9.5}]}}`,
			"Sweets\nA: 45\nB: 9.5"},
		"lines": {
			`{"type":"data_visualization","title":"Visits","chart":{"type":"line","series":[{"name":"Web","data":[{"label":"Mon","value":1},{"label":"Tue","value":2}]},{"name":"App","data":[{"label":"Tue","value":3},{"label":"Sun","value":4}]}],"axis_config":{"categories":["Mon","Tue"],"x_label":"Day","y_label":"Thousands"}}}`,
			"Visits\nThousands\nDay | Web | App\nMon | 1\nTue | 2 | 3\nSun |  | 4"},
		"buttons that lead somewhere": {
			`{"type":"section","text":{"type":"mrkdwn","text":"CPU high"},"accessory":{"type":"button","text":{"type":"plain_text","text":"Runbook"},"url":"https://x.io/r?a=1&b=2"}},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Silence"},"value":"s"},{"type":"button","text":{"type":"plain_text","text":"Open in Grafana"},"url":"https://x.io/g|h>i"},{"type":"overflow","options":[{"text":{"type":"plain_text","text":"View incident"},"url":"https://x.io/i"},{"text":{"type":"plain_text","text":"Mute"}}]}]}`,
			"CPU high\n<https://x.io/r?a=1&b=2|Runbook>\n<https://x.io/g%7Ch%3Ei|Open in Grafana> <https://x.io/i|View incident>"},
		"a card's buttons":                  {`{"type":"card","title":{"type":"plain_text","text":"Lamp"},"actions":[{"type":"button","text":{"type":"plain_text","text":"Buy"},"url":"https://x.io/b"}]}`, "Lamp\n<https://x.io/b|Buy>"},
		"an address with signs":             {`{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"link","url":"https://x.io/?a>b","text":"a > b"},{"type":"text","text":" "},{"type":"link","url":"https://x.io/?a&lt;b"}]}]}`, "<https://x.io/?a%3Eb|a › b> <https://x.io/?a%3Cb>"},
		"a date's text with signs":          {`{"type":"section","text":{"type":"mrkdwn","text":"<!date^1^{date}|a &gt; b> <!subteam^S1|@a &amp; b>"}}`, "<!date^1^{date}|a › b> <!subteam^S1|@a & b>"},
		"a label with signs":                {`{"type":"section","text":{"type":"mrkdwn","text":"<https://x.io/a|a &gt; b &amp; c>"}}`, "<https://x.io/a|a › b & c>"},
		"an alert":                          {`{"type":"alert","level":"warning","text":{"type":"mrkdwn","text":"disk full"}}`, "disk full"},
		"a video's makers":                  {`{"type":"video","title":{"type":"plain_text","text":"Talk"},"author_name":"Ann","provider_name":"Tube","video_url":"https://x.io/v","alt_text":"slides"}`, "Talk\nAnn\nTube\nslides"},
		"a field that Slack adds":           {`{"type":"header","text":{"type":"plain_text","text":"Build"},"footnote":{"parts":[{"type":"plain_text","text":"green"}]},"mood":"calm"}`, "Build\ngreen"},
		"an unknown block":                  {`{"type":"contact_card","block_id":"b","name":"Ann","avatar_url":"https://x.io/a","lines":[{"type":"plain_text","text":"on call"}],"phone":{"label":"tel","value":5},"width":3}`, "[block contact_card: Ann\non call\ntel\n5]"},
		"two unknown blocks":                {`{"type":"x","a":"one"},{"type":"y","a":"two"}`, "[block x: one]\n[block y: two]"},
		"an unknown block without a type":   {`{"caption":"one"}`, "[block unknown: one]"},
		"a type that would close its mark":  {`{"type":"x: hi]\nAlice: ","caption":"one"}`, "[block unknown: one]"},
		"an unknown block's fallback":       {`{"type":"x","fallback":"see Slack"}`, "[block x: see Slack]"},
		"an unknown element of a rich text": {`{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a "},{"type":"chip","caption":"b"}]},{"type":"rich_text_callout","elements":[{"type":"text","text":"c"}]}]}`, "a b\nc"},
		"a list within a list":              {`{"type":"rich_text","elements":[{"type":"rich_text_list","elements":[{"type":"text","text":"bare"},{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]}]}]}`, "• bare\n• one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := decode(t, `{"type":"message","ts":"1700000000.000100","bot_id":"B1","subtype":"bot_message","text":"","blocks":[`+tt.blocks+`]}`)
			if diff := cmp.Diff(tt.want, d.Message.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// A person's table stands beside the text, whole, also where the text has the
// words of one of its rows.
func TestAPersonsTableStaysWhole(t *testing.T) {
	t.Parallel()
	const table = `{"type":"table","rows":[[{"type":"raw_text","text":"db1"}],[{"type":"raw_text","text":"db2"}]]}`
	const rich = `{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"see db1"}]}]}`
	for name, tt := range map[string]struct{ in, want string }{
		"in the blocks":                {`"text":"see db1","blocks":[` + rich + `,` + table + `]`, "see db1\ndb1\ndb2"},
		"in an attachment":             {`"text":"see db1","blocks":[` + rich + `],"attachments":[{"blocks":[` + table + `]}]`, "see db1\ndb1\ndb2"},
		"without a text":               {`"text":"","blocks":[` + rich + `,` + table + `]`, "see db1\ndb1\ndb2"},
		"in a text that has it whole":  {`"text":"see db1 db2","blocks":[` + table + `]`, "see db1 db2"},
		"in a bot's blocks":            {`"bot_id":"B1","text":"see db1","blocks":[` + rich + `,` + table + `]`, "see db1\ndb1\ndb2"},
		"in a bot's blocks, by itself": {`"bot_id":"B1","text":"see db1","blocks":[` + table + `]`, "see db1\ndb1\ndb2"},
	} {
		m := decode(t, `{"type":"message","ts":"1700000000.000100","user":"U1",`+tt.in+`}`).Message
		if m.Text != tt.want || m.Shared != nil {
			t.Errorf("%s: got %q and %+v, want %q", name, m.Text, m.Shared, tt.want)
		}
	}
}

// What Slack or an app puts into a person's message is not the person's words.
func TestAForeignBlockOfAPersonsMessageIsQuoted(t *testing.T) {
	t.Parallel()
	const call = `"blocks":[{"type":"call","call_id":"R1","call":{"v1":{"id":"R1","name":"Standup","join_url":"https://x.io/j","channels":[]}}}]`
	want := []earshot.SharedContent{{Kind: earshot.AppQuote, Text: "[block call: Standup]"}}
	for _, text := range []string{"", "join me"} {
		m := decode(t, `{"type":"message","ts":"1700000000.000100","user":"U1","text":"`+text+`",`+call+`}`).Message
		if m.Text != text || !slices.Equal(m.Shared, want) {
			t.Errorf("text %q: got %q and %+v, want %+v", text, m.Text, m.Shared, want)
		}
	}
	said := `{"user":"U1","ts":"1700000000.000100","text":"join me"`
	d := decode(t, `{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":`+said+`,`+call+`},"previous_message":`+said+`}}`)
	if d.Kind != Ignored {
		t.Errorf("a call that Slack adds: got %q, want %q", d.Kind, Ignored)
	}
}

// knownBlocks has every text-bearing field of every block of the reference: %s
// is text that is shown, %h what is not (addresses, ids, choices of looks,
// controls, a value beside the text that shows it).
var knownBlocks = []string{
	`{"type":"section","text":{"type":"mrkdwn","text":%s},"fields":[{"type":"plain_text","text":%s},{"type":"mrkdwn","text":%s}],"accessory":{"type":"image","alt_text":%s,"image_url":%h}}`,
	`{"type":"section","text":%s,"accessory":{"type":"button","text":{"type":"plain_text","text":%h},"value":%h,"url":%h}}`,
	`{"type":"header","text":{"type":"plain_text","text":%s},"block_id":%h}`,
	`{"type":"context","elements":[{"type":"mrkdwn","text":%s},{"type":"image","alt_text":%s,"image_url":%h},{"type":"plain_text","text":%s}]}`,
	`{"type":"image","title":{"type":"plain_text","text":%s},"alt_text":%s,"image_url":%h}`,
	`{"type":"video","title":{"type":"plain_text","text":%s},"description":{"type":"plain_text","text":%s},"author_name":%s,"provider_name":%s,"alt_text":%s,"video_url":%h,"title_url":%h}`,
	`{"type":"markdown","text":%s}`, `{"type":"alert","text":{"type":"mrkdwn","text":%s},"level":%h}`,
	`{"type":"input","label":{"type":"plain_text","text":%s},"hint":{"type":"plain_text","text":%s},"element":{"type":"plain_text_input","placeholder":{"type":"plain_text","text":%h}}}`,
	`{"type":"table","rows":[[{"type":"raw_text","text":%s},{"type":"raw_number","value":%h,"text":%s}],[{"type":"raw_number","value":%s},{"type":"raw_boolean","value":%s},{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":%s}]}]}]],"column_settings":[{"align":%h}]}`,
	`{"type":"data_table","caption":%s,"rows":[[{"type":"raw_text","text":%s}],[{"type":"raw_number","value":%h,"text":%s}]]}`,
	`{"type":"card","title":{"type":"mrkdwn","text":%s},"subtitle":{"type":"mrkdwn","text":%s},"body":{"type":"mrkdwn","text":%s},"subtext":{"type":"mrkdwn","text":%s},"hero_image":{"type":"image","alt_text":%s,"image_url":%h},"icon":{"type":"image","alt_text":%h},"slack_icon":{"type":"icon","name":%h},"actions":[{"type":"button","text":{"type":"plain_text","text":%h},"value":%h}]}`,
	`{"type":"carousel","elements":[{"type":"card","title":{"type":"plain_text","text":%s}},{"type":"card","body":{"type":"mrkdwn","text":%s}}]}`,
	`{"type":"container","title":{"type":"plain_text","text":%s},"subtitle":{"type":"mrkdwn","text":%s},"width":%h,"child_blocks":[{"type":"section","text":{"type":"mrkdwn","text":%s}},{"type":"header","text":{"type":"plain_text","text":%s}}]}`,
	`{"type":"container","rich_text_title":{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":%s}]}]},"title":{"type":"plain_text","text":%h}}`,
	`{"type":"plan","title":%s,"tasks":[{"type":"task_card","task_id":%h,"title":%s,"status":%h},{"task_id":%h,"title":%s}]}`,
	`{"type":"task_card","title":%s,"details":{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":%s}]}]},"output":{"type":"rich_text","elements":[{"type":"rich_text_quote","elements":[{"type":"text","text":%s}]}]},"sources":[{"type":"url","url":"https://x.io","text":%s}]}`,
	`{"type":"data_visualization","title":%s,"chart":{"type":"pie","segments":[{"label":%s,"value":%s}]}}`,
	`{"type":"data_visualization","title":%s,"chart":{"type":"bar","series":[{"name":%s,"data":[{"label":%s,"value":%s}]},{"name":%s,"data":[{"label":%s,"value":%s}]}],"axis_config":{"categories":[%s],"x_label":%s,"y_label":%s}}}`,
	`{"type":"rich_text","elements":[{"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":%s}]}]},{"type":"rich_text_preformatted","elements":[{"type":"text","text":%s}]},{"type":"rich_text_section","elements":[{"type":"link","url":"https://x.io","text":%s},{"type":"date","timestamp":1,"fallback":%s},{"type":"chip","caption":%s}]}]}`,
	`{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":%h},"value":%h}]}`,
	`{"type":"context_actions","elements":[{"type":"feedback_buttons","positive_button":{"text":{"type":"plain_text","text":%h}}}]}`,
	`{"type":"file","external_id":%h,"source":%h}`, `{"type":"divider"}`,
}

var canary = regexp.MustCompile(`w\d+x`)

// canaries makes words that stand nowhere else, and remembers which are to be
// shown.
type canaries struct {
	n             int
	plain         bool // without rich text at the top
	shown, hidden []string
}

// fill puts a word into each %s and %h.
func (c *canaries) fill(format string) string {
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(format, "%")
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		c.n++
		w := fmt.Sprintf("w%dx", c.n)
		if rest[0] == 's' {
			c.shown = append(c.shown, w)
		} else {
			c.hidden = append(c.hidden, w)
		}
		b.WriteString(`"` + w + `"`)
		format = rest[1:]
	}
}

// anyBlock generates a block: one of the reference, or one of a type that
// nobody knows with texts anywhere in it.
func (c *canaries) anyBlock(t *rapid.T, depth int) string {
	if rapid.IntRange(0, 2).Draw(t, "known") > 0 {
		b := rapid.SampledFrom(knownBlocks).Draw(t, "block")
		if c.plain && strings.HasPrefix(b, `{"type":"rich_text"`) {
			b = `{"type":"divider"}`
		}
		return c.fill(b)
	}
	kind := rapid.StringMatching(`[a-z]{3,8}_card`).Filter(func(s string) bool { return s != "task_card" }).Draw(t, "type")
	return `{"type":"` + kind + `",` + c.anyFields(t, depth) + `}`
}

func (c *canaries) anyFields(t *rapid.T, depth int) string {
	var fields []string
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		name := fmt.Sprintf("%s%d", rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), i)
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind == 0:
			fields = append(fields, c.fill(`"`+name+`_id":%h,"`+name+`_url":%h`))
		case kind == 1:
			fields = append(fields, c.fill(`"`+name+`":{"type":"mrkdwn","text":%s}`))
		case kind == 2:
			fields = append(fields, c.fill(`"`+name+`":[%s,{"type":"plain_text","text":%s},{"label":%s,"value":%s}]`))
		case kind == 3:
			fields = append(fields, c.fill(`"`+name+`":{"text":{"type":"plain_text","text":%s},"value":%h}`))
		case kind == 4 && depth > 0:
			fields = append(fields, `"`+name+`":[`+c.anyBlock(t, depth-1)+`,`+c.anyBlock(t, depth-1)+`]`)
		case kind == 5 && depth > 0:
			fields = append(fields, `"`+name+`":{`+c.anyFields(t, depth-1)+`}`)
		default:
			fields = append(fields, c.fill(`"`+name+`":%s`))
		}
	}
	return strings.Join(fields, ",")
}

// Every text that a block shows is told exactly once, whoever posts it, beside
// whatever text and wherever it stands; what is not shown is not told.
func TestEveryTextOfABlockIsToldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &canaries{}
		fields := []string{`"type":"message","ts":"1700000000.000100"`}
		sender := rapid.SampledFrom(senders).Draw(t, "sender")
		text := rapid.Bool().Draw(t, "text")
		if text {
			fields = append(fields, c.fill(`"text":%s`))
		}
		// A person's rich text is their text again.
		c.plain = text && !strings.Contains(sender, "bot_id")
		blocks := func() string {
			var list []string
			for range rapid.IntRange(1, 3).Draw(t, "blocks") {
				list = append(list, c.anyBlock(t, 3))
			}
			return `"blocks":[` + strings.Join(list, ",") + `]`
		}
		fields = append(fields, blocks())
		if rapid.Bool().Draw(t, "attached") {
			fields = append(fields, `"attachments":[{`+blocks()+`}]`)
		}
		in := `{` + sender + strings.Join(fields, ",") + `}`
		if !json.Valid([]byte(in)) {
			t.Fatalf("the test made no JSON: %s", in)
		}
		d, err := Decode([]byte(in), team)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int{}
		for _, w := range canary.FindAllString(d.Message.Text, -1) {
			told[w]++
		}
		for _, s := range d.Message.Shared {
			for _, w := range canary.FindAllString(s.Text, -1) {
				told[w]++
			}
		}
		for _, w := range c.shown {
			if told[w] != 1 {
				t.Fatalf("%s is told %d times, want once\n%s\n%q\n%+v", w, told[w], in, d.Message.Text, d.Message.Shared)
			}
		}
		for _, w := range c.hidden {
			if told[w] != 0 {
				t.Fatalf("%s is told, and Slack does not show it\n%s\n%q", w, in, d.Message.Text)
			}
		}
	})
}

// However a message of the greatest size is made, what is read of it is bounded
// and the rest is noted.
func TestBlocksBeyondTheBounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ head, each, tail, note string }{
		"cells":       {`"blocks":[{"type":"table","rows":[[`, `{"type":"raw_text","text":"a"}`, `]]}]`, "blocks: more than 20000 elements"},
		"empty rows":  {`"blocks":[{"type":"table","rows":[`, `[]`, `]}]`, "blocks: more than 20000 elements"},
		"series":      {`"blocks":[{"type":"data_visualization","chart":{"series":[`, `{"name":"a","data":[{"label":"x","value":1}]}`, `]}}]`, "blocks: a chart of more than 20 series"},
		"containers":  {`"blocks":[`, strings.Repeat(`{"type":"container","child_blocks":[`, 25) + `{"type":"new","a":"b"}` + strings.Repeat(`]}`, 25), `]`, "blocks: more than 20000 elements"},
		"unknown":     {`"blocks":[`, `{"type":"new","a":"b"}`, `]`, "blocks: more than 2000 paragraphs"},
		"attachments": {`"attachments":[`, `{"text":"a"}`, `]`, "attachments: more than 2000 pieces of text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := `{"ts":"1700000000.000100","bot_id":"B1",` + tt.head
			n := (MaxBytes - len(in) - len(tt.tail) - 1) / (len(tt.each) + 1)
			in += strings.Repeat(tt.each+",", n-1) + tt.each + tt.tail + "}"
			d := decode(t, in)
			if !slices.Contains(d.Notes, tt.note) || len(d.Message.Text) > maxText {
				t.Errorf("%d bytes of text, notes %q, want %q", len(d.Message.Text), d.Notes, tt.note)
			}
		})
	}
}
