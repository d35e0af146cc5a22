package backfill

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot/internal/coverage"
)

const (
	maxFailures = 3           // of a job in a row
	busyWait    = time.Second // before a job is tried again whose timeline a turn is fetching
)

// enqueue puts a job behind the others.
func (f *Filler) enqueue(j job) {
	method := History
	if j.thread != "" {
		method = Replies
	}
	if !f.queue[method].put(j, false) {
		f.Log.Warn("too much history waits to be fetched", "channel", j.channel.ID, "thread", j.thread)
	}
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
			again = f.retry(&j, err)
		}
		if again {
			f.enqueue(j)
		}
		f.queue[method].done()
	}
}

// retry logs a job's failure, sets when the job may be tried again, and reports
// whether it is to be.
func (f *Filler) retry(j *job, err error) bool {
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

// do fetches one page of a job's timeline and reports whether there is more to
// do. Turns go first: while one fetches the same timeline, or has done so since
// the job looked what is missing, the job gives its request back and comes again.
func (f *Filler) do(ctx context.Context, j *job) (again bool, err error) {
	c, err := f.channel(ctx, j.channel)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	c.forget(f.Floor(j.channel.Scope()))
	t := c.timeline(j.thread)
	u, _ := t.NewestMissing(coverage.Forever)
	pause := f.pause(t, u)
	f.mu.Unlock()
	if pause > 0 {
		j.notBefore = time.Now().Add(pause)
		return true, nil
	}
	w, look, err := f.nextForBackground(ctx, t, j)
	if err != nil || w == nil {
		return false, err
	}
	f.mu.Lock()
	before := t.fetchedAt
	f.mu.Unlock()
	if err := f.rate.background(ctx, t.rateKey()); err != nil {
		return false, err
	}
	if !t.tryLock() {
		f.rate.giveBack(t.rateKey())
		j.notBefore = time.Now().Add(busyWait)
		return true, nil
	}
	defer t.unlock()
	f.mu.Lock()
	overtaken := t.fetchedAt != before // by a turn
	f.mu.Unlock()
	if overtaken {
		f.rate.giveBack(t.rateKey())
		return true, nil
	}
	page, err := f.fetchPage(ctx, t, *w)
	if err != nil {
		f.mu.Lock()
		t.Explain(err.Error())
		f.mu.Unlock()
		return false, errors.Join(err, f.save(context.WithoutCancel(ctx), t))
	}
	j.tries = 0
	if look {
		j.looked(*w, page)
	}
	return true, errors.Join(f.followThreads(ctx, t, page), f.save(ctx, t))
}

// looked notes how far back a page of roots has reached.
func (j *job) looked(w coverage.Window, page Page) {
	j.looks++
	j.lookedTo = w.Oldest
	for i, m := range page.Messages {
		if t := m.Message.Time; page.Cursor != "" && (i == 0 || t < j.lookedTo) {
			j.lookedTo = t
		}
	}
}
