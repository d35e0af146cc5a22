package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// Clicks and forms come to the daemon's bot by both transports, and Slack has its answer once
// the bot has taken them.
func TestSlackClicksReachTheBot(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		x.start()
		root := x.Say(x.general, x.ann, "close the gate")
		x.settled()
		ts := x.asks(root)
		x.settled()
		if c := x.Click(x.general, ts, x.ann, "Go ahead"); c.Outcome != "acked" {
			t.Errorf("a click is answered %+v", c)
		}
		if c := x.Click(x.general, ts, x.bob, "No"); c.Outcome != "acked" || len(x.Forms()) != 1 {
			t.Fatalf("a click with a form is answered %+v, open are %+v", c, x.Forms())
		}
		if c := x.Submit(x.bob, "too early"); c.Outcome != "acked" || len(x.Forms()) != 0 {
			t.Errorf("the form is answered %+v, open are %+v", c, x.Forms())
		}
		for _, e := range x.Ephemerals() {
			if strings.Contains(e.Text, "not stored") {
				t.Errorf("told: %+v", e)
			}
		}
	})
}

// asks posts a message with choices in a thread, as the bot does.
func (x *slackWorld) asks(root string) string {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), "memory:", nil)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = st.Close() })
	p, err := slack.Open(x.t.Context(), slack.Options{APIURL: x.URL() + "/api/", BotToken: secret.New(x.App().BotToken), Store: st})
	if err != nil {
		x.t.Fatal(err)
	}
	at, err := earshot.ParseTime(root)
	if err != nil {
		x.t.Fatal(err)
	}
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: p.Workspace(), ID: earshot.ChannelID(x.general), Kind: earshot.KindChannel}
	anchor := earshot.Message{ID: earshot.MessageID(root), Time: at, Author: earshot.Author{ID: earshot.AuthorID(x.ann), Kind: earshot.Human}, Text: "close the gate"}
	if err := st.PutChannel(x.t.Context(), channel); err != nil {
		x.t.Fatal(err)
	}
	if _, err := st.Record(x.t.Context(), channel.Scope(), anchor); err != nil {
		x.t.Fatal(err)
	}
	m, err := p.Post(x.t.Context(), bot.Draft{
		Place: bot.Place{Channel: channel, Anchor: anchor, Thread: anchor.ID}, Text: "May I?", Key: "k1",
		Choices: []bot.Choice{{ID: "yes", Label: "Go ahead", Style: bot.ChoiceDo}, {ID: "no", Label: "No", Words: "Why not?"}},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return string(m.ID)
}
