package backfill_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/platform/backfill"
)

func (d *desk) stored(c earshot.ChannelID, id earshot.MessageID) (earshot.Message, bool) {
	d.t.Helper()
	m, err := d.store.Message(d.t.Context(), channel(c).Scope(), id)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		d.t.Fatal(err)
	}
	return m, err == nil
}

// TestADowntimeIsCaughtUpWith: what was said while the process was down is
// recorded, in channels and in threads, and handled once where it is fresh.
func TestADowntimeIsCaughtUpWith(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		d.fill("C1", d.hear("C1", w.say("C1", "", "@earshot, welcome")))
		var threads []earshot.Message
		for range 5 {
			root := d.hear("C1", w.say("C1", "", "a thread"))
			d.hear("C1", w.say("C1", root.ID, "its reply"))
			threads = append(threads, root)
			time.Sleep(time.Minute)
		}
		quiet := d.hear("C2", w.say("C2", "", "another channel"))
		d.fill("C1", d.hear("C1", w.say("C1", threads[0].ID, "@earshot?")))
		time.Sleep(time.Hour)
		d.end()
		w.take()

		time.Sleep(time.Hour)
		old := w.say("C1", "", "@earshot, an hour ago")
		time.Sleep(time.Hour)
		fresh := w.say("C1", "", "@earshot, just now")
		reply := w.say("C1", threads[3].ID, "@earshot, in a thread")
		young := w.say("C1", fresh.ID, "in a new thread")
		time.Sleep(time.Minute)

		d.start(true)
		time.Sleep(10 * time.Minute)
		for _, m := range []earshot.Message{old, fresh, reply, young} {
			if _, ok := d.stored("C1", m.ID); !ok {
				t.Errorf("%q is not stored", m.Text)
			}
		}
		handled := d.handled()
		slices.Sort(handled) // channel and threads are read side by side
		if diff := cmp.Diff(handled, []earshot.MessageID{fresh.ID, reply.ID, young.ID}); diff != "" {
			t.Errorf("handled (-got +want):\n%s", diff)
		}
		n := map[string]int{}
		for _, x := range w.take() {
			n[fmt.Sprint(x.channel, " ", x.method)]++
		}
		// C1: its gap, then the roots of its active threads; and the two threads
		// in which something was said.
		if diff := cmp.Diff(n, map[string]int{"C1 history": 2, "C1 replies": 2, "C2 history": 1}); diff != "" {
			t.Errorf("calls (-got +want):\n%s", diff)
		}

		for _, root := range append(threads, fresh) {
			anchor := d.hear("C1", w.say("C1", root.ID, "@earshot again"))
			d.fill("C1", anchor)
			d.mustCheck("C1", root.ID, anchor, 100)
			d.mustCheck("C1", "", anchor, 100)
			if g := d.gaps("C1", root.ID); len(g) > 0 {
				t.Errorf("gaps: %+v", g)
			}
		}
		anchor := d.hear("C2", w.say("C2", "", "@earshot"))
		d.fill("C2", anchor)
		d.mustCheck("C2", "", anchor, 100)
		time.Sleep(10 * time.Minute)
		for _, x := range w.take() {
			if x.thread == threads[0].ID || x.channel == "C1" && x.method == backfill.Replies {
				t.Errorf("a call although all is known: %+v", x)
			}
		}
		if _, ok := d.stored("C2", quiet.ID); !ok {
			t.Error("what was heard is not stored")
		}
	})
}

// TestAGapOfSockets: events were missed while the process was up.
func TestAGapOfSockets(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", root)
		d.hear("C1", w.say("C1", root.ID, "heard"))
		time.Sleep(10 * time.Minute)
		w.take()
		from := time.Now()
		time.Sleep(10 * time.Second)
		missed := w.say("C1", root.ID, "@earshot, not heard")
		time.Sleep(10 * time.Second)
		// Heard before anything is read: else who reads it first hands it on.
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot, heard"))
		d.filler.Missed(from, time.Now())
		d.fill("C1", anchor)
		d.mustCheck("C1", root.ID, anchor, 10)
		if g := d.gaps("C1", root.ID); len(g) > 0 {
			t.Errorf("after a fetch: %+v", g)
		}
		if diff := cmp.Diff(d.handled(), []earshot.MessageID{missed.ID}); diff != "" {
			t.Errorf("handled (-got +want):\n%s", diff)
		}
		time.Sleep(time.Minute)
		w.take()

		// A second gap soon after: the thread is not fetched again at once, only
		// the channel's top level, and that is said.
		from = time.Now()
		time.Sleep(10 * time.Second)
		again := w.say("C1", root.ID, "not heard either")
		time.Sleep(10 * time.Second)
		anchor = d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		d.filler.Missed(from, time.Now())
		d.fill("C1", anchor)
		for _, c := range w.take() {
			if c.thread != "" {
				t.Errorf("the thread is fetched again at once: %+v", c)
			}
		}
		g := d.gaps("C1", root.ID)
		if len(g) != 1 || g[0].State != earshot.Stale || g[0].From > again.Time || g[0].To < again.Time || !strings.Contains(g[0].Why, "events may have been missed") {
			t.Errorf("coverage is %+v", g)
		}
		time.Sleep(6 * time.Minute)
		if _, ok := d.stored("C1", again.ID); !ok {
			t.Error("it was never fetched")
		}
		if g := d.gaps("C1", root.ID); len(g) > 0 {
			t.Errorf("at last: %+v", g)
		}
	})
}

// Where a store has many workspaces, a start reads the channels of its own.
func TestAStartReadsTheChannelsOfItsWorkspace(t *testing.T) {
	scene(t, func(t *testing.T, _ *world, d *desk) {
		st := counted.Crowd(t, d.store, 400)
		d.options.Store, d.options.Workspace = st, "W3" // a hundred of them
		d.start(false)
		defer d.end()
		counted.CallBound{Calls: 400, Rows: 150}.Check(t, st, "a start")
	})
}

// TestFiveHundredChannelsMakeNoBurst: a start asks within the rate, the
// liveliest channels first, and a turn is not kept waiting by it.
func TestFiveHundredChannelsMakeNoBurst(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		for i := range 500 {
			c := earshot.ChannelID(fmt.Sprintf("C%03d", i))
			for range 3 {
				d.hear(c, w.say(c, "", "hello"))
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		d.start(true)
		time.Sleep(time.Minute)
		calls := w.take()
		if n := len(calls); n < 10 || n > 25 {
			t.Fatalf("%d calls in the first minute", n)
		}
		if calls[0].channel != "C499" {
			t.Errorf("the first channel is %s", calls[0].channel)
		}
		anchor := d.hear("C000", w.say("C000", "", "@earshot?"))
		start := time.Now()
		d.fill("C000", anchor)
		if took, calls := time.Since(start), w.take(); took > time.Second || len(calls) == 0 || calls[0].channel != "C000" {
			t.Errorf("a turn took %s: %+v", took, calls)
		}
		time.Sleep(time.Hour)
		if n := len(w.take()); n > 510 {
			t.Errorf("%d calls for 500 channels", n)
		}
		time.Sleep(time.Hour)
		wantCalls(t, w, 0)
		if x := d.filler.Calls(); len(x) != 1 || x[0].Limited+x[0].Failed > 0 {
			t.Errorf("calls: %+v", x)
		}
	})
}

// TestWhatWasDeletedMeanwhileIsGone, and only that.
func TestWhatWasDeletedMeanwhileIsGone(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", root)
		var replies, tops []earshot.Message
		for i := range 6 {
			replies = append(replies, d.hear("C1", w.say("C1", root.ID, fmt.Sprint("reply ", i))))
			tops = append(tops, d.hear("C1", w.say("C1", "", fmt.Sprint("top ", i))))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		from := time.Now()
		time.Sleep(10 * time.Second)
		said := w.say("C1", "", "not heard")
		time.Sleep(time.Minute)
		w.remove("C1", replies[2].ID)
		w.remove("C1", tops[3].ID)
		w.edit("C1", replies[4].ID, "changed")
		late := w.say("C1", root.ID, "not heard")
		d.filler.Missed(from.Add(-2*time.Hour), time.Now())
		time.Sleep(10 * time.Minute)
		for i := range 6 {
			if m, _ := d.stored("C1", replies[i].ID); m.Deleted != (i == 2) {
				t.Errorf("reply %d: %+v", i, m)
			}
			if m, _ := d.stored("C1", tops[i].ID); m.Deleted != (i == 3) {
				t.Errorf("top %d: %+v", i, m)
			}
		}
		if m, _ := d.stored("C1", replies[4].ID); m.Text != "changed" {
			t.Errorf("the edit was not seen: %+v", m)
		}
		for _, m := range []earshot.Message{said, late} {
			if _, ok := d.stored("C1", m.ID); !ok {
				t.Errorf("%+v is not stored", m)
			}
		}
		events, err := d.store.Events(t.Context(), channel("C1").Scope(), replies[2].ID)
		if err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
		for _, e := range events {
			if len(e.Raw) > 0 {
				t.Errorf("the JSON of a message that was deleted: %+v", e)
			}
		}
	})
}

// TestAnEmptyAnswerDeletesNothing: a platform that suddenly shows nothing is
// not believed.
func TestAnEmptyAnswerDeletesNothing(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		first := d.hear("C1", w.say("C1", "", "first"))
		d.fill("C1", first)
		var list []earshot.Message
		for range 6 {
			list = append(list, d.hear("C1", w.say("C1", "", "said")))
		}
		time.Sleep(time.Hour)
		w.mu.Lock()
		w.said["C1"] = nil
		w.mu.Unlock()
		d.filler.Missed(time.Now().Add(-2*time.Hour), time.Now())
		time.Sleep(10 * time.Minute)
		for _, m := range list {
			if m, ok := d.stored("C1", m.ID); !ok || m.Deleted {
				t.Errorf("%+v, %v", m, ok)
			}
		}
		if !strings.Contains(d.log.String(), "history lacks more than it shows") {
			t.Errorf("the log does not say so: %s", d.log.String())
		}
	})
}

// TestCoverageDoesNotPileUp: however often the process starts anew, the store
// keeps a few entries a channel.
func TestCoverageDoesNotPileUp(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		var anchor earshot.Message
		for i := range 60 {
			d.start(true)
			root := d.hear("C1", w.say("C1", "", "root"))
			for range 3 {
				anchor = d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				time.Sleep(10 * time.Minute)
			}
			if i%3 == 0 {
				d.filler.Missed(time.Now().Add(-time.Minute), time.Now())
				time.Sleep(10 * time.Minute)
			}
			d.end()
			time.Sleep(time.Minute)
			w.say("C1", root.ID, "not heard")
			time.Sleep(time.Minute)
		}
		d.stop = nil
		if n := len(d.coverage("C1")); n > 300 {
			t.Errorf("%d entries: %+v", n, d.coverage("C1"))
		}
		top := slices.DeleteFunc(d.coverage("C1"), func(c earshot.Coverage) bool { return c.Thread != "" })
		if len(top) > 40 {
			t.Errorf("%d entries of the channel: %+v", len(top), top)
		}
	})
}

// TestWhatIsMissingStaysSo: a restart forgets neither what is not known nor
// that somebody wants it.
func TestWhatIsMissingStaysSo(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		for range 500 {
			w.say("C1", "", "from before")
		}
		root := w.say("C1", "", "root")
		for range 2500 {
			w.say("C1", root.ID, "reply")
		}
		time.Sleep(time.Hour)
		d.start(false)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		d.fill("C1", anchor)
		unknown := func() []earshot.Coverage { return append(d.gaps("C1", ""), d.gaps("C1", root.ID)...) }
		before := unknown()
		if len(before) != 2 || before[0].State != earshot.Missing || before[1].State != earshot.Missing {
			t.Fatalf("coverage is %+v", before)
		}
		d.end()
		d.start(false)
		after := slices.DeleteFunc(unknown(), func(c earshot.Coverage) bool { return c.From >= anchor.Time })
		if diff := cmp.Diff(after, before); diff != "" {
			t.Errorf("after a restart (-got +want):\n%s", diff)
		}
		d.end()
		d.start(true)
		time.Sleep(time.Hour)
		if g := unknown(); len(g) > 0 {
			t.Errorf("the background did not go on: %+v", g)
		}
	})
}

// TestWhoLeftHearsNothing: after the bot was removed from a channel nothing
// counts as known there.
func TestWhoLeftHearsNothing(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		root := d.hear("C1", w.say("C1", "", "root"))
		d.fill("C1", root)
		time.Sleep(10 * time.Minute)
		if err := d.filler.Left(t.Context(), channel("C1").Scope()); err != nil {
			t.Fatal(err)
		}
		if c := d.coverage("C1"); len(c) > 0 {
			t.Errorf("coverage is left: %+v", c)
		}
		missed := w.say("C1", root.ID, "not heard")
		time.Sleep(time.Hour)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot, you are back"))
		d.fill("C1", anchor)
		d.mustCheck("C1", root.ID, anchor, 10)
		if _, ok := d.stored("C1", missed.ID); !ok {
			t.Error("what was said meanwhile is not stored")
		}
	})
}

// TestWhatThePlatformHidesIsMissing: older messages that a plan hides are not
// taken for deleted, nor for none.
func TestWhatThePlatformHidesIsMissing(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		for range 20 {
			w.say("C1", "", "long ago")
		}
		time.Sleep(time.Hour)
		w.hidden = earshot.TimeOf(time.Now())
		time.Sleep(time.Minute)
		w.say("C1", "", "lately")
		time.Sleep(time.Minute)
		d.start(true)
		anchor := d.hear("C1", w.say("C1", "", "@earshot?"))
		d.fill("C1", anchor)
		time.Sleep(time.Hour)
		if n := len(w.take()); n > 2 {
			t.Errorf("%d calls", n)
		}
		d.mustCheck("C1", "", anchor, 100)
		g := d.gaps("C1", "")
		if len(g) != 1 || g[0].From != 0 || g[0].To < w.hidden || !strings.Contains(g[0].Why, "hides") {
			t.Errorf("coverage is %+v", g)
		}
	})
}

// TestOtherWaysOfPaging: replies that come newest first, as Discord's do, and
// roots that only their own window shows.
func TestOtherWaysOfPaging(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*world)
	}{
		{"newest first", func(w *world) { w.newest = true }},
		{"no root outside of the window", func(w *world) { w.rootless = true }},
		{"both", func(w *world) { w.newest, w.rootless = true, true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				c.set(w)
				d.options.Tier = backfill.Tier{PerMinute: 40, Burst: 10, Objects: 15}
				w.objects = 15
				root := w.say("C1", "", "root")
				for i := range 100 {
					time.Sleep(10 * time.Minute)
					w.say("C1", root.ID, fmt.Sprint("reply ", i))
				}
				d.start(true)
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				d.mustCheck("C1", root.ID, anchor, 200)
				if _, ok := d.stored("C1", root.ID); !ok {
					t.Error("the root is not stored")
				}
				time.Sleep(10 * time.Minute)
				if g := d.gaps("C1", root.ID); len(g) > 0 {
					t.Errorf("after the background: %+v", g)
				}
				d.mustCheck("C1", root.ID, anchor, 200)
			})
		})
	}
}

// TestClocksMayDiffer: ours is wrong by half a minute.
func TestClocksMayDiffer(t *testing.T) {
	for _, by := range []time.Duration{-30 * time.Second, 30 * time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				d.options.Now = func() earshot.Time { return earshot.TimeOf(time.Now().Add(by)) }
				root := w.say("C1", "", "root")
				w.say("C1", root.ID, "before")
				time.Sleep(time.Hour)
				d.start(true)
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				if n := len(w.take()); n > 4 { // the channel, the root, the thread and its newest at once
					t.Errorf("%d calls", n)
				}
				d.mustCheck("C1", root.ID, anchor, 10)
				time.Sleep(time.Hour)
				d.end()
				w.say("C1", root.ID, "while it was down")
				w.take()
				d.start(true)
				missed := w.say("C1", root.ID, "while it came up")
				time.Sleep(time.Second)
				if by > 0 {
					d.hear("C1", missed)
				}
				anchor = d.hear("C1", w.say("C1", root.ID, "@earshot??"))
				d.fill("C1", anchor)
				if n := len(w.take()); n > 2 {
					t.Errorf("%d calls", n)
				}
				d.mustCheck("C1", root.ID, anchor, 10)
			})
		})
	}
}

// TestWhatARootDoesNotTellIsAskedFor: a platform that leaves out how many replies a
// root has, or when the last was said, hides no reply of a downtime.
func TestWhatARootDoesNotTellIsAskedFor(t *testing.T) {
	for name, absent := range map[string]func(*earshot.Activity){
		"when the last was said": func(a *earshot.Activity) { a.Last = 0 },
		"how many there are":     func(a *earshot.Activity) { a.Count = 0 },
		"both":                   func(a *earshot.Activity) { *a = earshot.Activity{} },
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				w.tell = absent
				d.start(true)
				var roots []earshot.Message
				for range 4 {
					root := d.hear("C1", w.say("C1", "", "root"))
					d.hear("C1", w.say("C1", root.ID, "reply"))
					roots = append(roots, root)
				}
				d.fill("C1", d.hear("C1", w.say("C1", "", "@earshot, welcome")))
				time.Sleep(time.Hour)
				d.end()
				time.Sleep(time.Hour)
				missed := w.say("C1", roots[1].ID, "not heard")
				time.Sleep(time.Hour)
				d.start(true)
				time.Sleep(30 * time.Minute)
				d.mustHave("C1", missed)
			})
		})
	}
}

// TestAPageThatIsCutWithoutACursorIsNotTheWholeWindow: the platform says that there is
// more, and not where it goes on.
func TestAPageThatIsCutWithoutACursorIsNotTheWholeWindow(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		w.uncursored, w.objects = true, 20
		d.options.Tier = backfill.Tier{PerMinute: 40, Burst: 10, Objects: 20}
		root := w.say("C1", "", "root")
		for i := range 90 {
			time.Sleep(time.Minute)
			w.say("C1", root.ID, fmt.Sprint("reply ", i))
			w.say("C1", "", fmt.Sprint("top ", i))
		}
		d.start(true)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		d.fill("C1", anchor)
		d.mustCheck("C1", root.ID, anchor, 100)
		d.mustCheck("C1", "", anchor, 100)
		time.Sleep(time.Hour)
		if g := append(d.gaps("C1", root.ID), d.gaps("C1", "")...); len(g) > 0 {
			t.Errorf("after the background: %+v", g)
		}
		for _, part := range []earshot.ChannelPart{earshot.ThreadOf(root.ID), earshot.TopLevel()} {
			if c, err := d.store.Count(t.Context(), channel("C1").Scope(), part, earshot.Position{}); err != nil || c.Count < 91 {
				t.Errorf("%d messages are stored, %v", c.Count, err)
			}
		}
	})
}
