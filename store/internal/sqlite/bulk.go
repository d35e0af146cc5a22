package sqlite

import (
	"context"
	"time"
)

// Bulk work is what an import writes. It is cut into pieces of some
// milliseconds. The writer runs as many as fit a slice in one transaction, and
// ends the slice early when a job comes, which nobody may keep waiting: an
// event is acknowledged when it is durable.

const (
	// pieceRows is how many messages a piece holds: about 2 ms.
	pieceRows = 32
	// manyRows is from how many messages on a call of Record is bulk work. A page
	// of history that a turn waits for is none.
	manyRows = 200
	// A slice takes so long where nobody else has written lately, and so long
	// where somebody has. Longer ones write fewer pages twice.
	longSlice, shortSlice = 30 * time.Millisecond, 6 * time.Millisecond
	// lately is how long a writer counts as one that may come again.
	lately = 2 * time.Second
	// After a slice the file is left alone for so long, and so long where another
	// process was seen to write to it: more than that takes between two looks
	// (lockPoll).
	pauseAlways, pauseForOthers = time.Millisecond, 3 * time.Millisecond
)

// A load is bulk work that one caller waits for: pieces that are run in their
// order, in one or several transactions. A piece leaves no trace when it fails,
// and those after it are not run.
type load struct {
	pieces []func(*tx) error
	err    error
	done   chan struct{}
}

// A bulk is where the writer stands with bulk work. It is the goroutine's own,
// but for the channel.
type bulk struct {
	loads       chan *load // not buffered, as the jobs
	load        *load      // under way; nil: none
	next        int        // of its pieces
	timer       *time.Timer
	lastJob     time.Time // when jobs were run last
	othersWrote time.Time // when another process was seen to write
	version     int64     // SQLite's data_version: another's commit changes it
	closing     bool      // no further load is taken
}

func newBulk() bulk {
	t := time.NewTimer(0)
	t.Stop()
	return bulk{loads: make(chan *load), timer: t}
}

// open returns the channel from which the next load is taken.
func (b *bulk) open() <-chan *load {
	if b.load != nil {
		return nil
	}
	return b.loads
}

func (b *bulk) take(l *load) {
	b.load, b.next = l, 0
	b.timer.Reset(0)
}

// runLoad hands pieces over and waits until they are durable or one has failed.
func (w *writer) runLoad(ctx context.Context, pieces []func(*tx) error) error {
	if err := ctx.Err(); err != nil || len(pieces) == 0 {
		return err
	}
	l := &load{pieces: pieces, done: make(chan struct{})}
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

// A piece is one of a load's.
type piece struct {
	of   *load
	run  func(*tx) error
	last bool
}

// slice runs what bulk work fits one transaction, and then the jobs that arrived
// meanwhile.
func (w *writer) slice() {
	var ran []piece
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

// runPieces runs pieces until the time is over or a job comes, which it
// returns; without wait not the last of a load.
func (w *writer) runPieces(limit time.Duration, wait bool) (ran []piece, arrived *job, err error) {
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

// sliceTime returns how long the next slice may take, and notes whether another
// process writes.
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

// ends reports whether the next piece may be the last of its load. Somebody waits
// for that one to be durable, and it brings what was committed before along;
// the others need not wait for the disk, and hold the lock on the file for a
// shorter time.
func (b *bulk) ends() bool { return b.load == nil || b.next == len(b.load.pieces)-1 }

// piece takes the next piece, of the next load that waits if need be.
func (b *bulk) piece() (piece, bool) {
	switch {
	case b.load != nil:
	case b.closing:
		return piece{}, false
	default:
		select {
		case l := <-b.loads:
			b.load, b.next = l, 0
		default:
			return piece{}, false
		}
	}
	p := piece{of: b.load, run: b.load.pieces[b.next]}
	if b.next++; b.next == len(b.load.pieces) {
		p.last, b.load = true, nil
	}
	return p, true
}

// settle tells those whose last piece was run. After a failure each piece is
// tried alone, so that one load's trouble is not another's.
func (w *writer) settle(ran []piece, err error) {
	if l := w.bulk.load; err != nil && len(ran) == 0 && l != nil { // not even begun
		l.err, w.bulk.load = remedy(err), nil
		close(l.done)
		return
	}
	for _, p := range ran {
		if err != nil && p.of.err == nil {
			p.of.err = remedy(w.tx.within(func() error { return p.run(w.tx) }))
		}
		if p.of.err != nil && w.bulk.load == p.of {
			p.last, w.bulk.load = true, nil // its other pieces are not run
		}
		if p.last {
			close(p.of.done)
		}
	}
}

// drainLoads runs what is left of the load that is under way, for Close.
func (w *writer) drainLoads() {
	w.bulk.closing = true
	for w.bulk.load != nil {
		w.slice()
	}
}
