package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

const (
	maxFailures = 3           // of a job in a row
	busyWait    = time.Second // while a turn is at the same lane
	worthALook  = 2           // threads; more are first looked at by their roots
	maxLooks    = 3           // pages of roots
	maxActive   = 500         // messages in which active threads are looked for
)

// catchUp has the channels looked after in which something was said lately,
// the newest first.
func (f *Filler) catchUp(list []earshot.ChannelInfo) {
	since := f.activeSince()
	list = slices.DeleteFunc(slices.Clone(list), func(c earshot.ChannelInfo) bool {
		return c.Platform != f.Platform || c.Workspace != f.Workspace || c.Last < since
	})
	slices.SortFunc(list, func(x, y earshot.ChannelInfo) int {
		return cmp.Or(cmp.Compare(y.Last, x.Last), cmp.Compare(x.ID, y.ID))
	})
	for _, c := range list {
		f.later(job{channel: c.Channel})
	}
}

// later puts a job behind the others.
func (f *Filler) later(j job) {
	method := History
	if j.thread != "" {
		method = Replies
	}
	if !f.queue[method].put(j, false) {
		f.Log.Warn("too much history waits to be fetched", "channel", j.channel.ID, "thread", j.thread)
	}
}

func (f *Filler) activeSince() earshot.Time {
	if f.Active < 0 {
		return forever
	}
	return f.Now() - earshot.Time(f.Active/time.Microsecond)
}

// work does the jobs of one method until ctx ends.
func (f *Filler) work(ctx context.Context, method string) {
	for {
		j, ok := f.queue[method].next(ctx)
		if !ok {
			return
		}
		again, err := f.do(ctx, &j)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			again = f.failed(&j, err)
		}
		if again {
			f.later(j)
		}
	}
}

// failed reports whether a job is worth another try, and when.
func (f *Filler) failed(j *job, err error) bool {
	attrs := []any{"platform", f.Platform, "workspace", f.Workspace, "channel", j.channel.ID, "thread", j.thread, "err", err}
	var (
		limit *LimitError
		scope *ScopeError
	)
	switch {
	case errors.As(err, &limit):
		f.Log.Info("history waits for the platform's limit", attrs...)
		return true
	case errors.As(err, &scope), errors.Is(err, ErrNotThere):
		f.Log.Warn("history cannot be read", attrs...)
		return false
	}
	j.tries++
	f.Log.Warn("history was not fetched", append(attrs, "tries", j.tries)...)
	j.notBefore = time.Now().Add(f.Refresh)
	return j.tries < maxFailures
}

// do fetches one page of a job's lane and reports whether there is more to do.
func (f *Filler) do(ctx context.Context, j *job) (again bool, err error) {
	r, err := f.room(ctx, j.channel)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	l := r.lane(j.thread)
	u, _ := l.newestMissing(forever)
	rest := f.rest(l, u)
	f.mu.Unlock()
	if rest > 0 {
		j.notBefore = time.Now().Add(rest)
		return true, nil
	}
	w, look, err := f.needs(ctx, l, j)
	if err != nil || w == nil {
		return false, err
	}
	f.mu.Lock()
	before := l.fetched
	f.mu.Unlock()
	if err := f.pace.background(ctx, f.line(l)); err != nil {
		return false, err
	}
	select {
	case l.busy <- struct{}{}:
		defer l.release()
	default:
		f.pace.giveBack(f.line(l))
		j.notBefore = time.Now().Add(busyWait)
		return true, nil
	}
	f.mu.Lock()
	overtaken := l.fetched != before // by a turn
	f.mu.Unlock()
	if overtaken {
		f.pace.giveBack(f.line(l))
		return true, nil
	}
	page, err := f.fetch(ctx, l, *w)
	if err != nil {
		f.mu.Lock()
		l.why = err.Error()
		f.mu.Unlock()
		return false, errors.Join(err, f.save(context.WithoutCancel(ctx), l))
	}
	j.tries = 0
	if look {
		j.looks++
		j.looked = w.Oldest
		for i, m := range page.Messages {
			if t := m.Message.Time; page.Cursor != "" && (i == 0 || t < j.looked) {
				j.looked = t
			}
		}
	}
	return true, errors.Join(f.follow(ctx, l, page), f.save(ctx, l))
}

// needs returns the window that the background fetches next, nil when there is
// nothing to do: first what was missed, then, where a turn has asked, what was
// said before, until enough is stored. look says that the window is known, and
// that it is read for what its roots tell of their threads.
func (f *Filler) needs(ctx context.Context, l *lane, j *job) (w *Window, look bool, err error) {
	if _, err := f.root(ctx, l); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	u, some := l.newestMissing(f.Now())
	gap := some && l.isGap(u)
	wanted := l.wanted
	f.mu.Unlock()
	if gap {
		return f.window(l, u, true), false, nil
	}
	if l.thread == "" && f.Active >= 0 {
		if w, err := f.activeThreads(ctx, l, j); err != nil || w != nil {
			return w, true, err
		}
	}
	if !some || !wanted {
		return nil, false, nil
	}
	depth := f.ChannelDepth
	if l.thread != "" {
		depth = f.ThreadDepth
	}
	c, err := f.Store.Count(ctx, l.room.channel.Scope(), l.part(), earshot.Position{})
	if err != nil {
		return nil, false, fmt.Errorf("count what is stored of %s: %w", l, err)
	}
	if c.Count >= depth {
		return nil, false, nil
	}
	return f.window(l, u, true), false, nil
}

// activeThreads has the threads looked after in which something was said
// lately and may have been missed: replies do not show in a channel's history.
// Where there are several it returns a window with their roots, because these
// tell of the newest reply.
func (f *Filler) activeThreads(ctx context.Context, l *lane, j *job) (*Window, error) {
	scope, since := l.room.channel.Scope(), f.activeSince()
	list, err := f.Store.Newest(ctx, scope, earshot.Whole(), earshot.Position{}, maxActive)
	if err != nil {
		return nil, fmt.Errorf("read what is stored of %s: %w", l, err)
	}
	var ids []earshot.MessageID
	f.mu.Lock()
	for _, m := range slices.Backward(list) {
		root := m.Root()
		if m.Time < since || root == "" || slices.Contains(ids, root) {
			continue
		}
		if t := l.room.lane(root); len(t.gapsMissing()) > 0 {
			ids = append(ids, root)
		}
	}
	f.mu.Unlock()
	if len(ids) == 0 {
		return nil, nil
	}
	roots, err := f.Store.ByID(ctx, scope, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the roots of %s: %w", l, err)
	}
	if j.looked != 0 {
		roots = slices.DeleteFunc(roots, func(m earshot.Message) bool { return m.Time >= j.looked })
	}
	if len(roots) > worthALook && j.looks < maxLooks {
		return &Window{Oldest: max(dawn, roots[0].Time), Latest: roots[len(roots)-1].Time, Limit: f.Tier.Most}, nil
	}
	for _, id := range ids {
		f.later(job{channel: j.channel, thread: id})
	}
	return nil, nil
}

// gapsMissing returns what of the gaps is not known in the lane.
func (l *lane) gapsMissing() spans {
	var out spans
	known := l.known()
	for _, g := range l.room.gaps {
		out = append(out, known.missing(span{max(g.from, l.first), g.to})...)
	}
	return out
}

// follow looks at what a channel's page tells of the threads. Where nothing was
// said in a gap, or as many replies are stored as there are, nothing was
// missed; any other thread is fetched. Where pages are small it is also noted
// how long threads are.
func (f *Filler) follow(ctx context.Context, l *lane, page Page) error {
	if l.thread != "" {
		return nil
	}
	var ids []earshot.MessageID
	roots := slices.DeleteFunc(slices.Clone(page.Messages), func(m Found) bool { return m.Unread || m.Message.Root() != "" })
	for _, m := range roots {
		ids = append(ids, m.Message.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	f.mu.Lock()
	missed := len(l.room.gaps) > 0
	f.mu.Unlock()
	var stored map[earshot.MessageID]earshot.Activity
	if missed {
		var err error
		if stored, err = f.stored(ctx, l.room.channel.Scope(), ids); err != nil {
			return fmt.Errorf("read the threads of %s: %w", l, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range roots {
		if f.Tier.Objects < smallPage && m.Message.Replies != nil {
			t := l.room.lane(m.Message.ID)
			t.first = m.Message.Time
			t.walk.told(m.Message.Replies, f.Tier)
		}
		if !missed {
			continue
		}
		t := l.room.lane(m.Message.ID)
		t.first = m.Message.Time
		missing := t.gapsMissing()
		if len(missing) == 0 {
			continue
		}
		have, told := stored[m.Message.ID], earshot.Activity{}
		if m.Message.Replies != nil {
			told = *m.Message.Replies
		}
		quiet := told.Last < missing[0].from && told.Count >= have.Count
		if !quiet && (told.Last != have.Last || told.Count != have.Count) {
			f.later(job{channel: l.room.channel, thread: m.Message.ID})
			continue
		}
		for _, g := range missing {
			t.got = t.got.add(span{g.from, min(g.to, l.seen)})
		}
	}
	return nil
}

// stored counts the replies that are stored of roots. [earshot.Messages.Activity]
// alone would not do: it answers with what was told, too, and so calls a thread
// complete of which nothing was read.
func (f *Filler) stored(ctx context.Context, s earshot.Scope, roots []earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	lively, err := f.Store.Activity(ctx, s, earshot.Position{}, roots...)
	if err != nil {
		return nil, err
	}
	out := map[earshot.MessageID]earshot.Activity{}
	for root := range lively {
		thread := earshot.ThreadOf(root)
		count, err := f.Store.Count(ctx, s, thread, earshot.Position{})
		if err != nil {
			return nil, err
		}
		newest, err := f.Store.Newest(ctx, s, thread, earshot.Position{}, 2)
		if err != nil {
			return nil, err
		}
		a := earshot.Activity{Count: count.Count}
		here, err := f.Store.ByID(ctx, s, root)
		if err != nil {
			return nil, err
		}
		if len(here) == 1 && !here[0].Deleted {
			a.Count--
		}
		for _, m := range newest {
			if m.ID != root {
				a.Last = m.Time
			}
		}
		out[root] = a
	}
	return out, nil
}
