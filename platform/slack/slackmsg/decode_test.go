package slackmsg

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// team is the users list of the tests.
var team = Names{
	User: func(id earshot.AuthorID) (earshot.Author, bool) {
		a, ok := map[earshot.AuthorID]earshot.Author{
			"U1":    {ID: "U1", Name: "Alice", Kind: earshot.Human},
			"U2":    {ID: "U2", Name: "Bob <|> O'Neil", Kind: earshot.Human},
			"U3":    {ID: "U3", Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human, Zone: "Europe/Oslo"},
			"U0BOT": {ID: "U0BOT", Name: "earshot", Kind: earshot.Bot},
		}[id]
		return a, ok
	},
	Channel: func(id earshot.ChannelID) string {
		if id == "C1" {
			return "general"
		}
		return ""
	},
}

func decode(t *testing.T, raw string) DecodedMessage {
	t.Helper()
	d, err := Decode([]byte(raw), team)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	return d
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"plain text is kept":                               {`"user":"U1","text":"hello"`, "hello"},
		"entities are resolved once":                       {`"user":"U1","text":"a &amp;amp; b &lt;c&gt;"`, "a &amp; b <c>"},
		"a mention gets its label from the users list":     {`"user":"U1","text":"hi <@U1> and <@U9|zoe> and <@U8>"`, "hi <@U1|Alice> and <@U9|zoe> and <@U8>"},
		"a label cannot close its mention":                 {`"user":"U1","text":"<@U2>"`, "<@U2|Bob O'Neil>"},
		"a literal mention does not become a live one":     {`"user":"U1","text":"&lt;@U1&gt; &lt;!here&gt; &lt;#C1&gt; &lt;b&gt;"`, "&lt;@U1> &lt;!here> &lt;#C1> <b>"},
		"an invisible character does not smuggle one in":   {`"user":"U1","text":"&lt;\u200b@U1&gt;"`, "&lt;\u200b@U1>"},
		"nor does a bracket that was never closed":         {`"user":"U1","text":"<@U1 &gt;"`, "&lt;@U1 >"},
		"other markup stays in Slack's form":               {`"user":"U1","text":"<#C1|general> <#C1> <!here> <!subteam^S1|@devs> <https://x.io/?a=1&amp;b=2|site>"`, "<#C1|general> <#C1|general> <!here> <!subteam^S1|@devs> <https://x.io/?a=1&b=2|site>"},
		"rich text that repeats the text is not doubled":   {`"user":"U1","text":"ship *it* <@U1>","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"ship "},{"type":"text","text":"it","style":{"bold":true}},{"type":"user","user_id":"U1"}]}]}]`, "ship *it* <@U1|Alice>"},
		"a bot's text may be in blocks only":               {`"bot_id":"B1","subtype":"bot_message","text":"","blocks":[{"type":"header","text":{"type":"plain_text","text":"Build 812"}},{"type":"section","text":{"type":"mrkdwn","text":"*green* by <@U1>"},"fields":[{"type":"mrkdwn","text":"2 min"},{"type":"plain_text","text":"a<b"}]},{"type":"context","elements":[{"type":"mrkdwn","text":"main"},{"type":"image","alt_text":"passed"}]},{"type":"image","title":{"type":"plain_text","text":"graph"},"alt_text":"load of the day"}]`, "Build 812\n*green* by <@U1|Alice>\n2 min\na<b\nmain passed\ngraph\nload of the day"},
		"blocks that say more than text stand alone":       {`"bot_id":"B1","text":"Build 812 failed","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*Build 812 failed* on main"}}]`, "*Build 812 failed* on main"},
		"text that blocks do not say stays":                {`"bot_id":"B1","text":"Alert","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"disk full"}}]`, "Alert\ndisk full"},
		"an attachment is read whole, and once":            {`"bot_id":"B1","text":"deploy","attachments":[{"fallback":"deploy failed","pretext":"deploy","title":"failed","title_link":"https://ci/1","text":"see <@U1>","fields":[{"title":"env","value":"prod"}],"footer":"ci"}]`, "deploy\n<https://ci/1|failed>\nsee <@U1|Alice>\nenv: prod\nci"},
		"a fallback speaks only where nothing else does":   {`"bot_id":"B1","text":"","attachments":[{"fallback":"build 7 green"}]`, "build 7 green"},
		"a word inside another is not said already":        {`"bot_id":"B1","text":"look","attachments":[{"text":"ok"}]`, "look\nok"},
		"every element of rich text is read":               {`"bot_id":"B1","text":"","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a & b"},{"type":"emoji","name":"tada"},{"type":"link","url":"https://x.io","text":"x"},{"type":"usergroup","usergroup_id":"S1"},{"type":"channel","channel_id":"C1"},{"type":"broadcast","range":"here"},{"type":"date","timestamp":1,"fallback":"Monday"}]},{"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]},{"type":"rich_text_list","style":"bullet","indent":1,"elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"deep"}]}]},{"type":"rich_text_quote","elements":[{"type":"text","text":"said\nso"}]},{"type":"rich_text_preformatted","elements":[{"type":"text","text":"x := 1"}]}]}]`, "a & b:tada:<https://x.io|x><!subteam^S1><#C1|general><!here>Monday\n1. one\n2. two\n    • deep\n> said\n> so\n```\nx := 1\n```"},
		"literal brackets of rich text do not become live": {`"bot_id":"B1","text":"","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"<"},{"type":"text","text":"@U1>"}]}]}]`, "&lt;@U1>"},
		"a malformed block costs only itself":              {`"bot_id":"B1","text":"","blocks":[7,{"type":"section","text":[]},{"type":"section","text":{"type":"mrkdwn","text":"still here"}}]`, "still here"},
		"a table is one line a row":                        {`"bot_id":"B1","text":"","blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"a"},{"type":"raw_text","text":"b"}],[{"type":"raw_text","text":"1"},{"type":"raw_text","text":"2"}]]}]`, "a | b\n1 | 2"},
		"lone surrogates and NUL become storable":          {`"user":"U1","text":"a\ud800b\u0000c"`, "a\ufffdb\u2400c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := decode(t, `{"type":"message","ts":"1700000000.000100",`+tt.in+`}`)
			if diff := cmp.Diff(tt.want, d.Message.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	ts, _ := earshot.ParseTime("1700000000.000100")
	edit, _ := earshot.ParseTime("1700000060.000000")
	last, _ := earshot.ParseTime("1700000009.000000")
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	for name, tt := range map[string]struct {
		in   string
		want earshot.Message
	}{
		"a root carries its own id as thread, its activity, reactions and files": {
			`"user":"U1","text":"x <@U0BOT> <@U0BOT>","thread_ts":"1700000000.000100","reply_count":3,"latest_reply":"1700000009.000000","edited":{"user":"U1","ts":"1700000060.000000"},
			 "reactions":[{"name":"eyes","count":2,"users":["U1","U2"]},{"name":"x","users":["U1"]},{"name":""},7],
			 "files":[{"id":"F1","name":"a.png","mimetype":"image/png","size":12},{"id":"F1"},{"id":"F2","mode":"tombstone"},{"id":"F3","mode":"hidden_by_limit"},{"id":"F4","file_access":"check_file_info"},{"id":"F5","title":"plan","mode":"external"},{"name":"no id"}]`,
			earshot.Message{Author: alice, Text: "x <@U0BOT|earshot> <@U0BOT|earshot>", Thread: "1700000000.000100", Edited: edit, Mentions: []earshot.AuthorID{"U0BOT"},
				Replies:   &earshot.Activity{Count: 3, Last: last},
				Reactions: []earshot.Reaction{{Name: "eyes", Count: 2}, {Name: "x", Count: 1}},
				Reactors:  &earshot.Reactors{List: []earshot.Reactor{{Emoji: "eyes", ID: "U1"}, {Emoji: "eyes", ID: "U2"}, {Emoji: "x", ID: "U1"}}},
				Files:     []earshot.File{{ID: "F1", Name: "a.png", Type: "image/png", Size: 12}, {ID: "F3", Name: hidden}, {ID: "F4", Name: "F4"}, {ID: "F5", Name: "plan"}}}},
		"a broadcast reply is one message of its thread": {
			`"subtype":"thread_broadcast","user":"U1","text":"done","thread_ts":"1699999999.000000"`,
			earshot.Message{Author: alice, Text: "done", Thread: "1699999999.000000"}},
		"a bot without a user is its bot id": {
			`"subtype":"bot_message","bot_id":"B1","username":"CI","text":"green"`,
			earshot.Message{Author: earshot.Author{ID: "B1", Name: "CI", Kind: earshot.Bot}, Text: "green"}},
		"a bot that has only a name cannot take anyone's id": {
			`"subtype":"bot_message","username":"U0BOT","text":"green"`,
			earshot.Message{Author: earshot.Author{ID: "username:U0BOT", Name: "U0BOT", Kind: earshot.Bot}, Text: "green"}},
		"an app's bot user is a bot, by its user id": {
			`"user":"U0BOT","bot_id":"B0","text":"hi"`,
			earshot.Message{Author: earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}, Text: "hi"}},
		"a person who posts through an app stays a person": {
			`"user":"U1","bot_id":"B7","text":"hi"`,
			earshot.Message{Author: alice, Text: "hi"}},
		"a stranger has the name that came with the message": {
			`"user":"U77","user_profile":{"display_name":"","real_name":"Zoe"},"text":"hi"`,
			earshot.Message{Author: earshot.Author{ID: "U77", Name: "Zoe", Kind: earshot.Human}, Text: "hi"}},
		"a full name is told where it is another": {
			`"user":"U77","user_profile":{"display_name":"zoe","real_name":"Zoe Maier"},"text":"hi"`,
			earshot.Message{Author: earshot.Author{ID: "U77", Name: "zoe", FullName: "Zoe Maier", Kind: earshot.Human}, Text: "hi"}},
		"the users list knows a full name too": {
			`"user":"U3","text":"hi"`,
			earshot.Message{Author: earshot.Author{ID: "U3", Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human}, Text: "hi"}},
		"files say what they are": {
			`"subtype":"file_share","user":"U1","text":"x","files":[{"id":"F1","name":"stock","mimetype":"application/octet-stream","filetype":"xlsx"},{"id":"F2","name":"plan","mimetype":"","filetype":"docx"},{"id":"F3","name":"a.bin","mimetype":"application/octet-stream","filetype":"binary"},` +
				`{"id":"F4","name":"audio_message.m4a","mimetype":"","subtype":"slack_audio","duration_ms":14200},{"id":"F5","name":"audio_message.webm","mimetype":"video/webm","subtype":"slack_audio","duration_ms":-3}]`,
			earshot.Message{Author: alice, Text: "x", Files: []earshot.File{
				{ID: "F1", Name: "stock", Type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}, {ID: "F2", Name: "plan", Type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
				{ID: "F3", Name: "a.bin", Type: "application/octet-stream"}, {ID: "F4", Name: "voice message, 0:14", Type: "audio/mp4"}, {ID: "F5", Name: "voice message", Type: "audio/webm"},
			}},
		},
		"a message of files has no text": {
			`"subtype":"file_share","user":"U1","text":"","files":[{"id":"F1","name":"plan.pdf","title":"The plan","mimetype":"application/pdf","size":9}]`,
			earshot.Message{Author: alice, Files: []earshot.File{{ID: "F1", Name: "plan.pdf", Type: "application/pdf", Size: 9}}}},
		"the last reply stands in an export's list": {
			`"user":"U1","text":"x","thread_ts":"1700000000.000100","reply_count":2,"replies":[{"user":"U1","ts":"1700000009.000000"},{"user":"U2","ts":"1700000003.000000"},{"ts":"x"}]`,
			earshot.Message{Author: alice, Text: "x", Thread: "1700000000.000100", Replies: &earshot.Activity{Count: 2, Last: last}}},
		"a join is the platform's own note": {
			`"subtype":"channel_join","user":"U1","text":"<@U1> has joined the channel"`,
			earshot.Message{Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.System}, Text: "<@U1|Alice> has joined the channel", Mentions: []earshot.AuthorID{"U1"}}},
		"fields of the wrong kind cost themselves": {
			`"user":"U1","text":"hi","thread_ts":{},"edited":"x","reactions":{},"files":"y","attachments":[[]]`,
			earshot.Message{Author: alice, Text: "hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := decode(t, `{"type":"message","ts":"1700000000.000100",`+tt.in+`}`)
			tt.want.ID, tt.want.Time = "1700000000.000100", ts
			if d.Kind != Posted {
				t.Errorf("kind: got %q, want %q", d.Kind, Posted)
			}
			if diff := cmp.Diff(tt.want, d.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	const old = `{"user":"U1","text":"a","ts":"1700000000.000100"}`
	for name, tt := range map[string]struct {
		in           string
		kind         Kind
		reason, text string
		edited       string
	}{
		"a change of text is an edit":                        {`{"type":"message","subtype":"message_changed","channel":"C1","ts":"1700000050.000000","message":{"user":"U1","text":"b","ts":"1700000000.000100","edited":{"ts":"1700000049.000000"}},"previous_message":` + old + `}`, Edit, "", "b", "1700000049.000000"},
		"an unfurl is none, and is still told":               {`{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":{"user":"U1","text":"a","ts":"1700000000.000100","attachments":[{"from_url":"https://x.io","title":"X"}]},"previous_message":` + old + `}`, Ignored, Unfurl, "a", ""},
		"a bot's update without edit time gets one":          {`{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":{"bot_id":"B1","text":"done","ts":"1700000000.000100"},"previous_message":{"bot_id":"B1","text":"running","ts":"1700000000.000100"}}`, Edit, "", "done", "1700000050.000000"},
		"a file that is added is an edit":                    {`{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":{"user":"U1","text":"a","ts":"1700000000.000100","files":[{"id":"F1"}]},"previous_message":` + old + `}`, Edit, "", "a", "1700000050.000000"},
		"without the previous message the edit time decides": {`{"type":"message","subtype":"message_changed","message":{"user":"U1","text":"b","ts":"1700000000.000100","edited":{"ts":"1700000049.000000"}}}`, Edit, "", "b", "1700000049.000000"},
		"a deletion is a tombstone":                          {`{"type":"message","subtype":"message_deleted","channel":"C1","ts":"1700000050.000000","deleted_ts":"1700000000.000100","previous_message":{"text":"secret","ts":"1700000000.000100"}}`, Delete, "", "", ""},
		"a deleted parent comes as a change":                 {`{"type":"message","subtype":"message_changed","message":{"subtype":"tombstone","text":"This message was deleted.","user":"USLACKBOT","ts":"1700000000.000100","thread_ts":"1700000000.000100"},"previous_message":` + old + `}`, Delete, "", "", ""},
		"a tombstone in an export is a deletion":             {`{"type":"message","subtype":"tombstone","text":"This message was deleted.","user":"USLACKBOT","ts":"1700000000.000100"}`, Delete, "", "", ""},
		"a reply notice is no message":                       {`{"type":"message","subtype":"message_replied","message":{"ts":"1.0"},"ts":"1700000000.000100"}`, Ignored, ReplyNotice, "", ""},
		"nor is one that came without its subtype":           {`{"type":"message","hidden":true,"channel":"C1","message":{"user":"U1","text":"root","ts":"1700000000.000100","reply_count":1},"ts":"1700000001.000100"}`, Ignored, ReplyNotice, "", ""},
		"another event is no message":                        {`{"type":"reaction_added","user":"U1"}`, Ignored, NotAMessage, "", ""},
		"an ephemeral message is not the channel's":          {`{"type":"message","is_ephemeral":true,"text":"psst","user":"USLACKBOT","ts":"1700000000.000100"}`, Ignored, Ephemeral, "", ""},
		"a callback is unwrapped":                            {`{"type":"event_callback","team_id":"T1","event":{"type":"app_mention","user":"U1","text":"hey","ts":"1700000000.000100","channel":"C1"}}`, Posted, "", "hey", ""},
		"a deletion of nothing is ignored":                   {`{"type":"message","subtype":"message_deleted"}`, Ignored, NoTarget, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := decode(t, tt.in)
			if d.Kind != tt.kind || d.Reason != tt.reason {
				t.Errorf("got %q %q, want %q %q", d.Kind, d.Reason, tt.kind, tt.reason)
			}
			if d.Message.Text != tt.text {
				t.Errorf("text: got %q, want %q", d.Message.Text, tt.text)
			}
			if want, _ := earshot.ParseTime(tt.edited); d.Message.Edited != want {
				t.Errorf("edited: got %s, want %s", d.Message.Edited, want)
			}
			if tt.kind == Delete {
				want := earshot.Message{ID: "1700000000.000100", Time: 1700000000000100, Deleted: true, Thread: d.Message.Thread}
				if diff := cmp.Diff(want, d.Message); diff != "" {
					t.Errorf("a tombstone holds more than it may (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// The subtypes are those of docs.slack.dev, message, and of Slack's client.
func TestWhatIsNoTalk(t *testing.T) {
	t.Parallel()
	for want, subtypes := range map[earshot.AuthorKind][]string{
		earshot.System: {
			"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive", "channel_unarchive",
			"channel_convert_to_private", "channel_convert_to_public", "channel_posting_permissions", "channel_canvas_updated",
			"group_join", "group_leave", "group_topic", "group_purpose", "group_name", "group_archive", "group_unarchive",
			"mpdm_move", "pinned_item", "unpinned_item", "bot_add", "bot_remove", "bot_enable", "bot_disable",
			"reminder", "reminder_add", "reminder_delete", "app_conversation_join", "app_conversation_leave", "joiner_notification",
			"sh_room_created", "huddle_thread", "tabbed_canvas_updated", "assistant_app_thread",
		},
		earshot.Human: {"", "me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment", "file_mention"},
		earshot.Bot:   {"bot_message"},
	} {
		for _, s := range subtypes {
			by := `"user":"U1"`
			if s == "bot_message" {
				by = `"bot_id":"B1","username":"CI"`
			}
			if d := decode(t, `{"type":"message","ts":"1700000000.000100","subtype":"`+s+`",`+by+`,"text":"x"}`); d.Message.Author.Kind != want {
				t.Errorf("subtype %q: got author kind %q, want %q", s, d.Message.Author.Kind, want)
			}
		}
	}
}

func TestAReplyNoticeTellsOfTheRoot(t *testing.T) {
	t.Parallel()
	const root = `"message":{"type":"message","user":"U1","text":"root","thread_ts":"1700000000.000100","reply_count":1,"replies":[{"user":"U2","ts":"1700000009.000000"}],"ts":"1700000000.000100"},"hidden":true,"channel":"C1","ts":"1700000009.000200"}`
	for name, in := range map[string]string{
		"as documented": `{"type":"message","subtype":"message_replied",` + root,
		"as delivered":  `{"type":"message",` + root,
	} {
		d := decode(t, in)
		want := earshot.Message{ID: "1700000000.000100", Time: 1700000000000100, Replies: &earshot.Activity{Count: 1, Last: 1700000009000000}}
		if diff := cmp.Diff(want, d.Message); diff != "" || d.Kind != Ignored || d.Reason != ReplyNotice {
			t.Errorf("%s: got %q %q, message (-want +got):\n%s", name, d.Kind, d.Reason, diff)
		}
	}
}

func TestAPostOfOursTellsItsKeyAndWhetherItIsWhole(t *testing.T) {
	t.Parallel()
	const ours = `{"user":"U0BOT","bot_id":"B0","text":"because","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"},"metadata":{"event_type":"earshot_post","event_payload":{"key":"p1","whole":true}}}`
	for name, tt := range map[string]struct {
		in    string
		key   string
		whole bool
	}{
		"with its last text, in history":  {ours, "p1", true},
		"with its last text, in an event": {`{"type":"message","subtype":"message_changed","channel":"C1","message":` + ours + `,"previous_message":` + strings.Replace(ours, "because", "…", 1) + `}`, "p1", true},
		"while it waits":                  {strings.Replace(ours, `,"whole":true`, "", 1), "p1", false},
		"of another app":                  {strings.Replace(ours, "earshot_post", "other", 1), "", false},
		"without a key":                   {strings.Replace(ours, `"key":"p1",`, "", 1), "", false},
	} {
		d := decode(t, tt.in)
		if d.Key != tt.key || d.Whole != tt.whole || d.Message.Text != "because" {
			t.Errorf("%s: got key %q, whole %v, text %q", name, d.Key, d.Whole, d.Message.Text)
		}
	}
}

func TestAuthor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want earshot.Author
	}{
		"the full name stands beside a display name": {
			`{"id":"U1","name":"sam.l","tz":"Europe/Oslo","real_name":"Sam Lindqvist","profile":{"display_name":"Sam","real_name":"Sam Lindqvist"}}`,
			earshot.Author{ID: "U1", Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human, Zone: "Europe/Oslo"}},
		"one name is not told twice": {
			`{"id":"U1","name":"sam","real_name":"Sam Lindqvist","profile":{"display_name":"","real_name":"Sam Lindqvist"}}`,
			earshot.Author{ID: "U1", Name: "Sam Lindqvist", Kind: earshot.Human}},
		"an older list has the real name beside the profile": {
			`{"id":"U1","real_name":"Sam Lindqvist","tz":"America/Argentina/Buenos_Aires","profile":{"display_name":"Sam"}}`,
			earshot.Author{ID: "U1", Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human, Zone: "America/Argentina/Buenos_Aires"}},
		"what is no zone is none": {
			`{"id":"U1","name":"sam","tz":"../../etc/passwd"}`,
			earshot.Author{ID: "U1", Name: "sam", Kind: earshot.Human}},
		"nor is the machine's": {
			`{"id":"U1","name":"sam","tz":"Local"}`,
			earshot.Author{ID: "U1", Name: "sam", Kind: earshot.Human}},
		"a bot lives nowhere": {
			`{"id":"U2","name":"ci","is_bot":true,"tz":"America/Los_Angeles"}`,
			earshot.Author{ID: "U2", Name: "ci", Kind: earshot.Bot}},
	} {
		a, _, _, ok := Author([]byte(tt.in))
		if diff := cmp.Diff(tt.want, a); diff != "" || !ok {
			t.Errorf("%s: ok %v, author (-want +got):\n%s", name, ok, diff)
		}
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want error
	}{
		"an array":          {`[]`, ErrNotMessage},
		"broken JSON":       {`{"ts":"1700000000.000100"`, ErrNotMessage},
		"something after":   {`{"ts":"1700000000.000100"} {}`, ErrNotMessage},
		"no ts":             {`{"text":"x"}`, ErrNotMessage},
		"a ts that is none": {`{"ts":"yesterday"}`, ErrNotMessage},
		"another time":      {`{"ts":"2024-01-01T00:00:00Z"}`, ErrNotMessage},
		"one megabyte":      {`{"ts":"1700000000.000100","text":"` + strings.Repeat("x", MaxBytes) + `"}`, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode([]byte(tt.in), team)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err != nil && len(err.Error()) > 200 {
				t.Errorf("the error quotes its input: %.200s…", err)
			}
		})
	}
}

func TestWhatLiesTooDeepIsLeftOut(t *testing.T) {
	t.Parallel()
	d := decode(t, `{"ts":"1700000000.000100","user":"U1","text":"hi","x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`)
	if d.Message.Text != "hi" || len(d.Notes) != 1 {
		t.Errorf("got %q with notes %q, want the text and one note", d.Message.Text, d.Notes)
	}
}

// Every payload that Slack's SDKs know decodes, and what a blank skeleton
// holds once its strings are filled in arrives in the text.
func TestSkeletons(t *testing.T) {
	t.Parallel()
	n := 0
	for _, path := range skeletons(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if json.Unmarshal(raw, &doc) != nil {
			continue
		}
		n++
		raw, _ = json.Marshal(filled("", doc))
		d, err := Decode(raw, Names{})
		base := filepath.Base(path)
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		message := strings.HasPrefix(base, "Message") || base == "AppMentionPayload.json"
		if message == (d.Reason == NotAMessage) {
			t.Errorf("%s: got %q %q", base, d.Kind, d.Reason)
		}
		if base == "MessagePayload.json" {
			for _, want := range []string{"v.text", "v.pretext", "v.title", "v.value", "v.footer", "v.alt_text"} {
				if !strings.Contains(d.Message.Text, want) {
					t.Errorf("%s: %q is not in the text:\n%s", base, want, d.Message.Text)
				}
			}
		}
	}
	if n < 90 {
		t.Errorf("read %d payloads, want at least 90", n)
	}
}

// filled puts a recognisable text into every blank of a skeleton.
func filled(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = filled(k, v[k])
		}
	case []any:
		for i := range v {
			v[i] = filled(key, v[i])
		}
	case string:
		switch {
		case strings.HasSuffix(key, "ts") || key == "latest_reply":
			return "1700000000.000100"
		case v == "" && (key == "from_url" || key == "original_url" || key == "app_unfurl_url"):
			return ""
		case v == "":
			return "v." + key
		}
	case bool:
		return false
	}
	return v
}

func skeletons(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: Slack's event skeletons were not read")
	}
	paths, err := filepath.Glob(filepath.Join(root, "spec", "slack-events", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no skeletons below %s: %v", root, err)
	}
	return paths
}
