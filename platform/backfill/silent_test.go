package backfill_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// TestTheDistributedTierShowsTheNewestOfASilentThread: a question ends a long
// silence. One call of replies brings the newest that were said before it, as
// the root told when it was seen last; what is before them is a gap.
func TestTheDistributedTierShowsTheNewestOfASilentThread(t *testing.T) {
	even := func(n int, pause time.Duration) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = pause
		}
		return out
	}
	for _, c := range []struct {
		name   string
		pauses []time.Duration // before each reply
		seen   bool            // the channel's history was read before the silence
		again  bool            // and the bot was started anew before the question
		shows  int             // so many of the newest replies, at least
		most   int
		newest bool // the one call reaches the last reply
	}{
		{"of which the channel's history told", even(40, 10*time.Minute), true, false, 8, 14, true},
		{"of which the store knows", even(40, 10*time.Minute), true, true, 8, 14, true},
		{"short, and never seen", even(12, 10*time.Minute), false, false, 12, 12, true},
		{"short, of a root that is a year old", append([]time.Duration{360 * 24 * time.Hour}, even(11, time.Minute)...), false, false, 12, 12, true},
		{"sparse in the end: too narrow a guess", append(even(38, time.Minute), 10*time.Hour, 10*time.Hour), true, false, 1, 14, true},
		{"dense in the end: too wide a guess", append(even(10, 3*time.Hour), even(30, 10*time.Second)...), true, false, 8, 14, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				w.perMin, w.objects = 1, 15
				d.options.Tier = backfill.Distributed
				root := w.say("C1", "", "root")
				for i, p := range c.pauses {
					time.Sleep(p)
					w.say("C1", root.ID, fmt.Sprint("reply ", i))
				}
				time.Sleep(time.Hour)
				if c.seen {
					d.start(true)
					d.fill("C1", d.hear("C1", w.say("C1", "", "@earshot, something else?")))
					time.Sleep(time.Hour)
					if n := d.count(earshot.ThreadOf(root.ID)); n > 1 {
						t.Fatalf("%d messages of the thread are stored before anybody asked in it", n)
					}
				}
				if !c.seen || c.again {
					if c.seen {
						d.end()
					}
					time.Sleep(30 * 24 * time.Hour)
					d.start(true)
				}
				time.Sleep(30 * 24 * time.Hour)
				w.take()
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				calls, asked := 0, backfill.Window{}
				for _, call := range w.take() {
					if call.method == backfill.Replies {
						calls++
						asked = call.window
					}
				}
				if calls != 1 {
					t.Errorf("%d calls of replies were made, want 1", calls)
				}
				list, err := d.store.Newest(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), earshot.Position{}, 100)
				if err != nil || len(list) < 2 || list[0].ID != root.ID || list[len(list)-1].ID != anchor.ID {
					t.Fatalf("the thread has no root or no question: %+v, %v", list, err)
				}
				list = list[1 : len(list)-1]
				if len(list) == 0 {
					t.Fatalf("the root alone is shown; the call was %+v", asked)
				}
				if len(list) < c.shows || len(list) > c.most {
					t.Errorf("%d replies are shown, want %d to %d", len(list), c.shows, c.most)
				}
				last := fmt.Sprint("reply ", len(c.pauses)-1)
				if got := list[len(list)-1].Text == last; got != c.newest {
					t.Errorf("the newest that is shown is %q, the last was %q", list[len(list)-1].Text, last)
				}
				d.mustCheck("C1", root.ID, anchor, 100)
				if whole := len(list) == len(c.pauses); whole != (len(d.gaps("C1", root.ID)) == 0) {
					t.Errorf("%d of %d replies are stored, and the gaps are %+v", len(list), len(c.pauses), d.gaps("C1", root.ID))
				}
				time.Sleep(5 * time.Minute) // the background's next two calls
				if newest, err := d.store.Newest(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), anchor.Position(), 2); err != nil || newest[0].Text != last {
					t.Errorf("five minutes later the newest before the question is %q, %v", newest[0].Text, err)
				}
				time.Sleep(2 * time.Hour)
				if g := d.gaps("C1", root.ID); len(g) > 0 {
					t.Errorf("after the background: %+v", g)
				}
			})
		})
	}
}
