package discord_test

import (
	"testing"

	"github.com/earshot-ai/earshot/simulate/discord"
)

func TestABotHearsWhatIsSaidAndAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	id := w.Say(w.general, w.mara, "<@"+w.own+"> hello")
	m := g.want("MESSAGE_CREATE")
	if m["id"] != id || m["guild_id"] != w.guild || m["content"] != "<@"+w.own+"> hello" || m["member"] == nil {
		t.Errorf("the event is %v", m)
	}
	answer := w.post(w.general, object{"content": "Hello!", "nonce": "n1", "enforce_nonce": true, "message_reference": object{"message_id": id}})
	m = g.want("MESSAGE_CREATE")
	if m["id"] != answer || m["nonce"] != "n1" || m["type"] != 19.0 {
		t.Errorf("the event of the own message is %v", m)
	}
	if to, _ := m["referenced_message"].(object); to["id"] != id {
		t.Errorf("the reply refers to %v", m["referenced_message"])
	}
	w.call("PATCH", path("channels", w.general, "messages", answer), object{"content": "Hello, Mara!"})
	if m = g.want("MESSAGE_UPDATE"); m["content"] != "Hello, Mara!" || m["edited_timestamp"] == nil || m["author"] == nil {
		t.Errorf("the update is %v", m)
	}
	if posts := w.Posts(); len(posts) != 1 || posts[0].Content != "Hello, Mara!" || !posts[0].Edited || posts[0].Reply != id {
		t.Errorf("people see %+v", posts)
	}
}

func TestASessionIsResumedWhereItStopped(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	w.Say(w.general, w.mara, "one")
	g.want("MESSAGE_CREATE")
	seq := g.seq
	w.Inject(discord.Fault{Kind: discord.CutSocket, On: "MESSAGE_CREATE", Times: 1})
	w.Say(w.general, w.mara, "two")
	if code := g.closed(); code != 0 {
		t.Errorf("the socket was closed with %d, want to find it broken", code)
	}
	w.Say(w.general, w.mara, "three")
	again := dial(t, g.at)
	again.resume(w.token, g.id, seq)
	for _, want := range []string{"two", "three"} {
		if m := again.want("MESSAGE_CREATE"); m["content"] != want {
			t.Errorf("replayed %v, want %q", m["content"], want)
		}
	}
	again.want("RESUMED")
	w.Say(w.general, w.mara, "four")
	if m := again.want("MESSAGE_CREATE"); m["content"] != "four" {
		t.Errorf("after the resume comes %v", m)
	}
}
