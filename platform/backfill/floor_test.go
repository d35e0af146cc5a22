package backfill_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// TestWhatIsNotKeptIsNotAskedFor: of a thread that is older than messages are kept,
// the platform is asked for the rest only, nothing older is stored, and the older
// stretch is a gap.
func TestWhatIsNotKeptIsNotAskedFor(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		var now atomic.Int64
		d.options.Floor = func(earshot.Scope) earshot.Time { return earshot.Time(now.Load()) }
		root := w.say("C1", "", "an old root")
		for i := range 20 {
			time.Sleep(time.Hour)
			w.say("C1", root.ID, fmt.Sprint("reply ", i))
			w.say("C1", "", fmt.Sprint("top ", i))
		}
		floor := earshot.TimeOf(time.Now().Add(-5 * time.Hour))
		now.Store(int64(floor))
		d.start(true)
		time.Sleep(time.Second)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		d.fill("C1", anchor)
		time.Sleep(time.Hour)
		for _, c := range w.take() {
			if c.window.Oldest < floor {
				t.Errorf("the platform was asked by %s for what is older than %s: %+v", c.method, floor, c.window)
			}
		}
		for m, err := range d.store.Range(t.Context(), channel("C1").Scope(), earshot.Whole(), earshot.Position{}, earshot.Position{}) {
			if err != nil || m.Time < floor {
				t.Errorf("stored: %q of %s, %v", m.Text, m.Time, err)
			}
		}
		if n := d.count(earshot.ThreadOf(root.ID)); n != 7 {
			t.Errorf("%d messages of the thread are stored, want six replies and the question", n)
		}
		for _, thread := range []earshot.MessageID{"", root.ID} {
			g := d.gaps("C1", thread)
			if len(g) != 1 || g[0].State != earshot.Missing || g[0].To != floor-1 || g[0].Why != earshot.ErasedBefore {
				t.Errorf("the gaps of %q are %+v", thread, g)
			}
		}
		d.end()
		d.start(true)
		floor += earshot.Time(2 * time.Hour / time.Microsecond)
		now.Store(int64(floor))
		d.fill("C1", d.hear("C1", w.say("C1", root.ID, "@earshot, again?")))
		if g := d.gaps("C1", ""); len(g) == 0 || g[0].To != floor-1 {
			t.Errorf("after the floor has risen the gaps are %+v", g)
		}
	})
}
