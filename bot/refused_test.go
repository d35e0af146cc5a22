package bot_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// edited changes a message's event into one of an edit that was made a while later.
func edited(after time.Duration) func(*bot.Event) {
	return func(e *bot.Event) {
		e.Delivery += "-" + after.String()
		e.Message.Edited = e.Message.Time + earshot.Time(after/time.Microsecond)
	}
}

func form(e *bot.Event) { e.Form = true }

// refusals are what a world's bot told of messages that it refused.
func refusals(list *[]string, more ...func(*bot.Options)) func(*bot.Options) {
	return func(o *bot.Options) {
		o.Refused = func(why earshot.Refusal) { *list = append(*list, string(why)) }
		for _, f := range more {
			f(o)
		}
	}
}

func TestARefusalLeavesATraceOnce(t *testing.T) {
	t.Parallel()
	var told []string
	in(t, refusals(&told), func(w *world) {
		w.say(general, ci, "m1", "<@U0BOT> the build is red")
		if again := w.say(general, ci, "m1", "<@U0BOT> the build is red"); again.Refused || again.Why != "bot" {
			t.Errorf("delivered again: %+v", again)
		}
		w.say(general, ci, "m2", "the build is green")
		w.say(general, alice, "m3", "<@U0BOT> hi", notAllowed)
		w.say(general, alice, "m4", "hi", notAllowed)
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 refused bot", "m3 refused not-allowed"})
		same(t, "told", told, []string{string(earshot.RefusedBot), string(earshot.RefusedAuthor)})
		same(t, "posts", w.board.all(), nil)
	})
}

func TestAFormIsAskedAsAPerson(t *testing.T) {
	t.Parallel()
	var told []string
	request := earshot.Author{ID: "B7", Name: "Access request", Kind: earshot.Bot}
	in(t, refusals(&told, func(o *bot.Options) { o.Answer.FormTurns = 2 }), func(w *world) {
		for i, c := range []struct {
			id     earshot.AuthorID
			opened bool
		}{{"B7", true}, {"B8", true}, {"B9", false}} { // one workflow may come with several ids
			request.ID = c.id
			got := w.say(general, request, []string{"m1", "m2", "m3"}[i], "<@U0BOT> who grants access?", form)
			if got.Opened != c.opened {
				t.Errorf("%s: %+v", c.id, got)
			}
			w.rest(time.Second)
		}
		if got := w.say(general, request, "m4", "somebody asks for access", form); got.Opened || got.Refused {
			t.Errorf("a form that names nobody: %+v", got)
		}
		w.rest(10 * time.Minute)
		if got := w.say(general, request, "m5", "<@U0BOT> who grants access?", form); !got.Opened {
			t.Errorf("ten minutes later: %+v", got)
		}
		w.rest(time.Second)
		same(t, "told", told, []string{string(earshot.RefusedForms)})
	})
	told = nil
	in(t, refusals(&told, func(o *bot.Options) { o.Answer.NoForms = true }), func(w *world) {
		w.say(general, request, "m1", "<@U0BOT> who grants access?", form)
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 refused form"})
		same(t, "told", told, []string{string(earshot.RefusedForm)})
	})
}

func TestAMentionThatAnEditAddsAsksOnce(t *testing.T) {
	t.Parallel()
	var told []string
	in(t, refusals(&told), func(w *world) {
		w.say(general, alice, "m1", "is it up?")
		w.rest(4 * time.Minute)
		if got := w.say(general, alice, "m1", "<@U0BOT> is it up?", edited(4*time.Minute)); !got.Opened || got.Why != "mention" {
			t.Errorf("within the time: %+v", got)
		}
		w.rest(time.Second)
		for i, text := range []string{"is it up at all?", "<@U0BOT> is it up at all?"} {
			if got := w.say(general, alice, "m1", text, edited(4*time.Minute+time.Duration(i+1)*time.Second)); got.Opened || got.Refused {
				t.Errorf("%q after the answer: %+v", text, got)
			}
		}
		w.say(general, alice, "m2", "and now?")
		w.say(general, alice, "m3", "<@U0BOT> hello")
		w.rest(6 * time.Minute)
		if got := w.say(general, alice, "m2", "<@U0BOT> and now?", edited(6*time.Minute)); got.Opened || !got.Refused || got.Why != "edited-late" {
			t.Errorf("too late: %+v", got)
		}
		if got := w.say(general, alice, "m3", "<@U0BOT> hello!", edited(6*time.Minute)); got.Opened || got.Refused || got.Why != "edit" {
			t.Errorf("an edit of a question: %+v", got)
		}
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m3 done", "m2 refused edited-late"})
		same(t, "told", told, []string{string(earshot.RefusedLate)})
	})
}

func TestAGroupThatIsNotAnsweredLeavesATrace(t *testing.T) {
	t.Parallel()
	var told []string
	in(t, refusals(&told), func(w *world) {
		group := func(e *bot.Event) { e.Refused = earshot.RefusedGroup }
		w.say(general, alice, "m1", "<!subteam^S1> who is on call?", group)
		if got := w.say(general, alice, "m2", "<!subteam^S1> <@U0BOT> who is on call?", group); !got.Opened {
			t.Errorf("a message that names the agent besides: %+v", got)
		}
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 refused group", "m2 done"})
		same(t, "told", told, []string{string(earshot.RefusedGroup)})
	})
}
