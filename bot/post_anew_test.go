package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// A bell is a slate on which nobody is notified of an edit.
type bell struct{ panel }

func (bell) PostsAnew() bool { return true }

// ringing runs f with a bot on a bell.
func ringing(t *testing.T, change func(*bot.Options), f func(w *world, p *slate)) {
	t.Helper()
	p := &slate{board: &board{max: 100}, wipes: true}
	in(t, func(o *bot.Options) {
		o.Platform, o.Placeholder = bell{panel{p}}, "…"
		if change != nil {
			change(o)
		}
	}, func(w *world) {
		w.board = p.board
		f(w, p)
	})
}

// notifies returns the texts of the posts that whoever asked waited for.
func (p *board) notifies() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, x := range p.posts {
		if x.Notify && !x.gone {
			out = append(out, x.Text)
		}
	}
	return out
}

// A reply grows in the placeholder, which then makes room for it: a message of its own, of
// which the first part notifies.
func TestAReplyThatNotifiesTakesThePlaceOfThePlaceholder(t *testing.T) {
	t.Parallel()
	said := strings.TrimSpace(strings.Repeat("word ", 30))
	ringing(t, func(o *bot.Options) { o.Model = typist{words: said, every: 200 * time.Millisecond} }, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(3 * time.Second)
		if got := w.board.all(); len(got) != 1 || !strings.HasPrefix(got[0], "word word ") || !strings.HasSuffix(got[0], " …") || len(p.notifies()) != 0 {
			t.Errorf("after three seconds people see %q, and were notified of %q", got, p.notifies())
		}
		w.rest(time.Minute)
		parts := w.board.all()
		if len(parts) != 2 || strings.Join(parts, " ") != said {
			t.Errorf("posts %q", parts)
		}
		same(t, "what notified", p.notifies(), parts[:1])
		for _, x := range p.posts[1:] {
			if len(x.was) > 0 {
				t.Errorf("a part had other texts before: %q", x.was)
			}
		}
		if !w.own("p001").Deleted {
			t.Error("the store does not know that the placeholder is gone")
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}

func TestAnApologyNotifiesToo(t *testing.T) {
	t.Parallel()
	ringing(t, func(o *bot.Options) {
		o.Model = typist{words: "no", err: &llm.Error{Provider: "x", Status: 400}}
	}, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		if got := p.notifies(); len(got) != 1 || !slices.Equal(w.board.all(), got) || w.turns()[0] == "m1 done" {
			t.Errorf("people see %q, and were notified of %q; turns %q", w.board.all(), got, w.turns())
		}
	})
}

// Who stops an answer looks at it.
func TestWhatWasStoppedStaysInThePlaceholder(t *testing.T) {
	t.Parallel()
	ringing(t, func(o *bot.Options) { o.Model = &chatterer{} }, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.rest(4500 * time.Millisecond)
		asks := w.board.asks()
		if len(asks) != 1 {
			t.Fatalf("buttons %+v", asks)
		}
		w.choose(asks[0], "stop", alice)
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"word1 word2 word3 word4\n\n(Stopped.)"})
		same(t, "what notified", len(p.notifies()), 0)
	})
}

// Wherever a process ends, and however often the point was passed before, people see one
// answer, which notifies, and no placeholder.
func TestKillsAroundAReplyThatNotifies(t *testing.T) {
	t.Parallel()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, at := range slices.Concat(bot.FaultPoints(), bot.NotifierFaultPoints()) {
		for pass := 1; pass <= 4; pass++ {
			synctest.Test(t, func(t *testing.T) {
				p := &slate{board: &board{max: 100}, wipes: true}
				w := &world{t: t, store: memory(t), board: p.board, said: map[string]earshot.Time{}}
				said := strings.TrimSpace(strings.Repeat("word ", 30))
				passed := 0
				lives(t, w.store, 3, func(of *process) bot.Options {
					return bot.Options{
						Model: typist{words: said, every: 50 * time.Millisecond}, Platform: mortalBell{mortalSlate{mortalBoard{p.board, of}, p}}, Placeholder: "…", Identity: self,
						Limits: bot.Limits{Lease: 10 * time.Second},
					}
				}, func(*bot.Bot) {
					w.bot = bot.New(bot.Options{Store: w.store, Model: llm.Offline{}, Platform: bell{panel{p}}, Identity: self, Counter: counter}) // hears, and does not die
					w.say(general, alice, "m1", "<@U0BOT> hi")
				}, func(_ int, point string, kill func(time.Duration)) {
					if point == at {
						if passed++; passed == pass {
							killed++
							kill(0)
						}
					}
				})
				what := fmt.Sprintf("killed at %s, the %d. time", at, pass)
				parts := w.board.all()
				if strings.Join(parts, " ") != said || len(parts) != 2 {
					t.Errorf("%s: posts %q", what, parts)
					return
				}
				same(t, what+": what notified", p.notifies(), parts[:1])
				same(t, what+": turns", w.turns(), []string{"m1 done"})
			})
		}
	}
	if killed < 20 {
		t.Errorf("%d processes were killed", killed)
	}
}

// A mortalBell is a mortalSlate on which nobody is notified of an edit.
type mortalBell struct{ mortalSlate }

func (mortalBell) PostsAnew() bool { return true }
