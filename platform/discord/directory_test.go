package discord_test

import (
	"testing"

	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// TestChannelsAreAskedForOnce resumes a session, which tells nothing of guilds: a
// stored channel is not asked for, and a thread once.
func TestChannelsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	root := x.fake.Say(x.general, x.mara, "root")
	th := x.fake.Thread(x.general, root, x.mara, "talk")
	x.settle()
	x.close()
	before := len(x.fake.Calls("get_channel"))
	x.start(nil, "")
	for range 5 {
		x.fake.Say(x.general, x.sam, "hi")
		x.fake.Say(th, x.sam, "hi")
	}
	x.settle()
	if n := len(x.fake.Calls("get_channel")) - before; n != 1 {
		t.Errorf("%d channels were asked for, want the thread alone", n)
	}
}

// TestAChannelThatCannotBeLookedUpIsNotStored has Discord refuse to say what a channel
// is: nobody then knows who may read it.
func TestAChannelThatCannotBeLookedUpIsNotStored(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	x.settle()
	x.close()
	x.start(nil, "")
	x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.mara, Text: "where?", Fields: map[string]any{"channel_id": "1200000000000000777"}})
	a := x.fake.Say(x.general, x.mara, "here")
	x.settle()
	if got, want := x.dump(a, "A"), "channel #general\n  A Mara: \"here\"\n"; got != want {
		t.Errorf("got %s, want %s\n%s", got, want, x.logged())
	}
}
