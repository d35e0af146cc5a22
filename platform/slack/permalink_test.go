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
		args := url.Values{"channel": {x.general}, "message_ts": {string(at.ID)}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.slack.URL()+"/api/chat.getPermalink?"+args.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+x.slack.App().BotToken)
		response, err := http.DefaultClient.Do(request)
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
