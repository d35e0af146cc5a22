package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A slowBoard takes the posts that answer some questions only after a while.
type slowBoard struct {
	*board
	anchor string // the questions' ids begin with it
	takes  time.Duration
}

func (p slowBoard) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if strings.HasPrefix(string(d.Anchor.ID), p.anchor) {
		time.Sleep(p.takes)
	}
	return p.board.Post(ctx, d)
}

// A slowShelf returns from Fill only after a while, in one thread.
type slowShelf struct {
	*board
	thread earshot.MessageID
	takes  time.Duration
}

func (p slowShelf) Fill(_ context.Context, at bot.Place) error {
	if at.Thread == p.thread {
		time.Sleep(p.takes)
	}
	return nil
}

func TestATurnThatWaitsForThePlatformHoldsNoSlot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *bot.Options, b *board)
	}{
		{"while a post waits", func(o *bot.Options, b *board) { o.Platform = slowBoard{b, "m1", 20 * time.Second} }},
		{"while history is read", func(o *bot.Options, b *board) {
			o.Platform, o.Limits.History = slowShelf{b, "thread-m1", 20 * time.Second}, time.Minute
		}},
		{"until another look", func(o *bot.Options, b *board) { b.faults, o.Limits.Look = []fault{lostRequest}, 20*time.Second }},
		{"until a limit has passed", func(_ *bot.Options, b *board) { b.faults = []fault{busy, busy, busy, busy, busy, busy} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := &echo{takes: time.Second}
			in(t, func(o *bot.Options) {
				o.Model, o.Limits.Parallel = model, 1
				c.change(o, o.Platform.(*board))
			}, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> one?", under("thread-m1"))
				w.rest(1500 * time.Millisecond)
				w.say(general, alice, "m2", "<@U0BOT> two?", under("thread-m2"))
				w.rest(1500 * time.Millisecond)
				var asked []string
				model.mu.Lock()
				for _, r := range model.asked {
					asked = append(asked, lastLine(r))
				}
				model.mu.Unlock()
				if len(asked) == 0 || !strings.Contains(asked[len(asked)-1], "two?") {
					t.Errorf("the model was asked %q: the second question waits for the first", asked)
				}
				w.rest(2 * time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
			})
		})
	}
}

// A suspect turn waits for a turn without a slot, which needs one to come to its
// end.
func TestASuspectWaitsForTurnsThatWaitForThePlatform(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) {
		o.Model, o.Limits.Parallel, o.Limits.Tries, o.Limits.History = model, 1, 2, time.Minute
		o.Platform = slowShelf{o.Platform.(*board), "thread-m1", 10 * time.Second}
	}, func(w *world) {
		w.stop()
		w.say(general, alice, "m2", "<@U0BOT> two?", under("thread-m2"))
		_, _, err := w.store.Claim(t.Context(), earshot.AgentID(self.ID), "a process that ends", earshot.TimeOf(time.Now()), 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		w.say(general, alice, "m1", "<@U0BOT> one?", under("thread-m1"))
		w.start()
		w.rest(9 * time.Second)
		if got := model.calls(); got != 0 {
			t.Errorf("the model was called %d times while the other turn was under way", got)
		}
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m2 done", "m1 done"})
	})
}

func TestTurnsThatWaitForThePlatformAreBounded(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) {
		o.Model, o.Limits.Parallel = model, 2
		o.Platform = slowBoard{o.Platform.(*board), "m", 20 * time.Second}
	}, func(w *world) {
		for i := range 20 {
			w.say(general, alice, fmt.Sprintf("m%d", i), "<@U0BOT> well?", under(fmt.Sprintf("thread-%d", i)))
		}
		w.rest(10 * time.Second)
		if got, want := model.calls(), 8; got != want {
			t.Errorf("%d turns are under way, want %d", got, want)
		}
		w.rest(2 * time.Minute)
		if got := model.calls(); got != 20 {
			t.Errorf("%d turns were answered, want 20", got)
		}
	})
}
