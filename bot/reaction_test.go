package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// by makes an event one of an emoji that somebody gave to its message.
func by(who, emoji string) func(*bot.Event) {
	return func(e *bot.Event) {
		e.Delivery, e.Raw = "r-"+who+emoji+string(e.Message.ID), nil
		e.Message = earshot.Message{ID: e.Message.ID}
		e.By = earshot.Reactor{Emoji: emoji, ID: earshot.AuthorID(who)}
	}
}

func TestAnEmojiAsksAboutAMessageOnce(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		w.say(general, ci, "m1", "the build is red")
		w.rest(time.Hour) // an old alert can be asked about
		if got := w.say(general, alice, "m1", "", by("U1", "eyes")); !got.Opened || got.Why != "reaction" {
			t.Errorf("the first: %+v", got)
		}
		same(t, "turns", w.turns(), []string{"m1 open asked by the emoji eyes of U1"})
		w.rest(time.Second)
		for _, again := range []func(*bot.Event){by("U1", "eyes"), by("U2", "eyes"), by("U2", "mag")} {
			if got := w.say(general, alice, "m1", "", again); got.Opened {
				t.Errorf("once more: %+v", got)
			}
		}
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done"})
		m, err := w.store.Message(t.Context(), general.Scope(), "m1")
		if err != nil || m.Text != "the build is red" || m.Author.ID != ci.ID {
			t.Errorf("the message is %+v, %v", m, err)
		}
		if got := len(w.board.all()); got != 1 {
			t.Errorf("%d posts, want one", got)
		}
	})
}

func TestAnEmojiThatDoesNotAsk(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		w.say(general, ci, "m1", "the build is red")
		w.say(general, earshot.Author{ID: "B0BOT", Kind: earshot.Bot}, "m2", "an answer")
		for name, c := range map[string]struct {
			id, why string
			event   func(*bot.Event)
		}{
			"the agent's own":         {"m1", "self", by("U0BOT", "eyes")},
			"at the agent's message":  {"m2", "self", by("U1", "eyes")},
			"at what was never heard": {"m9", "unheard", by("U1", "eyes")},
			"of somebody who may not": {"m1", "not-allowed", func(e *bot.Event) { by("U3", "eyes")(e); notAllowed(e) }},
		} {
			if got := w.say(general, alice, c.id, "", c.event); got.Opened || got.Why != c.why {
				t.Errorf("%s: %+v, want %s", name, got, c.why)
			}
		}
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 refused not-allowed"})
	})
}

// The prompt says who asks and by what, in the clock of who asks: the message is a
// program's, which asks for nothing.
func TestThePromptSaysWhoAsksByAnEmoji(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		known := []earshot.Author{{ID: "U1", Name: "Alice]", Zone: "Pacific/Auckland"}}
		if err := w.store.PutAuthors(t.Context(), general.Platform, general.Workspace, known...); err != nil {
			t.Fatal(err)
		}
		w.say(general, ci, "m1", "the build is red")
		w.rest(time.Minute)
		w.say(general, alice, "m1", "", by("U1", "eyes"))
		w.rest(time.Minute)
		parts := model.asked[0].Messages[len(model.asked[0].Messages)-1].Parts
		text := parts[len(parts)-1].Text
		if want := "[question, Sat 1 Jan 2000, Pacific/Auckland; Alice) asks you about this message by :eyes: at 13:01]\n13:00 CI (bot): the build is red"; !strings.HasSuffix(text, want) {
			t.Errorf("the prompt ends with\n%s\nwant\n%s", text, want)
		}
	})
}

// Who gives an emoji is the asker: the answer may mention them, and the question has
// their clock, though a program wrote it.
func TestWhoGivesTheEmojiIsTheAsker(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("<@U2> and <@U7>, it was the disk"))
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		if err := w.store.PutAuthors(t.Context(), general.Platform, general.Workspace, earshot.Author{ID: bob.ID, Name: "Bob", Zone: "Pacific/Auckland"}); err != nil {
			t.Fatal(err)
		}
		w.say(general, ci, "m1", "the build is red")
		w.say(general, bob, "m1", "", by(string(bob.ID), "eyes"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"<@U2> and somebody, it was the disk"})
		parts := model.Requests()[0].Messages[0].Parts
		if got := parts[len(parts)-1].Text; !strings.Contains(got, "[question, Sat 1 Jan 2000, Pacific/Auckland; Bob asks you about this message by :eyes: at 13:00]\n13:00 CI (bot): the build is red") {
			t.Errorf("the question has another clock than Bob's:\n%s", got)
		}
	})
}

// Who gives an emoji at somebody else's message is told that there is no answer, or that
// the bot was away; who wrote the message has asked nothing.
func TestWhoGivesTheEmojiIsToldThatThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ago  time.Duration // when the emoji was given
		want string
	}{
		"no answer": {0, "U2: Sorry, I cannot answer this."},
		"away":      {2 * time.Hour, "U2: " + away},
	} {
		model := llmtest.New(llmtest.Do(func(llm.Request) (llm.Response, error) { return llm.Response{Stop: llm.StopRefused}, nil }))
		placing(t, func(o *bot.Options) { o.Model, o.Placeholder = model, "" }, func(w *world, p *slate) {
			w.say(general, alice, "m1", "the disk is full")
			w.rest(48 * time.Hour)
			w.say(general, bob, "m1", "", by(string(bob.ID), "eyes"), func(e *bot.Event) { e.Received = earshot.TimeOf(time.Now().Add(-c.ago)) })
			w.rest(time.Minute)
			same(t, name, p.private, []string{c.want})
		})
	}
}

// Who gives an emoji asks now: the prompt has what was said up to then, in the message's
// own thread too, and nothing that was said later.
func TestAnEmojiAsksAtItsOwnTime(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(general, ci, "m1", "the build is red")
		w.rest(24 * time.Hour)
		w.say(general, bob, "m2", "it was the disk", under("m1"))
		w.say(general, alice, "m3", "who is on call?")
		w.rest(10 * time.Minute)
		w.say(general, alice, "m1", "", by("U1", "eyes"))
		w.say(general, bob, "m4", "me")
		w.rest(time.Minute)
		parts := model.asked[0].Messages[len(model.asked[0].Messages)-1].Parts
		text := parts[len(parts)-1].Text
		want := `[recent in this channel]
[Sun 2 Jan]
+ replies to Sat 1 Jan 00:00 CI
↳ 00:00 Bob: it was the disk
00:00 Alice: who is on call?

[question, Sun 2 Jan 2000, UTC; Alice asks you about this message by :eyes: at 00:10]
Sat 1 Jan 00:00 CI (bot): the build is red`
		if !strings.HasSuffix(text, want) {
			t.Errorf("the prompt ends with\n%s\nwant\n%s", text, want)
		}
	})
}

// Who asked by an emoji is named in the session, and nowhere in what a replay keeps: an
// erasure ends the session and finds nothing else.
func TestWhoAskedByAnEmojiIsErased(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		ctx := t.Context()
		if err := w.store.PutAuthors(ctx, general.Platform, general.Workspace, earshot.Author{ID: "UCANARY", Name: "Canary"}); err != nil {
			t.Fatal(err)
		}
		w.say(general, ci, "m1", "the build is red")
		if _, err := w.store.React(ctx, general.Scope(), earshot.ReactionEvent{Message: "m1", Emoji: "eyes", Author: "UCANARY", At: earshot.TimeOf(time.Now())}); err != nil {
			t.Fatal(err)
		}
		w.say(general, alice, "m1", "", by("UCANARY", "eyes"))
		w.rest(time.Second)
		turns, err := w.store.QueuedTurns(ctx, earshot.TurnQuery{})
		if err != nil || len(turns) != 1 {
			t.Fatalf("%+v, %v", turns, err)
		}
		q, err := w.store.QueuedTurn(ctx, turns[0].ID)
		if err != nil || strings.Contains(string(q.Input), "Canary") {
			t.Errorf("%v, and the stored input has the name: %s", err, q.Input)
		}
		made, err := bot.Input(ctx, w.store, q)
		if err != nil || made.AskedBy.Name != "Canary" {
			t.Errorf("made again: %+v, %v", made.AskedBy, err)
		}
		e, err := w.store.BeginErasure(ctx, earshot.ErasureOf{Platform: general.Platform, Workspace: general.Workspace, User: "UCANARY"})
		if err != nil {
			t.Fatal(err)
		}
		if e, err = erasure.Run(ctx, w.store, e.ID, nil); err != nil || e.Removed.Sessions != 1 {
			t.Errorf("removed %+v, %v", e.Removed, err)
		}
		if q, err = w.store.QueuedTurn(ctx, q.ID); err != nil || q.Input != nil {
			t.Errorf("%v, and the input is still %s", err, q.Input)
		}
	})
}

// A turn that an operator opens again has the asker that it had.
func TestARetryOfAnEmojisTurnKnowsWhoAsks(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Fail(&llm.Error{Status: 400, Message: "no"}), llmtest.Say("<@U2>, it was the disk"))
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(general, ci, "m1", "the build is red")
		out := w.say(general, bob, "m1", "", by(string(bob.ID), "eyes"))
		w.rest(time.Minute)
		if err := w.store.Reopen(t.Context(), out.Turn); err != nil {
			t.Fatal(err)
		}
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
		if got := w.board.all(); got[len(got)-1] != "<@U2>, it was the disk" {
			t.Errorf("posts: %q", got)
		}
		parts := model.Requests()[1].Messages[0].Parts
		if got := parts[len(parts)-1].Text; !strings.Contains(got, "asks you about this message by :eyes:") {
			t.Errorf("the question:\n%s", got)
		}
	})
}

// A message about which the agent said nothing of its own accord can be asked about once,
// by an emoji or an edit, though it has had a turn: also where the silent turn is one of
// the conversation's.
func TestWhatWasSilentCanBeAskedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world)
		asked  string
	}{
		"by an emoji": {func(w *world) { w.say(general, bob, "m2", "", by(string(bob.ID), "eyes")) }, "asks you about this message by :eyes: at 00:02]"},
		"by an edit":  {func(w *world) { w.say(general, alice, "m2", "<@U0BOT> disk is full", under("m1"), edited(time.Second)) }, "Alice (edited): @earshot disk is full"},
	} {
		for _, owned := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", in an owned thread", false: ", where it read along"}[owned], func(t *testing.T) {
				t.Parallel()
				model := llmtest.New(llmtest.Say("first"), llmtest.Say("It was full since noon."), llmtest.Say("last"))
				if owned {
					model = llmtest.New(llmtest.Say("first"), quiet, llmtest.Say("It was full since noon."), llmtest.Say("last"))
				}
				alongside(t, llmtest.New(quiet), model, func(o *bot.Options) { o.Answer.OwnedThreads = owned }, func(w *world, _ *stamped) {
					w.say(general, alice, "m1", "<@U0BOT> hi")
					w.rest(time.Minute)
					w.say(general, alice, "m2", "disk is full", under("m1"))
					w.rest(time.Minute)
					c.change(w)
					w.rest(time.Minute)
					c.change(w)
					w.say(general, alice, "m3", "<@U0BOT> thanks, and now?", under("m1"))
					w.rest(time.Minute)
					why := map[bool]string{true: "m2 done silent: they talk", false: "m2 done ambient; silent: they talk"}[owned]
					same(t, "turns", w.turns(), []string{"m1 done", why, "m2 done", "m3 done"})
					same(t, "posts", w.board.all(), []string{"first", "It was full since noon.", "last"})
					asked := model.Requests()[len(model.Requests())-2].Messages
					parts := asked[len(asked)-1].Parts
					if got := parts[len(parts)-1].Text; !strings.Contains(got, c.asked) {
						t.Errorf("the question:\n%s", got)
					}
				})
			})
		}
	}
}

// Who gives the emoji to a message that the agent reads along, and is not done with, asks
// too: at once where nothing was decided yet, else after what was decided. What was said
// of the agent's own accord by then is the answer.
func TestAnEmojiAsksAboutAMessageThatIsBeingReadAlong(t *testing.T) {
	t.Parallel()
	const asked = "m1 done"
	for name, c := range map[string]struct {
		after    time.Duration // after the message, which is looked at after five seconds
		decision llmtest.Step
		answer   []llmtest.Step
		turns    []string
	}{
		"while it waits for silence": {after: time.Second, answer: []llmtest.Step{llmtest.Say("In the wiki.")},
			turns: []string{"m1 dropped ambient; silent: somebody asks about it", asked}},
		"while the model decides, for silence": {after: 10 * time.Second, decision: llmtest.After(10*time.Second, quiet), answer: []llmtest.Step{llmtest.Say("In the wiki.")},
			turns: []string{"m1 done ambient; silent: they talk", asked}},
		"while the model decides, for an emoji": {after: 10 * time.Second, decision: llmtest.After(10*time.Second, reactsE), answer: []llmtest.Step{llmtest.Say("In the wiki.")},
			turns: []string{"m1 done ambient; reacted :eyes:", asked}},
		"while the model decides, to speak": {after: 10 * time.Second, decision: llmtest.After(10*time.Second, speaks), answer: []llmtest.Step{llmtest.Say("In the wiki.")},
			turns: []string{"m1 done ambient", "m1 dropped answered already, unasked"}},
		"while it writes": {after: 10 * time.Second, decision: speaks, answer: []llmtest.Step{llmtest.After(10*time.Second, llmtest.Say("In the wiki."))},
			turns: []string{"m1 done ambient", "m1 dropped answered already, unasked"}},
		"while it writes, and then nothing": {after: 10 * time.Second, decision: speaks, answer: []llmtest.Step{llmtest.After(10*time.Second, llmtest.Say("")), llmtest.Say("In the wiki.")},
			turns: []string{"m1 done ambient; silent: the model said nothing", asked}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decider := llmtest.New()
			if c.decision != nil {
				decider.Then(c.decision)
			}
			model := llmtest.New(c.answer...)
			alongside(t, decider, model, nil, func(w *world, _ *stamped) {
				w.say(general, alice, "m1", "where do the release notes go?")
				w.rest(c.after)
				if got := w.say(general, bob, "m1", "", by(string(bob.ID), "eyes")); !got.Opened || got.Why != "reaction" {
					t.Errorf("the emoji: %+v", got)
				}
				if got := w.say(general, alice, "m1", "", by("U1", "eyes")); got.Opened {
					t.Errorf("a second one: %+v", got)
				}
				w.rest(10 * time.Minute)
				if got := w.say(general, ci, "m1", "", by("U7", "eyes")); got.Opened {
					t.Errorf("and later: %+v", got)
				}
				w.rest(time.Minute)
				same(t, "turns", w.turns(), c.turns)
				same(t, "posts", w.board.all(), []string{"In the wiki."})
				if n := decider.Left() + model.Left(); n > 0 {
					t.Errorf("%d answers of the models are left", n)
				}
			})
		})
	}
}
