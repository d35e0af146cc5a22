package backfill_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/store"
)

// A world is a workspace as its platform has it: Slack's ways of paging, and
// its faults.
type world struct {
	t  testing.TB
	mu sync.Mutex

	said     map[earshot.ChannelID][]*earshot.Message // in the order of time
	last     earshot.Time
	perMin   int  // calls a minute and method, then 429
	objects  int  // of a page at most
	newest   bool // replies come newest first, as Discord's
	rootless bool // the root is shown only where the window holds it
	hidden   earshot.Time
	tell     func(*earshot.Activity) // what a root tells of its replies; nil: all

	uncursored bool // a page that is cut has no cursor
	latency    time.Duration
	delay      func() time.Duration // of one call, in place of latency
	fail       func(method string, c earshot.ChannelID) error

	calls []call
	rate  map[string][]time.Time
}

type call struct {
	method  string
	channel earshot.ChannelID
	thread  earshot.MessageID
	at      time.Time
	window  backfill.Window
}

func newWorld(t testing.TB) *world {
	return &world{t: t, said: map[earshot.ChannelID][]*earshot.Message{}, perMin: 50, objects: 1000, rate: map[string][]time.Time{}}
}

func channel(id earshot.ChannelID) earshot.Channel {
	return earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: id, Kind: earshot.KindChannel}
}

// say says something now, or a microsecond after what was said last.
func (w *world) say(c earshot.ChannelID, thread earshot.MessageID, text string) earshot.Message {
	return w.sayAt(c, thread, text, earshot.TimeOf(time.Now()))
}

func (w *world) sayAt(c earshot.ChannelID, thread earshot.MessageID, text string, at earshot.Time) earshot.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	at = max(at, w.last+1)
	w.last = at
	m := earshot.Message{
		ID: earshot.MessageID(fmt.Sprintf("%d.%06d", at/1e6, at%1e6)), Time: at, Text: text, Thread: thread,
		Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human},
	}
	w.said[c] = append(w.said[c], &m)
	return m
}

func (w *world) find(c earshot.ChannelID, id earshot.MessageID) *earshot.Message {
	i := slices.IndexFunc(w.said[c], func(m *earshot.Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return w.said[c][i]
}

func (w *world) edit(c earshot.ChannelID, id earshot.MessageID, text string) earshot.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.find(c, id)
	m.Text, m.Edited = text, max(earshot.TimeOf(time.Now()), m.Edited+1)
	return *m
}

// remove deletes a message; one with replies stays as Slack's tombstone.
func (w *world) remove(c earshot.ChannelID, id earshot.MessageID) earshot.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.find(c, id)
	gone := earshot.Message{ID: id, Time: m.Time, Deleted: true}
	if len(w.thread(c, id)) > 1 {
		*m = gone
	} else {
		w.said[c] = slices.DeleteFunc(w.said[c], func(m *earshot.Message) bool { return m.ID == id })
	}
	return gone
}

// recent returns what was said last, or some before that; Replies is set where
// it has any.
func (w *world) recent(c earshot.ChannelID, before int) (earshot.Message, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.said[c]
	if len(list) == 0 {
		return earshot.Message{}, false
	}
	return w.found(c, *list[max(0, len(list)-1-before)]).Message, true
}

// thread returns root and replies. w.mu is held.
func (w *world) thread(c earshot.ChannelID, root earshot.MessageID) []earshot.Message {
	var out []earshot.Message
	for _, m := range w.said[c] {
		if m.ID == root || m.Thread == root {
			out = append(out, *m)
		}
	}
	return out
}

// top returns what stands at the top level. w.mu is held.
func (w *world) top(c earshot.ChannelID) []earshot.Message {
	var out []earshot.Message
	for _, m := range w.said[c] {
		if m.Thread == "" {
			out = append(out, *m)
		}
	}
	return out
}

func (w *world) found(c earshot.ChannelID, m earshot.Message) backfill.HistoryMessage {
	if m.Thread == "" {
		if replies := w.thread(c, m.ID); len(replies) > 1 {
			m.Replies = &earshot.Activity{Count: len(replies) - 1, Last: replies[len(replies)-1].Time}
			if w.tell != nil {
				w.tell(m.Replies)
			}
		}
	}
	return backfill.HistoryMessage{Event: earshot.Event{Raw: []byte(`{"ts":"` + m.ID + `"}`), Message: m}}
}

// begin counts a call and refuses it where the world is such.
func (w *world) begin(ctx context.Context, method string, c earshot.ChannelID, thread earshot.MessageID, win backfill.Window) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.calls = append(w.calls, call{method, c, thread, now, win})
	if win.Oldest <= 0 || win.Latest <= 0 || win.Oldest > win.Latest || win.Limit < 1 {
		w.t.Errorf("%s was asked for the window %+v", method, win)
	}
	recent := slices.DeleteFunc(w.rate[method], func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if w.rate[method] = recent; len(recent) >= w.perMin {
		return &backfill.LimitError{Wait: recent[0].Add(time.Minute).Sub(now), Err: errors.New("ratelimited")}
	}
	w.rate[method] = append(w.rate[method], now)
	if w.fail != nil {
		if err := w.fail(method, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) wait(ctx context.Context) error {
	d := w.latency
	if w.delay != nil {
		d = w.delay()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, win backfill.Window) (backfill.Page, error) {
	if err := w.begin(ctx, backfill.Replies, c.ID, root, win); err != nil {
		return backfill.Page{}, err
	}
	if err := w.wait(ctx); err != nil {
		return backfill.Page{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.thread(c.ID, root)
	if len(list) == 0 {
		return backfill.Page{}, fmt.Errorf("thread_not_found: %w", backfill.ErrNotThere)
	}
	var head []earshot.Message
	if list[0].ID == root && !(w.rootless && (list[0].Time < win.Oldest || list[0].Time > win.Latest)) {
		head = list[:1]
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m earshot.Message) bool {
		return m.ID == root || m.Time < win.Oldest || m.Time > win.Latest
	})
	if w.newest {
		slices.Reverse(list)
	}
	return w.page(c.ID, append(slices.Clone(head), list...), win, w.newest), nil
}

func (w *world) History(ctx context.Context, c earshot.Channel, win backfill.Window) (backfill.Page, error) {
	if err := w.begin(ctx, backfill.History, c.ID, "", win); err != nil {
		return backfill.Page{}, err
	}
	if err := w.wait(ctx); err != nil {
		return backfill.Page{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.DeleteFunc(w.top(c.ID), func(m earshot.Message) bool {
		return m.Time < max(win.Oldest, w.hidden) || m.Time > win.Latest
	})
	slices.Reverse(list)
	p := w.page(c.ID, list, win, true)
	p.Hidden = p.Cursor == "" && w.hidden > win.Oldest
	return p, nil
}

// Root is a call of History for one message.
func (w *world) Root(ctx context.Context, c earshot.Channel, root earshot.MessageID) (backfill.Page, error) {
	w.mu.Lock()
	m := w.find(c.ID, root)
	w.mu.Unlock()
	if m == nil {
		return w.History(ctx, c, backfill.Window{Oldest: 1, Latest: 1, Limit: 1})
	}
	return w.History(ctx, c, backfill.Window{Oldest: m.Time, Latest: m.Time, Limit: 1})
}

func (w *world) RootTime(root earshot.MessageID) earshot.Time {
	t, err := earshot.ParseTime(string(root))
	if err != nil {
		w.t.Error(err)
	}
	return t
}

func (w *world) page(c earshot.ChannelID, list []earshot.Message, win backfill.Window, newest bool) backfill.Page {
	p := backfill.Page{NewestFirst: newest}
	from, _ := strconv.Atoi(win.Cursor)
	list = list[min(from, len(list)):]
	n := min(win.Limit, w.objects, len(list))
	for _, m := range list[:n] {
		p.Messages = append(p.Messages, w.found(c, m))
	}
	if p.More = n < len(list); p.More && !w.uncursored {
		p.Cursor = strconv.Itoa(from + n)
	}
	return p
}

// take returns the calls that were made since it was asked last.
func (w *world) take() []call {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.calls
	w.calls = nil
	return list
}

// refuse sets by what every call fails; nil: none does.
func (w *world) refuse(fail func(method string, c earshot.ChannelID) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = fail
}

// A desk is a bot's place in a world: a store, and a filler while it is up.
type desk struct {
	t       testing.TB
	w       *world
	store   earshot.Store
	options backfill.Options
	log     journal

	filler  *backfill.Filler
	stop    context.CancelFunc
	stopped chan struct{}
	mu      sync.Mutex // guards done
	done    []earshot.MessageID
	n       int // of deliveries
}

// A journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// handled returns what was handed on, in that order.
func (d *desk) handled() []earshot.MessageID {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.done)
}

func newDesk(t testing.TB, w *world) *desk {
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, w: w, store: st}
	d.options = backfill.Options{
		Store: st, Source: w, Platform: earshot.Slack, Workspace: "T1",
		Handle: func(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
			if !f.Past {
				t.Errorf("message %s was handled as if it were told just now", f.Message.ID)
			}
			accepted, err := st.Accept(ctx, c.Scope(), f.Event, nil)
			if err == nil && accepted.Change == earshot.New {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.done = append(d.done, f.Message.ID)
			}
			return err
		},
		Log: slog.New(slog.NewTextHandler(&d.log, nil)),
	}
	return d
}

// start brings the bot up; run says whether the background works.
func (d *desk) start(run bool) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	var err error
	if d.filler, err = backfill.Open(ctx, d.options); err != nil {
		d.t.Fatal(err)
	}
	d.stop, d.stopped = cancel, make(chan struct{})
	go func() {
		defer close(d.stopped)
		if !run {
			return
		}
		if err := d.filler.Run(ctx); err != nil {
			d.t.Error(err)
		}
	}()
}

func (d *desk) end() {
	d.stop()
	<-d.stopped
}

// hear tells the bot of what was said, as an event does.
func (d *desk) hear(c earshot.ChannelID, m earshot.Message) earshot.Message {
	d.t.Helper()
	d.n++
	e := earshot.Event{Delivery: "Ev" + strconv.Itoa(d.n), Raw: []byte("{}"), Received: earshot.TimeOf(time.Now()), Message: m}
	if _, err := d.store.Accept(d.t.Context(), channel(c).Scope(), e, nil); err != nil {
		d.t.Fatal(err)
	}
	return m
}

// fill is what a turn does; it has three seconds.
func (d *desk) fill(c earshot.ChannelID, anchor earshot.Message) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 3*time.Second)
	defer cancel()
	if err := d.filler.Fill(ctx, channel(c), anchor, anchor.Root()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) coverage(c earshot.ChannelID) []earshot.Coverage {
	d.t.Helper()
	list, err := d.store.Coverage(d.t.Context(), channel(c).Scope())
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// gaps returns what is not known of a thread, or with "" of the top level.
func (d *desk) gaps(c earshot.ChannelID, thread earshot.MessageID) []earshot.Coverage {
	return slices.DeleteFunc(d.coverage(c), func(e earshot.Coverage) bool {
		return e.Thread != thread || e.State == earshot.Known
	})
}

// check returns what is wrong with what a turn for anchor reads: the newest n of
// its thread, or of the top level, must be as the world has them, or coverage
// says that they are not known. Edits of what was heard may be missing.
func (d *desk) check(c earshot.ChannelID, thread earshot.MessageID, anchor earshot.Message, n int) error {
	ctx := context.Background()
	gaps := d.gaps(c, thread) // first, as gather does: the background may be at work
	part := earshot.ThreadOf(thread)
	stored, err := d.store.Newest(ctx, channel(c).Scope(), part, anchor.Position(), n)
	if err != nil {
		return err
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	truth := d.w.top(c)
	if thread != "" {
		truth = d.w.thread(c, thread)
	}
	truth = slices.DeleteFunc(truth, func(m earshot.Message) bool { return m.Deleted || m.Time > anchor.Time })
	slices.SortFunc(truth, func(x, y earshot.Message) int { return cmp.Compare(x.Time, y.Time) })
	truth = truth[max(0, len(truth)-n):]
	have := map[earshot.MessageID]bool{}
	for _, m := range stored {
		have[m.ID] = true
	}
	said := func(t earshot.Time) bool {
		return slices.ContainsFunc(gaps, func(g earshot.Coverage) bool { return g.From <= t && (g.To == 0 || t <= g.To) })
	}
	for _, m := range truth {
		if !have[m.ID] && !said(m.Time) {
			return fmt.Errorf("channel %s, thread %q, anchor %s: message %s is neither stored nor said to be missing: %+v", c, thread, anchor.ID, m.ID, d.coverage(c))
		}
	}
	exists := map[earshot.MessageID]bool{}
	for _, m := range d.w.said[c] {
		exists[m.ID] = !m.Deleted
	}
	for _, m := range stored {
		if !exists[m.ID] {
			if !said(m.Time) {
				return fmt.Errorf("channel %s, thread %q: message %s was deleted and is still there", c, thread, m.ID)
			}
		}
	}
	return nil
}
