package slack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/earshot-ai/earshot"
)

// TestAPermalinkIsSlacksOwn compares with chat.getPermalink, at the top level and in a
// thread.
func TestAPermalinkIsSlacksOwn(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	root := x.asked(t, x.general, "", "anyone?")
	for _, at := range []earshot.Message{root.Anchor, x.asked(t, x.general, string(root.Anchor.ID), "still?").Anchor} {
		response, err := http.PostForm(x.slack.URL()+"/api/chat.getPermalink", url.Values{
			"token": {x.slack.App().BotToken}, "channel": {x.general}, "message_ts": {string(at.ID)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Permalink string }
		err = json.NewDecoder(response.Body).Decode(&want)
		_ = response.Body.Close()
		got := x.Permalink(root.Channel, at)
		if err != nil || got == "" || got != want.Permalink {
			t.Errorf("got %q, Slack says %q, %v", got, want.Permalink, err)
		}
		if channel, id, ok := earshot.ParsePermalink(got); !ok || string(channel) != x.general || id != at.ID {
			t.Errorf("%q reads as %s in %s", got, id, channel)
		}
	}
}
