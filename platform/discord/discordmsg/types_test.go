package discordmsg

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// testData returns the path of shared data. Without it a test is skipped on a laptop
// and fails in CI.
func testData(t testing.TB, path string) string {
	t.Helper()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: Discord's description was not read")
	}
	return filepath.Join(root, filepath.FromSlash(path))
}

// Every type of message that Discord describes is talk or a note with a text; none is
// lost, and only talk keeps what its author wrote as it is.
func TestEveryTypeOfMessageIsTalkOrANote(t *testing.T) {
	raw, err := os.ReadFile(testData(t, "spec/discord-openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				OneOf []struct {
					Title string `json:"title"`
					Const any    `json:"const"`
				} `json:"oneOf"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	types := doc.Components.Schemas["MessageType"].OneOf
	if len(types) < 30 {
		t.Fatalf("%d types of messages are described", len(types))
	}
	talking := map[string]bool{"DEFAULT": true, "REPLY": true, "CHAT_INPUT_COMMAND": true, "CONTEXT_MENU_COMMAND": true}
	for _, x := range types {
		n, ok := x.Const.(float64)
		if !ok {
			t.Fatalf("%s has no number", x.Title)
		}
		d := decoded(t, post(`"type":`+strconv.Itoa(int(n))))
		m := d.Message
		switch {
		case x.Title == "THREAD_STARTER_MESSAGE":
			if !d.Starter || m.Text != "" || m.Author.Kind != earshot.Human {
				t.Errorf("%s: %+v", x.Title, d)
			}
		case talking[x.Title]:
			if m.Author.Kind != earshot.Human || m.Text != "hi" {
				t.Errorf("%s: %s %q, want a person who says hi", x.Title, m.Author.Kind, m.Text)
			}
		default:
			if m.Author.Kind != earshot.System || m.Text == "" || m.Text == "hi" || strings.Contains(m.Text, "%") || strings.Contains(m.Text, "\n") {
				t.Errorf("%s (%d): %s %q, want a note", x.Title, int(n), m.Author.Kind, m.Text)
			}
		}
	}
}

func TestNotesSayWhatHappened(t *testing.T) {
	for name, tt := range map[string]struct{ more, want string }{
		"a new name":                 {`"type":4,"content":"ops"`, "changed the channel's name: ops"},
		"somebody is added":          {`"type":1,"content":"","mentions":[{"id":"900000000000000002","username":"bobby","global_name":"Bob"}]`, "added <@900000000000000002|Bob> to the group"},
		"somebody is removed":        {`"type":2,"content":"","mentions":[{"id":"900000000000000002","username":"bobby"}]`, "removed <@900000000000000002|bobby> from the group"},
		"somebody leaves":            {`"type":2,"content":"","mentions":[{"id":"900000000000000001","username":"ann.w"}]`, "left the group"},
		"nobody is told":             {`"type":1,"content":""`, "added somebody to the group"},
		"a thread":                   {`"type":18,"content":"the log"`, "started a thread: the log"},
		"a thread without a name":    {`"type":18,"content":""`, "started a thread"},
		"a pin":                      {`"type":6,"content":"","message_reference":{"type":0,"channel_id":"800000000000000001","message_id":"1"}`, "pinned a message"},
		"a poll's result":            {`"type":46,"content":"","embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"Lunch?"},{"name":"victor_answer_text","value":"pizza"},{"name":"victor_answer_votes","value":"3"},{"name":"total_votes","value":"4"}]}]`, "a poll has closed: Lunch? – pizza (3 of 4 votes)"},
		"a call that goes on":        {`"type":3,"content":"","call":{"participants":[],"ended_timestamp":null}`, "started a call"},
		"a call":                     {`"type":3,"content":"","call":{"ended_timestamp":"2023-04-24T10:19:40+00:00"}`, "started a call that lasted 12 minutes"},
		"a call of one minute":       {`"type":3,"content":"","call":{"ended_timestamp":"2023-04-24T10:08:40+00:00"}`, "started a call that lasted 1 minute"},
		"a call that was missed":     {`"type":3,"content":"","call":{"ended_timestamp":"2023-04-24T10:07:40+00:00"}`, "started a call that lasted less than a minute"},
		"a call that ends too early": {`"type":3,"content":"","call":{"ended_timestamp":"2023-04-23T10:07:40+00:00"}`, "started a call"},
		"a type that is not known":   {`"type":4711`, "hi"},
		"a type that is no number":   {`"type":"x"`, "hi"},
		"a type that is far too big": {`"type":99999999999999999999`, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			d := decoded(t, post(tt.more))
			if d.Message.Text != tt.want {
				t.Errorf("got %q, want %q", d.Message.Text, tt.want)
			}
			if d.Message.ReplyTo != "" {
				t.Errorf("a reply to %s", d.Message.ReplyTo)
			}
		})
	}
}

// Discord tells in the same way that a thread was started from nothing and that one was
// started from an old message. Only the first begins with its name.
func TestAThreadBegunFromNoMessageBeginsWithItsName(t *testing.T) {
	at := func(ms int64) string { return strconv.FormatInt(ms<<22, 10) }
	told := func(thread, content string) string {
		return `{"id":"` + at(300_000_000_000) + `","type":18,"channel_id":"800000000000000001","content":"` + content + `","author":{"id":"900000000000000001","username":"ann.w","global_name":"Ann"},"message_reference":{"channel_id":"` + thread + `"}}`
	}
	now, old := at(300_000_000_000-40), at(300_000_000_000-60_000)
	for name, tt := range map[string]struct{ raw, id, text string }{
		"from no message":     {told(now, "Migrate the  billing DB"), now, "Migrate the billing DB"},
		"its name elsewhere":  {told(now, ""), now, "the log"},
		"from an old message": {told(old, "the log"), at(300_000_000_000), "started a thread: the log"},
		"a broken reference":  {told("x", "the log"), at(300_000_000_000), "started a thread: the log"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Decode([]byte(tt.raw), Names{Channel: func(string) string { return "the log" }})
			if err != nil {
				t.Fatal(err)
			}
			kind := earshot.System
			if tt.id == now {
				kind = earshot.Human
			}
			began, _ := TimeOf(tt.id)
			if m := d.Message; string(m.ID) != tt.id || m.Text != tt.text || m.Author.Kind != kind || m.Time != began || m.Thread != "" || (d.Begun != "") != (tt.id == now) {
				t.Errorf("got %+v, begun %q", m, d.Begun)
			}
		})
	}
}
