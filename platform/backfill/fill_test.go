package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// scene runs a test in a world with a bot, in its own time.
func scene(t *testing.T, test func(t *testing.T, w *world, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDesk(t, w)
		defer d.store.Close()
		test(t, w, d)
		if d.stop != nil {
			d.end()
		}
		if t.Failed() {
			t.Logf("log:\n%s", d.log.String())
		}
	})
}

func (d *desk) mustCheck(c earshot.ChannelID, thread earshot.MessageID, anchor earshot.Message, n int) {
	d.t.Helper()
	if err := d.check(c, thread, anchor, n); err != nil {
		d.t.Error(err)
	}
}

func wantCalls(t *testing.T, w *world, want int) {
	t.Helper()
	if list := w.take(); len(list) != want {
		t.Errorf("%d calls, want %d: %+v", len(list), want, list)
	}
}

func TestAThreadThatWasHeardFromItsRootAsksNobody(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(true)
		first := d.hear("C1", w.say("C1", "", "hello @earshot"))
		d.fill("C1", first) // the channel is new to us
		time.Sleep(time.Hour)
		w.take()
		root := d.hear("C1", w.say("C1", "", "staging is down"))
		var anchor earshot.Message
		for i := range 20 {
			anchor = d.hear("C1", w.say("C1", root.ID, fmt.Sprint("reply ", i)))
			d.fill("C1", anchor)
			time.Sleep(time.Minute)
		}
		wantCalls(t, w, 0)
		d.mustCheck("C1", root.ID, anchor, 100)
		if g := d.gaps("C1", root.ID); len(g) > 0 {
			t.Errorf("a thread that was heard has gaps: %+v", g)
		}
	})
}

// TestALongThreadShowsItsNewest is the thread of 2,500 replies in which the bot
// is mentioned for the first time: the newest within three seconds and a few
// calls, the rest later.
func TestALongThreadShowsItsNewest(t *testing.T) {
	const (
		replies = 2500
		most    = 5 // calls of replies for the turn; which of them come first is the platform's
	)
	for _, c := range []struct {
		name  string
		pause func(i int) time.Duration // before reply i
		shows int                       // of the newest, with the anchor
	}{
		{"evenly", func(int) time.Duration { return 37 * time.Second }, 100},
		{"all within a minute", func(int) time.Duration { return 20 * time.Millisecond }, 100},
		{"slower and slower", func(i int) time.Duration { return time.Duration(i) * 50 * time.Millisecond }, 100},
		{"faster and faster", func(i int) time.Duration { return time.Duration(replies-i) * 50 * time.Millisecond }, 100},
		{"in two bursts", func(i int) time.Duration {
			if i == replies/2 {
				return 30 * 24 * time.Hour
			}
			return time.Second
		}, 100},
		{"nearly all at the end", func(i int) time.Duration {
			if i < 20 {
				return 24 * time.Hour
			}
			return time.Second
		}, 100},
		{"long ago, and then silence", func(i int) time.Duration {
			if i == replies {
				return 60 * 24 * time.Hour
			}
			return time.Second
		}, 100},
		{"long ago, slower and slower", func(i int) time.Duration {
			if i == replies {
				return 60 * 24 * time.Hour
			}
			return time.Duration(i) * 50 * time.Millisecond
		}, 100},
		{"nearly all at the beginning", func(i int) time.Duration {
			if i > replies-20 {
				return 24 * time.Hour
			}
			return time.Second
		}, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				root := w.say("C1", "", "the long thread")
				for i := range replies {
					time.Sleep(c.pause(i))
					w.say("C1", root.ID, fmt.Sprint("reply ", i))
				}
				w.latency = 200 * time.Millisecond
				d.start(true)
				time.Sleep(c.pause(replies))
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot what was decided?"))
				start := time.Now()
				d.fill("C1", anchor)
				took := time.Since(start)
				if took > 3*time.Second {
					t.Errorf("it took %s", took)
				}
				n, calls := 0, w.take()
				for _, x := range calls {
					if x.method == backfill.Replies && x.at.Before(start.Add(took)) {
						n++
					}
				}
				if n > most {
					t.Errorf("%d calls of replies, want at most %d: %+v", n, most, calls)
				}
				list, err := d.store.Newest(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), anchor.Position(), c.shows)
				if err != nil || len(list) != c.shows {
					t.Fatalf("%d messages, %v", len(list), err)
				}
				for i, m := range list[:c.shows-1] {
					if want := fmt.Sprint("reply ", replies-c.shows+1+i); m.Text != want {
						t.Fatalf("message %d of the newest is %q, want %q", i, m.Text, want)
					}
				}
				if _, err := d.store.Message(t.Context(), channel("C1").Scope(), root.ID); err != nil {
					t.Errorf("the root: %v", err)
				}
				for _, g := range d.gaps("C1", root.ID) {
					if g.State != earshot.Missing || g.To >= list[0].Time {
						t.Errorf("coverage does not say what is missing: %+v", g)
					}
				}
				d.mustCheck("C1", root.ID, anchor, 3000)
				time.Sleep(10 * time.Minute)
				if g := d.gaps("C1", root.ID); len(g) > 0 {
					t.Errorf("after the background: %+v", g)
				}
				c, err := d.store.Count(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), earshot.Position{})
				if err != nil || c.Count != replies+2 {
					t.Errorf("%d of %d messages are stored, %v", c.Count, replies+2, err)
				}
				events, err := d.store.Events(t.Context(), channel("C1").Scope(), list[0].ID)
				if err != nil || len(events) != 1 || len(events[0].Raw) == 0 {
					t.Errorf("the JSON of a message of history: %+v, %v", events, err)
				}
			})
		})
	}
}

// TestTheDistributedTierShowsWhatOneCallBrings: one call of each method, 15
// messages. How long the thread is may be seen among the channel's messages.
func TestTheDistributedTierShowsWhatOneCallBrings(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies int
		pause   time.Duration
		after   int // roots said after the thread's: more than 14 and it is not seen
		shows   int // at least so many of the newest replies
	}{
		{"a lively thread", 40, 61 * time.Second, 0, 8},
		{"a slow thread", 40, 5 * time.Hour, 0, 8},
		{"a short thread is there whole", 12, 30 * time.Hour, 0, 12},
		{"a short thread of an old root", 8, 10 * time.Minute, 30, 8},
		{"a long thread of an old root", 40, 15 * time.Minute, 30, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				root := w.say("C1", "", "root")
				for range c.after {
					w.say("C1", "", "something else")
				}
				for i := range c.replies {
					time.Sleep(c.pause)
					w.say("C1", root.ID, fmt.Sprint("reply ", i))
				}
				w.perMin, w.objects = 1, 15
				d.options.Tier = backfill.Distributed
				d.start(false)
				time.Sleep(time.Second)
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				wantCalls(t, w, 2) // one of replies, one of history
				list, err := d.store.Newest(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), anchor.Position(), c.shows+1)
				if err != nil || len(list) != c.shows+1 {
					t.Fatalf("%d messages, %v", len(list), err)
				}
				for i, m := range list[:c.shows] {
					if want := fmt.Sprint("reply ", c.replies-c.shows+i); m.Text != want {
						t.Fatalf("message %d of the newest is %q, want %q", i, m.Text, want)
					}
				}
				if _, ok := d.stored("C1", root.ID); !ok {
					t.Error("the root is not stored")
				}
				d.mustCheck("C1", root.ID, anchor, 100)
				d.end()
				d.start(true)
				time.Sleep(time.Hour)
				if g := d.gaps("C1", root.ID); len(g) > 0 {
					t.Errorf("after the background: %+v", g)
				}
				for _, x := range d.filler.Calls() {
					if x.Limited > 1 { // one for the process that was there before
						t.Errorf("the platform had to refuse: %+v", x)
					}
				}
			})
		})
	}
}

// TestAFailureIsCoverage: whatever the platform answers, the turn goes on and
// knows that it does not know.
func TestAFailureIsCoverage(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		why  string
	}{
		{"a limit", &backfill.LimitError{Wait: time.Minute, Err: errors.New("ratelimited")}, "limited for 1m0s"},
		{"a missing scope", &backfill.ScopeError{Scope: "channels:history", Err: errors.New("missing_scope")}, "the scope channels:history is missing"},
		{"a missing scope without a name", &backfill.ScopeError{Err: errors.New("missing_scope")}, "a scope is missing: missing_scope"},
		{"not a member", backfill.ErrNotThere, "the agent is no member"},
		{"a broken server", errors.New("status 502"), "status 502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				root := w.say("C1", "", "root")
				for range 5 {
					time.Sleep(time.Second)
					w.say("C1", root.ID, "reply")
				}
				w.refuse(func(string, earshot.ChannelID) error { return c.err })
				d.start(true)
				anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
				d.fill("C1", anchor)
				for _, thread := range []earshot.MessageID{root.ID, ""} {
					g := d.gaps("C1", thread)
					if len(g) != 1 || g[0].State != earshot.Missing || g[0].From != 0 || g[0].To >= anchor.Time || !strings.Contains(g[0].Why, c.why) {
						t.Errorf("thread %q: coverage is %+v", thread, g)
					}
					d.mustCheck("C1", thread, anchor, 100)
				}
				if log := d.log.String(); !strings.Contains(log, "history is incomplete") || !strings.Contains(log, "channel=C1") {
					t.Errorf("the log does not say so: %s", log)
				}
				for range 20 { // while it is refused nobody insists
					anchor = d.hear("C1", w.say("C1", root.ID, "@earshot??"))
					d.fill("C1", anchor)
					time.Sleep(time.Second)
				}
				if n := len(w.take()); n > 8 {
					t.Errorf("%d calls although the platform refuses", n)
				}
				w.refuse(nil)
				time.Sleep(10 * time.Minute)
				anchor = d.hear("C1", w.say("C1", root.ID, "@earshot???"))
				d.fill("C1", anchor)
				time.Sleep(10 * time.Minute)
				if g := append(d.gaps("C1", root.ID), d.gaps("C1", "")...); len(g) > 0 {
					t.Errorf("after it went well: %+v", g)
				}
			})
		})
	}
}

func TestTurnsOfOneThreadFetchItOnce(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		root := w.say("C1", "", "root")
		w.say("C1", root.ID, "reply")
		w.latency = time.Second
		d.start(false)
		anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
		var turns sync.WaitGroup
		for range 10 {
			turns.Go(func() { d.fill("C1", anchor) })
		}
		turns.Wait()
		wantCalls(t, w, 2)
		d.mustCheck("C1", root.ID, anchor, 10)
	})
}

// TestATurnGoesBeforeTheBackground: while the background reads long threads, a
// turn gets its page at once.
func TestATurnGoesBeforeTheBackground(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		var roots []earshot.Message
		for range 6 {
			root := w.say("C1", "", "root")
			for range 600 {
				w.say("C1", root.ID, "reply")
			}
			roots = append(roots, root)
		}
		time.Sleep(time.Minute)
		d.start(true)
		for _, root := range roots {
			anchor := d.hear("C1", w.say("C1", root.ID, "@earshot?"))
			start := time.Now()
			d.fill("C1", anchor)
			if took := time.Since(start); took > time.Second {
				t.Errorf("it took %s", took)
			}
			d.mustCheck("C1", root.ID, anchor, 2000)
			time.Sleep(10 * time.Second)
		}
		for _, x := range d.filler.Calls() {
			if x.Limited > 0 {
				t.Errorf("the platform had to refuse: %+v", x)
			}
		}
	})
}

// TestOverflow: where the rate is used up a turn waits, or serves what is
// stored; both say what is not known.
func TestOverflow(t *testing.T) {
	for _, degrade := range []bool{false, true} {
		t.Run(fmt.Sprint("degrade=", degrade), func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				d.options.Degrade = degrade
				d.options.Tier = backfill.Tier{PerMinute: 60, Burst: 1, Objects: 100}
				var anchors []earshot.Message
				for range 3 {
					root := w.say("C1", "", "root")
					anchors = append(anchors, w.say("C1", root.ID, "@earshot?"))
				}
				d.options.ThreadsAlone = true
				time.Sleep(time.Minute)
				d.start(false)
				start := time.Now()
				for _, anchor := range anchors {
					d.hear("C1", anchor)
					d.fill("C1", anchor)
				}
				want := 2 * time.Second
				if degrade {
					want = 0
				}
				if took := time.Since(start).Round(time.Millisecond); took != want {
					t.Errorf("it took %s, want %s", took, want)
				}
				for i, anchor := range anchors {
					g := d.gaps("C1", anchor.Root())
					if missing := degrade && i > 0; missing != (len(g) == 1) {
						t.Errorf("turn %d: %+v", i, g)
					}
				}
				x := d.filler.Calls()
				if len(x) != 1 || x[0].Workspace != "T1" || x[0].Method != backfill.Replies {
					t.Fatalf("calls: %+v", x)
				}
				if degrade && (x[0].Calls != 1 || x[0].Overflow != 2) || !degrade && (x[0].Calls != 3 || x[0].Waits != 2 || x[0].Waited.Round(time.Millisecond) != 2*time.Second) {
					t.Errorf("calls: %+v", x)
				}
			})
		})
	}
}

func TestAStoreThatFailsIsAnError(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.start(false)
		anchor := d.hear("C1", w.say("C1", "", "@earshot?"))
		d.store.Close()
		if err := d.filler.Fill(context.Background(), channel("C1"), anchor, ""); err == nil {
			t.Error("the store is closed, and there is no error")
		}
	})
}
