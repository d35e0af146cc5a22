package daemon_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	adapter "github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// choice clicks at a message that another process has posted, and sends the form that a
// button opens.
func choice(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	id := x.askToChoose(bot.Choice{ID: "do", Label: "Do it", Style: bot.ChoiceDo}, bot.Choice{ID: "dont", Label: "Don't", Words: "Why not?"})
	x.start()
	x.Click(x.general, id, x.ann, "Do it")
	form := x.Click(x.general, id, x.bob, "Don't")
	answered := func(n int) func() bool {
		return func() bool {
			list := x.Interactions()
			for _, i := range list {
				if i.Answer == 0 {
					return false
				}
			}
			return len(list) == n
		}
	}
	x.until("both clicks are answered", answered(2))
	x.Submit(form, "It is the only copy.")
	x.until("the form is answered", answered(3))
	var got []int
	for _, i := range x.Interactions() {
		got = append(got, i.Answer)
	}
	if got[0] != 6 || got[1] != 9 || got[2] != 6 {
		t.Errorf("the answers are of types %v, want 6, 9, 6", got)
	}
}

// askToChoose posts a message with choices as the bot, by an adapter of its own.
func (x *discordWorld) askToChoose(list ...bot.Choice) string {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), "memory:", nil)
	if err != nil {
		x.t.Fatal(err)
	}
	defer st.Close()
	p, err := adapter.Open(x.t.Context(), adapter.Options{APIURL: x.APIURL(), Token: secret.New(x.App().Token), Store: st})
	if err != nil {
		x.t.Fatal(err)
	}
	q := x.Post(discord.PostedMessage{Channel: x.general, User: x.ann, Text: "delete it", Mute: true})
	s := x.scope(x.general)
	m, err := p.Post(x.t.Context(), bot.Draft{
		Place: bot.Place{
			Channel: earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Kind: earshot.KindChannel},
			Anchor:  earshot.Message{ID: earshot.MessageID(q)},
		},
		Text: "Delete it?", Key: "aKEY", Choices: list,
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return string(m.ID)
}
