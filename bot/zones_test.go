package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// TestTheQuestionHasTheClockOfWhoAsksIt has somebody in Auckland ask in a thread that
// somebody in Los Angeles began. The bubble's clock stands at midnight UTC of 1 January
// 2000: in Los Angeles it is still the year before.
func TestTheQuestionHasTheClockOfWhoAsksIt(t *testing.T) {
	t.Parallel()
	carol := earshot.Author{ID: "U3", Name: "Carol", Kind: earshot.Human}
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		for id, zone := range map[earshot.AuthorID]string{alice.ID: "America/Los_Angeles", bob.ID: "Pacific/Auckland"} {
			if err := w.store.PutAuthors(t.Context(), general.Platform, general.Workspace, earshot.Author{ID: id, Zone: zone}); err != nil {
				t.Fatal(err)
			}
		}
		w.say(general, alice, "m1", "<@U0BOT> who is on call?")
		w.rest(time.Minute)
		w.say(general, carol, "m2", "it was me", under("m1"))
		w.say(general, bob, "m3", "<@U0BOT> and today?", under("m1"))
		w.rest(time.Minute)
		w.say(general, alice, "m4", "<@U0BOT> thanks, today?", under("m1"))
		w.rest(time.Minute)
		w.say(general, carol, "m5", "<@U0BOT> and mine?", under("m1"))
		w.rest(time.Minute)
		var got []string
		for _, r := range model.asked {
			parts := r.Messages[len(r.Messages)-1].Parts
			text := parts[len(parts)-1].Text
			got = append(got, text[strings.Index(text, "[question"):])
		}
		same(t, "questions", got, []string{
			"[question, Fri 31 Dec 1999, America/Los_Angeles]\n16:00 Alice: @earshot who is on call?",
			"[question, Sat 1 Jan 2000, Pacific/Auckland; other times are of America/Los_Angeles]\n13:01 Bob: @earshot and today?",
			"[question, Fri 31 Dec 1999, America/Los_Angeles]\n16:02 Alice: @earshot thanks, today?",
			"[question, Fri 31 Dec 1999, America/Los_Angeles]\n16:03 Carol: @earshot and mine?",
		})
		second := model.asked[1].Messages[2].Parts[0].Text
		if want := "[since your last answer: 1 message]\n[Fri 31 Dec 1999]\n16:01 Carol: it was me\n"; !strings.HasPrefix(second, want) {
			t.Errorf("the second turn begins with\n%s\nwant the clock of the session and the year:\n%s", second, want)
		}
	})
}
