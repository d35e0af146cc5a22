package daemon_test

import (
	"os"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

const canaryScript = `{"fixtures": [
	{"match": {"userMessage": "?"}, "response": {"content": "The canaryreply is noted."}}
]}`

// found returns which of the texts stand in the bytes of the world's database.
func (x *slackWorld) found(texts ...string) []string {
	x.t.Helper()
	var data []byte
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(x.db + end)
		if err != nil && !os.IsNotExist(err) {
			x.t.Fatal(err)
		}
		data = append(data, b...)
	}
	var out []string
	for _, text := range texts {
		if strings.Contains(string(data), text) {
			out = append(out, text)
		}
	}
	return out
}

// located returns where the texts stand in the database, by its tables.
func (x *slackWorld) located(texts ...string) []earshot.Place {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), "sqlite:"+x.db, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	defer st.Close()
	var out []earshot.Place
	for _, text := range texts {
		for place, err := range st.Locate(x.t.Context(), text, nil) {
			if err != nil {
				x.t.Fatal(err)
			}
			out = append(out, place)
		}
	}
	return out
}

// TestNothingOfAChannelIsStored: of a conversation under retention none nothing stands
// in the database once its turns have ended. After a restart the follow-up question
// sees the thread, which the platform has, and each question is answered once.
func TestNothingOfAChannelIsStored(t *testing.T) {
	server := modeltest.StartScripted(t, canaryScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_RETENTION_DAYS=none")
		cara := x.AddUser(simulate.User{Name: "canaryname", RealName: "Cara Canaryname"})
		x.general = x.AddChannel(simulate.Channel{Name: "canarychannel", Topic: "canarytopic", Members: []string{x.ann, cara, x.self}})
		canaries := []string{
			"canarybefore", "canaryroot", "canaryfirst", "canarychat", "canaryedit", "canarylast", "canaryreply", "canaryfile",
			"canaryname", "Canaryname", "canarychannel", "canarytopic", "thinking of it",
		}
		x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "the canarybefore was said before anybody listened", Mute: true})
		x.start()
		root := x.Say(x.general, cara, "the canaryroot is loose")
		x.Reply(x.general, root, x.ann, x.at("where is the canaryfirst?"))
		x.ends(earshot.TurnDone)
		chat := x.Reply(x.general, root, cara, "the canarychat, which nobody asked about")
		x.Edit(x.general, chat, "the canaryedit, which nobody asked about")
		x.settled()
		x.stop()
		if places := x.located(canaries...); len(places) > 0 {
			t.Errorf("after the first life there are %+v", places)
		}
		if left := x.found(canaries...); len(left) > 0 {
			t.Errorf("after the first life the files have %v", left)
		}

		x.start()
		x.Reply(x.general, root, x.ann, x.at("and where is the canarylast?"))
		x.ends(earshot.TurnDone)
		for _, want := range []string{"canaryroot", "canaryfirst", "canaryedit", "canaryreply", "canarylast", "canarybefore"} {
			if !strings.Contains(x.prompt(), want) {
				t.Errorf("the prompt of the follow-up lacks %s:\n%s", want, x.prompt())
			}
		}
		x.wantSaid(root, "The canaryreply is noted.", "The canaryreply is noted.")
		// Nothing is left while the daemon runs, either, once its scrub has passed.
		x.eventually("the files have none of it", func() bool { return len(x.found(canaries...)) == 0 })
		x.stop()
		if places := x.located(canaries...); len(places) > 0 {
			t.Errorf("at the end there are %+v", places)
		}
	})
}

// TestAChannelThatIsNoLongerStoredIsErased: where the rule changes to none, what is
// stored goes at the next start, and back under another rule storing begins anew.
func TestAChannelThatIsNoLongerStoredIsErased(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, canaryScript), bySocket, nil)
	x.start()
	root := x.Say(x.general, x.ann, x.at("where is the canaryfirst?"))
	x.ends(earshot.TurnDone)
	x.stop()
	if len(x.located("canaryfirst")) == 0 {
		t.Fatal("a channel that is stored is not")
	}
	x.environ = append(x.environ, "EARSHOT_RETENTION_DAYS=none")
	x.start()
	x.Reply(x.general, root, x.ann, x.at("and the canarysecond?"))
	x.ends(earshot.TurnDone)
	if !strings.Contains(x.prompt(), "canaryfirst") {
		t.Errorf("the platform was not asked for the thread:\n%s", x.prompt())
	}
	x.stop()
	if places := x.located("canaryfirst", "canarysecond", "canaryreply"); len(places) > 0 {
		t.Errorf("there are %+v", places)
	}
	x.environ = append(x.environ, "EARSHOT_RETENTION_DAYS=30")
	x.start()
	x.Reply(x.general, root, x.ann, x.at("and the canarythird?"))
	x.ends(earshot.TurnDone)
	x.stop()
	if len(x.located("canarythird")) == 0 {
		t.Error("under a rule of days nothing is stored")
	}
	x.wantSaid(root, "The canaryreply is noted.", "The canaryreply is noted.", "The canaryreply is noted.")
}
