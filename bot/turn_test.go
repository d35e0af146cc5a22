package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s (-got +want):\n%s", what, diff)
	}
}

func TestAMentionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		got := w.say(general, alice, "m1", "<@U0BOT> is staging down?")
		if got.Why != "mention" || !got.Opened {
			t.Errorf("the outcome is %+v", got)
		}
		again := w.say(general, alice, "m1", "<@U0BOT> is staging down?", func(e *bot.Event) { e.Delivery = "another" })
		if again.Opened || again.Turn != got.Turn {
			t.Errorf("the second delivery is %+v", again)
		}
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"you said: Alice: @earshot is staging down?"})
		same(t, "turns", w.turns(), []string{"m1 done"})
		list, err := w.store.Newest(t.Context(), general.Scope(), earshot.ThreadOf("m1"), earshot.Position{}, 10)
		if err != nil || len(list) != 2 || list[1].Author.ID != self.ID {
			t.Errorf("the thread holds %+v, %v", list, err)
		}
	})
}

func TestAFollowUpExtendsTheSession(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> is staging down?")
		w.rest(time.Second)
		w.say(general, bob, "m2", "it is up again", under("m1"))
		w.say(general, alice, "m3", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		first, second := model.asked[0], model.asked[1]
		if len(second.Messages) != 3 {
			t.Fatalf("the second prompt has %d messages", len(second.Messages))
		}
		if diff := cmp.Diff(second.Messages[0].Parts, first.Messages[0].Parts); diff != "" {
			t.Errorf("the first prompt is no prefix of the second:\n%s", diff)
		}
		last := second.Messages[2].Parts[0].Text
		if !strings.Contains(last, "Bob: it is up again") || strings.Contains(last, "you said") {
			t.Errorf("the follow-up reads:\n%s", last)
		}
	})
}

func TestWhoIsAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		channel earshot.Channel
		author  earshot.Author
		text    string
		change  func(*bot.Event)
		answer  bot.Answer
		why     string
		opened  bool
	}{
		{name: "a mention", text: "<@U0BOT> hi", why: "mention", opened: true},
		{name: "a mention by an alias", text: "<@B0BOT> hi", why: "mention", opened: true},
		{name: "a mention with a label", text: "hey <@U0BOT|earshot> hi", why: "mention", opened: true},
		{name: "a mention that only the platform lists", text: "hi", change: func(e *bot.Event) { e.Message.Mentions = []earshot.AuthorID{"U0BOT"} }, why: "mention", opened: true},
		{name: "a name in running text", text: "earshot, or @earshot, is nice", why: "not-addressed"},
		{name: "a mention in ticks", text: "write `<@U0BOT> hi` to ask", why: "not-addressed"},
		{name: "a mention in a fence", text: "```\n<@U0BOT> hi\n```", change: func(e *bot.Event) { e.Message.Mentions = []earshot.AuthorID{"U0BOT"} }, why: "not-addressed"},
		{name: "a mention in an address", text: "see https://example.com/<@U0BOT>/x", why: "not-addressed"},
		{name: "somebody else's mention", text: "<@U2> hi", why: "not-addressed"},
		{name: "a direct message", channel: direct, text: "hi", why: "direct", opened: true},
		{name: "itself", author: earshot.Author{ID: "B0BOT", Kind: earshot.Bot}, text: "<@U0BOT> hi", why: "self"},
		{name: "the platform's own note", author: earshot.Author{ID: "U9", Kind: earshot.System}, text: "<@U0BOT> has joined", why: "system"},
		{name: "another bot", author: ci, text: "<@U0BOT> hi", why: "bot"},
		{name: "another bot where bots are answered", author: ci, text: "<@U0BOT> hi", answer: bot.Answer{Bots: true}, why: "mention", opened: true},
		{name: "another bot that only calls", author: ci, text: "<@U0BOT>", answer: bot.Answer{Bots: true}, why: "silence"},
		{name: "an edit", text: "hi", change: func(e *bot.Event) { e.Message.Edited = e.Message.Time + 1 }, why: "edit"},
		{name: "a deletion", change: func(e *bot.Event) { e.Message.Deleted, e.Message.Text = true, "" }, why: "deletion"},
		{name: "a root where roots are answered", text: "hi", answer: bot.Answer{Roots: true}, why: "root", opened: true},
		{name: "a reply where roots are answered", text: "hi", change: under("m0"), answer: bot.Answer{Roots: true}, why: "not-addressed"},
		{name: "a mention by somebody who may not ask", text: "<@U0BOT> hi", change: notAllowed, why: "not-allowed"},
		{name: "a mention that has a reaction now", text: "<@U0BOT> hi", change: func(e *bot.Event) { e.Known = true }, why: "known"},
		{name: "talk of somebody who may not ask", text: "hi", change: notAllowed, why: "not-addressed"},
		{name: "a reply in a thread of nobody", text: "hi", change: under("m0"), answer: bot.Answer{OwnedThreads: true}, why: "owned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in(t, func(o *bot.Options) { o.Answer = c.answer }, func(w *world) {
				channel, author := general, alice
				if c.channel.ID != "" {
					channel = c.channel
				}
				if c.author.ID != "" {
					author = c.author
				}
				change := []func(*bot.Event){}
				if c.change != nil {
					change = append(change, c.change)
				}
				got := w.say(channel, author, "m1", c.text, change...)
				if got.Why != c.why || got.Opened != c.opened {
					t.Errorf("got %s, opened %v; want %s, %v", got.Why, got.Opened, c.why, c.opened)
				}
				w.rest(time.Second)
			})
		})
	}
}

func notAllowed(e *bot.Event) { e.Refused = "not-allowed" }

func TestAnAgentOwnsTheThreadsThatItAnswered(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Answer.OwnedThreads = true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		for _, c := range []struct {
			id, text, why string
			author        earshot.Author
			opened        bool
		}{
			{"m2", "and further?", "owned", alice, true},
			{"m3", "<@U2> what do you say?", "other-named", alice, false},
			{"m4", "build green", "bot", ci, false},
			{"m5", "still there?", "owned", bob, true},
			{"m6", "<@B9> what do you say?", "other-named", bob, false},
			{"m7", "I say no", "bot", ci, false},
			{"m8", "why?", "owned", bob, false},
			{"m9", "<@U0BOT> why?", "mention", bob, true},
			{"n1", "thanks", "owned", bob, true},
		} {
			if got := w.say(general, c.author, c.id, c.text, under("m1")); got.Why != c.why || got.Opened != c.opened {
				t.Errorf("%s: got %s, opened %v; want %s, %v", c.id, got.Why, got.Opened, c.why, c.opened)
			}
			w.rest(time.Second)
		}
		w.rest(25 * time.Hour)
		if got := w.say(general, bob, "n2", "a day later", under("m1")); got.Opened {
			t.Errorf("a day later the thread is still owned: %+v", got)
		}
	})
}

func TestBotsAreAnsweredWithinBounds(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Answer.Bots = true }, func(w *world) {
		opened := 0
		for i := range 8 {
			id := string(rune('a' + i))
			change := []func(*bot.Event){}
			if i%2 == 1 {
				change = append(change, under("a"))
			}
			if got := w.say(general, ci, id, "<@U0BOT> again", change...); got.Opened {
				opened++
			} else if got.Why != "bots-bounded" {
				t.Errorf("%s: %s", id, got.Why)
			}
			w.rest(time.Second)
		}
		if opened != 3 {
			t.Errorf("a loop of bots had %d turns, want 3", opened)
		}
		w.rest(10 * time.Minute)
		if got := w.say(general, ci, "z", "<@U0BOT> later"); !got.Opened {
			t.Errorf("ten minutes later: %+v", got)
		}
		w.rest(time.Second)
	})
}

func TestAPersonWhoOnlyMentionsTheAgentIsAskedForAQuestion(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT>")
		w.rest(time.Second)
		if got := w.board.all(); len(got) != 1 || !strings.Contains(got[0], "what you would like to know") {
			t.Errorf("posts: %q", got)
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
		if w.model.(*echo).calls() != 0 {
			t.Error("the model was asked")
		}
	})
}

func TestTheLastOfSeveralWaitingQuestionsAnswersAll(t *testing.T) {
	t.Parallel()
	model := &echo{takes: 10 * time.Second}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(direct, alice, "m1", "one")
		w.rest(time.Second)
		w.say(direct, alice, "m2", "two")
		w.say(direct, alice, "m3", "three")
		w.say(direct, alice, "m4", "🚫 alone")
		w.say(direct, alice, "m5", "five")
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 dropped answered with turn 3", "m3 done", "m4 done", "m5 done"})
		same(t, "posts", w.board.all(), []string{"you said: Alice: one", "you said: Alice: three", "you said: alone", "you said: Alice: five"})
		if text := model.asked[1].Messages[2].Parts[0].Text; !strings.Contains(text, "Alice: two") {
			t.Errorf("the second prompt does not have what was waiting:\n%s", text)
		}
	})
}

func TestWithEachEveryQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Model, o.Answer.Each = &echo{takes: 10 * time.Second}, true }, func(w *world) {
		for _, id := range []string{"m1", "m2", "m3"} {
			w.say(direct, alice, id, id)
		}
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done", "m3 done"})
	})
}

func TestABacklogIsRecordedAndNotAnswered(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi", func(e *bot.Event) { e.Message.Time -= earshot.Time(11 * time.Minute / time.Microsecond) })
		w.rest(time.Second)
		if got := w.turns(); len(got) != 1 || !strings.HasPrefix(got[0], "m1 dropped stale: said 11m0s ago") {
			t.Errorf("turns: %q", got)
		}
		if got := w.board.all(); len(got) != 0 {
			t.Errorf("posts: %q", got)
		}
	})
}

func TestATurnIsDroppedWhenItsAnchorIsDeleted(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Model = &echo{takes: 20 * time.Second} }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		w.say(general, alice, "m1", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "del", true })
		w.rest(5 * time.Second)
		if got := w.turns(); len(got) != 1 || !strings.HasPrefix(got[0], "m1 dropped anchor deleted") {
			t.Errorf("turns: %q", got)
		}
		w.rest(time.Minute)
		if got := w.board.all(); len(got) != 0 {
			t.Errorf("posts: %q", got)
		}
		if len(w.reports) != 1 {
			t.Errorf("%d reports", len(w.reports))
		}
	})
}

func TestPostsArriveOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		faults []fault
		posts  int
		turn   string
	}{
		{"all is well", nil, 1, "m1 done"},
		{"the answer to the post is lost", []fault{lostAnswer}, 1, "m1 done"},
		{"the post is lost", []fault{lostRequest}, 1, "m1 done"},
		{"the post is lost twice", []fault{lostRequest, lostRequest}, 1, "m1 done"},
		{"a limit is reached", []fault{busy, busy}, 1, "m1 done"},
		{"the platform refuses, the apology too", []fault{refused, refused}, 0, "m1 failed not posted: the channel is archived; and the apology was not posted: not posted: the channel is archived"},
		{"the platform refuses the reply", []fault{refused}, 1, "m1 failed not posted: the channel is archived"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in(t, nil, func(w *world) {
				w.board.faults = c.faults
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				if got := len(w.board.all()); got != c.posts {
					t.Errorf("%d posts, want %d: %q", got, c.posts, w.board.all())
				}
				same(t, "turns", w.turns(), []string{c.turn})
			})
		})
	}
}

func TestWithoutAFinderAnUncertainPostIsParked(t *testing.T) {
	t.Parallel()
	p := &board{faults: []fault{lostAnswer}}
	in(t, func(o *bot.Options) { o.Platform = blind{p} }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		if got := w.turns(); len(got) != 1 || !strings.HasPrefix(got[0], "m1 parked whether post 0 arrived cannot be found out") {
			t.Errorf("turns: %q", got)
		}
		same(t, "posts", p.all(), []string{"you said: Alice: @earshot hi", unsure})
	})
}

func TestOurOwnEventConfirmsAPost(t *testing.T) {
	t.Parallel()
	p := &board{faults: []fault{lostAnswer}}
	in(t, func(o *bot.Options) { o.Platform = blind{p} }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		w.say(general, earshot.Author{ID: self.ID, Kind: earshot.Bot}, "p001", p.posts[0].Text, under("m1"), func(e *bot.Event) { e.Key = p.posts[0].Key })
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}

func TestWhenTheModelFails(t *testing.T) {
	t.Parallel()
	down := &llm.Error{Provider: "script", Status: 529, Retryable: true}
	large := &llm.Error{Provider: "script", Status: 400, TooLarge: true}
	broken := &llm.Error{Provider: "script", Status: 400, Message: "bad request"}
	for _, c := range []struct {
		name  string
		errs  []error
		takes time.Duration
		calls int
		post  string
		turn  string
	}{
		{"it is down for a moment", []error{down, down}, 0, 3, "you said", "m1 done"},
		{"it stays down", []error{down, down, down, down, down, down, down, down, down, down, down, down}, 0, 8, "cannot be reached", "m1 failed given up after"},
		{"the context is too large once", []error{large}, 0, 2, "you said", "m1 done"},
		{"the context is too large", []error{large, large}, 0, 2, "larger than the language model can read", "m1 failed the context is too large, halved too"},
		{"the request is refused", []error{broken}, 0, 1, "something went wrong", "m1 failed script: status 400: bad request"},
		{"it takes for ever", nil, time.Hour, 1, "in time", "m1 failed no answer within 2m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := &echo{errs: c.errs, takes: c.takes}
			in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(10 * time.Minute)
				got := w.board.all()
				if len(got) != 1 || !strings.Contains(got[0], c.post) {
					t.Errorf("posts: %q, want one with %q", got, c.post)
				}
				if turns := w.turns(); len(turns) != 1 || !strings.HasPrefix(turns[0], c.turn) {
					t.Errorf("turns: %q, want %q", turns, c.turn)
				}
				if n := model.calls(); n > c.calls {
					t.Errorf("the model was asked %d times, want at most %d", n, c.calls)
				}
				conv, err := w.store.Conversation(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "m1"})
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(c.turn, "failed") && conv.Cursor != 0 {
					t.Errorf("a failed turn has moved the cursor to %d", conv.Cursor)
				}
			})
		})
	}
}

// TestATurnThatCannotBeAssembledEndsWithOneApology asks questions of which no prompt
// can be made, so that the turn fails before it has begun.
func TestATurnThatCannotBeAssembledEndsWithOneApology(t *testing.T) {
	t.Parallel()
	const tooLarge = "Sorry, I could not answer this: the conversation is larger than the language model can read, even after leaving out what I could."
	small := func(o *bot.Options) { o.Budget = assemble.Budget{Tokens: 1000, Limit: 2000} }
	long := "<@U0BOT> " + strings.Repeat("is staging up? ", 4000)
	for _, c := range []struct {
		name, text string
		change     func(*bot.Options)
		faults     []fault // of the next posts
		private    bool    // the platform can tell a person alone
		post, why  string
	}{
		{"the budget is too small", long, small, nil, false, tooLarge, "budget too small"},
		{"the budget is too small, told alone", long, small, nil, true, tooLarge, "budget too small"},
		{"the budget is too small, the post is slow", long, small, []fault{busy, lostRequest}, false, tooLarge, "budget too small"},
		{"an input error", "<@U0BOT> is staging up?", func(o *bot.Options) { o.Zone = "Mars/Olympus" }, nil, false, sorry, "the context cannot be made: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model, p := &echo{}, &slate{board: &board{faults: c.faults}}
			in(t, func(o *bot.Options) {
				o.Model, o.Platform = model, p.board
				if c.private {
					o.Platform = p
				}
				c.change(o)
			}, func(w *world) {
				w.say(general, alice, "m1", c.text)
				w.rest(time.Minute)
				w.stop()
				w.start() // what has ended is not told again
				w.rest(time.Hour)
				posts, private := []string{c.post}, []string(nil)
				if c.private {
					posts, private = nil, []string{"U1: " + c.post}
				}
				same(t, "posts", p.all(), posts)
				same(t, "told alone", p.private, private)
				if turns := w.turns(); len(turns) != 1 || !strings.HasPrefix(turns[0], "m1 failed ") || !strings.Contains(turns[0], c.why) {
					t.Errorf("turns: %q, want one that failed with %q", turns, c.why)
				}
				list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 1})
				if err != nil {
					t.Fatal(err)
				}
				if want := 1 + len(c.faults)/2; list[0].Tries != want { // once more after both faults
					t.Errorf("%d tries, want %d", list[0].Tries, want)
				}
				if n := model.calls(); n > 0 {
					t.Errorf("the model was asked %d times without a prompt", n)
				}
			})
		})
	}
}

func TestToolsAreRunWithinBounds(t *testing.T) {
	t.Parallel()
	var steps []llmtest.Step
	for range 8 {
		steps = append(steps, llmtest.Call("channel_context", `{"intent":"staging"}`))
	}
	steps = append(steps, llmtest.Say("It is up, says Bob."))
	model := llmtest.New(steps...)
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(general, bob, "m0", "staging is up")
		w.say(general, alice, "m1", "<@U0BOT> is staging up?")
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"It is up, says Bob."})
		asked := model.Requests()
		last := asked[len(asked)-1]
		if len(asked) != 9 || !last.NoCalls {
			t.Errorf("%d requests, the last without calls: %v", len(asked), last.NoCalls)
		}
		result := asked[1].Messages[2].Parts[0].Result
		if result == nil || !strings.Contains(result.Parts[0].Text, "staging is up") || strings.Contains(result.Parts[0].Text, "is staging up?") {
			t.Errorf("the tool said %+v", result)
		}
		for i, r := range asked {
			if diff := cmp.Diff(r.Tools, asked[0].Tools); diff != "" || r.System != asked[0].System {
				t.Errorf("request %d has other tools or system:\n%s", i, diff)
			}
		}
	})
}

func TestAnIsolatedMessageIsAnsweredAlone(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(direct, alice, "m1", "the password is in the safe")
		w.rest(time.Second)
		before, _ := w.store.Conversation(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: direct.Scope(), Name: "top"})
		w.say(direct, alice, "m2", "🚫 what is two and two?")
		w.rest(time.Second)
		if r := model.asked[1]; len(r.Messages) != 1 || len(r.Tools) != 0 || r.Messages[0].Parts[0].Text != "what is two and two?" {
			t.Errorf("the model read %+v", r.Messages)
		}
		after, _ := w.store.Conversation(t.Context(), before.ID)
		turns, _ := w.store.Turns(t.Context(), before.ID, 0)
		if before.Cursor != after.Cursor || len(turns) != 1 {
			t.Errorf("the cursor moved from %d to %d, there are %d turns", before.Cursor, after.Cursor, len(turns))
		}
	})
}

func TestADryRunPostsNothing(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.DryRun = true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		if got := w.board.all(); len(got) != 0 {
			t.Errorf("posts: %q", got)
		}
		same(t, "turns", w.turns(), []string{"m1 dropped dry run"})
		if len(w.reports) != 1 || w.reports[0].Text != "you said: Alice: @earshot hi" {
			t.Errorf("reports: %+v", w.reports)
		}
	})
}

func TestALongReplyIsSplitAndRemembered(t *testing.T) {
	t.Parallel()
	long := "Here:\n\n```go\n" + strings.Repeat("fmt.Println(\"hello\")\n", 30) + "```\nDone."
	in(t, func(o *bot.Options) { o.Model = llmtest.New(llmtest.Say(long)) }, func(w *world) {
		w.board.max = 300
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		for i, text := range w.board.all() {
			if n := len([]rune(text)); n > 300 || strings.Count(text, "```")%2 != 0 {
				t.Errorf("post %d has %d characters:\n%s", i, n, text)
			}
		}
		turns, err := w.store.Turns(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "m1"}, 0)
		if err != nil || len(turns) != 1 || len(turns[0].Answer.Replies) != len(w.board.all()) || len(w.board.all()) < 3 {
			t.Errorf("turns: %+v, %v; %d posts", turns, err, len(w.board.all()))
		}
	})
}

func TestARefusedTurnCanBeAnsweredAgain(t *testing.T) {
	t.Parallel()
	model := &echo{errs: []error{&llm.Error{Provider: "script", Status: 400}}}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		out := w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Hour)
		if err := w.store.Reopen(context.Background(), out.Turn); err != nil {
			t.Fatal(err)
		}
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
		if got := w.board.all(); len(got) != 2 || got[1] != "you said: Alice: @earshot hi" {
			t.Errorf("posts: %q", got)
		}
	})
}

// TestAModelThatSaidNothingIsAskedAgainByRetry opens turns again that failed because
// the model returned no text, at once or after all its rounds.
func TestAModelThatSaidNothingIsAskedAgainByRetry(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]llmtest.Step{
		"at once":          {llmtest.Say(""), llmtest.Say("")},
		"after its rounds": {llmtest.Call("nothing", `{}`), llmtest.Call("nothing", `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(append(steps, llmtest.Say(""), llmtest.Say(""), llmtest.Say("noon"))...)
			in(t, func(o *bot.Options) { o.Model, o.Limits.Rounds = model, 1 }, func(w *world) {
				out := w.say(general, alice, "m1", "<@U0BOT> hi")
				for range 2 {
					w.rest(time.Minute)
					if got := w.turns()[0]; !strings.HasPrefix(got, "m1 failed the model said nothing") {
						t.Fatalf("turn: %s", got)
					}
					if err := w.store.Reopen(t.Context(), out.Turn); err != nil {
						t.Fatal(err)
					}
				}
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done"})
				if got := w.board.all(); len(got) != 2 || got[1] != "noon" {
					t.Errorf("posts: %q", got)
				}
			})
		})
	}
}

// TestMergedQuestionsAreAnsweredWhenTheLastIsDeleted deletes the last of several
// merged questions at each stage of the turn that answers them all.
func TestMergedQuestionsAreAnsweredWhenTheLastIsDeleted(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []string{"", "…"} {
		t.Run("placeholder "+placeholder, func(t *testing.T) {
			t.Parallel()
			placing(t, func(o *bot.Options) { o.Model, o.Placeholder = &echo{takes: 10 * time.Second}, placeholder }, func(w *world, _ *slate) {
				w.say(direct, alice, "m1", "one")
				w.rest(time.Second)
				w.say(direct, alice, "m2", "two")
				w.say(direct, alice, "m3", "three")
				w.say(direct, alice, "m4", "four")
				w.rest(15 * time.Second) // the model is asked about the last
				same(t, "turns", w.turns()[:3], []string{"m1 done", "m2 dropped answered with turn 4", "m3 dropped answered with turn 4"})
				w.say(direct, alice, "m4", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "del", true })
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done", "m2 dropped answered with turn 3", "m3 done", "m4 dropped anchor deleted"})
				if got := w.board.all(); got[len(got)-1] != "you said: Alice: three" {
					t.Errorf("posts: %q", got)
				}
			})
		})
	}
}
