package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// A linked board has addresses of messages.
type linked struct{ *board }

func (linked) Permalink(c earshot.Channel, m earshot.Message) string {
	return "https://chat.example/archives/" + string(c.ID) + "/p" + strings.ReplaceAll(string(m.ID), ".", "")
}

// TestACitationBecomesAPermalink: what the model was shown in the conversation has a
// link in the reply; of everything else nothing stands there.
func TestACitationBecomesAPermalink(t *testing.T) {
	t.Parallel()
	const port = "[00:00](https://chat.example/archives/C1/p1700000005000100)"
	for _, c := range []struct{ name, said, want string }{
		{"by day, time and name", "It is 9000 [cite: Sat 1 Jan 00:00 Alice].", "It is 9000 " + port + "."},
		{"by time and name", "It is 9000 [cite: 00:00 alice].", "It is 9000 " + port + "."},
		{"by its id", "It is 9000 [cite: 1700000005.000100].", "It is 9000 " + port + "."},
		{"by its address", "It is 9000 [cite: https://chat.example/archives/C1/p1700000005000100].", "It is 9000 " + port + "."},
		{"two at once", "It is 9000 [cite: 1700000005.000100; Sat 1 Jan 00:05 Bob].", "It is 9000 " + port + " [00:05](https://chat.example/archives/C1/pm2)."},
		{"two of one author in one minute", "Both [cite: 00:05 Bob].", "Both [00:05](https://chat.example/archives/C1/pm2)."},
		{"two people in one minute", "Who [cite: 00:10]?", "Who?"},
		{"one of them", "Who [cite: 00:10 Alice]?", "Who [00:10](https://chat.example/archives/C1/pm4)?"},
		{"the question", "You ask [cite: 00:15 Alice (edited)].", "You ask [00:15](https://chat.example/archives/C1/pm6)."},
		{"of another day", "It is 9000 [cite: Sun 2 Jan 00:00 Alice].", "It is 9000."},
		{"of nobody", "It is 9000 [cite: 00:00 Carol].", "It is 9000."},
		{"a deleted one", "It was 8000 [cite: 00:05 Carol].", "It was 8000."},
		{"of another channel", "It is 9000 [cite: other] [cite: 00:07 Dana].", "It is 9000."},
		{"an address that the model made up", "See https://chat.example/archives/C2/p1700000009000100.", "See `https://chat.example/archives/C2/p1700000009000100`."},
		{"an address as it stood in an earlier reply", "See https://chat.example/archives/C1/p1700000005000100.", "See https://chat.example/archives/C1/p1700000005000100."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(llmtest.Say(c.said))
			in(t, func(o *bot.Options) {
				o.Model, o.Answer.Cite, o.Platform = model, true, linked{o.Platform.(*board)}
				o.Instructions = "Be kind."
			}, func(w *world) {
				w.say(general, alice, "1700000005.000100", "the port is 9000")
				w.rest(5 * time.Minute)
				w.say(general, bob, "m2", "thanks")
				w.say(general, bob, "m3", "a lot")
				carol := earshot.Author{ID: "U3", Name: "Carol", Kind: earshot.Human}
				w.say(general, carol, "gone", "it was 8000")
				w.say(general, carol, "gone", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "d-gone2", true })
				other := general
				other.ID = "C2"
				w.rest(2 * time.Minute)
				w.say(other, earshot.Author{ID: "U4", Name: "Dana", Kind: earshot.Human}, "other", "elsewhere it is 1")
				w.rest(3 * time.Minute)
				w.say(general, alice, "m4", "so")
				w.say(general, bob, "m5", "yes")
				w.rest(5 * time.Minute)
				w.say(general, alice, "m6", "<@U0BOT> which port?")
				w.rest(time.Second)
				same(t, "posts", w.board.all(), []string{c.want})
				if system := model.Requests()[0].System; !strings.Contains(system, "\n\nBe kind.\n\nTo say where something was said, write [cite: ") {
					t.Errorf("the system text is %q", system)
				}
			})
		})
	}
}

// TestACitationOfAnEarlierTurn is of a message that only the session shows, and later of
// the model's own link, which it has copied.
func TestACitationOfAnEarlierTurn(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("9000."), llmtest.Say("Alice said so [cite: 00:00 Alice]."), llmtest.Say("As I said: [00:00](https://chat.example/archives/C1/p1700000005000100)."))
	in(t, func(o *bot.Options) { o.Model, o.Answer.Cite, o.Platform = model, true, linked{o.Platform.(*board)} }, func(w *world) {
		w.say(general, alice, "1700000005.000100", "the port is 9000")
		w.rest(2 * time.Minute)
		w.say(general, bob, "m2", "<@U0BOT> which port?")
		w.rest(time.Minute)
		w.say(general, bob, "m3", "<@U0BOT> says who?", under("m2"))
		w.rest(time.Minute)
		w.say(general, bob, "m4", "<@U0BOT> who?", under("m2"))
		w.rest(time.Minute)
		const link = "[00:00](https://chat.example/archives/C1/p1700000005000100)."
		same(t, "posts", w.board.all(), []string{"9000.", "Alice said so " + link, "As I said: " + link})
	})
}

// Without the setting, and on a platform without addresses, prompts say nothing of
// citations, and what a model writes is its text.
func TestWithoutTheSettingNothingIsCited(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bot.Options){
		"off":                         func(o *bot.Options) { o.Platform = linked{o.Platform.(*board)} },
		"a platform without a Linker": func(o *bot.Options) { o.Answer.Cite = true },
	} {
		model := llmtest.New(llmtest.Say("9000 [cite: 1700000005.000100]"))
		in(t, func(o *bot.Options) { o.Model = model; change(o) }, func(w *world) {
			w.say(general, alice, "m1", "<@U0BOT> which port?")
			w.rest(time.Second)
			same(t, name, w.board.all(), []string{"9000 [cite: 1700000005.000100]"})
			if strings.Contains(model.Requests()[0].System, "cite") {
				t.Errorf("%s: the prompt tells of citations", name)
			}
		})
	}
}
