package discordmsg

import (
	"errors"
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

func decoded(t *testing.T, raw string) Decoded {
	t.Helper()
	d, err := Decode([]byte(raw), guild)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAMessageIsDecoded(t *testing.T) {
	d := decoded(t, post(`"guild_id":"600000000000000001","member":{"nick":null,"roles":["700000000000000001"]},"nonce":"abc"`))
	want := Decoded{
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
	for _, raw := range []string{``, `[]`, `{}`, `{"id":"x"}`, `{"id":1e3}`, `{"id":"1"`, `{"id":"1"} {}`} {
		if _, err := Decode([]byte(raw), Names{}); !errors.Is(err, ErrNotMessage) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
