package discordmsg

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// guild knows two people, a channel and two roles.
var guild = Names{
	User: func(id string) string {
		return map[string]string{"900000000000000001": "Ann", "900000000000000009": "earshot"}[id]
	},
	Channel: func(id string) string {
		return map[string]string{"800000000000000001": "general", "800000000000000002": "ops"}[id]
	},
	Role: func(id string) string {
		return map[string]string{"700000000000000001": "admins", "700000000000000009": "earshot"}[id]
	},
	Self:    "900000000000000009",
	OwnRole: func(id string) bool { return id == "700000000000000009" },
}

// post is a message object with the fields of more, which may repeat a field.
func post(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"id":"1100000000000000000","channel_id":"800000000000000001","type":0,"content":"hi","timestamp":"2023-04-24T10:07:17.011000+00:00",
		"edited_timestamp":null,"author":{"id":"900000000000000001","username":"ann.w","global_name":"Ann W","discriminator":"0"},
		"mentions":[],"mention_roles":[],"attachments":[],"embeds":[]` + more + `}`
}

func decoded(t *testing.T, raw string) DecodedMessage {
	t.Helper()
	d, err := Decode([]byte(raw), guild)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAMessageIsDecoded(t *testing.T) {
	d := decoded(t, post(`"guild_id":"600000000000000001","member":{"nick":null,"roles":["700000000000000001"]},"nonce":"abc"`))
	want := DecodedMessage{
		Message: earshot.Message{
			ID: "1100000000000000000", Time: d.Message.Time, Text: "hi",
			Author: earshot.Author{ID: "900000000000000001", Name: "Ann W", FullName: "ann.w", Kind: earshot.Human},
		},
		Channel: "800000000000000001", Guild: "600000000000000001", Nonce: "abc", Roles: []string{"700000000000000001"}, Whole: true,
	}
	if diff := cmp.Diff(d, want); diff != "" {
		t.Error(diff)
	}
	if got, want := d.Message.Time.String(), "2023-04-24T10:07:17.011Z"; got != want {
		t.Errorf("the time of the id is %s, want %s", got, want)
	}
}

func TestWhatIsNoMessageIsAnError(t *testing.T) {
	for _, raw := range []string{``, `[]`, `{}`, `{"id":"x"}`, `{"id":1e3}`, `{"id":"7"}`, `{"id":"7","timestamp":"yesterday"}`, `{"id":"1"`, `{"id":"1"} {}`} {
		if _, err := Decode([]byte(raw), Names{}); !errors.Is(err, ErrNotMessage) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAuthorsHaveTheNameThatPeopleSee(t *testing.T) {
	const webhook = `"author":{"id":"910000000000000001","username":"Ren","bot":true,"discriminator":"0000"},"webhook_id":"910000000000000001"`
	for name, tt := range map[string]struct {
		more string
		want earshot.Author
	}{
		"the nickname":                           {`"member":{"nick":"Annie"}`, earshot.Author{ID: "900000000000000001", Name: "Annie", FullName: "ann.w", Kind: earshot.Human}},
		"the global name":                        {`"member":{"nick":null}`, earshot.Author{ID: "900000000000000001", Name: "Ann W", FullName: "ann.w", Kind: earshot.Human}},
		"the username":                           {`"member":{},"author":{"id":"5","username":"only"}`, earshot.Author{ID: "5", Name: "only", Kind: earshot.Human}},
		"the known name where no member is told": {``, earshot.Author{ID: "900000000000000001", Name: "Ann", FullName: "ann.w", Kind: earshot.Human}},
		"a bot":                                  {`"author":{"id":"5","username":"ci","bot":true}`, earshot.Author{ID: "5", Name: "ci", Kind: earshot.Bot}},
		"Discord itself":                         {`"author":{"id":"5","username":"Discord","system":true}`, earshot.Author{ID: "5", Name: "Discord", Kind: earshot.System}},
		"one of those for whom a webhook speaks": {webhook, earshot.Author{ID: "910000000000000001.a1d8d2ad", Name: "Ren", Kind: earshot.Bot}},
		"the answer to a command is the bot's":   {`"author":{"id":"5","username":"ci","bot":true},"webhook_id":"5","interaction_metadata":{"id":"6"}`, earshot.Author{ID: "5", Name: "ci", Kind: earshot.Bot}},
		"a name of several lines":                {`"member":{"nick":"A\nnn\t  B"}`, earshot.Author{ID: "900000000000000001", Name: "A nn B", FullName: "ann.w", Kind: earshot.Human}},
		"an author without a name":               {`"author":{"id":"5"}`, earshot.Author{ID: "5", Name: "5", Kind: earshot.Human}},
		"an author whose id cannot be one":       {`"author":{"id":"x y","username":"odd"}`, earshot.Author{Name: "odd", Kind: earshot.Human}},
	} {
		t.Run(name, func(t *testing.T) {
			got := decoded(t, post(tt.more)).Message.Author
			if strings.Contains(string(got.ID), ".") {
				if !strings.HasPrefix(string(got.ID), "910000000000000001.") || got.ID == decoded(t, post(strings.Replace(webhook, "Ren", "Kai", 1))).Message.Author.ID {
					t.Errorf("the id %s is not the webhook's with one of the name", got.ID)
				}
				tt.want.ID = got.ID
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRepliesTellWhatTheyReplyTo(t *testing.T) {
	const ref = `"type":19,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`
	for name, tt := range map[string]struct {
		more    string
		replyTo earshot.MessageID
		gone    bool
		text    string
	}{
		"its message is not told":                {ref, "1099999999999999999", false, ""},
		"its message was deleted":                {ref + `,"referenced_message":null`, "1099999999999999999", true, ""},
		"its message is there":                   {ref + `,"referenced_message":` + strings.Replace(post(""), "hi", "before", 1), "1099999999999999999", false, "before"},
		"an older object has no type":            {`"type":19,"message_reference":{"message_id":"1099999999999999999"}`, "1099999999999999999", false, ""},
		"what a command was used on":             {strings.Replace(ref, "19", "23", 1), "1099999999999999999", false, ""},
		"in another channel":                     {strings.Replace(ref, "800000000000000001", "800000000000000002", 1), "", false, ""},
		"a channel that is followed":             {`"type":0,"flags":2,"message_reference":{"type":0,"message_id":"1","channel_id":"2"}`, "", false, ""},
		"a reply without a type of its own":      {strings.Replace(ref, "19", "0", 1), "1099999999999999999", false, ""},
		"the same, without its channel":          {`"type":0,"message_reference":{"message_id":"1099999999999999999"}`, "", false, ""},
		"the same, from another channel":         {`"type":0,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"2"}`, "", false, ""},
		"the same, marked as followed":           {strings.Replace(ref, "19", "0", 1) + `,"flags":2`, "", false, ""},
		"a forward within the channel":           {`"type":0,"message_reference":{"type":1,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`, "", false, ""},
		"a pin":                                  {strings.Replace(ref, "19", "6", 1), "", false, ""},
		"an id that is none":                     {`"type":19,"message_reference":{"message_id":"x"}`, "", false, ""},
		"a message that refers to one that does": {ref + `,"referenced_message":` + post(ref+`,"referenced_message":`+post("")), "1099999999999999999", false, "hi"},
		"a reference that is no message":         {ref + `,"referenced_message":{"content":"x"}`, "1099999999999999999", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := decoded(t, post(tt.more))
			if d.Message.ReplyTo != tt.replyTo || d.Gone != tt.gone {
				t.Errorf("replies to %q, gone %t; want %q, %t", d.Message.ReplyTo, d.Gone, tt.replyTo, tt.gone)
			}
			text := ""
			if d.Referenced != nil {
				text = d.Referenced.Message.Text
				if d.Referenced.Referenced != nil {
					t.Error("the referenced message has one of its own")
				}
			}
			if text != tt.text {
				t.Errorf("the referenced message says %q, want %q", text, tt.text)
			}
		})
	}
}

func TestAStarterStandsForItsMessage(t *testing.T) {
	d := decoded(t, post(`"type":21,"content":"","message_reference":{"channel_id":"800000000000000001","message_id":"1099999999999999999"},"referenced_message":`+
		strings.Replace(post(""), "1100000000000000000", "1099999999999999999", 1)))
	if !d.Starter || d.Referenced == nil || d.Referenced.Message.ID != "1099999999999999999" || d.Referenced.Message.Text != "hi" || d.Message.ReplyTo != "" {
		t.Errorf("got %+v", d)
	}
	if d := decoded(t, post(`"type":21,"referenced_message":null`)); !d.Gone {
		t.Error("a starter whose message was deleted is not gone")
	}
}

func TestUpdatesAreEditsOnlyWithATime(t *testing.T) {
	d := decoded(t, post(`"edited_timestamp":"2023-04-24T11:00:00.5+00:00"`))
	if got, want := d.Message.Edited.String(), "2023-04-24T11:00:00.5Z"; got != want || !d.Whole {
		t.Errorf("edited %s, whole %t", got, d.Whole)
	}
	d = decoded(t, `{"id":"1100000000000000000","channel_id":"800000000000000001","embeds":[{"type":"article","url":"https://example.com/a","title":"A"}]}`)
	if d.Whole || d.Message.Edited != 0 || len(d.Message.Shared) != 1 || d.Message.Author != (earshot.Author{}) {
		t.Errorf("a preview that was added: %+v", d)
	}
}

func TestTheThreadOfAMessageIsTold(t *testing.T) {
	d := decoded(t, post(`"thread":{"id":"1100000000000000000","type":11,"parent_id":"800000000000000001","name":"the log","message_count":3,"last_message_id":"1100000000004194304"}`))
	if d.Thread == nil || d.Thread.Parent != "800000000000000001" || d.ThreadName != "the log" || d.ThreadReplies != 3 {
		t.Fatalf("got %+v", d)
	}
	if a := d.Message.Replies; a == nil || a.Count != 3 || a.Last-d.Message.Time != 1000 {
		t.Errorf("replies: %+v", a)
	}
}

// TestAThreadsCountMayBeUnknown: a count that is absent, or of a thread from when
// Discord stopped to count at 50, is not known, and never none.
func TestAThreadsCountMayBeUnknown(t *testing.T) {
	const now, old = "1100000000000000000", "900000000000000000" // 2023 and 2021
	for thread, want := range map[string]*earshot.Activity{
		`"id":"` + now + `","message_count":3`:                          {Count: 3},
		`"id":"` + now + `","message_count":51`:                         {Count: 51},
		`"id":"` + now + `","message_count":0`:                          nil,
		`"id":"` + now + `"`:                                            {},
		`"id":"` + now + `","total_message_sent":9`:                     {},
		`"id":"` + old + `","message_count":49`:                         {Count: 49},
		`"id":"` + old + `","message_count":50`:                         {},
		`"id":"` + old + `","message_count":50,"total_message_sent":50`: {},
	} {
		got := decoded(t, post(`"thread":{"type":11,"parent_id":"800000000000000001",`+thread+`}`)).Message.Replies
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: got %+v, want %+v", thread, got, want)
		}
	}
}

// One field that cannot be read costs that field and a note.
func TestAMalformedFieldCostsThatFieldAlone(t *testing.T) {
	for name, tt := range map[string]struct{ more, note string }{
		"the content is a number":           {`"content":{"a":1}`, "content: not a string"},
		"attachments are no list":           {`"attachments":{"id":"1"}`, "attachments: not a list"},
		"an attachment has no id":           {`"attachments":[{"filename":"x"}]`, "attachments[0]: no id"},
		"embeds are no objects":             {`"embeds":["x"]`, "embeds[0]: not an object"},
		"mentions are no list":              {`"mentions":"x"`, "mentions: not a list"},
		"reactions are no list":             {`"reactions":7`, "reactions: not a list"},
		"the time of an edit is none":       {`"edited_timestamp":"yesterday"`, "edited_timestamp: not a time"},
		"the thread has no id":              {`"thread":{"name":"x"}`, "thread: no id"},
		"the author has no id":              {`"author":{"username":"x"}`, "author: no id"},
		"it is nested too deep":             {`"components":` + strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested too deep"},
		"there are far too many components": {`"components":[` + strings.Repeat(`{"type":10,"content":"x"},`, 3000) + `{}]`, "more than 1000 elements"},
		"a snapshot is no message":          {`"message_reference":{"type":1},"message_snapshots":[7]`, "message_snapshots: no message"},
	} {
		t.Run(name, func(t *testing.T) {
			d := decoded(t, post(tt.more))
			if len(d.Notes) != 1 || d.Notes[0] != tt.note {
				t.Errorf("notes: %q, want %q", d.Notes, tt.note)
			}
			if d.Message.ID == "" || d.Message.Time == 0 {
				t.Errorf("the message is lost: %+v", d.Message)
			}
		})
	}
	if d := decoded(t, post(`"content":"first","content":"last"`)); d.Message.Text != "last" {
		t.Errorf("of a field that stands twice: %q", d.Message.Text)
	}
	if _, err := Decode([]byte(`{"id":"1","content":"`+strings.Repeat("x", MaxBytes)+`"}`), Names{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a message that is too large: %v", err)
	}
}

// A message within another tells what it replies to in its turn, but not that message.
func TestTheMessageThatAReplyRepliesToIsAReplyItself(t *testing.T) {
	inner := post(`"type":19,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`)
	d := decoded(t, post(`"type":19,"message_reference":{"type":0,"message_id":"1100000000000000000","channel_id":"800000000000000001"},"referenced_message":`+inner))
	if d.Referenced == nil || d.Referenced.Message.ReplyTo != "1099999999999999999" || d.Referenced.Referenced != nil || d.Referenced.Gone {
		t.Errorf("got %+v, want a reply to 1099999999999999999, of which nothing else is known", d.Referenced)
	}
}
