package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// maxGroup bounds the jobs of one transaction, maxGroupRows the messages.
const (
	maxGroup     = 256
	maxGroupRows = 4096
)

// A job is something to write. Either apply or record is set. What is volatile
// need not outlive a power cut.
type job struct {
	apply    func(*tx) error
	record   *recording
	volatile bool
	err      error
	done     chan struct{}
}

// A writer runs jobs, one transaction after another, in one goroutine. While
// it waits for the disk, callers queue; all that are waiting form the next
// transaction, so that many small writes share one fsync. Bulk work, which
// nobody answers a chat with, is written in slices between them (bulk.go).
type writer struct {
	db          *sql.DB
	tx          *tx
	checkpoints *checkpointer // told of what is written
	log         *slog.Logger
	jobs        chan *job // not buffered: whoever has handed a job over gets an answer
	bulk        bulk      // what can wait
	quit        chan struct{}
	idle        chan struct{} // closed when the goroutine has ended

	scrub scrub // the goroutine's own
}

func newWriter(ctx context.Context, db *sql.DB, checkpoints *checkpointer, now func() time.Time, log *slog.Logger) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the database for writing: %w", err)
	}
	w := &writer{
		db: db, checkpoints: checkpoints, log: log, tx: &tx{conn: conn, now: now, stmts: map[string]*sql.Stmt{}},
		jobs: make(chan *job), bulk: newBulk(), quit: make(chan struct{}), idle: make(chan struct{}),
		scrub: newScrub(),
	}
	if err := conn.QueryRowContext(ctx, `SELECT count(*) > 0 FROM chore WHERE name = 'scrub'`).Scan(&w.tx.erased); err != nil {
		return nil, errors.Join(fmt.Errorf("open the database for writing: %w", err), conn.Close())
	}
	if err := w.tx.pragma("busy_timeout = 0"); err != nil { // begin waits by itself
		return nil, errors.Join(fmt.Errorf("open the database for writing: %w", err), conn.Close())
	}
	go w.run()
	return w, nil
}

// do hands j over and waits until it is durable or refused. Until it is handed
// over ctx can take it back; after that the outcome is certain and soon.
func (w *writer) do(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.done = make(chan struct{})
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.idle:
		return errClosed
	}
	<-j.done
	return j.err
}

// close ends the goroutine after what has been handed over, then the
// connection.
func (w *writer) close() error {
	close(w.quit)
	<-w.idle
	return errors.Join(w.tx.close(), w.db.Close())
}

func (w *writer) run() {
	defer close(w.idle)
	w.scheduleScrub()
	for {
		select {
		case j := <-w.jobs:
			w.serve(j)
		case l := <-w.bulk.open():
			w.bulk.take(l)
		case <-w.bulk.timer.C:
			w.slice()
		case <-w.scrub.timer.C:
			w.startScrub()
		case <-w.scrub.work():
			w.scrubStep()
		case <-w.quit:
			w.drainLoads()
			w.finishScrub()
			return
		}
	}
}

// serve writes first and what else is waiting in one transaction.
func (w *writer) serve(first *job) {
	group := w.gather(first)
	w.commit(group)
	w.scheduleScrub()
	rows := 0
	for _, j := range group {
		rows += 1 + j.rows()
		close(j.done)
	}
	w.checkpoints.wrote(rows)
	w.bulk.lastJob = time.Now()
}

// gather returns first and what else is waiting.
func (w *writer) gather(first *job) []*job {
	group := []*job{first}
	rows := first.rows()
	for len(group) < maxGroup && rows < maxGroupRows {
		select {
		case j := <-w.jobs:
			group = append(group, j)
			rows += j.rows()
		default:
			return group
		}
	}
	return group
}

func (j *job) rows() int {
	if j.record == nil {
		return 0
	}
	return len(j.record.messages)
}

// commit runs a group in one transaction. If that fails for a reason that is
// no decision about one of the jobs, each is tried alone, so that one job's
// trouble is not another's.
func (w *writer) commit(group []*job) {
	err := w.together(group)
	if err == nil || len(group) == 1 {
		for _, j := range group {
			j.err = errors.Join(j.err, remedy(err))
		}
		return
	}
	for _, j := range group {
		j.err = nil
		j.err = errors.Join(remedy(w.together([]*job{j})), j.err)
	}
}

// together runs group in one transaction: what is to be recorded as one batch
// for each scope, everything else one after another. A job that is refused
// leaves no trace and has its error set; any other error is returned, and then
// nothing was written.
func (w *writer) together(group []*job) error {
	t := w.tx
	if err := t.sync(slices.ContainsFunc(group, func(j *job) bool { return !j.volatile })); err != nil {
		return err
	}
	return t.within(func() error { return t.all(group) })
}

// all runs the jobs of a group in the transaction that is open.
func (t *tx) all(group []*job) error {
	var recordings []*recording
	for _, j := range group {
		if j.record != nil {
			recordings = append(recordings, j.record)
		}
	}
	if err := t.record(recordings); err != nil {
		return err
	}
	for _, j := range group {
		if j.apply == nil {
			continue
		}
		if err := t.exec("SAVEPOINT job"); err != nil {
			return err
		}
		erasedBefore := t.erased
		j.err = j.apply(t)
		switch {
		case j.err == nil:
		case refused(j.err):
			if err := t.exec("ROLLBACK TO job"); err != nil {
				return err
			}
			t.erased = erasedBefore // the note of it is gone too
		default:
			err := j.err
			j.err = nil
			return err
		}
		if err := t.exec("RELEASE job"); err != nil {
			return err
		}
	}
	return nil
}

// refused reports whether err is a decision rather than a failure.
func refused(err error) bool {
	return errors.Is(err, earshot.ErrNotFound) || errors.Is(err, earshot.ErrConflict) || errors.Is(err, earshot.ErrInvalid) ||
		errors.Is(err, earshot.ErrFenced)
}
