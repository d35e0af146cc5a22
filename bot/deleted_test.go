package bot_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/tokens"
)

const withdrawn = "(The message that I was answering was deleted.)"

// TestAQuestionThatIsDeletedAtTheLastMomentIsNotAnswered deletes the question after
// the turn has checked it for the last time before posting.
func TestAQuestionThatIsDeletedAtTheLastMomentIsNotAnswered(t *testing.T) {
	t.Parallel()
	for placeholder, posts := range map[string][]string{"": nil, "…": {withdrawn}} {
		placing(t, func(o *bot.Options) { o.Placeholder, o.Model = placeholder, &echo{takes: 20 * time.Second} }, func(w *world, _ *slate) {
			w.say(general, alice, "m1", "<@U0BOT> hi")
			w.rest(19900 * time.Millisecond) // a lease of 7 s is looked after at 18.7 s and at 21 s
			w.gone("m1")
			w.rest(time.Minute)
			same(t, "posts", w.board.all(), posts)
			same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		})
	}
}

// TestADeletedQuestionEndsTheWaitForThePlatform deletes the question while its
// answer waits for the platform.
func TestADeletedQuestionEndsTheWaitForThePlatform(t *testing.T) {
	t.Parallel()
	for placeholder, posts := range map[string][]string{"": nil, "…": {withdrawn}} {
		p := &downed{slate: &slate{board: &board{}}}
		in(t, func(o *bot.Options) { o.Platform, o.Placeholder, o.Model = p, placeholder, &echo{takes: time.Second} }, func(w *world) {
			w.say(general, alice, "m1", "<@U0BOT> hi")
			w.rest(500 * time.Millisecond)
			p.fall(5 * time.Minute)
			w.rest(2 * time.Minute)
			w.gone("m1")
			w.rest(10 * time.Minute)
			same(t, "posts", p.all(), posts)
			same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		})
	}
}

// TestAMergedQuestionIsAnsweredWhenTheOtherIsDeletedLate deletes the question of a turn that
// answers two: the other question is answered.
func TestAMergedQuestionIsAnsweredWhenTheOtherIsDeletedLate(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model = &echo{takes: 20 * time.Second} }, func(w *world, _ *slate) {
		w.say(direct, alice, "m0", "hello")
		w.say(direct, alice, "m1", "is it up?")
		w.say(direct, alice, "m2", "is it down?")
		w.rest(39900 * time.Millisecond)
		w.say(direct, alice, "m2", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "del", true })
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"you said: Alice: hello", withdrawn, "you said: Alice: is it up?"})
		same(t, "turns", w.turns(), []string{"m0 done", "m1 done", "m2 dropped anchor deleted"})
	})
}

// TestTheRestOfAReplyToADeletedQuestionIsNotPosted deletes the question between two
// parts of the reply.
func TestTheRestOfAReplyToADeletedQuestionIsNotPosted(t *testing.T) {
	t.Parallel()
	for placeholder, posts := range map[string][]string{"": nil, "…": {withdrawn}} {
		var w *world
		var done atomic.Bool
		placing(t, func(o *bot.Options) {
			o.Placeholder, o.Model = placeholder, typist{words: strings.Repeat("word ", 200), every: time.Millisecond}
			o.Fault = func(at string) {
				// the placeholder's post is the first, or the first part is
				if want := "after_sent"; placeholder == "" && at == want || placeholder != "" && at == "after_update" {
					if !done.Swap(true) {
						w.gone("m1")
					}
				}
			}
		}, func(world *world, p *slate) {
			w = world
			p.max, p.wipes = 400, true
			w.say(general, alice, "m1", "<@U0BOT> hi")
			w.rest(time.Minute)
			if !done.Load() {
				t.Error("nothing was deleted")
			}
			same(t, "posts", w.board.all(), posts)
			same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		})
	}
}

// TestNoDraftIsShownOfADeletedQuestion checks what is visible between the deletion
// and the turn's next check of the question.
func TestNoDraftIsShownOfADeletedQuestion(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) {
		o.Model, o.Limits.Lease = typist{words: strings.Repeat("word ", 100), every: time.Second}, time.Minute
	}, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		drafts := p.drafts()
		w.gone("m1")
		w.rest(10 * time.Second)
		if now := p.drafts(); now != drafts || drafts < 2 {
			t.Errorf("%d drafts before the deletion, %d after it", drafts, now)
		}
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{withdrawn})
	})
}

// TestAHungReplicaUpdatesNothing hangs a process before it updates the placeholder,
// and lets it go on after another process has answered.
func TestAHungReplicaUpdatesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counter, err := tokens.For("o200k")
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
		page := &slate{board: w.board}
		wake := make(chan struct{})
		var hangs atomic.Bool
		hangs.Store(true)
		var stop []func()
		for i, model := range []*echo{{}, {}} {
			st := &stopped{Store: w.store}
			w.bot = bot.New(bot.Options{
				Store: st, Model: model, Platform: page, Identity: self, Counter: counter, Owner: string(rune('a' + i)), Placeholder: "…",
				Fault: func(at string) {
					if at == "before_update" && hangs.Swap(false) {
						st.yes.Store(true) // its heartbeat hangs as well
						<-wake
						st.yes.Store(false)
					}
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			stop = append(stop, func() { cancel(); <-ended })
			go func() {
				defer close(ended)
				if err := w.bot.Run(ctx); err != nil {
					t.Errorf("Run: %v", err)
				}
			}()
			if i == 0 {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Second)
			}
		}
		w.rest(time.Minute)
		same(t, "turns, answered by the other", w.turns(), []string{"m1 done"})
		said := len(page.posts[0].was)
		page.posts[0].Text = "as it is"
		close(wake)
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"as it is"})
		if now := len(page.posts[0].was); now != said {
			t.Errorf("%d updates, and %d after the hung process woke", said, now)
		}
		for _, f := range stop {
			f()
		}
	})
}

// A stopped store renews no lease.
type stopped struct {
	bot.Store
	yes atomic.Bool
}

func (s *stopped) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if s.yes.Load() {
		return l, nil
	}
	return s.Store.Renew(ctx, l, now, hold)
}

// TestAWithdrawnPlaceholderWaitsAsLongAsAnApology deletes a question late in an
// outage, or long after it was asked. From then on the placeholder has all of
// answer.post_minutes to get its last text, restarts included.
func TestAWithdrawnPlaceholderWaitsAsLongAsAnApology(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		deleted time.Duration // after the question
		lasts   time.Duration // the outage, from the answer's beginning on
		takes   time.Duration // the model
	}{
		{"late in the outage", 12 * time.Minute, 20 * time.Minute, time.Second},
		{"while the model was asked", 90 * time.Second, 15 * time.Minute, 100 * time.Second},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := &downed{slate: &slate{board: &board{}}}
				in(t, func(o *bot.Options) { o.Platform, o.Placeholder, o.Model = p, "…", &echo{takes: c.takes} }, func(w *world) {
					w.say(general, alice, "m1", "<@U0BOT> hi")
					w.rest(500 * time.Millisecond)
					p.fall(c.lasts)
					w.rest(c.deleted)
					w.gone("m1")
					for range 3 {
						w.rest(c.lasts / 6)
						if restarts {
							w.stop()
							w.start()
						}
					}
					w.rest(c.lasts)
					same(t, "posts", p.all(), []string{withdrawn})
					same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
				})
			})
		}
	}
}

// TestAQuestionThatIsDeletedDuringADowntime deletes a question with a visible
// placeholder while the process is down for longer than an answer waits. When it is
// back, the platform refuses the first update.
func TestAQuestionThatIsDeletedDuringADowntime(t *testing.T) {
	t.Parallel()
	p := &downed{slate: &slate{board: &board{}}}
	in(t, func(o *bot.Options) { o.Platform, o.Placeholder, o.Model = p, "…", &echo{takes: time.Minute} }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		w.stop()
		time.Sleep(time.Hour)
		w.gone("m1")
		p.fall(3 * time.Second)
		w.start()
		w.rest(time.Minute)
		same(t, "posts", p.all(), []string{withdrawn})
		same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
	})
}
