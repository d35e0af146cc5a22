package bot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/tokens"
)

// A slow platform takes its time over every call. A call whose process dies
// meanwhile may have had its effect.
type slow struct {
	*slate
	p   *process
	lag func() time.Duration
}

// wait passes half of a call's time; the error says that the process died.
func (s slow) wait(ctx context.Context) error {
	select {
	case <-time.After(s.lag()):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.p.done:
		return errDead
	}
}

// slowly makes a call with its time before and after it.
func slowly[T any](ctx context.Context, s slow, call func() (T, error)) (T, error) {
	var none T
	if err := s.wait(ctx); err != nil {
		return none, err
	}
	out, err := call()
	if err := s.wait(ctx); err != nil {
		return none, err
	}
	return out, err
}

func (s slow) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	return slowly(ctx, s, func() (earshot.Message, error) { return s.slate.Post(ctx, d) })
}

func (s slow) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	return slowly(ctx, s, func() (earshot.Message, error) { return s.slate.Find(ctx, d) })
}

func (s slow) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	_, err := slowly(ctx, s, func() (int, error) { return 0, s.slate.Update(ctx, d, id) })
	return err
}

// TestACrashLoopEndsNoQuestionThatOnlyWaitsToPost kills processes for several minutes,
// each a few seconds after its start, whatever its turns are doing. The model answers
// at once, so nearly always they wait for a platform that is slow. Once the crash loop
// is over, every question gets its answer.
func TestACrashLoopEndsNoQuestionThatOnlyWaitsToPost(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []string{"", "…"} {
		for _, questions := range []int{1, 6} {
			t.Run(fmt.Sprintf("%d questions, placeholder %q", questions, placeholder), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(20) {
					synctest.Test(t, func(t *testing.T) { crashLoop(t, seed, questions, placeholder) })
				}
			})
		}
	}
}

func crashLoop(t *testing.T, seed uint64, questions int, placeholder string) {
	const lasts = 8 * time.Minute
	chance := rand.New(rand.NewPCG(seed, 0))
	upTo := func(most time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(most))) + 1 }
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
	page, began := &slate{board: w.board}, time.Now()
	life, lag := 2*time.Second+upTo(8*time.Second), 500*time.Millisecond+upTo(2*time.Second)
	var want []string
	for n := 0; ; n++ {
		p := &process{done: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		w.bot = bot.New(bot.Options{
			Store: mortal{w.store, p}, Model: &echo{}, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", n), Placeholder: placeholder,
			Platform: slow{page, p, func() time.Duration { return lag }},
		})
		for i := 0; n == 0 && i < questions; i++ {
			c := general
			c.ID = earshot.ChannelID(fmt.Sprintf("C%d", i+1))
			w.say(c, alice, fmt.Sprintf("m%d", i), fmt.Sprintf("<@U0BOT> question %d", i))
			want = append(want, fmt.Sprintf("you said: Alice: @earshot question %d", i))
		}
		last := time.Since(began) > lasts
		stop := 10 * time.Minute
		if !last {
			stop = upTo(life)
		}
		time.AfterFunc(stop, func() {
			if !last {
				p.dead.Store(true)
				close(p.done)
			}
			cancel()
		})
		if err := w.bot.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if last {
			break
		}
	}
	for _, turn := range w.turns() {
		if !strings.HasSuffix(turn, " done") {
			t.Errorf("seed %d, lives of up to %s, calls of %s: %s", seed, life, 2*lag, turn)
		}
	}
	said := w.board.all()
	slices.Sort(said)
	same(t, fmt.Sprintf("seed %d: posts", seed), said, want)
}
