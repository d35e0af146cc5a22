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

// A poisonedBoard ends its process when it posts the poison.
type poisonedBoard struct{ mortalBoard }

func (b poisonedBoard) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if strings.HasSuffix(d.Text, "poison") {
		b.p.dead.Store(true)
		b.p.cancel()
		runtime.Goexit()
	}
	return b.mortalBoard.Post(ctx, d)
}

// TestAMessageThatEndsEveryProcessIsGivenUpAlone asks other questions beside the
// poison. They are answered more slowly than the poison works, so each process that
// claims both ends before it has an answer. The poison works when the model reads it,
// or when the platform is given the answer; that one is given up once an answer has
// waited for as long as it may.
func TestAMessageThatEndsEveryProcessIsGivenUpAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first     bool // the poison is said before the other questions
		posted    bool // it works when its answer is posted
		processes int
		why       string
	}{
		{true, false, 10, "p failed given up: the process has ended too often while it answered this"},
		{false, false, 10, "p failed given up: the process has ended too often while it answered this"},
		{true, true, 17, "p failed the process ended 17 times while it sent post 0"},
		{false, true, 17, "p failed the process ended 17 times while it sent post 0"},
	} {
		t.Run(fmt.Sprintf("first %v, posted %v", c.first, c.posted), func(t *testing.T) {
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
					o := bot.Options{
						Store: mortal{w.store, p}, Model: &poisoned{echo: echo{takes: 5 * time.Second}, p: p}, Platform: mortalBoard{w.board, p},
						Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", processes), Limits: bot.Limits{Post: 2 * time.Minute},
					}
					if c.posted {
						o.Model, o.Platform = &quick{echo: echo{takes: 5 * time.Second}}, poisonedBoard{mortalBoard{w.board, p}}
					}
					w.bot = bot.New(o)
					if processes == 0 {
						if c.first {
							w.say(direct, bob, "p", "poison")
						}
						for i := range 3 {
							w.say(general, alice, fmt.Sprintf("q%d", i), "<@U0BOT> is it up?")
						}
						if !c.first {
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
				if processes != c.processes {
					t.Errorf("the poison ended %d processes, want %d", processes, c.processes)
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
				var failed []string
				for _, turn := range w.turns() {
					if strings.Contains(turn, " failed ") {
						failed = append(failed, turn)
					}
				}
				same(t, "failed", failed, []string{c.why})
			})
		})
	}
}

// A quick model answers the poison at once, and other questions as echo does.
type quick struct{ echo }

func (m *quick) Generate(ctx context.Context, r llm.Request, told func(llm.Event)) (llm.Response, error) {
	if strings.HasSuffix(lastLine(r), "poison") {
		return (&echo{}).Generate(ctx, r, told)
	}
	return m.echo.Generate(ctx, r, told)
}

// A poisonedStore ends its process when an answer is committed, where kills says so.
type poisonedStore struct {
	mortal
	kills bool
	die   func()
}

func (s poisonedStore) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	if s.kills && state == earshot.TurnDone {
		s.p.dead.Store(true)
		s.die()
		runtime.Goexit()
	}
	return s.mortal.Finish(ctx, l, id, state, why, t, arrived...)
}

// TestAnAnswerThatEndsEveryProcessIsGivenUp ends each process before it posts an
// answer that the journal has, or when it commits the answer that it has posted. How often the answer waited
// for the platform before does not count.
func TestAnAnswerThatEndsEveryProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at      string
		ended   int
		turn    string
		posts   []string
		private []string
	}{
		{"after_begin", 10, "m1 failed given up: the process has ended too often while it answered this", nil, []string{"U1: " + sorry}},
		{"commit", 16, "m1 parked the process ended 16 times while it sent post 0; whether a post arrived is not known", []string{"you said: Alice: @earshot hi", unsure}, nil},
	} {
		t.Run(c.at, func(t *testing.T) {
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
						Store: poisonedStore{mortal{w.store, p}, i > 0 && c.at == "commit", cancel}, Model: model, Platform: page, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", i),
						Limits: bot.Limits{Post: 2 * time.Minute},
						Fault: func(at string) {
							if i > 0 && at == c.at || p.dead.Load() {
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
				if ended != c.ended {
					t.Errorf("it ended %d processes, want %d", ended, c.ended)
				}
				if n := model.calls(); n != 1 {
					t.Errorf("the model was asked %d times", n)
				}
				same(t, "turns", w.turns(), []string{c.turn})
				same(t, "posts", w.board.all(), c.posts)
				same(t, "told alone", page.private, c.private)
			})
		})
	}
}
