package sqlite

import (
	"context"
	"time"
)

// Bulk work, such as an import, is cut into pieces of some milliseconds. The writer
// runs the pieces of one time slice in one transaction, and ends the slice early
// when a job arrives: jobs must not wait for bulk work, since a platform's event
// is acknowledged only when it is durable.

const (
	// pieceRows is how many messages a piece holds: about 2 ms.
	pieceRows = 32
	// manyRows is the number of messages above which a call of Record is bulk work.
	// A page of history, which a turn may wait for, has fewer.
	manyRows = 200
	// How long a slice takes: long where nobody else has written lately, short where
	// somebody has. In longer slices fewer pages are written twice.
	longSlice, shortSlice = 30 * time.Millisecond, 6 * time.Millisecond
	// lately is how long after a write its writer is expected to write again.
	lately = 2 * time.Second
	// How long the file is left unlocked after a slice. Where another process writes
	// to it the pause is longer than lockPoll, so that it finds the file unlocked.
	pauseAlways, pauseForOthers = time.Millisecond, 3 * time.Millisecond
)

// A bulkLoad is the bulk work of one caller: pieces that are run in order, in one or
// several transactions. A piece that fails writes nothing, and the pieces after it
// are not run.
type bulkLoad struct {
	pieces []func(*tx) error
	err    error
	done   chan struct{}
}

// A bulk is the writer's state of bulk work. Only the writer's goroutine uses it,
// except for the channel.
type bulk struct {
	loads       chan *bulkLoad // not buffered: a load that was sent is run
	load        *bulkLoad      // the one under way; nil: none
	next        int            // the index of its next piece
	timer       *time.Timer
	lastJob     time.Time // when a job was last run
	othersWrote time.Time // when another process was last seen to write
	version     int64     // SQLite's data_version, which a commit of another process changes
	closing     bool      // take no further load
}

func newBulk() bulk {
	t := time.NewTimer(0)
	t.Stop()
	return bulk{loads: make(chan *bulkLoad), timer: t}
}

// open returns the channel to take the next load from; nil while one is under way.
func (b *bulk) open() <-chan *bulkLoad {
	if b.load != nil {
		return nil
	}
	return b.loads
}

func (b *bulk) take(l *bulkLoad) {
	b.load, b.next = l, 0
	b.timer.Reset(0)
}

// runLoad runs pieces as one load, and waits until they are durable or one has
// failed.
func (w *writer) runLoad(ctx context.Context, pieces []func(*tx) error) error {
	if err := ctx.Err(); err != nil || len(pieces) == 0 {
		return err
	}
	l := &bulkLoad{pieces: pieces, done: make(chan struct{})}
	select {
	case w.bulk.loads <- l:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.idle:
		return errClosed
	}
	<-l.done
	return l.err
}

// A loadPiece is a part of a load.
type loadPiece struct {
	of   *bulkLoad
	run  func(*tx) error
	last bool
}

// slice runs one time slice of bulk work in one transaction, and then the jobs
// that arrived meanwhile.
func (w *writer) slice() {
	var ran []loadPiece
	var arrived *job
	limit, wait := w.sliceTime(), w.bulk.ends()
	err := w.tx.sync(wait)
	if err == nil {
		err = w.tx.within(func() (err error) {
			ran, arrived, err = w.runPieces(limit, wait)
			return err
		})
	}
	w.settle(ran, err)
	w.scheduleScrub()
	w.checkpoints.wrote(len(ran) * pieceRows)
	if arrived != nil {
		w.serve(arrived)
	}
	if w.bulk.load == nil {
		return
	}
	pause := pauseAlways
	if time.Since(w.bulk.othersWrote) < lately {
		pause = pauseForOthers
	}
	w.bulk.timer.Reset(pause)
}

// runPieces runs pieces until limit is over or a job arrives, which it returns.
// Unless wait is set, it stops before the last piece of a load.
func (w *writer) runPieces(limit time.Duration, wait bool) (ran []loadPiece, arrived *job, err error) {
	began := time.Now()
	for wait || !w.bulk.ends() {
		p, some := w.bulk.piece()
		if !some {
			return ran, nil, nil
		}
		ran = append(ran, p)
		if err := p.run(w.tx); err != nil {
			return ran, nil, err
		}
		select {
		case arrived = <-w.jobs:
			return ran, arrived, nil
		default:
		}
		if time.Since(began) >= limit {
			return ran, nil, nil
		}
	}
	return ran, nil, nil
}

// sliceTime returns how long the next slice may take. It also detects writes of
// other processes.
func (w *writer) sliceTime() time.Duration {
	b, now := &w.bulk, time.Now()
	var version int64
	if _, err := w.tx.one("PRAGMA data_version", nil, []any{&version}); err != nil || version != b.version || w.tx.waited {
		if b.version != 0 {
			b.othersWrote = now
		}
		b.version, w.tx.waited = version, false
	}
	if now.Sub(b.lastJob) < lately || now.Sub(b.othersWrote) < lately {
		return shortSlice
	}
	return longSlice
}

// ends reports whether the next piece may be the last of its load. Only the commit
// of the last piece must wait for the disk: it makes the commits before it
// durable too. The other commits do not, and so lock the file for a shorter time.
func (b *bulk) ends() bool { return b.load == nil || b.next == len(b.load.pieces)-1 }

// piece returns the next piece. Where no load is under way it takes the next one
// that waits.
func (b *bulk) piece() (loadPiece, bool) {
	switch {
	case b.load != nil:
	case b.closing:
		return loadPiece{}, false
	default:
		select {
		case l := <-b.loads:
			b.load, b.next = l, 0
		default:
			return loadPiece{}, false
		}
	}
	p := loadPiece{of: b.load, run: b.load.pieces[b.next]}
	if b.next++; b.next == len(b.load.pieces) {
		p.last, b.load = true, nil
	}
	return p, true
}

// settle answers the callers whose last piece was run. After a failure each piece
// is run again in a transaction of its own, so that one load's failure does not
// fail another.
func (w *writer) settle(ran []loadPiece, err error) {
	if l := w.bulk.load; err != nil && len(ran) == 0 && l != nil { // the transaction did not begin
		l.err, w.bulk.load = withRemedy(err), nil
		close(l.done)
		return
	}
	for _, p := range ran {
		if err != nil && p.of.err == nil {
			p.of.err = withRemedy(w.tx.within(func() error { return p.run(w.tx) }))
		}
		if p.of.err != nil && w.bulk.load == p.of {
			p.last, w.bulk.load = true, nil // its other pieces are not run
		}
		if p.last {
			close(p.of.done)
		}
	}
}

// drainLoads finishes the load under way and takes no other, for Close.
func (w *writer) drainLoads() {
	w.bulk.closing = true
	for w.bulk.load != nil {
		w.slice()
	}
}
