package bot_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// TestAnApologyThatEndsEveryProcessIsGivenUp ends each process at a point of the
// apology, for longer than an apology may wait.
func TestAnApologyThatEndsEveryProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at, turn string
		posts    int
	}{
		{"before_post", "m1 failed script: status 400; and the apology was not posted: the process ended 5 times while it sent post 0", 0},
		{"after_post", "m1 failed script: status 400", 1},
	} {
		t.Run(c.at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counter, err := tokens.For("o200k")
				if err != nil {
					t.Fatal(err)
				}
				w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
				for i := range 6 {
					p := &process{}
					ctx, cancel := context.WithCancel(context.Background())
					w.bot = bot.New(bot.Options{
						Store: mortal{w.store, p}, Model: &echo{errs: []error{&llm.Error{Provider: "script", Status: 400}}}, Platform: mortalBoard{w.board, p},
						Identity: self, Counter: counter, Limits: bot.Limits{Tries: 1, Post: 20 * time.Second},
						Fault: func(point string) {
							if point == c.at || p.dead.Load() {
								p.dead.Store(true)
								cancel()
								runtime.Goexit()
							}
						},
					})
					if i == 0 {
						w.say(general, alice, "m1", "<@U0BOT> hi")
					}
					time.AfterFunc(time.Minute, cancel) // nothing ends it
					if err := w.bot.Run(ctx); err != nil {
						t.Errorf("Run: %v", err)
					}
				}
				same(t, "turns", w.turns(), []string{c.turn})
				if got := len(w.board.all()); got != c.posts {
					t.Errorf("%d posts: %q", got, w.board.all())
				}
			})
		})
	}
}
