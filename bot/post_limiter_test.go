package bot_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
)

// A shortSlate is a slate whose rate limit has room for a placeholder, or not.
type shortSlate struct {
	*slate
	full atomic.Bool
}

func (p *shortSlate) PlaceholderFits(bot.Place) bool { return !p.full.Load() }

func TestWhereThereIsNoRoomForAPlaceholderTheReplyIsPostedWhole(t *testing.T) {
	t.Parallel()
	short := &shortSlate{}
	short.full.Store(true)
	placing(t, func(o *bot.Options) {
		short.slate = o.Platform.(*slate)
		o.Platform, o.Model = short, &echo{takes: 5 * time.Second}
	}, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> one?")
		w.rest(time.Second)
		same(t, "while the model thinks", w.board.all(), nil)
		w.rest(10 * time.Second)
		same(t, "what is posted whole", w.board.all(), []string{"you said: Alice: @earshot one?"})
		if was := p.posts[0].was; len(was) > 0 {
			t.Errorf("it said %q before", was)
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}

// A visible placeholder becomes the reply, even when the rate limit has no room as
// the next process continues the turn.
func TestAVisiblePlaceholderIsUsedWithoutRoom(t *testing.T) {
	t.Parallel()
	short := &shortSlate{}
	placing(t, func(o *bot.Options) {
		short.slate = o.Platform.(*slate)
		o.Platform, o.Model = short, &echo{takes: 5 * time.Second}
	}, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> one?")
		w.rest(time.Second)
		same(t, "while the model thinks", w.board.all(), []string{"…"})
		w.stop()
		short.full.Store(true)
		w.start()
		w.rest(20 * time.Second)
		same(t, "at the end", w.board.all(), []string{"you said: Alice: @earshot one?"})
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
}
