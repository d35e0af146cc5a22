package bot_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/tokens"
)

const away = "I was away when you asked; ask again if it still matters."

// A marker is a board that can put an emoji at a message.
type marker struct {
	*board
	marks []string
}

func (p *marker) React(_ context.Context, at bot.Place, emoji string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marks = append(p.marks, fmt.Sprintf("%s %s", at.Anchor.ID, emoji))
	return nil
}

// A hurried slate refuses the next private messages for a while.
type hurried struct {
	*slate
	refuses int
	wait    time.Duration // 0: for good
}

func (p *hurried) Apologize(ctx context.Context, at bot.Place, text string) error {
	if p.refuses > 0 {
		p.refuses--
		return &bot.PostError{Retry: p.wait, Err: errors.New("slow down")}
	}
	return p.slate.Apologize(ctx, at, text)
}

// asked is a question that the bot finds after it was away.
type asked struct {
	id      string
	by      earshot.Author
	in      earshot.Channel
	ago     time.Duration
	replyTo string // the thread that it stands in; "": none
}

// find hands questions to the bot at one moment.
func (w *world) find(list []asked) {
	for _, q := range list {
		change := []func(*bot.Event){found(q.ago, 0)}
		if q.replyTo != "" {
			change = append(change, under(q.replyTo))
		}
		w.say(q.in, q.by, q.id, "<@U0BOT> is it up?", change...)
	}
}

// TestWhoAskedWhileTheBotWasAwayIsToldOnce gives a bot that comes back the questions
// that it has missed.
func TestWhoAskedWhileTheBotWasAwayIsToldOnce(t *testing.T) {
	t.Parallel()
	other := general
	other.ID = "C2"
	hour := time.Hour
	for _, c := range []struct {
		name  string
		asked []asked
		told  []string // to whom, in any order
		done  int      // questions that are answered
	}{
		{"one question", []asked{{"m1", alice, general, hour, ""}}, []string{"U1"}, 0},
		{"a fresh one is answered", []asked{{"m1", alice, general, 5 * time.Minute, ""}}, nil, 1},
		{"several of one person in one channel", []asked{{"m1", alice, general, 3 * hour, ""}, {"m2", alice, general, 2 * hour, ""}, {"m3", alice, general, hour, "m1"}}, []string{"U1"}, 0},
		{"two people in one thread", []asked{{"m1", alice, general, 2 * hour, ""}, {"m2", bob, general, hour, "m1"}}, []string{"U1", "U2"}, 0},
		{"one person in two channels", []asked{{"m1", alice, general, 2 * hour, ""}, {"m2", alice, other, hour, ""}}, []string{"U1", "U1"}, 0},
		{"what is a day old", []asked{{"m1", alice, general, 25 * hour, ""}, {"m2", bob, general, 23 * hour, ""}}, []string{"U2"}, 0},
		{"a question of a bot", []asked{{"m1", ci, general, hour, ""}}, nil, 0},
		{"who has asked again gets the answer", []asked{{"m1", alice, general, hour, ""}, {"m2", alice, general, time.Minute, "m1"}}, nil, 1},
		{"somebody else has asked again", []asked{{"m1", alice, general, hour, ""}, {"m2", bob, general, time.Minute, "m1"}}, []string{"U1"}, 1},
		{"an old one is found after a fresh one", []asked{{"m2", bob, general, time.Minute, "m1"}, {"m1", alice, general, hour, ""}, {"m3", bob, general, 30 * time.Second, "m1"}}, []string{"U1"}, 2},
		{"direct messages", []asked{{"m1", alice, direct, hour, ""}}, []string{"U1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &slate{board: &board{}}
			in(t, func(o *bot.Options) { o.Platform, o.Answer.Bots = p, true }, func(w *world) {
				w.stop()
				w.find(c.asked)
				w.start()
				w.rest(time.Minute)
				w.stop()
				w.start() // a restart tells nobody again
				w.rest(2 * time.Hour)
				var told []string
				for _, who := range c.told {
					told = append(told, who+": "+away)
				}
				slices.Sort(p.private)
				same(t, "told", p.private, told)
				if got := len(p.all()); got != c.done {
					t.Errorf("%d answers: %q", got, p.all())
				}
				for _, turn := range w.turns() {
					if !strings.HasSuffix(turn, " done") && !strings.Contains(turn, " dropped stale: ") && !strings.Contains(turn, " dropped answered with turn ") {
						t.Errorf("turn %s", turn)
					}
				}
			})
		})
	}
}

// TestHowAPersonLearnsThatTheBotWasAway has platforms that can do more and less, and
// those that refuse.
func TestHowAPersonLearnsThatTheBotWasAway(t *testing.T) {
	t.Parallel()
	plain, able, marks := &board{}, &slate{board: &board{}}, &marker{board: &board{}}
	busy, closed := &hurried{slate: &slate{board: &board{}}, refuses: 3, wait: 20 * time.Second}, &hurried{slate: &slate{board: &board{}}, refuses: 1}
	lost := &slate{board: &board{}, deaf: errors.New("connection reset")}
	off := &slate{board: &board{}}
	for _, c := range []struct {
		name     string
		platform bot.Platform
		got      func() []string
		want     []string
	}{
		{"one line, to the person alone", able, func() []string { return able.private }, []string{"U1: " + away}},
		{"an emoji at the question", marks, func() []string { return marks.marks }, []string{"m1 💤"}},
		{"nothing, where there is neither", plain, plain.all, nil},
		{"after a rate limit", busy, func() []string { return busy.private }, []string{"U1: " + away}},
		{"not, where it is refused", closed, func() []string { return closed.private }, nil},
		{"once, where the answer to the call is lost", lost, func() []string { return lost.private }, []string{"U1: " + away}},
		{"not, where the operator does not want it", off, func() []string { return off.private }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in(t, func(o *bot.Options) { o.Platform, o.NoAwayNotice = c.platform, c.platform == off }, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> is it up?", found(time.Hour, 0))
				w.rest(10 * time.Minute)
				same(t, "told", c.got(), c.want)
				if turns := w.turns(); len(turns) != 1 || !strings.HasPrefix(turns[0], "m1 dropped stale: ") {
					t.Errorf("turns: %q", turns)
				}
			})
		})
	}
}

// TestAPersonIsToldAgainAfterAnotherOutage says the bound in time: at most once an
// hour.
func TestAPersonIsToldAgainAfterAnotherOutage(t *testing.T) {
	t.Parallel()
	p := &slate{board: &board{}}
	in(t, func(o *bot.Options) { o.Platform = p }, func(w *world) {
		for n, want := range []int{1, 1, 1, 2} {
			w.say(general, alice, fmt.Sprintf("m%d", n), "<@U0BOT> is it up?", found(20*time.Minute, 0))
			w.rest(time.Minute)
			if got := len(p.private); got != want {
				t.Errorf("after question %d the person was told %d times, want %d", n, got, want)
			}
			if n == 2 {
				w.rest(2 * time.Hour)
			}
		}
	})
}

// TestReplicasTellAPersonOnceTogether lets two processes drop many questions of one
// person at the same time.
func TestReplicasTellAPersonOnceTogether(t *testing.T) {
	t.Parallel()
	p := &slate{board: &board{}}
	in(t, func(o *bot.Options) { o.Platform = p }, func(w *world) {
		w.stop()
		for i := range 40 {
			w.say(general, alice, fmt.Sprintf("m%d", i), "<@U0BOT> is it up?", found(time.Hour, 0))
		}
		w.start()
		one := w.stop
		w.options.Owner = "two"
		w.start()
		w.rest(time.Minute)
		one()
		same(t, "told", p.private, []string{"U1: " + away})
		if n := len(w.turns()); n != 40 {
			t.Errorf("%d turns", n)
		}
	})
}

// TestAKillTellsNobodyTwiceThatTheBotWasAway ends the process around the call.
func TestAKillTellsNobodyTwiceThatTheBotWasAway(t *testing.T) {
	t.Parallel()
	for point, want := range map[string][]string{"after_claim": {"U1: " + away}, "before_post": nil, "after_post": {"U1: " + away}} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counter, err := tokens.For("o200k")
				if err != nil {
					t.Fatal(err)
				}
				w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
				page := &slate{board: w.board}
				for i := range 3 {
					p := &process{}
					ctx, cancel := context.WithCancel(context.Background())
					w.bot = bot.New(bot.Options{
						Store: mortal{w.store, p}, Model: &echo{}, Platform: mortalSlate{mortalBoard{w.board, p}, page}, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", i),
						Fault: func(at string) {
							if i == 0 && at == point || p.dead.Load() {
								p.dead.Store(true)
								cancel()
								runtime.Goexit()
							}
						},
					})
					if i == 0 {
						w.say(general, alice, "m1", "<@U0BOT> is it up?", found(time.Hour, 0))
					}
					time.AfterFunc(time.Minute, cancel)
					if err := w.bot.Run(ctx); err != nil {
						t.Errorf("Run: %v", err)
					}
				}
				same(t, "told", page.private, want)
				if turns := w.turns(); len(turns) != 1 || !strings.HasPrefix(turns[0], "m1 dropped stale: ") {
					t.Errorf("turns: %q", turns)
				}
			})
		})
	}
}
