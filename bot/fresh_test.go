package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// found makes an event one of history, posted and edited so long ago.
func found(said, edited time.Duration) func(*bot.Event) {
	return func(e *bot.Event) {
		now := earshot.TimeOf(time.Now())
		e.Past, e.Delivery = true, ""
		e.Message.Time = now - earshot.Time(said/time.Microsecond)
		if edited > 0 {
			e.Message.Edited = now - earshot.Time(edited/time.Microsecond)
		}
	}
}

func TestWhatIsFoundInHistoryIsAnsweredWhileItIsFresh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		said, edited time.Duration
		turn         string // begins with
		posts        int
	}{
		{"a question", 5 * time.Minute, 0, "m1 done", 1},
		{"one that was edited meanwhile", 5 * time.Minute, time.Minute, "m1 done", 1},
		{"an old one", time.Hour, 0, "m1 dropped stale: said 1h0m", 0},
		{"an old one that was edited a moment ago", time.Hour, time.Minute, "m1 dropped stale: said 1h0m", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in(t, nil, func(w *world) {
				out := w.say(general, alice, "m1", "<@U0BOT> is staging up?", found(c.said, c.edited))
				if !out.Opened || out.Why != "mention" {
					t.Errorf("the outcome is %+v", out)
				}
				w.rest(time.Minute)
				at := w.own("m1")
				as := func(past bool) func(*bot.Event) {
					return func(e *bot.Event) { e.Past, e.Message.Time, e.Message.Edited = past, at.Time, at.Edited }
				}
				if again := w.say(general, alice, "m1", at.Text, as(true)); again.Opened || again.Change != earshot.Same {
					t.Errorf("found again it is %+v", again)
				}
				// The platform delivers it late.
				if live := w.say(general, alice, "m1", at.Text, as(false)); live.Opened {
					t.Errorf("told of it is %+v", live)
				}
				w.rest(time.Minute)
				if turns := w.turns(); len(turns) != 1 || !strings.HasPrefix(turns[0], c.turn) {
					t.Errorf("turns: %q, want %q", turns, c.turn)
				}
				if got := len(w.board.all()); got != c.posts {
					t.Errorf("%d posts: %q", got, w.board.all())
				}
				if at.Text != "<@U0BOT> is staging up?" {
					t.Errorf("it is not stored: %+v", at)
				}
			})
		})
	}
}
