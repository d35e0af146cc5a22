package backfill_test

import (
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// A platform tells which message is the newest of a channel and of its threads. What was
// said before the gap, or is stored, is not read again.
func TestWhatThePlatformTellsDecidesWhatIsRead(t *testing.T) {
	for _, c := range []struct {
		name string
		// told is what the platform tells, by what was heard before the gap and said in it.
		told func(before, heard, missed, thread earshot.Message) []backfill.Newest
		read []earshot.MessageID // timelines that are read, by thread
	}{
		{name: "the newest message was heard", told: func(before, _, _, _ earshot.Message) []backfill.Newest {
			return []backfill.Newest{newest("", before)}
		}},
		{name: "the newest is stored, and younger than the gap", told: func(_, heard, _, _ earshot.Message) []backfill.Newest {
			return []backfill.Newest{newest("", heard)}
		}},
		{name: "the newest was missed", read: []earshot.MessageID{""}, told: func(_, _, missed, _ earshot.Message) []backfill.Newest {
			return []backfill.Newest{newest("", missed)}
		}},
		{name: "the newest is a message that is gone", read: []earshot.MessageID{""}, told: func(_, _, missed, _ earshot.Message) []backfill.Newest {
			missed.ID += "9"
			return []backfill.Newest{newest("", missed)}
		}},
		{name: "it says that nothing was ever said, and something was", read: []earshot.MessageID{""}, told: func(earshot.Message, earshot.Message, earshot.Message, earshot.Message) []backfill.Newest {
			return []backfill.Newest{{Channel: channel("C1")}}
		}},
		{name: "it does not tell of the channel", read: []earshot.MessageID{""}, told: func(earshot.Message, earshot.Message, earshot.Message, earshot.Message) []backfill.Newest {
			return nil
		}},
		{name: "only a thread was missed", read: []earshot.MessageID{"thread"}, told: func(before, _, _, thread earshot.Message) []backfill.Newest {
			return []backfill.Newest{newest("", before), newest(thread.Thread, thread)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene(t, func(t *testing.T, w *world, d *desk) {
				d.options.Told = true
				w.newest = true
				before := d.hear("C1", w.say("C1", "", "before"))
				var root, reply earshot.Message
				if slices.Contains(c.read, "thread") {
					root = before
				}
				time.Sleep(time.Hour)
				from := time.Now()
				time.Sleep(time.Minute)
				heard := d.hear("C1", w.say("C1", "", "heard"))
				if root.ID != "" {
					reply = w.say("C1", root.ID, "a reply")
				}
				missed := w.say("C1", "", "missed")
				time.Sleep(time.Minute)
				d.start(true)
				if err := d.filler.Behind(t.Context(), backfill.Gap{From: from, To: time.Now()}, c.told(before, heard, missed, reply)); err != nil {
					t.Fatal(err)
				}
				if got, want := d.filler.CatchingUp(), len(c.read) > 0; got != want {
					t.Errorf("it is catching up: %t, want %t", got, want)
				}
				time.Sleep(time.Hour)
				var read []earshot.MessageID
				for _, call := range w.take() {
					thread := call.thread
					if thread == root.ID && thread != "" {
						thread = "thread"
					}
					if !slices.Contains(read, thread) {
						read = append(read, thread)
					}
				}
				if diff := gocmp.Diff(read, c.read); diff != "" {
					t.Errorf("what was read: -got +want\n%s", diff)
				}
				if d.filler.CatchingUp() {
					t.Error("it is still catching up an hour later")
				}
				d.end()
			})
		})
	}
}

// newest is what a platform tells whose newest message of a thread is m.
func newest(thread earshot.MessageID, m earshot.Message) backfill.Newest {
	return backfill.Newest{Channel: channel("C1"), Thread: thread, ID: m.ID, Time: m.Time}
}

// In a channel that is not stored, what is fresh is read and handed on; where the newest
// message is older than an answer may be, nobody is asked.
func TestAChannelThatIsNotStoredIsReadForFreshQuestions(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.options.Told = true
		from := time.Now()
		time.Sleep(time.Minute)
		old := w.say("C2", "", "@earshot, nobody waits for this any more")
		time.Sleep(time.Hour)
		question := w.say("C1", "", "@earshot?")
		time.Sleep(time.Minute)
		d.start(true)
		told := []backfill.Newest{newest("", question), {Channel: channel("C2"), ID: old.ID, Time: old.Time}, {Channel: channel("C3")}}
		if err := d.filler.Behind(t.Context(), backfill.Gap{From: from, To: time.Now()}, told); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if diff := gocmp.Diff(d.handled(), []earshot.MessageID{question.ID}); diff != "" {
			t.Errorf("what was handed on: -got +want\n%s", diff)
		}
		for _, call := range w.take() {
			if call.channel != "C1" {
				t.Errorf("channel %s is read", call.channel)
			}
		}
		list, err := d.store.Channels(t.Context())
		if err != nil || len(list) != 1 {
			t.Errorf("channels that are stored: %v, %v; want C1 alone", list, err)
		}
		d.end()
	})
}

// Where somebody talks with the agent is read first, then where something was said last.
func TestConversationsAreReadFirst(t *testing.T) {
	scene(t, func(t *testing.T, w *world, d *desk) {
		d.options.Told = true
		var told []backfill.Newest
		for _, id := range []earshot.ChannelID{"C1", "C2", "C3"} {
			d.hear(id, w.say(id, "", "before"))
		}
		time.Sleep(time.Hour)
		from := time.Now()
		for _, id := range []earshot.ChannelID{"C1", "C2", "C3"} {
			time.Sleep(time.Minute)
			m := w.say(id, "", "missed")
			told = append(told, backfill.Newest{Channel: channel(id), ID: m.ID, Time: m.Time, First: id == "C1"})
		}
		d.start(true)
		if err := d.filler.Behind(t.Context(), backfill.Gap{From: from, To: time.Now()}, told); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		var order []earshot.ChannelID
		for _, call := range w.take() {
			if !slices.Contains(order, call.channel) {
				order = append(order, call.channel)
			}
		}
		if diff := gocmp.Diff(order, []earshot.ChannelID{"C1", "C3", "C2"}); diff != "" {
			t.Errorf("the order: -got +want\n%s", diff)
		}
		d.end()
	})
}
