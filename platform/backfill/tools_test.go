package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// ask is what a tool does while a turn is under way.
func (d *desk) ask(do func(ctx context.Context, s earshot.Scope) error) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 3*time.Second)
	defer cancel()
	if err := do(ctx, channel("C1").Scope()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) count(part earshot.ChannelPart) int {
	d.t.Helper()
	n, err := d.store.Count(d.t.Context(), channel("C1").Scope(), part, earshot.Position{})
	if err != nil {
		d.t.Fatal(err)
	}
	return n.Count
}

func TestAThreadThatAToolAsksForIsFetchedOnce(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		root := w.say("C1", "", "the old thread")
		for i := range 14 {
			w.say("C1", root.ID, fmt.Sprint("reply ", i))
		}
		time.Sleep(time.Hour)
		d.start(false)
		anchor := d.hear("C1", w.say("C1", "", "what came of the old thread?"))
		d.fill("C1", anchor)
		w.take()
		if n := d.count(earshot.ThreadOf(root.ID)); n != 1 {
			t.Fatalf("%d messages of the thread are stored, want the root", n)
		}
		for range 2 {
			d.ask(func(ctx context.Context, s earshot.Scope) error {
				return d.filler.FetchThread(ctx, s, root.ID, anchor.Position())
			})
			if n := d.count(earshot.ThreadOf(root.ID)); n != 15 {
				t.Errorf("%d messages of the thread are stored, want 15", n)
			}
		}
		wantCalls(t, w, 1)
		d.mustCheck("C1", root.ID, anchor, 100)
		if g := d.gaps("C1", root.ID); len(g) > 0 {
			t.Errorf("the thread has gaps: %+v", g)
		}
	})
}

func TestAThreadThatAToolCannotHaveIsSaidToBeMissing(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		root := w.say("C1", "", "the old thread")
		w.say("C1", root.ID, "a reply")
		time.Sleep(time.Hour)
		d.start(false)
		anchor := d.hear("C1", w.say("C1", "", "what came of it?"))
		d.fill("C1", anchor)
		w.take()
		w.refuse(func(string, earshot.ChannelID) error { return errors.New("internal_error") })
		for range 2 {
			d.ask(func(ctx context.Context, s earshot.Scope) error {
				return d.filler.FetchThread(ctx, s, root.ID, anchor.Position())
			})
		}
		wantCalls(t, w, 1) // what was refused is left alone for a while
		if g := d.gaps("C1", root.ID); len(g) != 1 || g[0].State != earshot.Missing {
			t.Errorf("the thread's coverage is %+v", g)
		}
		d.ask(func(ctx context.Context, s earshot.Scope) error {
			s.Workspace = "T2"
			return d.filler.FetchThread(ctx, s, root.ID, anchor.Position())
		})
		wantCalls(t, w, 0)
	})
}

func TestAStretchThatAToolAsksForIsFetchedFromItsEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		since  int // what was said that many messages ago and later
		stored int // at least, the anchor included
		most   int // at most
		calls  int
	}{
		{"what is stored already asks nobody", 50, 101, 101, 0},
		{"what is older is fetched", 400, 401, 401, 2},
		{"a few calls are all", 5000, 700, 1200, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				var said []earshot.Message
				for i := range 5000 {
					said = append(said, w.say("C1", "", fmt.Sprint("message ", i)))
					time.Sleep(time.Minute)
				}
				d.options.Tier = backfill.Tier{PerMinute: 40, Burst: 10, Objects: 200, Most: 200}
				d.options.Neighbours = 100
				w.objects = 100 // so that the turn's own call leaves the rest unread
				d.start(false)
				anchor := d.hear("C1", w.say("C1", "", "what was it, weeks ago?"))
				d.fill("C1", anchor)
				w.take()
				w.objects = 200
				since := said[len(said)-c.since].Time
				d.ask(func(ctx context.Context, s earshot.Scope) error {
					return d.filler.FetchSince(ctx, s, since, anchor.Position())
				})
				if n := d.count(earshot.Whole()); n < c.stored || n > c.most {
					t.Errorf("%d messages are stored, want %d to %d", n, c.stored, c.most)
				}
				wantCalls(t, w, c.calls)
			})
		})
	}
}
