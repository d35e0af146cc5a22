package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// feedback returns what people think, as "turn author good reason".
func (w *world) feedback() []string {
	w.t.Helper()
	list, err := w.store.Feedback(w.t.Context(), earshot.FeedbackQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		verdict := "bad"
		if f.Good {
			verdict = "good"
		}
		out = append(out, strings.TrimSpace(strings.Join([]string{string(f.Author), verdict, f.Reason}, " ")))
	}
	return out
}

func TestButtonsBelowAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ placeholder, says string }{
		"posted whole":              {"", "Yes."},
		"in place of a placeholder": {"…", "Yes."},
		"in several posts":          {"", strings.Repeat("A line of the answer.\n", 300)},
		"in several, the first in place of a placeholder": {"…", strings.Repeat("A line of the answer.\n", 300)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in(t, func(o *bot.Options) {
				o.Platform, o.Placeholder, o.Answer.Feedback = panel{&slate{board: o.Platform.(*board), wipes: true}}, c.placeholder, true
				o.Model = llmtest.New(llmtest.Say(c.says))
			}, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> well?")
				w.rest(time.Minute)
				asks := w.board.asks()
				if all := w.board.all(); len(asks) != 1 || asks[0].Text != all[len(all)-1] || len(asks[0].Choices) != 2 {
					t.Fatalf("posts %q, with buttons %+v", all, asks)
				}
				const thanks = "Thank you. The people who run me can see that."
				same(t, "told", w.choose(asks[0], "good", bob), thanks)
				same(t, "told", w.choose(asks[0], "bad", alice, func(x *bot.Chosen) { x.Words = " it is out of date " }), thanks)
				same(t, "feedback", w.feedback(), []string{"U1 bad it is out of date", "U2 good"})
				same(t, "told", w.choose(asks[0], "good", alice), thanks)
				same(t, "who changes their mind", w.feedback(), []string{"U1 good", "U2 good"})
				same(t, "a program", w.choose(asks[0], "bad", earshot.Author{ID: "B1", Kind: earshot.Bot}), "Only somebody else can answer this.")
				same(t, "another key", w.choose(asks[0], "bad", bob, func(x *bot.Chosen) { x.Key = "rXYZ" }), "Nobody is asked this any more.")
				same(t, "another message", w.choose(asks[0], "bad", bob, func(x *bot.Chosen) { x.Message = "m1" }), "Nobody is asked this any more.")
				w.choose(asks[0], "bad", bob, func(x *bot.Chosen) { x.Words = strings.Repeat("ö", 3000) })
				if got := w.feedback(); len(got) != 2 || !strings.HasPrefix(got[1], "U2 bad öö") {
					t.Errorf("many words: %q", got)
				}
			})
		})
	}
}

func TestAThumbAtAnAnswerIsFeedback(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Model = llmtest.New(llmtest.Say("Yes.")) }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> well?")
		w.rest(time.Second)
		if err := w.store.PutAuthors(t.Context(), general.Platform, general.Workspace, earshot.Author{ID: "B7", Name: "ci", Kind: earshot.Bot}); err != nil {
			t.Fatal(err)
		}
		st, answer := bot.HearReactions(w.store, bot.Reactions{Feedback: true}), w.board.posts[0].id
		give := func(x earshot.ReactionEvent) {
			t.Helper()
			x.At = earshot.TimeOf(time.Now())
			if _, err := st.React(t.Context(), general.Scope(), x); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for _, x := range []earshot.ReactionEvent{
			{Message: answer, Emoji: "tada", Author: "U1"}, {Message: "m1", Emoji: "+1", Author: "U1"}, {Message: answer, Emoji: "+1", Author: "B7"}, {Message: answer, Emoji: "+1", Author: "U0BOT"},
		} {
			give(x)
		}
		same(t, "what says nothing of an answer", w.feedback(), nil)
		give(earshot.ReactionEvent{Message: answer, Emoji: "+1::skin-tone-4", Author: "U1"})
		give(earshot.ReactionEvent{Message: answer, Emoji: "👎🏽", Author: "U2"})
		same(t, "feedback", w.feedback(), []string{"U1 good", "U2 bad"})
		give(earshot.ReactionEvent{Message: answer, Emoji: "-1", Author: "U1", Taken: true}) // it was another
		give(earshot.ReactionEvent{Message: answer, Emoji: "👎🏽", Author: "U2", Taken: true})
		same(t, "taken back", w.feedback(), []string{"U1 good"})
		give(earshot.ReactionEvent{Message: answer, All: true, Taken: true})
		same(t, "all taken away", w.feedback(), nil)
	})
}
