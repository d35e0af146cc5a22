package bot_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// TestAnotherReplicaTakesOverWithinTenSeconds ends a replica at any moment of its lease
// while it answers in four channels, and counts how long it takes until another asks the
// model for all of them.
func TestAnotherReplicaTakesOverWithinTenSeconds(t *testing.T) {
	t.Parallel()
	const conversations = 4
	for after := time.Duration(0); after < 10*time.Second; after += 130 * time.Millisecond {
		t.Run(fmt.Sprintf("the replica dies after %s", after), func(t *testing.T) {
			t.Parallel()
			p := &process{}
			in(t, func(o *bot.Options) {
				o.Store, o.Model = mortal{o.Store, p}, &echo{takes: time.Hour}
			}, func(w *world) {
				for i := range conversations {
					c := direct
					c.ID += earshot.ChannelID(fmt.Sprint(i))
					w.say(c, bob, fmt.Sprint("q", i), "hi")
				}
				synctest.Wait()
				if n := w.options.Model.(*echo).calls(); n != conversations {
					t.Fatalf("the first replica asks the model %d times, want %d", n, conversations)
				}
				next := &world{t: t, options: w.options}
				model := &echo{takes: time.Hour}
				next.options.Store, next.options.Model, next.options.Owner = w.store, model, "two"
				next.start()
				defer next.stop()
				time.Sleep(after)
				if n := model.calls(); n > 0 {
					t.Fatalf("the second replica asks the model %d times while the first lives", n)
				}
				p.dead.Store(true)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if n := model.calls(); n != conversations {
					t.Errorf("after 10 s the second replica has asked the model %d times, want %d", n, conversations)
				}
			})
		})
	}
}
