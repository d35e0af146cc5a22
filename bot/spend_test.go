package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// dear is a model whose answers use a thousand tokens each.
type dear struct{ *echo }

func (m dear) Generate(ctx context.Context, r llm.Request, on func(llm.Event)) (llm.Response, error) {
	a, err := m.echo.Generate(ctx, r, on)
	a.Usage = earshot.Usage{Input: 600, Output: 100, CacheRead: 200, CacheWrite: 100}
	return a, err
}

// limitedTo sets limits for a model whose longest answer is a hundred tokens.
func limitedTo(l bot.DayLimits) func(*bot.Options) {
	return func(o *bot.Options) { o.Model, o.Day, o.MaxTokens = dear{&echo{}}, l, 100 }
}

func tokensADay(n int64) earshot.Spend { return earshot.Spend{Tokens: n} }

// usedFrom returns the tokens that are counted today, by purse.
func (w *world) usedFrom(p earshot.Purse) int64 {
	w.t.Helper()
	list, err := w.store.Spent(w.t.Context(), earshot.TimeOf(time.Now()))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range list {
		if s.Purse == p {
			return s.Spend.Tokens
		}
	}
	return 0
}

const overLimit = "Sorry, I cannot answer this today: the day's limit for you would be passed. Ask again after 00:00 UTC."

// TestATurnThatWouldPassADaysLimitIsNotBegun: the person is told once in a channel, others
// are answered, and on the next day so is the person.
func TestATurnThatWouldPassADaysLimitIsNotBegun(t *testing.T) {
	t.Parallel()
	other := general
	other.ID = "C2"
	p := &slate{board: &board{}}
	in(t, func(o *bot.Options) {
		limitedTo(bot.DayLimits{Person: tokensADay(2500)})(o)
		o.Platform = p
	}, func(w *world) {
		w.board = p.board
		for i := range 5 {
			w.say(general, alice, fmt.Sprint("a", i), "<@U0BOT> one more?")
			w.rest(time.Minute)
		}
		w.say(other, alice, "c1", "<@U0BOT> and here?")
		w.say(general, bob, "b1", "<@U0BOT> and me?")
		w.rest(time.Minute)
		if got := len(p.all()); got != 3 {
			t.Errorf("%d answers, want two for alice and one for bob: %q", got, p.all())
		}
		same(t, "told", p.private, []string{"U1: " + overLimit, "U1: " + overLimit}) // once in each channel
		why := " dropped day-limit: it would pass limits.day.person of U1, of which 80 % are used or held"
		var got []string
		for _, turn := range w.turns() {
			if strings.Contains(turn, "dropped") {
				got = append(got, turn)
			}
		}
		same(t, "turns", got, []string{"a2" + why, "a3" + why, "a4" + why, "c1" + why})
		time.Sleep(24 * time.Hour)
		w.say(general, alice, "n1", "<@U0BOT> good morning")
		w.rest(time.Minute)
		if got := len(p.all()); got != 4 {
			t.Errorf("%d answers on the next day", got)
		}
	})
}

// TestWhoeverIsOverALimitIsTold: the limit is named, and when it opens again in the asker's
// own time; where nobody can be told alone, all see it, and a program is not told.
func TestWhoeverIsOverALimitIsTold(t *testing.T) {
	t.Parallel()
	none := tokensADay(1)
	for _, c := range []struct {
		name   string
		limits bot.DayLimits
		by     earshot.Author
		zone   string
		want   []string
	}{
		{"a person", bot.DayLimits{Person: none}, bob, "", []string{overLimit}},
		{"a channel", bot.DayLimits{Channel: none, Person: none}, bob, "", []string{strings.Replace(overLimit, "for you", "for this channel", 1)}},
		{"a workspace", bot.DayLimits{Workspace: none}, bob, "", []string{strings.Replace(overLimit, "for you", "for this workspace", 1)}},
		{"everybody, elsewhere", bot.DayLimits{All: none}, bob, "Asia/Kolkata", []string{"Sorry, I cannot answer this today: the day's limit for everybody would be passed. Ask again after 05:30 (Asia/Kolkata)."}},
		{"a program", bot.DayLimits{All: none}, ci, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in(t, func(o *bot.Options) {
				limitedTo(c.limits)(o)
				o.Answer.Bots, o.Zone = true, c.zone
			}, func(w *world) {
				w.say(general, c.by, "m1", "<@U0BOT> is it up?")
				w.rest(time.Minute)
				w.say(general, c.by, "m2", "<@U0BOT> is it up now?")
				w.rest(time.Minute)
				same(t, "posts", w.board.all(), c.want)
				if calls := w.options.Model.(dear).calls(); calls != 0 {
					t.Errorf("the model is asked %d times", calls)
				}
			})
		})
	}
}

// TestReplicasThatBeginAtOnceStayBelowALimit: what each may use counts before it is used.
func TestReplicasThatBeginAtOnceStayBelowALimit(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) {
		limitedTo(bot.DayLimits{All: tokensADay(2500)})(o)
		o.Model = dear{&echo{takes: time.Minute}}
	}, func(w *world) {
		next := &world{t: t, options: w.options}
		next.options.Owner = "two"
		next.start()
		defer next.stop()
		for i := range 8 {
			c := direct
			c.ID += earshot.ChannelID(fmt.Sprint(i))
			w.say(c, bob, fmt.Sprint("q", i), "hi")
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		held := w.usedFrom(earshot.Purse{})
		if held == 0 || held > 2500 {
			t.Errorf("%d tokens are held", held)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		begun := int64(w.options.Model.(dear).calls())
		if used := w.usedFrom(earshot.Purse{}); begun == 0 || used != begun*1000 {
			t.Errorf("%d tokens are counted after %d turns", used, begun)
		}
	})
}

// TestALimitThatIsPassedEndsTheRoundsOfTools: the turn is finished, without further calls.
func TestALimitThatIsPassedEndsTheRoundsOfTools(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Do(func(llm.Request) (llm.Response, error) {
		return llm.Response{
			Parts: []llm.Part{{Call: &llm.Call{ID: "c1", Name: "channel_context", Args: `{"intent":"notes"}`}}},
			Stop:  llm.StopCalls, Usage: earshot.Usage{Input: 7000},
		}, nil
	}), llmtest.Say("That is all I found."))
	var near []string
	in(t, func(o *bot.Options) {
		limitedTo(bot.DayLimits{All: tokensADay(4000), Channel: tokensADay(6500)})(o)
		o.Model = model
		o.Spending.Near = func(s earshot.PurseSum, most earshot.Spend) {
			near = append(near, fmt.Sprint(s.Purse.Channel, s.Spend.Share(most)))
		}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> what is in the notes?")
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"That is all I found."})
		calls := model.Requests()
		if len(calls) != 2 || calls[0].NoCalls || !calls[1].NoCalls {
			t.Errorf("the model is asked %d times", len(calls))
		}
		if len(near) != 2 {
			t.Errorf("told of %q", near)
		}
		w.say(general, bob, "m2", "<@U0BOT> again?")
		w.rest(time.Minute)
		if len(near) != 2 {
			t.Errorf("told again: %q", near)
		}
	})
}

// TestATurnThatFailsHoldsNothing: what was used counts, and what was held is given
// back.
func TestATurnThatFailsHoldsNothing(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) {
		limitedTo(bot.DayLimits{Person: tokensADay(50_000)})(o)
		o.Model = dear{&echo{errs: []error{&llm.Error{Provider: "script", Status: 400, Message: "no"}}}}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> is it up?")
		w.rest(time.Minute)
		if used := w.usedFrom(earshot.Purse{}); used != 0 {
			t.Errorf("%d tokens are counted for a call that failed", used)
		}
		w.say(general, alice, "m2", "<@U0BOT> and now?")
		w.rest(time.Minute)
		at := earshot.Purse{Platform: general.Platform, Workspace: general.Workspace}
		person, channel := at, at
		person.Author, channel.Channel = alice.ID, general.ID
		for _, p := range []earshot.Purse{{}, at, person, channel} {
			if used := w.usedFrom(p); used != 1000 {
				t.Errorf("%d tokens are counted for %+v", used, p)
			}
		}
	})
}

// TestATurnThatHasBegunIsFinishedByAnotherReplica: what the dead replica held is not held
// twice, and a limit does not keep the turn from its end.
func TestATurnThatHasBegunIsFinishedByAnotherReplica(t *testing.T) {
	t.Parallel()
	p := &process{}
	in(t, func(o *bot.Options) {
		limitedTo(bot.DayLimits{All: tokensADay(600)})(o)
		o.Store, o.Model = mortal{o.Store, p}, dear{&echo{takes: time.Hour}}
	}, func(w *world) {
		w.say(direct, bob, "q1", "hi")
		synctest.Wait()
		if n := w.options.Model.(dear).calls(); n != 1 {
			t.Fatalf("the model is asked %d times", n)
		}
		held := w.usedFrom(earshot.Purse{})
		p.dead.Store(true)
		other := earshot.SpendChange{Day: earshot.TimeOf(time.Now()), Used: tokensADay(600), Purses: []earshot.PurseLimit{{}}}
		if _, err := w.store.Spend(t.Context(), other); err != nil { // others use up the rest
			t.Fatal(err)
		}
		next := &world{t: t, options: w.options}
		next.options.Store, next.options.Model, next.options.Owner = w.store, dear{&echo{takes: time.Minute}}, "two"
		next.start()
		defer next.stop()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if now := w.usedFrom(earshot.Purse{}); held == 0 || now != held+600 {
			t.Errorf("%d tokens are held, and %d by the second replica", held, now)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if used := w.usedFrom(earshot.Purse{}); used != 1600 || !slices.Equal(w.board.all(), []string{"you said: Bob: hi"}) {
			t.Errorf("%d tokens are counted, and posted is %q", used, w.board.all())
		}
	})
}

// TestAnAmbientTurnOverALimitIsSilent: nobody asked, so nobody is told, and it is on nobody's
// account.
func TestAnAmbientTurnOverALimitIsSilent(t *testing.T) {
	t.Parallel()
	decider := llmtest.New(quiet)
	alongside(t, decider, llmtest.New(), func(o *bot.Options) {
		o.Day, o.MaxTokens = bot.DayLimits{Channel: tokensADay(1), Person: tokensADay(1)}, 100
	}, func(w *world, p *stamped) {
		w.say(general, alice, "m1", "does anybody know where it is?")
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done ambient; silent: day-limit: it would pass limits.day.channel of C1, of which 0 % are used or held"})
		if len(p.private) > 0 || len(w.board.all()) > 0 || len(decider.Requests()) > 0 {
			t.Errorf("told %q, posted %q, asked %d times", p.private, w.board.all(), len(decider.Requests()))
		}
	})
}

// Nobody's question goes on another's account, or ends with theirs: under a limit each is
// answered, or refused, by itself.
func TestALimitOfOnePersonEndsNobodyElsesQuestion(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][2]earshot.Author{"asks after": {bob, alice}, "asks before": {alice, bob}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &slate{board: &board{}}
			in(t, func(o *bot.Options) {
				limitedTo(bot.DayLimits{Person: tokensADay(4000)})(o)
				o.Platform, o.Model = p, dear{&echo{takes: time.Minute}}
			}, func(w *world) {
				w.board = p.board
				purse := earshot.Purse{Platform: general.Platform, Workspace: general.Workspace, Author: alice.ID}
				if _, err := w.store.Spend(t.Context(), earshot.SpendChange{Day: earshot.TimeOf(time.Now()), Used: tokensADay(3990), Purses: []earshot.PurseLimit{{Purse: purse}}}); err != nil {
					t.Fatal(err)
				}
				carol := earshot.Author{ID: "U9", Name: "Carol", Kind: earshot.Human}
				w.say(general, carol, "r", "<@U0BOT> is it up?")
				w.rest(10 * time.Second)
				w.say(general, order[0], "m1", "<@U0BOT> one?", under("r"))
				w.say(general, order[1], "m2", "<@U0BOT> two?", under("r"))
				w.rest(10 * time.Minute)
				for i, who := range order {
					want := []string{"m1", "m2"}[i] + " done"
					if who.ID == alice.ID {
						want = []string{"m1", "m2"}[i] + " dropped day-limit"
					}
					if !slices.ContainsFunc(w.turns(), func(s string) bool { return strings.HasPrefix(s, want) }) {
						t.Errorf("turns are %q, want %q", w.turns(), want)
					}
				}
				same(t, "told", len(p.private)+strings.Count(strings.Join(p.all(), "\n"), overLimit), 1)
				same(t, "what she has used", w.usedFrom(purse), int64(3990))
			})
		})
	}
}

// Who calls the agent while it reads along has their own limit, and their sum never falls.
func TestWhoCallsTheAgentWhileItReadsAlongHasALimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int64
		want  string
		used  int64
	}{"passed": {3000, "m2 dropped day-limit", 1000}, "not passed": {30000, "m2 done", 2000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			say := llmtest.Do(func(llm.Request) (llm.Response, error) {
				return llm.Response{Parts: []llm.Part{llm.Text("It is.")}, Stop: llm.StopEnd, Usage: earshot.Usage{Input: 900, Output: 100}}, nil
			})
			decider := llmtest.New(llmtest.Do(func(llm.Request) (llm.Response, error) {
				w.say(general, alice, "m2", "<@U0BOT> where is it?", edited(time.Minute))
				return llm.Response{Parts: []llm.Part{{Call: &llm.Call{ID: "c", Name: "stay_silent", Args: `{"reason":"x"}`}}}, Stop: llm.StopCalls, Usage: earshot.Usage{Input: 10}}, nil
			}))
			alongside(t, decider, llmtest.New(say, say), func(o *bot.Options) { o.Day, o.MaxTokens = bot.DayLimits{Person: tokensADay(c.limit)}, 2500 }, func(in *world, p *stamped) {
				w = in
				purse := earshot.Purse{Platform: general.Platform, Workspace: general.Workspace, Author: alice.ID}
				w.say(general, alice, "m1", "<@U0BOT> is it up?")
				w.rest(time.Minute)
				w.say(general, alice, "m2", "where is it?")
				w.rest(2 * time.Minute)
				if got := w.turns(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
					t.Errorf("turns are %q, posts %q, told %q", got, w.board.all(), p.private)
				}
				same(t, "what she has used", w.usedFrom(purse), c.used)
			})
		})
	}
}
