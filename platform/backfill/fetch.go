package backfill

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot/internal/coverage"
)

// A fetch asks for the windows of one timeline that a caller waits for. Several
// requests may be under way at once; whenever one is answered, it is decided anew
// what else to ask for.
type fetch struct {
	*Filler
	t *timeline
	n timelineNeed

	group    errgroup.Group
	answered chan struct{} // closed when the request for the root has ended
	stopRoot func()

	deciding chan struct{} // a semaphore of one: who holds it decides what to ask for
	calls    int           // of n.calls; deciding guards it
	over     bool          // one failed: nothing more is asked for; deciding guards it

	mu       sync.Mutex         // guards what follows
	asked    []*coverage.Window // not answered yet
	first    int                // of asked, those that were asked for together at first
	together chan struct{}      // closed when first is 0
	limited  error              // the last call was refused because of a limit
}

// grace is how long the answers to what was asked together are waited for after one
// has come: all of them say better what to ask for next.
const grace = 200 * time.Millisecond

// fetch fetches until nothing more is needed of the timeline, the calls are used up,
// or one fails.
func (f *Filler) fetch(ctx context.Context, t *timeline, n timelineNeed) error {
	err := t.lock(ctx)
	if err == nil {
		defer t.unlock()
	}
	if n.root != nil && (err != nil || !f.wantsRoot(t, n.upTo)) { // whoever had the timeline before has read it
		f.rate.giveBack(n.root.key)
		n.root = nil
	}
	if err != nil {
		return err
	}
	x := &fetch{Filler: f, t: t, n: n, answered: make(chan struct{}), deciding: make(chan struct{}, 1), together: make(chan struct{})}
	rootCtx, stop := context.WithCancel(ctx)
	defer stop()
	x.stopRoot = stop
	x.group.Go(func() error {
		told := n.root != nil && f.askRoot(rootCtx, t, n.root)
		close(x.answered)
		if !told {
			return nil
		}
		return x.more(ctx)
	})
	x.group.Go(func() error { return x.more(ctx) })
	if err := x.group.Wait(); err != nil {
		return err
	}
	return x.limited
}

// more asks for what is needed and not asked for yet. Where the rate allows one call
// only and the window would be a guess, it waits for the root first.
func (x *fetch) more(ctx context.Context) error {
	x.deciding <- struct{}{}
	defer func() { <-x.deciding }()
	defer x.endRoot()
	if x.calls > 0 {
		x.await(ctx, x.together, grace)
	}
	for !x.over && x.calls < x.n.calls {
		list, unsure, err := x.next(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		key := x.t.rateKey()
		wait, err := x.rate.reserve(ctx, key)
		if err == nil {
			err = x.rate.await(ctx, key, wait)
		}
		if err != nil {
			return x.limit(err)
		}
		n := 1
		for x.calls == 0 && n < len(list) && x.rate.spare(key) {
			n++
		}
		if n == 1 && unsure {
			x.awaitRoot(ctx)
		}
		if wait > 0 || n == 1 && unsure { // more may be known by now
			if list, _, err = x.next(ctx); err != nil || len(list) == 0 {
				x.rate.giveBack(key)
				return err
			}
		}
		x.ask(ctx, list[:min(n, len(list))])
	}
	return nil
}

// next returns the windows to ask for now: none while one is on its way that was
// asked for after the first answers, or one that probably brings as much.
func (x *fetch) next(ctx context.Context) (list []coverage.Window, unsure bool, err error) {
	list, unsure, err = x.n.next(ctx)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.Filler.mu.Lock()
	defer x.Filler.mu.Unlock()
	if len(x.asked) > x.first {
		return nil, false, nil
	}
	for _, a := range x.asked {
		if a.Oldest <= list[0].Oldest && a.Latest >= list[0].Latest && x.t.Fits(*a, x.Tier.sizes()) {
			return nil, false, nil
		}
	}
	return list, unsure, nil
}

// awaitRoot waits for the root's answer, for half of the time that is left.
func (x *fetch) awaitRoot(ctx context.Context) {
	half := callTime
	if deadline, ok := ctx.Deadline(); ok {
		half = time.Until(deadline) / 2
	}
	x.await(ctx, x.answered, half)
}

// await waits for a signal, at most for some time.
func (x *fetch) await(ctx context.Context, signal <-chan struct{}, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-signal:
	case <-ctx.Done():
	}
}

// ask asks for windows, and after each answer for what is then needed. x.deciding is
// held.
func (x *fetch) ask(ctx context.Context, list []coverage.Window) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first := x.calls == 0
	if first {
		x.first = len(list)
	}
	x.calls += len(list)
	for _, w := range list {
		x.asked = append(x.asked, &w)
		x.group.Go(func() error {
			err := x.read(ctx, w)
			x.answer(&w, first, err)
			if limit := (*LimitError)(nil); err == nil || errors.As(err, &limit) {
				return x.more(ctx) // after a limit the next call waits until it has passed
			}
			x.deciding <- struct{}{}
			defer func() { <-x.deciding }()
			x.over = true
			x.endRoot()
			return err
		})
	}
}

// read reads one page, and looks at the threads whose roots it shows.
func (x *fetch) read(ctx context.Context, w coverage.Window) error {
	page, err := x.fetchPage(ctx, x.t, w)
	if err != nil {
		return err
	}
	return x.followThreads(context.WithoutCancel(ctx), x.t, page)
}

// answer notes that a window was answered.
func (x *fetch) answer(w *coverage.Window, first bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = slices.DeleteFunc(x.asked, func(v *coverage.Window) bool { return v == w })
	if first {
		if x.first--; x.first == 0 {
			close(x.together)
		}
	}
	if x.limited = nil; err != nil {
		x.limited = err
	}
}

// limit returns the refusal of the last call, if there was one, in place of err.
func (x *fetch) limit(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.limited != nil {
		return x.limited
	}
	return err
}

// endRoot gives up the request for the root once no page is under way.
func (x *fetch) endRoot() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.asked) == 0 {
		x.stopRoot()
	}
}
