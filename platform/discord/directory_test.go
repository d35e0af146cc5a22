package discord_test

import (
	"testing"

	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

func TestWhatIsUsedStaysInABoundedMap(t *testing.T) {
	t.Parallel()
	r := discord.NewRecent(10)
	r.Put(-1, 42)
	for i := range 1000 {
		r.Put(i, i)
		if v, ok := r.Get(-1); !ok || v != 42 {
			t.Fatalf("after %d others: got %d, %v, want 42", i+1, v, ok)
		}
		if v, ok := r.Get(i); !ok || v != i {
			t.Fatalf("%d is not there at once: %d, %v", i, v, ok)
		}
	}
	if n := r.Len(); n > 20 {
		t.Errorf("%d entries, want at most 20", n)
	}
	if _, ok := r.Get(5); ok {
		t.Error("5 is there, although a thousand came after it")
	}
	r.Drop(-1)
	if _, ok := r.Get(-1); ok {
		t.Error("what was dropped is there")
	}
}

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
	x.fake.Post(fake.Said{Channel: x.general, User: x.mara, Text: "where?", Fields: map[string]any{"channel_id": "1200000000000000777"}})
	a := x.fake.Say(x.general, x.mara, "here")
	x.settle()
	if got, want := x.dump(a, "A"), "channel #general\n  A Mara: \"here\"\n"; got != want {
		t.Errorf("got %s, want %s\n%s", got, want, x.logged())
	}
}
