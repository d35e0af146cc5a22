package discord_test

import (
	"cmp"
	"testing"

	"github.com/earshot-ai/earshot"
)

// TestAPermalinkLeadsToTheChannelOrThread is of a question in a channel, in a thread, and
// in a direct message.
func TestAPermalinkLeadsToTheChannelOrThread(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	thread := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "what now?"), x.mara, "a thread")
	for _, in := range []string{"", thread} {
		q := x.question(x.general, in, "is it up?")
		want := "https://discord.com/channels/" + string(q.Channel.Workspace) + "/" + cmp.Or(in, x.general) + "/" + string(q.Anchor.ID)
		got := x.Permalink(q.Channel, q.Anchor)
		if _, id, ok := earshot.ParsePermalink(got); got != want || !ok || id != q.Anchor.ID {
			t.Errorf("got %q, want %q", got, want)
		}
		dm := earshot.Channel{Platform: earshot.Discord, Workspace: "@me", ID: "77", Kind: earshot.KindDM}
		if got := x.Permalink(dm, earshot.Message{ID: "1100000000000000003"}); got != "https://discord.com/channels/@me/77/1100000000000000003" {
			t.Errorf("a direct message: %q", got)
		}
	}
}
