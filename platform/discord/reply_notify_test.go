package discord_test

import (
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// With discord.notify: post the first post of an answer is a reply that notifies whoever
// asked, in threads too; nothing else notifies anybody.
func TestTheFirstPostOfAnAnswerNotifies(t *testing.T) {
	t.Parallel()
	x := speak(t, func(_ *fake.Options, o *discord.Options) { o.Notify = discord.NotifyPost })
	thread := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")
	forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
	inForum := x.fake.Open(forum, x.mara, "d?", "please")
	dm := x.fake.OpenDM(x.mara)
	inDM := x.question(dm, "", "c?")
	inDM.Channel.Workspace, inDM.Channel.Kind = "@me", earshot.KindDM
	gone := x.question(x.general, "", "gone?")
	x.fake.Delete(x.general, string(gone.Anchor.ID))
	for _, c := range []struct {
		name    string
		at      bot.Place
		channel string
		draft   bot.Draft
		pings   bool
	}{
		{"in a channel", x.question(x.general, "", "a?"), x.general, bot.Draft{Notify: true}, true},
		{"in a thread", x.question(x.general, thread, "b?"), thread, bot.Draft{Notify: true}, true},
		{"in a forum's post", bot.Place{Channel: x.channel(forum), Thread: earshot.MessageID(inForum), Anchor: earshot.Message{ID: earshot.MessageID(inForum), Thread: earshot.MessageID(inForum), Time: 1}}, inForum, bot.Draft{Notify: true}, true},
		{"in a direct message", inDM, dm, bot.Draft{Notify: true}, false},
		{"a further part", x.question(x.general, "", "e?"), x.general, bot.Draft{Chunk: 2}, false},
		{"a placeholder", x.question(x.general, "", "f?"), x.general, bot.Draft{Growing: true}, false},
		{"beside a question that was deleted", gone, x.general, bot.Draft{Notify: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) { //nolint:paralleltest // one world, one after the other
			c.draft.Place, c.draft.Text, c.draft.Key = c.at, "answer", "r"+string(c.at.Anchor.ID)
			m, err := x.Post(t.Context(), c.draft)
			if err != nil {
				t.Fatal(err)
			}
			posts := x.posts(c.channel)
			last := posts[len(posts)-1]
			if pinged := slices.Contains(last.Mentions, x.mara); pinged != c.pings || c.pings && (last.Reply != string(c.at.Anchor.ID) || m.ReplyTo != c.at.Anchor.ID) {
				t.Errorf("it notifies %v and replies to %q (%q), want notified %t", last.Mentions, last.Reply, m.ReplyTo, c.pings)
			}
			found, err := x.Find(t.Context(), c.draft)
			if err != nil || found.ID != m.ID {
				t.Errorf("found %+v, %v, want %s", found, err, m.ID)
			}
		})
	}
}
