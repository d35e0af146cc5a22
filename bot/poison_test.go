package bot_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// A poisoned model ends its process when it reads the poison.
type poisoned struct {
	echo
	p *process
}

func (m *poisoned) Generate(ctx context.Context, r llm.Request, told func(llm.Event)) (llm.Response, error) {
	if strings.Contains(lastLine(r), "poison") {
		time.Sleep(time.Second) // others have begun
		m.p.dead.Store(true)
		m.p.cancel()
		runtime.Goexit()
	}
	return m.echo.Generate(ctx, r, told)
}

// TestAMessageThatEndsEveryProcessIsGivenUpAlone asks other questions beside the
// poison. They are answered more slowly than the poison works, so each process that
// claims both ends before it has an answer.
func TestAMessageThatEndsEveryProcessIsGivenUpAlone(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("the poison is said first %v", first), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
				counter, err := tokens.For("o200k")
				if err != nil {
					t.Fatal(err)
				}
				processes := 0
				for ; processes < 30; processes++ {
					p := &process{done: make(chan struct{})}
					ctx, cancel := context.WithCancel(context.Background())
					p.cancel = cancel
					w.bot = bot.New(bot.Options{
						Store: mortal{w.store, p}, Model: &poisoned{echo: echo{takes: 5 * time.Second}, p: p}, Platform: mortalBoard{w.board, p},
						Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", processes),
					})
					if processes == 0 {
						if first {
							w.say(direct, bob, "p", "poison")
						}
						for i := range 3 {
							w.say(general, alice, fmt.Sprintf("q%d", i), "<@U0BOT> is it up?")
						}
						if !first {
							w.say(direct, bob, "p", "poison")
						}
					}
					ended := make(chan error, 1)
					go func() { ended <- w.bot.Run(ctx) }()
					select {
					case <-ctx.Done(): // dead
						<-ended
						continue
					case <-time.After(time.Minute): // nothing kills it any more
					}
					cancel()
					if err := <-ended; err != nil && !errors.Is(err, errDead) {
						t.Errorf("Run: %v", err)
					}
					break
				}
				if want := 10; processes != want {
					t.Errorf("the poison ended %d processes, want %d", processes, want)
				}
				answers := map[earshot.MessageID][]string{}
				for _, x := range w.board.posts {
					answers[x.Anchor.ID] = append(answers[x.Anchor.ID], x.Text)
				}
				for i := range 3 {
					if got := answers[earshot.MessageID(fmt.Sprintf("q%d", i))]; len(got) != 1 || !strings.HasPrefix(got[0], "you said: ") {
						t.Errorf("question %d has the answers %q", i, got)
					}
				}
				if got := answers["p"]; len(got) != 1 || !strings.HasPrefix(got[0], "Sorry") {
					t.Errorf("the poison has the answers %q, want one apology", got)
				}
				failed := 0
				for _, turn := range w.turns() {
					if strings.Contains(turn, "failed given up: the process has ended too often") {
						failed++
					}
				}
				if failed != 1 {
					t.Errorf("%d turns were given up, want 1: %q", failed, w.turns())
				}
			})
		})
	}
}

// TestAnAnswerThatEndsEveryProcessIsGivenUp ends each process before it posts an
// answer that the journal has. How often the answer waited for the platform before
// does not count.
func TestAnAnswerThatEndsEveryProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
		page := &downed{slate: &slate{board: w.board}}
		counter, err := tokens.For("o200k")
		if err != nil {
			t.Fatal(err)
		}
		model := &echo{}
		ended := 0
		for i := range 20 {
			p := &process{}
			ctx, cancel := context.WithCancel(t.Context())
			w.bot = bot.New(bot.Options{
				Store: mortal{w.store, p}, Model: model, Platform: page, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", i),
				Fault: func(at string) {
					if i > 0 && at == "after_begin" || p.dead.Load() {
						p.dead.Store(true)
						cancel()
						runtime.Goexit()
					}
				},
			})
			if i == 0 {
				page.fall(5 * time.Second) // the answer waits
				w.say(general, alice, "m1", "<@U0BOT> hi")
			}
			stop := time.AfterFunc(time.Minute, cancel)
			if i == 0 {
				stop.Reset(4 * time.Second)
			}
			if err := w.bot.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
			stop.Stop()
			if p.dead.Load() {
				ended++
			}
		}
		if want := 10; ended != want {
			t.Errorf("it ended %d processes, want %d", ended, want)
		}
		if n := model.calls(); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		same(t, "turns", w.turns(), []string{"m1 failed given up: the process has ended too often while it answered this"})
		same(t, "posts", w.board.all(), nil)
		same(t, "told alone", page.private, []string{"U1: " + sorry})
	})
}
