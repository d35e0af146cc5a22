package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// An app that is installed again over the same store has a new bot user. It is the same
// bot: it goes on with its conversations, its old answers are its own, and who named the
// old id named it.
func TestAReinstalledAppIsTheSameBot(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=transcript")
		x.start()
		old := x.self
		root := x.Say(x.general, x.ann, x.at("is it raining?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(root, "Noted.")
		x.Say(x.general, x.bob, "thanks to <@"+old+">, do we know?") // calls it too
		x.ends(earshot.TurnDone)
		x.stop()
		for n := range 2 {
			a := x.Reinstall()
			x.self = a.UserID
			x.environ = append(x.environ, "SLACK_BOT_TOKEN="+a.BotToken)
			x.start()
			if who := x.daemon.Identity; string(who.ID) != old || !who.Is(earshot.AuthorID(a.UserID)) || !who.Is(earshot.AuthorID(a.BotID)) || !who.Is("B0EARSHOT") {
				t.Fatalf("it is %+v, want the first id, with the others as aliases", who)
			}
			x.Reply(x.general, root, x.bob, x.at("is it raining still?"))
			r := x.ends(earshot.TurnDone)
			if r.Turn.Conversation.Name != root || string(r.Turn.Conversation.Agent) != old {
				t.Errorf("the turn is of %+v, want it in the old conversation", r.Turn.Conversation)
			}
			if said := x.Thread(x.general, root); len(said) != 2*(n+2) || !strings.Contains(said[len(said)-1].Text, "Noted.") {
				t.Errorf("the thread is %+v", said)
			}
			for _, m := range x.lastRequest().Body.Messages {
				if text := content(m.Content); m.Role == "user" && strings.Contains(text, "Noted.") {
					t.Errorf("its own answer is shown as another's: %s", text)
				}
			}
			// Who named an id of the bot's, old or new, named it.
			x.Post(simulate.PostedMessage{Channel: x.general, User: x.bob, Text: "<@" + old + "> and <@" + a.UserID + "> are one?"})
			x.ends(earshot.TurnDone)
			if got := x.prompt(); strings.Contains(got, old) || strings.Contains(got, a.UserID) {
				t.Errorf("an id is shown: %s", got)
			}
			x.stop()
		}
	})
}
