package backfill_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// mustHave reports a message that is neither stored nor said to be missing.
func (d *desk) mustHave(c earshot.ChannelID, m earshot.Message) {
	d.t.Helper()
	if x, ok := d.stored(c, m.ID); !ok || x.Deleted {
		d.t.Errorf("message %s is not stored: %+v", m.ID, x)
	}
}

// TestTwoStartsInARow: what the first had no time to fetch the second fetches,
// although something was heard in between.
func TestTwoStartsInARow(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		d.hear("C1", w.say("C1", "", "heard"))
		d.end()
		time.Sleep(time.Hour)
		missed := w.say("C1", "", "not heard")
		time.Sleep(time.Hour)
		d.start(false)
		time.Sleep(time.Second)
		d.hear("C1", w.say("C1", "", "heard again"))
		d.end()
		time.Sleep(time.Second)
		d.start(true)
		time.Sleep(time.Minute)
		d.mustHave("C1", missed)
		d.end()
		last := earshot.TimeOf(time.Now())
		d.hear("C1", w.say("C1", "", "heard"))
		d.start(false)
		for _, g := range d.gaps("C1", "") {
			if g.From < last {
				t.Errorf("what was fetched counts as missing: %+v", g)
			}
		}
	})
}

// TestTheBackgroundStopsSomewhere: it does not read a channel to its beginning.
func TestTheBackgroundStopsSomewhere(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.options.ChannelDepth = 300
		d.options.Tier = backfill.Tier{PerMinute: 40, Burst: 10, Objects: 100}
		for range 2000 {
			w.say("C1", "", "from before")
		}
		time.Sleep(time.Hour)
		d.start(true)
		anchor := d.hear("C1", w.say("C1", "", "@earshot?"))
		d.fill("C1", anchor)
		time.Sleep(24 * time.Hour)
		wantCalls(t, w, 4)
		d.mustCheck("C1", "", anchor, 2000)
		if g := d.gaps("C1", ""); len(g) != 1 || g[0].State != earshot.Missing {
			t.Errorf("coverage is %+v", g)
		}
	})
}

// TestAStartRightAfterAStart: what a fetch knows ends with its own moment.
func TestAStartRightAfterAStart(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot?")))
		time.Sleep(time.Hour)
		d.end()
		d.start(false)
		time.Sleep(time.Second)
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot??")))
		time.Sleep(9 * time.Second)
		d.end()
		time.Sleep(10 * time.Second)
		missed := w.say("C1", root.ID, "not heard")
		time.Sleep(10 * time.Second)
		d.start(false)
		time.Sleep(time.Second)
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot???")))
		d.mustHave("C1", missed)
	})
}

// TestAQuestionFromBeforeAGap is answered after it, in a channel where nobody
// has asked before.
func TestAQuestionFromBeforeAGap(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		time.Sleep(time.Hour)
		root := d.hear("C1", w.say("C1", "", "root"))
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		from := time.Now()
		time.Sleep(10 * time.Second)
		missed := w.say("C1", root.ID, "not heard")
		time.Sleep(10 * time.Second)
		d.filler.Missed(from, time.Now())
		d.fill("C1", anchor)
		time.Sleep(time.Second)
		next := d.hear("C1", w.say("C1", root.ID, "@earshot??"))
		d.fill("C1", next)
		d.mustHave("C1", missed)
	})
}

// TestMuchIsHeardRightAfterAGap: the pages that reach beyond the gap hold only
// what was heard, and nothing of that is taken for deleted.
func TestMuchIsHeardRightAfterAGap(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		w.objects = 15
		d.options.Tier = backfill.Tier{PerMinute: 40, Burst: 10, Objects: 15}
		d.start(true)
		d.fill("C1", d.hear("C1", w.say("C1", "", "@earshot?")))
		time.Sleep(time.Hour)
		from := time.Now()
		time.Sleep(time.Minute)
		missed := w.say("C1", "", "not heard")
		time.Sleep(time.Second)
		to := time.Now()
		var heard []earshot.Message
		for range 40 {
			time.Sleep(time.Second)
			heard = append(heard, d.hear("C1", w.say("C1", "", "heard")))
		}
		time.Sleep(10 * time.Minute)
		d.filler.Missed(from, to)
		time.Sleep(10 * time.Minute)
		d.mustHave("C1", missed)
		for _, m := range heard {
			d.mustHave("C1", m)
		}
	})
}

// TestWhatHistoryDoesNotShowYetIsNotGone: an event may be faster.
func TestWhatHistoryDoesNotShowYetIsNotGone(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", root)
		time.Sleep(time.Hour)
		now := earshot.TimeOf(time.Now())
		swift := d.hear("C1", earshot.Message{ID: "not yet shown", Time: now, Text: "swift", Thread: root.ID, Author: root.Author})
		time.Sleep(10 * time.Second)
		d.filler.Missed(time.Now().Add(-time.Minute), time.Now())
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot?")))
		d.mustHave("C1", swift)
	})
}

// TestWhatWasSaidBeforeAnyoneListenedIsNotAnswered, however fresh.
func TestWhatWasSaidBeforeAnyoneListenedIsNotAnswered(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		root := w.say("C1", "", "@somebody?")
		before := w.say("C1", root.ID, "@earshot?")
		time.Sleep(time.Second)
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot, are you there?")))
		d.mustHave("C1", before)
		if h := d.handled(); len(h) > 0 {
			t.Errorf("handled: %v", h)
		}
	})
}

// TestAClockThatIsAhead: a gap right after a fetch is seen all the same.
func TestAClockThatIsAhead(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		const ahead = 30 * time.Second
		d.options.Now = func() earshot.Time { return earshot.TimeOf(time.Now().Add(ahead)) }
		root := w.say("C1", "", "root")
		d.start(true)
		time.Sleep(time.Hour)
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot?")))
		time.Sleep(10 * time.Minute)
		d.filler.Missed(time.Now().Add(ahead-time.Minute), time.Now().Add(ahead))
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot?")))
		from := time.Now()
		time.Sleep(5 * time.Second)
		missed := w.say("C1", root.ID, "not heard")
		time.Sleep(5 * time.Second)
		d.filler.Missed(from.Add(ahead), time.Now().Add(ahead))
		time.Sleep(20 * time.Minute)
		d.mustHave("C1", missed)
	})
}

// TestManyThreadsOfAChannel: the entries that the store keeps of threads are bounded.
func TestManyThreadsOfAChannel(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.options.ThreadsAlone = true
		d.options.Tier = backfill.Tier{PerMinute: 6000, Burst: 100, Objects: 200}
		w.perMin = 10000
		var roots []earshot.Message
		for range 400 {
			root := w.say("C1", "", "root")
			w.say("C1", root.ID, "reply")
			roots = append(roots, root)
		}
		time.Sleep(time.Hour)
		d.start(false)
		for _, root := range roots {
			anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
			d.fill("C1", anchor)
			d.mustCheck("C1", root.ID, anchor, 10)
			time.Sleep(time.Second)
		}
		if n := len(d.coverage("C1")); n > 300 {
			t.Errorf("%d entries", n)
		}
	})
}

// TestAThreadIsNotKnownByItsChannel: after the top level was fetched and the
// process has started anew, the threads still have the gap.
func TestAThreadIsNotKnownByItsChannel(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", root)
		time.Sleep(time.Hour)
		from := time.Now()
		missed := w.say("C1", root.ID, "not heard")
		time.Sleep(time.Minute)
		d.filler.Missed(from, time.Now())
		time.Sleep(time.Second)
		d.fill("C1", d.hear("C1", w.say("C1", "", "@earshot, at the top level")))
		time.Sleep(time.Hour)
		d.hear("C1", w.say("C1", "", "heard"))
		d.end()
		d.start(false)
		time.Sleep(time.Second)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot, in the thread"))
		d.fill("C1", anchor)
		d.fill("C1", anchor) // the newest gap first
		d.mustHave("C1", missed)
	})
}
