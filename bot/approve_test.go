package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A panel is a slate whose posts have buttons.
type panel struct{ *slate }

func (panel) MaxChoices() int { return 5 }

func (p panel) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	err := p.slate.Update(ctx, d, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.posts {
		if x := &p.posts[i]; x.id == id && err == nil {
			x.Choices = d.Choices
		}
	}
	return err
}

// asks returns the posts that have buttons.
func (p *board) asks() []posted {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []posted
	for _, x := range p.posts {
		if len(x.Choices) > 0 && !x.gone {
			out = append(out, x)
		}
	}
	return out
}

// withApprovals is withTracker, whose tool create_issue needs a person's yes, on a platform
// with buttons.
func withApprovals(t *testing.T, change func(*bot.Options, *tracker), f func(w *world, b *tracker, m *llmtest.Model), script ...llmtest.Step) {
	t.Helper()
	withTracker(t, func(o *bot.Options, b *tracker) {
		o.Platform, b.approve = panel{&slate{board: o.Platform.(*board), wipes: true}}, true
		if change != nil {
			change(o, b)
		}
	}, f, script...)
}

// choose has somebody choose at a post, and returns what they alone are told.
func (w *world) choose(x posted, choice string, who earshot.Author, change ...func(*bot.Chosen)) string {
	w.t.Helper()
	c := bot.Chosen{Scope: x.Channel.Scope(), Message: x.id, Key: x.Key, Choice: choice, By: who}
	for _, f := range change {
		f(&c)
	}
	told, err := w.bot.Choose(w.t.Context(), c)
	if err != nil {
		w.t.Errorf("choose %s: %v", choice, err)
	}
	return told
}

// react has somebody give an emoji at a post.
func (w *world) react(x posted, who earshot.Author, emoji string) {
	w.t.Helper()
	st := bot.HearReactions(w.store, bot.Reactions{Choose: w.bot.Choose})
	if _, err := st.React(w.t.Context(), x.Channel.Scope(), earshot.ReactionEvent{Message: x.id, Emoji: emoji, Author: who.ID, At: earshot.TimeOf(time.Now())}); err != nil {
		w.t.Fatal(err)
	}
}

// asked has alice ask for an issue, and returns the post that asks for her yes.
func (w *world) asked(b *tracker) posted {
	w.t.Helper()
	w.say(general, alice, "m1", "<@U0BOT> open an issue: staging is down")
	w.rest(time.Second)
	asks := w.board.asks()
	if len(asks) != 1 || len(b.done()) > 0 {
		w.t.Fatalf("%d questions, done %q, posts %q, turns %q", len(asks), b.done(), w.board.all(), w.turns())
	}
	return asks[0]
}

func TestAToolThatNeedsAYesWaitsForIt(t *testing.T) {
	t.Parallel()
	withApprovals(t, func(o *bot.Options, _ *tracker) { o.Placeholder = "…" }, func(w *world, b *tracker, m *llmtest.Model) {
		ask := w.asked(b)
		same(t, "the question", ask.Text, "<@U1>, may I call `create_issue` with this?\n```\n{\n  \"text\": \"staging\"\n}\n```\nYou can agree within 60 minutes.")
		same(t, "posts", w.board.all(), []string{ask.Text}) // the placeholder promises nothing meanwhile
		same(t, "turns", w.turns(), []string{"m1 waiting"})
		w.rest(10 * time.Minute)
		same(t, "told", w.choose(ask, "do", alice), "")
		w.rest(time.Second)
		same(t, "done", b.done(), []string{`create_issue {"text":"staging"}`})
		same(t, "turns", w.turns(), []string{"m1 done"})
		same(t, "posts", w.board.all(), []string{"A call of `create_issue`:\n```\n{\n  \"text\": \"staging\"\n}\n```\n<@U1> agreed; it was done.", "Opened."})
		same(t, "buttons", len(w.board.asks()), 0)
		same(t, "what the model was told", answers(m.Requests()[1]), []string{`{"result":"done: {\"text\":\"staging\"}"}`})
		same(t, "the journal", w.kinds(), []string{"tools", "answer", "call", "result", "answer"})
		list, err := w.store.Approvals(t.Context(), earshot.ApprovalQuery{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if a := list[0]; a.State != earshot.ApprovalAgreed || a.By != alice.ID || a.Asker != alice.ID || a.Result != "it was done" || string(a.Args) != `{"text":"staging"}` || a.Anchor != "m1" {
			t.Errorf("the approval is %+v", a)
		}
		// The next turn's request begins with this one's.
		w.say(general, alice, "m2", "<@U0BOT> thanks", under("m1"))
		w.rest(time.Second)
		r := m.Requests()
		if !strings.Contains(fmt.Sprint(r[2].Messages), "staging") || len(r[2].Messages) < len(r[1].Messages)+1 {
			t.Errorf("the session lacks the call: %v", r[2].Messages)
		}
		if strings.Contains(fmt.Sprint(r[2].Messages), "A call of") {
			t.Errorf("what was asked is told as news: %v", r[2].Messages)
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."), llmtest.Say("Welcome."))
}

func TestACallThatSomebodyRefusesIsNotMade(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		w.choose(w.asked(b), "dont", alice, func(c *bot.Chosen) { c.Words = "not `on` a Friday <@U2>" })
		w.rest(time.Second)
		same(t, "done", b.done(), nil)
		if got := answers(m.Requests()[1]); len(got) != 1 || !strings.Contains(got[0], "a person said no to this call: `not \\\\u0060on\\\\u0060 a Friday") {
			t.Errorf("the model was told %q", got)
		}
		all := w.board.all()
		if len(all) != 2 || !strings.HasSuffix(all[0], "<@U1> said no: `not \\u0060on\\u0060 a Friday <@U2>`.") || all[1] != "I did not." {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("I did not."))
}

func TestNobodyAgreesInTime(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		ask := w.asked(b)
		w.rest(59 * time.Minute)
		same(t, "turns", w.turns(), []string{"m1 waiting"})
		w.rest(2 * time.Minute)
		same(t, "done", b.done(), nil)
		same(t, "turns", w.turns(), []string{"m1 done"})
		if got := answers(m.Requests()[1]); len(got) != 1 || !strings.Contains(got[0], "nobody agreed to this call in time") {
			t.Errorf("the model was told %q", got)
		}
		if all := w.board.all(); !strings.HasSuffix(all[0], "Nobody agreed within 60 minutes; it was not done.") {
			t.Errorf("posts %q", all)
		}
		same(t, "a late click", w.choose(ask, "do", alice), "The time for this is over; it was not done.")
		w.rest(time.Minute)
		same(t, "done", b.done(), nil)
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("I did not."))
}

func TestAClickAtTheLastMomentCountsForNothingOnceTheTimeIsOver(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		w.stop() // nobody looks whose time is over
		time.Sleep(time.Hour)
		same(t, "told", w.choose(ask, "do", alice), "The time for this is over; it was not done.")
		w.start()
		w.rest(time.Minute)
		same(t, "done", b.done(), nil)
		same(t, "turns", w.turns(), []string{"m1 done"})
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("I did not."))
}

func TestAYesCountsOnce(t *testing.T) {
	t.Parallel()
	t.Run("two people at once, and each twice", func(t *testing.T) {
		t.Parallel()
		withApprovals(t, func(o *bot.Options, _ *tracker) { o.Approve.By = []string{"members"} }, func(w *world, b *tracker, _ *llmtest.Model) {
			ask := w.asked(b)
			for range 2 {
				for _, who := range []earshot.Author{alice, bob} {
					go func() {
						_, _ = w.bot.Choose(t.Context(), bot.Chosen{Scope: ask.Channel.Scope(), Message: ask.id, Key: ask.Key, Choice: "do", By: who})
					}()
				}
			}
			w.rest(time.Minute)
			same(t, "done", b.done(), []string{`create_issue {"text":"staging"}`})
			same(t, "who comes later", w.choose(ask, "dont", alice), "Nobody is asked this any more.")
			w.rest(time.Minute)
			same(t, "done", len(b.done()), 1)
		}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
	})
	t.Run("a forged click", func(t *testing.T) {
		t.Parallel()
		withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
			ask := w.asked(b)
			for name, change := range map[string]func(*bot.Chosen){
				"another channel":   func(c *bot.Chosen) { c.Scope.Channel = "C9" },
				"another workspace": func(c *bot.Chosen) { c.Scope.Workspace = "T9" },
				"another key":       func(c *bot.Chosen) { c.Key = "yAAAAAAAAAAAAAAAAAAAAAAA" },
				"no key":            func(c *bot.Chosen) { c.Key = "" },
				"another message":   func(c *bot.Chosen) { c.Message = "p999" },
				"another choice":    func(c *bot.Chosen) { c.Choice = "both" },
			} {
				if told := w.choose(ask, "do", alice, change); told == "" {
					t.Errorf("%s: it is taken", name)
				}
			}
			w.rest(time.Minute)
			same(t, "done", b.done(), nil)
			same(t, "turns", w.turns(), []string{"m1 waiting"})
		}, llmtest.Call("create_issue", `{"text":"staging"}`))
	})
	t.Run("a call with the same id in another turn is asked for again", func(t *testing.T) {
		t.Parallel()
		withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
			w.choose(w.asked(b), "do", alice)
			w.rest(time.Second)
			w.say(general, alice, "m2", "<@U0BOT> again", under("m1"))
			w.rest(time.Second)
			same(t, "done", len(b.done()), 1)
			same(t, "turns", w.turns(), []string{"m1 done", "m2 waiting"})
		}, llmtest.Calls(llm.Call{ID: "c1", Name: "create_issue", Args: `{"text":"staging"}`}), llmtest.Say("Opened."),
			llmtest.Calls(llm.Call{ID: "c1", Name: "create_issue", Args: `{"text":"staging"}`}), llmtest.Say("Again."))
	})
}

func TestAnApprovalOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"after_ask", "after_plan", "before_post", "after_post", "after_record", "after_sent", "after_retract"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			withApprovals(t, func(o *bot.Options, _ *tracker) {
				o.Placeholder = "…"
				diesOnce(o, point)
			}, func(w *world, b *tracker, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> open an issue")
				w.rest(time.Minute)
				asks := w.board.asks()
				if len(asks) != 1 || len(b.done()) > 0 {
					t.Fatalf("%d questions, done %q, posts %q, turns %q", len(asks), b.done(), w.board.all(), w.turns())
				}
				w.stop()
				w.start() // another process hears it
				w.choose(asks[0], "do", alice)
				w.rest(time.Minute)
				same(t, "done", b.done(), []string{`create_issue {"text":"staging"}`})
				if all := w.board.all(); len(all) != 2 || all[1] != "Opened." {
					t.Errorf("posts %q", all)
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
		})
	}
}

func TestTheQuestionIsDeletedWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		w.remove("m1", "")
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		same(t, "told", w.choose(ask, "do", alice), "Nobody is asked this any more.")
		w.rest(time.Minute)
		same(t, "done", b.done(), nil)
		if all := w.board.all(); len(all) != 1 || !strings.Contains(all[0], "Nobody is asked for this any more") || len(w.board.asks()) > 0 {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
}

func TestWhatWasShownIsDeletedWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		w.say(general, bob, "m0", "staging is down, the password is canary")
		ask := w.asked(b)
		w.remove("m0", "")
		w.rest(time.Minute)
		w.choose(ask, "do", alice)
		w.rest(time.Minute)
		// What it was for is gone: the model is asked from the start, and so is Alice.
		same(t, "done", b.done(), nil)
		asks := w.board.asks()
		if len(asks) != 1 || asks[0].id == ask.id {
			t.Fatalf("%d questions, posts %q, turns %q", len(asks), w.board.all(), w.turns())
		}
		if all := w.board.all(); !strings.Contains(all[0], "(What it was given is erased.)") {
			t.Errorf("posts %q", all)
		}
		w.choose(asks[0], "do", alice)
		w.rest(time.Minute)
		same(t, "done", b.done(), []string{`create_issue {"text":"staging"}`})
		if last := fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages); strings.Contains(last, "canary") {
			t.Errorf("the model reads what was deleted: %s", last)
		}
	}, llmtest.Call("create_issue", `{"text":"canary"}`), llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
}

func TestLaterQuestionsAreAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		ask := w.asked(b)
		w.say(general, bob, "m2", "<@U0BOT> is it still down?", under("m1"))
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 waiting", "m2 done"})
		w.choose(ask, "do", alice)
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
		same(t, "done", b.done(), []string{`create_issue {"text":"staging"}`})
		if all := w.board.all(); len(all) != 3 || all[1] != "It is." || all[2] != "Opened." {
			t.Errorf("posts %q", all)
		}
		w.say(general, bob, "m3", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Minute)
		// Each request goes on with what the session has, and the answer knows of both.
		r := m.Requests()
		if len(r) != 4 {
			t.Fatalf("%d requests", len(r))
		}
		for _, words := range []string{"is it still down?", "It is.", "staging"} {
			if !strings.Contains(fmt.Sprint(r[2].Messages), words) {
				t.Errorf("the answer to the first question does not know %q: %v", words, r[2].Messages)
			}
		}
		a, z := withoutCache(r[2].Messages), withoutCache(r[3].Messages)
		if len(z) <= len(a) {
			t.Fatalf("the last request has %d messages, the one before %d", len(z), len(a))
		}
		if diff := cmp.Diff(z[:len(a)], a); diff != "" {
			t.Errorf("the last request does not begin with the one before (-last +before):\n%s", diff)
		}
		same(t, "why epochs began", w.began(), []string{"", "conversation", ""}) // the first goes on with what the second began
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("It is."), llmtest.Say("Opened."), llmtest.Say("Fine."))
}

// withoutCache returns messages without the marks of what a provider is to keep.
func withoutCache(list []llm.Message) []llm.Message {
	list = slices.Clone(list)
	for i := range list {
		list[i].Cache = false
	}
	return list
}

func TestLaterQuestionsAreHeld(t *testing.T) {
	t.Parallel()
	withApprovals(t, func(o *bot.Options, _ *tracker) { o.Approve.Hold = true }, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		w.say(general, bob, "m2", "<@U0BOT> is it still down?", under("m1"))
		elsewhere := general
		elsewhere.ID = "C2"
		w.say(elsewhere, bob, "n1", "<@U0BOT> elsewhere?")
		w.rest(50 * time.Minute) // longer than a question is fresh
		same(t, "turns", w.turns(), []string{"m1 waiting", "m2 open", "n1 done"})
		w.choose(ask, "do", alice)
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done", "n1 done"})
		if all := w.board.all(); len(all) != 4 || all[2] != "Opened." || all[3] != "It is." {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Elsewhere."), llmtest.Say("Opened."), llmtest.Say("It is."))
}

func TestSeveralCallsAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> open two")
		w.rest(time.Second)
		asks := w.board.asks()
		if len(asks) != 2 {
			t.Fatalf("%d questions", len(asks))
		}
		same(t, "told", w.choose(asks[1], "dont", alice), "I have that. Something else that I asked is still open; then I go on.")
		w.rest(time.Minute)
		same(t, "done", b.done(), nil)
		same(t, "told", w.choose(asks[0], "do", alice), "")
		w.rest(time.Minute)
		slices.Sort(b.calls)
		same(t, "done", b.done(), []string{`create_issue {"text":"a"}`, `find_issue {}`})
		if got := answers(m.Requests()[1]); len(got) != 3 || !strings.Contains(got[0], "done") || !strings.Contains(got[2], "said no") {
			t.Errorf("the model was told %q", got)
		}
	}, llmtest.Calls(llm.Call{Name: "create_issue", Args: `{"text":"a"}`}, llm.Call{Name: "find_issue", Args: `{}`}, llm.Call{Name: "create_issue", Args: `{"text":"b"}`}), llmtest.Say("Half."))
}

func TestAWordAnswersWhatAPersonIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		who  earshot.Author
		done int
		says string
	}{
		{"<@U0BOT> yes", alice, 1, "agreed"},
		{"<@U0BOT> Do it!", alice, 1, "agreed"},
		{"yes", alice, 0, ""}, // to somebody else in the thread
		{"<@U0BOT> no, it is up again", alice, 0, "said no: `it is up again`"},
		{"<@U0BOT> yes", bob, 0, ""},
		{"<@U0BOT> yes but only tomorrow", alice, 0, ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			withTracker(t, func(o *bot.Options, b *tracker) {
				o.Platform, b.approve = &slate{board: o.Platform.(*board)}, true // without buttons
			}, func(w *world, b *tracker, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> open an issue")
				w.rest(time.Second)
				if all := w.board.all(); len(all) != 1 || !strings.Contains(all[0], "answer yes or no here") {
					t.Fatalf("posts %q", all)
				}
				for range 2 { // the platform sends it again
					w.say(general, c.who, "m2", c.text, under("m1"))
				}
				w.rest(time.Second)
				same(t, "done", len(b.done()), c.done)
				if all := w.board.all(); !strings.Contains(all[0], c.says) {
					t.Errorf("posts %q", all)
				}
				if turns := w.turns(); c.says != "" && len(turns) != 1 {
					t.Errorf("the word asks too: %q", turns)
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."), llmtest.Say("More."))
		})
	}
}

func TestArgumentsAreShownAsTheyAreSent(t *testing.T) {
	t.Parallel()
	args := "{\"text\":\"```\\u202e <@U2> \u202e\x7f \U000E0041 https://evil.example " + strings.Repeat("x", 3000) + "\"}"
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		if strings.Count(ask.Text, "```") != 2 || strings.ContainsAny(ask.Text, "\u202e\x7f\U000E0041") || len(ask.Mentions) != 1 || !strings.Contains(ask.Text, "more characters belong to it") {
			t.Errorf("the question is %q, mentions %v", ask.Text, ask.Mentions)
		}
		w.choose(ask, "do", alice)
		w.rest(time.Second)
		same(t, "done", b.done(), []string{"create_issue " + args})
	}, llmtest.Call("create_issue", args), llmtest.Say("Opened."))
}

// A reply by reference answers what it replies to, of several questions too.
func TestAReplyAnswersWhatItRepliesTo(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> open two")
		w.rest(time.Second)
		asks := w.board.asks()
		if len(asks) != 2 {
			t.Fatalf("%d questions", len(asks))
		}
		replyTo := func(id earshot.MessageID) func(*bot.Event) {
			return func(e *bot.Event) { e.Message.ReplyTo = id }
		}
		w.say(general, alice, "m2", "yes", replyTo("m1"))
		w.say(general, alice, "m3", "no, one is enough", replyTo(asks[0].id))
		w.say(general, alice, "m4", "yes", replyTo(asks[1].id))
		w.rest(time.Second)
		same(t, "done", b.done(), []string{`create_issue {"text":"b"}`})
	}, llmtest.Calls(llm.Call{Name: "create_issue", Args: `{"text":"a"}`}, llm.Call{Name: "create_issue", Args: `{"text":"b"}`}), llmtest.Say("Half."))
}

// What is asked, and how it was decided, fits into one message of the platform.
func TestAQuestionFitsIntoAMessage(t *testing.T) {
	t.Parallel()
	args := `{"text":"` + strings.Repeat("long ", 1000) + `"}`
	withApprovals(t, func(o *bot.Options, _ *tracker) { o.Platform.(panel).max = 2000 }, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		w.choose(ask, "dont", alice, func(c *bot.Chosen) { c.Words = strings.Repeat("no ", 2000) })
		w.rest(time.Second)
		for _, text := range append(w.board.all(), ask.Text) {
			if n := utf8.RuneCountInString(text); n > 2000 {
				t.Errorf("a message has %d characters: %q", n, text)
			}
		}
		if all := w.board.all(); !strings.Contains(all[0], "said no: `no no") {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("create_issue", args), llmtest.Say("I did not."))
}

func TestACallWithoutArgumentsIsAskedForAsSuch(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		if !strings.Contains(ask.Text, "```\n{}\n```") {
			t.Errorf("asked %q", ask.Text)
		}
		w.choose(ask, "do", alice)
		w.rest(time.Second)
		same(t, "done", b.done(), []string{"create_issue {}"})
	}, llmtest.Call("create_issue", ""), llmtest.Say("Opened."))
}

// A process that ends while the call runs leaves a message that says what is known.
func TestAfterAKillTheMessageSaysThatNobodyKnows(t *testing.T) {
	t.Parallel()
	withApprovals(t, func(o *bot.Options, _ *tracker) { diesOnce(o, "after_run") }, func(w *world, b *tracker, _ *llmtest.Model) {
		w.choose(w.asked(b), "do", alice)
		w.rest(time.Minute)
		if all := w.board.all(); len(b.done()) != 1 || !strings.HasSuffix(all[0], "agreed; nobody knows whether it was done.") {
			t.Errorf("posts %q, done %q", all, b.done())
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Perhaps."))
}

func TestAnOperatorAgrees(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		id := earshot.ApprovalID(w.asked(b).Key)
		a, err := w.store.Approval(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.DecideApproval(t.Context(), id, earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, Operator: true, Time: earshot.TimeOf(time.Now())}); err != nil {
			t.Fatal(err)
		}
		w.rest(5 * time.Second)
		same(t, "done", len(b.done()), 1)
		if all := w.board.all(); !strings.HasSuffix(all[0], "Somebody who runs me agreed; it was done.") {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
}

func TestAToolThatFailsAfterAYes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(context.Context, toolbox.Call) (toolbox.Result, error)
		says   string
	}{
		"it says so": {func(context.Context, toolbox.Call) (toolbox.Result, error) {
			r, _ := said("no rights")
			r.Failed = true
			return r, nil
		}, "the tool says that it failed."},
		"it did not run": {func(context.Context, toolbox.Call) (toolbox.Result, error) {
			return toolbox.Result{}, toolbox.ErrNotRun
		}, "it could not be done."},
		"nobody knows it": {func(context.Context, toolbox.Call) (toolbox.Result, error) { return toolbox.Result{}, errDead }, "nobody knows whether it was done."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withApprovals(t, func(_ *bot.Options, b *tracker) { b.answer = c.answer }, func(w *world, b *tracker, _ *llmtest.Model) {
				w.choose(w.asked(b), "do", alice)
				w.rest(time.Minute)
				if all := w.board.all(); !strings.HasSuffix(all[0], c.says) || len(b.done()) != 1 {
					t.Errorf("posts %q, done %q", all, b.done())
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("It failed."))
		})
	}
}

// Calls of two turns may have the same id, where the one waits while the other is answered:
// a provider without ids counts from what it is sent.
func TestCallsOfTurnsThatWaitHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, m *llmtest.Model) {
		ask := w.asked(b)
		w.say(general, bob, "m2", "<@U0BOT> is there an issue?", under("m1"))
		w.rest(time.Second)
		w.choose(ask, "do", alice)
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
		w.say(general, bob, "m3", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done", "m3 done"})
		var ids []string
		for _, x := range m.Requests()[len(m.Requests())-1].Messages {
			for _, p := range x.Parts {
				if p.Call != nil {
					ids = append(ids, p.Call.ID)
				}
			}
		}
		same(t, "the ids in the session", ids, []string{"call_1", "call_1_2"})
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Call("find_issue", `{"text":"x"}`), llmtest.Say("No."), llmtest.Say("Opened."), llmtest.Say("Now there is."))
}

// A thumb, a tick or a cross at the question is an answer, of who may give one.
func TestAnEmojiAtTheQuestionIsAnAnswer(t *testing.T) {
	t.Parallel()
	for emoji, want := range map[string]string{"+1::skin-tone-3": "agreed", "✅": "agreed", "x": "refused", "👎": "refused", "tada": "open"} {
		t.Run(emoji, func(t *testing.T) {
			t.Parallel()
			withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
				ask := w.asked(b)
				for _, who := range []earshot.Author{bob, {ID: self.ID}, alice} {
					w.react(ask, who, emoji)
				}
				w.rest(time.Second)
				list, err := w.store.Approvals(t.Context(), earshot.ApprovalQuery{})
				if err != nil || len(list) != 1 || string(list[0].State) != want || want != "open" && list[0].By != alice.ID || (want == "agreed") != (len(b.done()) == 1) {
					t.Errorf("%+v, %v; done %q", list, err, b.done())
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("So it is."))
		})
	}
}

// A hasty store has what is asked decided before anybody could post it, and the process does not
// hear that it was stored.
type hasty struct {
	bot.Store
	state earshot.ApprovalState
	done  bool
}

func (h *hasty) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (earshot.Approval, error) {
	a, err := h.Store.AskApproval(ctx, l, a)
	if h.done || err != nil {
		return a, err
	}
	h.done = true
	_, err = h.Store.DecideApproval(ctx, a.ID, earshot.Decision{State: h.state, SHA256: a.SHA256, Operator: true, Why: "go on", Time: earshot.TimeOf(time.Now())})
	return earshot.Approval{}, errors.Join(err, errDead)
}

// What an operator decides before the question could be posted is told in the thread.
func TestADecisionBeforeTheQuestionIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call, args string
		state      earshot.ApprovalState
		did        int
		shown      string
	}{
		{"create_issue", `{"text":"staging"}`, earshot.ApprovalAgreed, 1, "Somebody who runs me agreed; it was done."},
		{"create_issue", `{"text":"staging"}`, earshot.ApprovalRefused, 0, "Somebody who runs me said no: `go on`."},
		{"ask", `{"question":"Which one?"}`, earshot.ApprovalAgreed, 0, "\nSomebody who runs me answered."},
	} {
		t.Run(c.call+" "+string(c.state), func(t *testing.T) {
			t.Parallel()
			withApprovals(t, func(o *bot.Options, _ *tracker) {
				o.Store, o.Ask = &hasty{Store: o.Store, state: c.state}, bot.Ask{All: true}
			}, func(w *world, b *tracker, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> open one")
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done"})
				same(t, "done", len(b.done()), c.did)
				all := w.board.all()
				if len(all) != 2 || !strings.HasSuffix(all[0], c.shown) || all[1] != "So it is." {
					t.Errorf("posts %q", all)
				}
				same(t, "buttons", len(w.board.asks()), 0)
			}, llmtest.Call(c.call, c.args), llmtest.Say("So it is."))
		})
	}
}
