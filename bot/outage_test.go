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
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// The texts of apologies for an answer that was not posted in time, or of which
// nobody knows whether it was.
const (
	undelivered = "Sorry, I had an answer to this, but for too long I could not post it. Please ask again."
	unsure      = "I answered, but could not find out whether it arrived; the people who run me can see it."
)

var errDown = errors.New("the server answered with status 503")

// A downed platform takes no post until a time; with blind it finds none either.
type downed struct {
	*slate
	until time.Time
	blind bool
	calls int
}

func (p *downed) down() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.until)
}

// fall starts an outage of the platform.
func (p *downed) fall(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(d)
}

func (p *downed) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	p.mu.Lock()
	p.calls++
	p.mu.Unlock()
	if p.down() {
		return earshot.Message{}, errDown
	}
	return p.slate.Post(ctx, d)
}

func (p *downed) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if p.blind && p.down() {
		return earshot.Message{}, errDown
	}
	return p.slate.Find(ctx, d)
}

func (p *downed) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	if p.down() {
		return errDown
	}
	return p.slate.Update(ctx, d, id)
}

func (p *downed) Apologize(ctx context.Context, at bot.Place, text string) error {
	if p.down() {
		return errDown
	}
	return p.slate.Apologize(ctx, at, text)
}

// TestAnAnswerWhosePromptWasErasedWaitsForThePlatform deletes a message that an
// answer has read, while the platform is down: the answer still waits from when it
// was made.
func TestAnAnswerWhosePromptWasErasedWaitsForThePlatform(t *testing.T) {
	t.Parallel()
	const said = "It is up."
	p := &downed{slate: &slate{board: &board{}}, blind: true}
	in(t, func(o *bot.Options) { o.Platform, o.Model = p, &counting{typist: typist{words: said}} }, func(w *world) {
		w.say(general, bob, "m0", "the deploy is through")
		p.fall(5 * time.Minute)
		w.say(general, alice, "m1", "<@U0BOT> is it up?")
		w.rest(30 * time.Second)
		w.stop()
		w.gone("m0")
		w.start()
		w.rest(10 * time.Minute)
		same(t, "posts", p.all(), []string{said})
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}

// TestAnOutageOfThePlatformLosesNoAnswer has outages that begin before the question
// or while it is answered.
func TestAnOutageOfThePlatformLosesNoAnswer(t *testing.T) {
	t.Parallel()
	const said = "It is up."
	for _, c := range []struct {
		lasts time.Duration
		blind bool
		late  bool // it begins once the placeholder can be seen
		post  string
		turn  string
	}{
		{20 * time.Second, false, false, said, "m1 done"},
		{20 * time.Second, true, false, said, "m1 done"},
		{20 * time.Second, false, true, said, "m1 done"},
		{10 * time.Minute, false, false, said, "m1 done"},
		{10 * time.Minute, true, false, said, "m1 done"},
		{10 * time.Minute, false, true, said, "m1 done"},
		{20 * time.Minute, false, false, undelivered, "m1 failed the platform took nothing for 15m0s: "},
		{20 * time.Minute, false, true, undelivered, "m1 failed the platform took nothing for 15m0s: "},
		{20 * time.Minute, true, true, undelivered, "m1 failed the platform took nothing for 15m0s: "},
		{20 * time.Minute, true, false, undelivered, "m1 failed the platform took nothing for 15m0s: "},
	} {
		for _, restarts := range []bool{false, true} {
			for _, placeholder := range []string{"", "…"} {
				if c.late && placeholder == "" {
					continue
				}
				t.Run(fmt.Sprintf("%s, reads down %v, late %v, restarts %v, placeholder %q", c.lasts, c.blind, c.late, restarts, placeholder), func(t *testing.T) {
					t.Parallel()
					p := &downed{slate: &slate{board: &board{}}, blind: c.blind}
					model := &counting{typist: typist{words: said, every: 500 * time.Millisecond}}
					in(t, func(o *bot.Options) { o.Platform, o.Model, o.Placeholder = p, model, placeholder }, func(w *world) {
						if c.late {
							time.AfterFunc(500*time.Millisecond, func() { p.fall(c.lasts) })
						} else {
							p.fall(c.lasts)
						}
						w.say(general, alice, "m1", "<@U0BOT> is it up?")
						if restarts {
							w.rest(c.lasts / 2)
							w.stop()
							w.start()
						}
						w.rest(c.lasts + 2*time.Minute)
						same(t, "posts", p.all(), []string{c.post})
						if got := w.turns(); len(got) != 1 || !strings.HasPrefix(got[0], c.turn) || c.turn == "m1 done" && got[0] != c.turn {
							t.Errorf("turns: %q, want %q", got, c.turn)
						}
						if n := model.n; n != 1 {
							t.Errorf("the model was asked %d times", n)
						}
						if p.calls > 60 {
							t.Errorf("%d posts were tried in %s", p.calls, c.lasts)
						}
						if len(p.private) > 0 {
							t.Errorf("told alone: %q", p.private)
						}
						w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"))
						w.rest(time.Minute)
						same(t, "posts, a question later", p.all(), []string{c.post, said})
					})
				})
			}
		}
	}
}

// A counting typist counts its calls.
type counting struct {
	typist
	n int
}

func (m *counting) Generate(ctx context.Context, r llm.Request, tell func(llm.Event)) (llm.Response, error) {
	m.n++
	return m.typist.Generate(ctx, r, tell)
}

// TestAnApologyIsTriedWithinBounds has an outage that is longer than the answer and
// the apology wait.
func TestAnApologyIsTriedWithinBounds(t *testing.T) {
	t.Parallel()
	p := &downed{slate: &slate{board: &board{}}}
	in(t, func(o *bot.Options) { o.Platform = p }, func(w *world) {
		p.fall(time.Hour)
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(29 * time.Minute)
		same(t, "turns, while the apology is tried", w.turns(), []string{"m1 posting"})
		w.rest(3 * time.Minute)
		got := w.turns()[0]
		if want := "and the apology was not posted: the platform took nothing for 15m0s: "; !strings.HasPrefix(got, "m1 failed the platform took nothing for 15m0s: ") || !strings.Contains(got, want) {
			t.Errorf("the turn is %q, want it failed, %q", got, want)
		}
		w.rest(2 * time.Hour)
		same(t, "posts", p.all(), nil)
	})
}

// TestTurnsBehindAnOutageWait asks two questions behind an answer that waits: they
// are answered after it while they are fresh, and dropped later.
func TestTurnsBehindAnOutageWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lasts time.Duration
		posts int
		turns []string
	}{
		{20 * time.Second, 3, []string{"m1 done", "m2 done", "m3 done"}},
		{12 * time.Minute, 1, []string{"m1 done", "m2 dropped stale", "m3 dropped stale"}},
	} {
		t.Run(c.lasts.String(), func(t *testing.T) {
			t.Parallel()
			p := &downed{slate: &slate{board: &board{}}}
			in(t, func(o *bot.Options) { o.Platform, o.Answer.Each = p, true }, func(w *world) {
				p.fall(c.lasts)
				for _, id := range []string{"m1", "m2", "m3"} {
					w.say(direct, alice, id, "hi from "+id)
				}
				w.rest(5 * time.Second)
				same(t, "posts meanwhile", p.all(), nil)
				w.rest(c.lasts + 2*time.Minute)
				got := w.turns()
				for i, want := range c.turns {
					if len(got) != len(c.turns) || !strings.HasPrefix(got[i], want) {
						t.Fatalf("turns: %q, want %q", got, c.turns)
					}
				}
				if len(p.all()) != c.posts {
					t.Errorf("posts: %q, want %d", p.all(), c.posts)
				}
				for i, x := range p.posts {
					if want := fmt.Sprintf("m%d", i+1); x.Anchor.ID != earshot.MessageID(want) {
						t.Errorf("post %d answers %s, want %s", i, x.Anchor.ID, want)
					}
				}
			})
		})
	}
}

// TestAnOutageHoldsNoSlot has one slot, and an answer that waits for a channel that
// takes no post: a question in another channel is answered.
func TestAnOutageHoldsNoSlot(t *testing.T) {
	t.Parallel()
	p := &downed{slate: &slate{board: &board{}}}
	split := &oneDown{downed: p, channel: general.ID}
	in(t, func(o *bot.Options) { o.Platform, o.Limits.Parallel = split, 1 }, func(w *world) {
		p.fall(10 * time.Minute)
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(9 * time.Minute)
		for i := range 3 {
			at := time.Now()
			w.say(direct, bob, fmt.Sprintf("d%d", i), "hi")
			for len(p.all()) <= i {
				time.Sleep(100 * time.Millisecond)
			}
			if took := time.Since(at); took > 15*time.Second {
				t.Errorf("question %d was answered after %s", i, took)
			}
		}
		w.rest(2 * time.Minute)
		if got := len(p.all()); got != 4 {
			t.Errorf("%d posts: %q", got, p.all())
		}
	})
}

// A oneDown platform has an outage in one channel.
type oneDown struct {
	*downed
	channel earshot.ChannelID
}

func (p *oneDown) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if d.Channel.ID != p.channel {
		return p.slate.Post(ctx, d)
	}
	return p.downed.Post(ctx, d)
}

// TestShortLivedProcessesEndWithOneReply kills each process a second after it began to look
// for an ambiguous post. That is shorter than the time between two looks, and there
// are more processes than a turn has tries.
func TestShortLivedProcessesEndWithOneReply(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []string{"", "…"} {
		for _, point := range []string{"before_post", "after_post"} {
			t.Run(fmt.Sprintf("%s, placeholder %q", point, placeholder), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					counter, err := tokens.For("o200k")
					if err != nil {
						t.Fatal(err)
					}
					w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
					page := &slate{board: w.board}
					for i := range 20 {
						p := &process{}
						ctx, cancel := context.WithCancel(t.Context())
						w.bot = bot.New(bot.Options{
							Store: mortal{w.store, p}, Model: &echo{}, Platform: mortalSlate{mortalBoard{w.board, p}, page}, Identity: self, Counter: counter,
							Owner: fmt.Sprintf("p%d", i), Placeholder: placeholder, Limits: bot.Limits{Tries: 3},
							Fault: func(at string) {
								if i == 0 && at == point || p.dead.Load() {
									p.dead.Store(true)
									cancel()
									runtime.Goexit()
								}
							},
						})
						if i == 0 {
							w.say(general, alice, "m1", "<@U0BOT> hi")
						}
						kill := time.AfterFunc(8*time.Second, func() { // of which a second is left once the lease has run out
							p.dead.Store(true)
							cancel()
						})
						if err := w.bot.Run(ctx); err != nil {
							t.Errorf("Run: %v", err)
						}
						kill.Stop()
					}
					same(t, "turns", w.turns(), []string{"m1 done"})
					same(t, "posts", w.board.all(), []string{"you said: Alice: @earshot hi"})
				})
			})
		}
	}
}

// TestAPlaceholderThatTakesNoTextGoes refuses updates, whatever the placeholder is
// to become, with a kill at each point.
func TestAPlaceholderThatTakesNoTextGoes(t *testing.T) {
	t.Parallel()
	broken := &llm.Error{Provider: "script", Status: 400, Message: "bad request"}
	for _, c := range []struct {
		name  string
		model func() llm.Model
		posts []string
		turn  string
	}{
		{"the reply", func() llm.Model { return &echo{} }, []string{"you said: Alice: @earshot hi"}, "m001 done"},
		{"the apology", func() llm.Model { return &echo{errs: slices.Repeat([]error{broken}, 9)} }, []string{sorry}, "m001 failed script: status 400: bad request"},
	} {
		for _, point := range append(points(true), "after_retract") {
			t.Run(c.name+", killed "+point, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					x := newMachine(memory(t), 9*time.Second, true)
					x.slate.closed, x.slate.wipes, x.model = true, true, c.model()
					x.play(t, []act{{kind: "kill", point: point}, {kind: "say", place: 2, text: "hi"}})
					same(t, "posts", x.board.all(), c.posts)
					w := &world{t: t, store: x.store}
					same(t, "turns", w.turns(), []string{c.turn})
				})
			})
		}
	}
}

// TestAWithdrawnPlaceholderThatTakesNoTextGoes deletes the question while its
// placeholder is visible.
func TestAWithdrawnPlaceholderThatTakesNoTextGoes(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model = &echo{takes: 20 * time.Second} }, func(w *world, p *slate) {
		p.closed, p.wipes = true, true
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		w.gone("m1")
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), nil)
		same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		if m := w.own("p001"); !m.Deleted {
			t.Errorf("the store has %+v", m)
		}
	})
}

// TestAPlaceholderThatCannotBeDeletedStays checks that the log says so and that the
// question is answered.
func TestAPlaceholderThatCannotBeDeletedStays(t *testing.T) {
	t.Parallel()
	placing(t, nil, func(w *world, p *slate) {
		p.closed = true
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"…", "you said: Alice: @earshot hi"})
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}

// gone calls Handle with a deletion.
func (w *world) gone(id string) {
	w.say(general, alice, id, "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "del-"+id, true })
}

// A sworn platform loses the answer to a post and refuses to find it.
type sworn struct{ *slate }

func (p sworn) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if d.Anchor.ID == "m1" && d.Key[0] == 'r' {
		return earshot.Message{}, errDown
	}
	return p.slate.Post(ctx, d)
}

func (p sworn) Find(context.Context, bot.Draft) (earshot.Message, error) {
	return earshot.Message{}, &bot.PostError{Err: errors.New("missing_scope")}
}

// TestARefusedFindDoesNotBlockTheConversation checks that the turn is parked
// with a notice, and that the next question is answered at once.
func TestARefusedFindDoesNotBlockTheConversation(t *testing.T) {
	t.Parallel()
	p := sworn{&slate{board: &board{}}}
	in(t, func(o *bot.Options) { o.Platform, o.Model = p, &echo{takes: time.Second} }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.say(general, alice, "m2", "<@U0BOT> and?", under("m1"))
		w.rest(30 * time.Second)
		got := w.turns()
		if len(got) != 2 || !strings.HasPrefix(got[0], "m1 parked") || got[1] != "m2 done" {
			t.Errorf("turns after 30 s: %q, want the first parked and the second done", got)
		}
		if posts := p.all(); len(posts) != 2 || posts[0] != unsure {
			t.Errorf("posts: %q, want %q and an answer", posts, unsure)
		}
	})
}
