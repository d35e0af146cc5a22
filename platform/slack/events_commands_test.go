package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// A question is somebody's only where our own post says so: metadata of others, and a text that
// names somebody else, count for nothing. History is read in the same way.
func TestOnlyOurOwnPostIsSomebodysQuestion(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	at := earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general)}
	ours := `"user":"` + x.me + `","bot_id":"` + x.slack.App().BotID + `","app_id":"` + x.slack.App().ID + `"`
	for i, c := range []struct {
		name, who, by, text string
		is                  earshot.AuthorID
	}{
		{"ours", ours, x.mara, "<@" + x.mara + ">: what broke?", earshot.AuthorID(x.mara)},
		{"a person's", `"user":"U0OTHER"`, x.mara, "<@" + x.mara + ">: what broke?", "U0OTHER"},
		{"another app's", `"user":"U0EVIL","bot_id":"B0EVIL","app_id":"A0EVIL"`, x.mara, "<@" + x.mara + ">: what broke?", "U0EVIL"},
		{"ours, of nobody", ours, "", "<@" + x.mara + ">: what broke?", earshot.AuthorID(x.me)},
		{"ours, of somebody else than the text says", ours, x.mara, "<@U0BOB>: what broke?", earshot.AuthorID(x.me)},
		{"ours, of what is no id", ours, "U1>: <!channel", "<@U1>: <!channel>: what broke?", earshot.AuthorID(x.me)},
	} {
		ts := "1773153070." + strings.Repeat("0", 5) + string(rune('1'+i))
		metadata, err := json.Marshal(map[string]any{"event_type": "earshot_question", "event_payload": map[string]string{"by": c.by}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		body := `{"type":"event_callback","event_id":"Ev` + ts[len(ts)-3:] + `","team_id":"` + string(at.Workspace) + `","api_app_id":"` + x.slack.App().ID + `","event":{"type":"message","channel":"` + x.general +
			`","channel_type":"channel","ts":"` + ts + `","event_ts":"` + ts + `","text":` + string(text) + `,` + c.who + `,"metadata":` + string(metadata) + `}}`
		w := postForm(t, x.platform.Handler(x.bot.Handle), x.slack.App().SigningSecret, "POST", "application/json", body)
		m, err := x.store.Message(t.Context(), at.Scope(), earshot.MessageID(ts))
		if w.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d, %v", c.name, w.Code, err)
		}
		called := slices.Contains(m.Mentions, earshot.AuthorID(x.me))
		if want := c.is == earshot.AuthorID(x.mara); m.Author.ID != c.is || called != want {
			t.Errorf("%s: stored is %+v", c.name, m)
		}
	}
}

// A command's fields are checked, although Slack vouches for them, and a failure is told without
// its cause.
func TestACommandIsChecked(t *testing.T) {
	t.Parallel()
	var got []bot.Command
	do := func(_ context.Context, c bot.Command) (string, error) {
		got = append(got, c)
		switch c.Name {
		case bot.CommandWhy:
			return "", errors.New("the disk is full of secrets")
		case bot.CommandAsk:
			return "", nil
		}
		return "told <@U1>", nil
	}
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.Command, o.Allow = do, slack.Allow{Users: []string{"U0NOBODY"}}
	})
	allowed := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Command = do })
	for name, c := range map[string]struct {
		in     *inbox
		change func(url.Values)
		says   string // "": an empty answer
		calls  int
	}{
		"a command":                        {allowed, func(url.Values) {}, "told &lt; @U1&gt;", 1},
		"one that fails":                   {allowed, func(v url.Values) { v.Set("text", " WHY ") }, "not stored", 1},
		"of who is not answered":           {x, func(url.Values) {}, "not among the people", 0},
		"of another app":                   {allowed, func(v url.Values) { v.Set("api_app_id", "A0EVIL") }, "", 0},
		"of another workspace":             {allowed, func(v url.Values) { v.Set("team_id", "T0EVIL") }, "", 0},
		"of nobody":                        {allowed, func(v url.Values) { v.Del("user_id") }, "", 0},
		"of what is no id":                 {allowed, func(v url.Values) { v.Set("user_id", "U1>") }, "", 0},
		"in no channel":                    {allowed, func(v url.Values) { v.Set("channel_id", "") }, "", 0},
		"with no name":                     {allowed, func(v url.Values) { v.Set("command", "earshot") }, "", 0},
		"with a text that is large":        {allowed, func(v url.Values) { v.Set("text", strings.Repeat("x", 20<<10)) }, "", 0},
		"with a text of no UTF-8":          {allowed, func(v url.Values) { v.Set("text", "help \xff") }, "", 1}, // a question
		"with a question that is too long": {allowed, func(v url.Values) { v.Set("text", "ask "+strings.Repeat("x", 3001)) }, "longer than 3000 characters", 0},
	} {
		v := url.Values{
			"command": {"/earshot"}, "text": {"help"}, "user_id": {c.in.mara}, "channel_id": {c.in.general}, "team_id": {string(c.in.platform.Workspace())},
			"api_app_id": {c.in.slack.App().ID}, "trigger_id": {"1.2.3"},
		}
		c.change(v)
		got = nil
		w := postForm(t, c.in.platform.Handler(c.in.bot.Handle), c.in.slack.App().SigningSecret, "POST", urlencoded, v.Encode())
		if w.Code != http.StatusOK || len(got) != c.calls || c.says == "" && w.Body.Len() != 0 || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\u0026`, "&"), c.says) || strings.Contains(w.Body.String(), "secrets") {
			t.Errorf("%s: %d %s, called with %+v", name, w.Code, w.Body, got)
		}
		for _, k := range got {
			if k.By.ID != earshot.AuthorID(allowed.mara) || k.Name != bot.CommandAsk && k.Prefix != "/earshot " {
				t.Errorf("%s: called with %+v", name, k)
			}
		}
	}
}
