package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
)

// A library is a board with history.
type library struct {
	*board
	fill func(ctx context.Context) error
}

func (l *library) Fill(ctx context.Context, _ bot.Place) error { return l.fill(ctx) }

func TestAHistoryThatCannotBeReadIsAGapAndNotAnEmptyThread(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.Context) error{
		"slow":      func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"failing":   func(context.Context) error { return errors.New("missing_scope") },
		"panicking": func(context.Context) error { panic("no such page") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, l := &echo{}, &library{board: &board{}, fill: fail}
			in(t, func(o *bot.Options) { o.Model, o.Platform = model, l }, func(w *world) {
				const gap = "could not be loaded"
				w.say(general, alice, "m1", "<@U0BOT> hi", under("root"))
				w.rest(4 * time.Second)
				same(t, "turns", w.turns(), []string{"m1 done"})
				if got := prompt(model, 0); !strings.Contains(got, gap) {
					t.Errorf("the model is not told of the gap:\n%s", got)
				}
				l.fill = func(context.Context) error {
					_, err := w.store.Record(t.Context(), general.Scope(), earshot.Message{ID: "root", Time: 1, Author: bob, Text: "how it began"})
					return err
				}
				w.say(general, alice, "m2", "<@U0BOT> and now?", under("root"))
				w.rest(4 * time.Second)
				same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
				list, err := w.store.Coverage(t.Context(), general.Scope())
				if got := prompt(model, 1); err != nil || len(list) != 0 || strings.Contains(got[strings.Index(got, "you said"):], gap) {
					t.Errorf("the gap is still told: %+v, %v\n%s", list, err, got)
				}
			})
		})
	}
}

// prompt returns all texts of the model's nth request.
func prompt(m *echo, n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, msg := range m.asked[n].Messages {
		for _, p := range msg.Parts {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// A hung platform returns from no call before ctx ends, and shows the posts only
// afterwards.
type hung struct {
	board
	until time.Time
}

func (p *hung) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if wait := time.Until(p.until); wait > 0 {
		<-ctx.Done()
		return earshot.Message{}, ctx.Err()
	}
	return p.board.Post(ctx, d)
}

func (p *hung) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if wait := time.Until(p.until); wait > 0 {
		<-ctx.Done()
		return earshot.Message{}, ctx.Err()
	}
	return p.board.Find(ctx, d)
}

func TestAPlatformThatHangsIsWaitedForWithinBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		hangs time.Duration
		turn  string
		posts int
	}{
		{"a minute", time.Minute, "m1 done", 1},
		{"ten minutes", 10 * time.Minute, "m1 done", 1},
		{"two hours", 2 * time.Hour, "m1 parked the platform took nothing for 15m0s: whether post 0 arrived cannot be found out", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model, p := &echo{}, &hung{}
			in(t, func(o *bot.Options) { o.Model, o.Platform = model, p }, func(w *world) {
				p.until = time.Now().Add(c.hangs)
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Hour)
				if got := w.turns(); len(got) != 1 || !strings.HasPrefix(got[0], c.turn) {
					t.Errorf("turns: %q, want %q", got, c.turn)
				}
				if got := p.all(); len(got) != c.posts || model.calls() != 1 {
					t.Errorf("posts %q after %d calls of the model", got, model.calls())
				}
			})
		})
	}
}

// TestAModelThatHangsLeavesTheOthersAlone asks in more conversations than are
// answered at a time, of which one hangs.
func TestAModelThatHangsLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model, o.Limits.Parallel = &stuck{}, 2 }, func(w *world, _ *slate) {
		w.say(general, alice, "hang", "<@U0BOT> hang")
		for _, id := range []string{"m1", "m2", "m3"} {
			w.say(general, alice, id, "<@U0BOT> hi "+id)
		}
		w.rest(10 * time.Second)
		same(t, "turns, soon", w.turns(), []string{"hang posting", "m1 done", "m2 done", "m3 done"})
		w.rest(5 * time.Minute)
		same(t, "turns, later", w.turns(), []string{"hang failed no answer within 2m0s", "m1 done", "m2 done", "m3 done"})
		if got := w.board.all()[0]; got != "Sorry, I could not answer this in time." {
			t.Errorf("the placeholder says %q", got)
		}
	})
}

// stuck is a model that hangs when the question says so.
type stuck struct{ echo }

func (m *stuck) Generate(ctx context.Context, r llm.Request, tell func(llm.Event)) (llm.Response, error) {
	if strings.HasSuffix(lastLine(r), "hang") {
		<-ctx.Done()
		return llm.Response{}, context.Cause(ctx)
	}
	return m.echo.Generate(ctx, r, tell)
}
