package bot_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// TestWhoIsMentioned asks in a thread that Alice began and Bob answered, in a channel in
// which Carol wrote, and is answered with everybody's names.
func TestWhoIsMentioned(t *testing.T) {
	t.Parallel()
	carol := earshot.Author{ID: "U3", Name: "Carol", Kind: earshot.Human}
	const said = "<@U0BOT> <@B0BOT> @Alice @Bob <@U3> <@!U2> <@U9> <!here> @everyone [@Alice](https://asked.example/x)"
	for _, c := range []struct {
		name    string
		options bot.Options
		want    string
	}{
		{"the asker, where nothing is said", bot.Options{}, "earshot earshot <@U1> @Bob Carol Bob somebody here everyone [@Alice](https://asked.example/x)"},
		{"who wrote in the thread", bot.Options{MayMention: bot.MentionThread}, "earshot earshot <@U1> <@U2> Carol <@U2> somebody here everyone [@Alice](https://asked.example/x)"},
		{"who wrote in the channel", bot.Options{MayMention: bot.MentionChannel}, "earshot earshot <@U1> <@U2> <@U3> <@U2> somebody here everyone [@Alice](https://asked.example/x)"},
		{"as the channel has it", bot.Options{MayMention: bot.MentionChannel, Rules: byChannel(general.ID, func(own *bot.ChannelOptions) { own.MayMention = bot.MentionAsker })}, "earshot earshot <@U1> @Bob Carol Bob somebody here everyone [@Alice](https://asked.example/x)"},
		{"as another channel has it", bot.Options{Rules: byChannel("C9", func(own *bot.ChannelOptions) { own.MayMention = bot.MentionChannel })}, "earshot earshot <@U1> @Bob Carol Bob somebody here everyone [@Alice](https://asked.example/x)"},
	} {
		in(t, func(o *bot.Options) {
			o.Model = llmtest.New(llmtest.Say(said))
			o.MayMention, o.Rules = c.options.MayMention, c.options.Rules
		}, func(w *world) {
			w.say(general, carol, "m0", "unrelated")
			w.say(general, alice, "m1", "the deploy hangs, https://asked.example/x")
			w.say(general, bob, "m2", "again?", under("m1"))
			w.say(general, alice, "m3", "<@U0BOT> who can help?", under("m1"))
			w.rest(time.Second)
			same(t, c.name, w.board.all(), []string{c.want})
		})
	}
}

// TestLinksOfAChannel answers with addresses that only some channels keep as links.
func TestLinksOfAChannel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own  []string
		want string
	}{
		{[]string{"everywhere.example"}, "https://a.everywhere.example/x `https://here.example/x`"},
		{[]string{"here.example"}, "`https://a.everywhere.example/x` https://here.example/x"},
		{[]string{}, "`https://a.everywhere.example/x` `https://here.example/x`"},
	} {
		in(t, func(o *bot.Options) {
			o.Model = llmtest.New(llmtest.Say("https://a.everywhere.example/x https://here.example/x"))
			o.Links, o.Rules = []string{"everywhere.example"}, byChannel(general.ID, func(own *bot.ChannelOptions) { own.Links = c.own })
		}, func(w *world) {
			w.say(general, alice, "m1", "<@U0BOT> where?")
			w.rest(time.Second)
			same(t, "posts", w.board.all(), []string{c.want})
		})
	}
}
