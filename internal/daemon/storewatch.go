package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/store"
)

const (
	// probeEvery is how often a store that failed is tried.
	probeEvery = 2 * time.Second
	// complainEvery is how often the log says that the store fails.
	complainEvery = time.Minute
	// deliveryLag is how long before its delivery an event may have happened: Slack's
	// third retry comes five minutes after its second, which comes one after the first.
	deliveryLag = 10 * time.Minute
	// probeBytes is more than all but the largest events have: a disk with room for
	// less is full.
	probeBytes = 256 << 10

	probeKey = "health/write"
)

// A storeWatch knows whether a store can be written to. A write that fails says that
// it cannot, and from then on the watch writes a note of its own until that succeeds.
// While nothing is heard, the heartbeat is the write that fails. It is safe for
// concurrent use.
type storeWatch struct {
	disk earshot.Store // as it is beneath the watch
	at   string        // for people, without the password; "" where it is not known
	name string        // the same, as errors begin with it
	log  *slog.Logger
	wake chan struct{}
	// missed is told in which time events were refused; nil where they come until they
	// are taken. It is set before Run.
	missed func(from, to time.Time)

	mu         sync.Mutex // guards what follows
	since      time.Time  // when the first write failed; zero while the store works
	confirmed  bool       // the watch's own note has failed since
	refused    int        // events that no history was read for
	complained time.Time  // when the log said so last
}

func newStoreWatch(o Options, disk earshot.Store) *storeWatch {
	w := &storeWatch{disk: disk, name: "the store", log: o.Log, wake: make(chan struct{}, 1)}
	if o.Config.Store != "" {
		w.at = store.RedactSpec(o.Config.Store)
		w.name += " " + w.at
	}
	return w
}

// A storeError is a failure of the store, as opposed to its answer to a call. It is
// nothing that a platform can be asked about again.
type storeError struct {
	name string
	err  error
}

func (e *storeError) Error() string { return e.name + ": " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// ofStore reports whether err is a failure of the store.
func ofStore(err error) bool {
	var e *storeError
	return errors.As(err, &e)
}

// isStoreFailure reports whether err says that the store does not work. The end of ctx, a
// closed store and the answers that a call may have do not.
func isStoreFailure(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	for _, answer := range []error{earshot.ErrNotFound, earshot.ErrConflict, earshot.ErrInvalid, earshot.ErrFenced, earshot.ErrExpired, os.ErrClosed} {
		if errors.Is(err, answer) {
			return false
		}
	}
	return true
}

// read returns the error of a read, with the store's name where the store has failed.
func (w *storeWatch) read(ctx context.Context, err error) error {
	if !isStoreFailure(ctx, err) {
		return err
	}
	return &storeError{w.name, err}
}

// wrote takes the error of a write, and returns it as read does.
func (w *storeWatch) wrote(ctx context.Context, err error) error {
	if isStoreFailure(ctx, err) {
		w.noteFailure(err)
	}
	return w.read(ctx, err)
}

// noteFailure notes that a write has failed.
func (w *storeWatch) noteFailure(err error) {
	now := time.Now()
	w.mu.Lock()
	if w.since.IsZero() {
		w.fails(now)
	}
	since, refused, complain := w.since, w.refused, now.Sub(w.complained) >= complainEvery
	if complain {
		w.complained = now
	}
	w.mu.Unlock()
	if complain {
		w.log.Error("the store cannot be written to; events are refused until it can", "store", w.at, "since", since.UTC().Format(time.RFC3339), "refused", refused, "err", err)
	}
}

// fails begins a time in which the store is tried. w.mu is held.
func (w *storeWatch) fails(now time.Time) {
	w.since, w.confirmed = now, false
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// refuses counts an event that was not taken because of err, where the store is at
// fault. It may work again already since the write that failed: then it is tried once
// more, so that history is read for this event too.
func (w *storeWatch) refuses(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.since.IsZero():
	case ofStore(err):
		w.fails(time.Now())
	default:
		return
	}
	w.refused++
}

// down reports since when the store cannot be written to.
func (w *storeWatch) down() (since time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, !w.since.IsZero()
}

// probe writes a note and drops it again.
func (w *storeWatch) probe(ctx context.Context) error {
	data := make([]byte, probeBytes)
	_, _ = rand.Read(data) // never fails; random, so that no store compresses it
	return cmp.Or(w.disk.PutNote(ctx, earshot.Note{Key: probeKey, Data: data}), w.disk.DropNote(ctx, probeKey))
}

// begin returns an error where the store cannot be written to at the start.
func (w *storeWatch) begin(ctx context.Context) error {
	if err := w.probe(ctx); err != nil {
		return fmt.Errorf("%s cannot be written to: %w", w.name, err)
	}
	return nil
}

// Run probes the store from when a write has failed until it works again, and so on
// until ctx ends.
func (w *storeWatch) Run(ctx context.Context) error {
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil
		}
		for err := w.probe(ctx); err != nil; err = w.probe(ctx) {
			if ctx.Err() != nil {
				return nil
			}
			w.mu.Lock()
			w.confirmed = true
			w.mu.Unlock()
			w.noteFailure(err)
			if pause.For(ctx, probeEvery) != nil {
				return nil
			}
		}
		w.works()
	}
}

// works notes that the store can be written to. A failure that no probe has seen was
// one write's alone.
func (w *storeWatch) works() {
	w.mu.Lock()
	since, confirmed, refused := w.since, w.confirmed, w.refused
	w.since, w.refused = time.Time{}, 0
	if confirmed {
		w.complained = time.Time{}
	}
	w.mu.Unlock()
	if refused > 0 && w.missed != nil {
		w.missed(since.Add(-deliveryLag), time.Now())
	}
	if confirmed {
		w.log.Info("the store can be written to again", "store", w.at, "after", time.Since(since).Round(time.Second), "refused", refused)
	}
}

// quiet returns a log without what is said of the store's failures elsewhere: the
// watch says it, once a minute. At the level debug everything is logged.
func (w *storeWatch) quiet(log *slog.Logger) *slog.Logger { return slog.New(quiet{log.Handler(), w}) }

// A quiet handler drops records with an error of a store that is known to fail.
type quiet struct {
	slog.Handler
	watch *storeWatch
}

// Handle implements [slog.Handler].
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	said := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		said = ok && ofStore(err)
		return !said
	})
	if said && !q.Enabled(ctx, slog.LevelDebug) {
		if _, down := q.watch.down(); down {
			return nil
		}
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (q quiet) WithAttrs(list []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(list), q.watch}
}

// WithGroup implements [slog.Handler].
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.watch} }
