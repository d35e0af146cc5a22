package bot_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/tokens"
)

// lives runs n processes over one store, one after another. die is called at every
// fault point and may end the process, at once or later. A process that die does not
// end is stopped after a minute.
func lives(t *testing.T, st bot.Store, n int, options func(p *process) bot.Options, ask func(b *bot.Bot), die func(life int, point string, kill func(after time.Duration))) {
	t.Helper()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		p := &process{}
		ctx, cancel := context.WithCancel(t.Context())
		end := func() {
			p.dead.Store(true)
			cancel()
		}
		o := options(p)
		o.Store, o.Counter, o.Owner = mortal{st, p}, counter, fmt.Sprintf("p%d", i)
		o.Fault = func(point string) {
			die(i, point, func(after time.Duration) {
				if after > 0 {
					time.AfterFunc(after, end)
					return
				}
				end()
			})
			if p.dead.Load() {
				runtime.Goexit()
			}
		}
		b := bot.New(o)
		if i == 0 {
			ask(b)
		}
		stop := time.AfterFunc(time.Minute, cancel)
		if err := b.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		stop.Stop()
		cancel()
	}
}

// TestACrashLoopOnTheLocalPlatformEndsWithOneReply kills a process around its post,
// and each later one a second after its claim. That is shorter than the time between
// two looks for the post, and there are more processes than a turn has tries.
func TestACrashLoopOnTheLocalPlatformEndsWithOneReply(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []string{"", "…"} {
		for _, at := range []string{"before_post", "after_post", "before_update", "after_update"} {
			if placeholder == "" && at != "before_post" && at != "after_post" {
				continue
			}
			t.Run(fmt.Sprintf("%s, placeholder %q", at, placeholder), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := &world{t: t, store: memory(t)}
					model, killed := &echo{}, 0
					lives(t, w.store, 20, func(p *process) bot.Options {
						chat, err := local.Open(t.Context(), mortal{w.store, p}, nil)
						if err != nil {
							t.Fatal(err)
						}
						return bot.Options{
							Model: model, Platform: chat, Identity: earshot.Identity{ID: "earshot", Name: "earshot"}, Placeholder: placeholder,
							Limits: bot.Limits{Tries: 3},
						}
					}, func(b *bot.Bot) {
						chat, err := local.Open(t.Context(), w.store, nil)
						if err != nil {
							t.Fatal(err)
						}
						if _, err := chat.Chat(b.Handle, b.Choose).Say(t.Context(), local.NewMessage{Channel: "general", As: "sam", Text: "@earshot hi"}); err != nil {
							t.Fatal(err)
						}
					}, func(life int, point string, kill func(time.Duration)) {
						switch {
						case life == 0 && point == at:
							killed++
							kill(0)
						case life > 0 && point == "after_claim":
							killed++
							kill(time.Second)
						}
					})
					if killed < 2 {
						t.Errorf("%d processes were killed", killed)
					}
					list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{})
					if err != nil || len(list) != 1 || list[0].State != earshot.TurnDone {
						t.Errorf("turns: %+v, %v, want one that is done", list, err)
					}
					channels, err := w.store.Channels(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					var said []string
					for _, c := range channels {
						messages, err := w.store.Since(t.Context(), c.Scope(), 0, 100)
						if err != nil {
							t.Fatal(err)
						}
						for _, m := range messages {
							if m.Author.ID == "earshot" && !m.Deleted {
								said = append(said, m.Text)
							}
						}
					}
					same(t, "the agent said", said, []string{"you said: sam: @earshot hi"})
					if n := model.calls(); n != 1 {
						t.Errorf("the model was asked %d times", n)
					}
				})
			})
		}
	}
}

// TestProcessesThatAdvanceATurnAreNotCounted has each process write one step of the
// journal and end; there are more processes than a turn has tries.
func TestProcessesThatAdvanceATurnAreNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
		var steps []llmtest.Step
		for range 5 {
			steps = append(steps, llmtest.Call("channel_context", `{"intent":"staging"}`))
		}
		var model llm.Model = llmtest.New(append(steps, llmtest.Say("It is up."))...)
		killed := 0
		lives(t, w.store, 14, func(p *process) bot.Options {
			return bot.Options{Model: model, Platform: mortalBoard{w.board, p}, Identity: self, Limits: bot.Limits{Tries: 3}}
		}, func(b *bot.Bot) {
			w.bot = b
			w.say(general, alice, "m1", "<@U0BOT> is staging up?")
		}, func(_ int, point string, kill func(time.Duration)) {
			if point == "after_step" {
				killed++
				kill(0)
			}
		})
		if want := 11; killed != want { // ten entries, and the answer with the first post
			t.Errorf("%d processes were killed, want %d", killed, want)
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
		same(t, "posts", w.board.all(), []string{"It is up."})
	})
}

// A stumbling store returns an error for its next writes of posts.
type stumbling struct {
	bot.Store
	next atomic.Int32
}

func (s *stumbling) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	if s.next.Add(-1) >= 0 {
		return errors.New("the disk is full")
	}
	return s.Store.PutPost(ctx, l, p)
}

// TestAnErrorAfterManyWaitsEndsNoTurn lets the store fail once for a turn that was
// claimed more often than it has tries, because its answer waited for the platform.
func TestAnErrorAfterManyWaitsEndsNoTurn(t *testing.T) {
	t.Parallel()
	p := &downed{slate: &slate{board: &board{}}}
	var st *stumbling
	in(t, func(o *bot.Options) {
		st = &stumbling{Store: o.Store}
		o.Store, o.Platform, o.Limits.Tries = st, p, 3
	}, func(w *world) {
		p.fall(5 * time.Minute)
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(4 * time.Minute)
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{})
		if err != nil || len(list) != 1 || list[0].Tries <= 3 {
			t.Fatalf("turns: %+v, %v, want one that was claimed more than three times", list, err)
		}
		st.next.Store(1)
		w.rest(10 * time.Minute)
		if st.next.Load() > 0 {
			t.Errorf("the store has not failed")
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
		same(t, "posts", p.all(), []string{"you said: Alice: @earshot hi"})
	})
}
