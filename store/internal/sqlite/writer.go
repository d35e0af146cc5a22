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
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// maxGroup bounds the jobs of one transaction, maxGroupRows the messages.
const (
	maxGroup     = 256
	maxGroupRows = 4096
)

// A job is one call that writes. Either apply or record is set. A volatile job
// need not survive a power cut.
type job struct {
	apply    func(*tx) error
	record   *recording
	volatile bool
	heavy    bool // writes as much as many others
	err      error
	done     chan struct{}
}

// A writer runs jobs in one goroutine, one transaction after another. While it
// waits for the disk, callers queue; all jobs that wait then form the next
// transaction, so that many small writes share one fsync (group commit). Bulk
// work, such as an import, is written in slices between the jobs (bulk.go).
type writer struct {
	db          *sql.DB
	tx          *tx
	checkpoints *checkpointer // counts what is written
	log         *slog.Logger
	jobs        chan *job // not buffered: a job that was sent is run
	bulk        bulk
	quit        chan struct{}
	idle        chan struct{} // closed when the goroutine has ended

	scrub  scrub             // the goroutine's own
	scrubs chan chan<- error // calls of Scrub
}

func newWriter(ctx context.Context, db *sql.DB, checkpoints *checkpointer, now func() time.Time, log *slog.Logger) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the database for writing: %w", err)
	}
	w := &writer{
		db: db, checkpoints: checkpoints, log: log, tx: newTx(conn, now),
		jobs: make(chan *job), bulk: newBulk(), quit: make(chan struct{}), idle: make(chan struct{}),
		scrub: newScrub(), scrubs: make(chan chan<- error),
	}
	if err := conn.QueryRowContext(ctx, scrubDue).Scan(&w.tx.erased); err != nil {
		return nil, errors.Join(fmt.Errorf("open the database for writing: %w", err), conn.Close())
	}
	if err := w.tx.pragma("busy_timeout = 0"); err != nil { // begin waits by itself
		return nil, errors.Join(fmt.Errorf("open the database for writing: %w", err), conn.Close())
	}
	go w.run()
	return w, nil
}

// do runs j and waits until it is durable or refused. ctx can cancel j only until
// the writer has taken it; then do returns its outcome.
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

// close waits until the jobs that were taken are done, then ends the goroutine and
// closes the connection.
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
		case done := <-w.scrubs:
			w.awaitScrub(done)
		case <-w.scrub.timer.C:
			w.dueScrub()
		case <-w.scrub.work():
			w.scrubStep()
		case <-w.quit:
			w.drainLoads()
			w.finishScrub()
			return
		}
	}
}

// serve runs first and all other jobs that wait, in one transaction.
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
	if slices.ContainsFunc(group, func(j *job) bool { return j.heavy }) {
		w.scrub.heavy = time.Now()
	}
	w.bulk.lastJob = time.Now()
}

// gather returns first and the other jobs that wait, within the bounds of a group.
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
	switch {
	case j.heavy:
		return checkpointWrites
	case j.record == nil:
		return 0
	}
	return len(j.record.messages)
}

// commit runs a group in one transaction. If that fails, each job is run again in
// a transaction of its own, so that one job's failure does not fail the others.
// A refusal of a job is no failure: see refused.
func (w *writer) commit(group []*job) {
	err := w.together(group)
	if err == nil || len(group) == 1 {
		for _, j := range group {
			j.err = errors.Join(j.err, withRemedy(err))
		}
		return
	}
	for _, j := range group {
		j.err = nil
		j.err = errors.Join(withRemedy(w.together([]*job{j})), j.err)
	}
}

// together runs group in one transaction: the recordings of each scope as one
// batch, the other jobs one after another. A job that is refused writes nothing
// and has its error set. Any other error is returned, and then nothing was
// written.
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
		case isRefusal(j.err):
			if err := t.exec("ROLLBACK TO job"); err != nil {
				return err
			}
			t.erased = erasedBefore // its row in chore was rolled back too
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

// isRefusal reports whether err is the answer to a call rather than a failure of the
// database.
func isRefusal(err error) bool {
	return errors.Is(err, earshot.ErrNotFound) || errors.Is(err, earshot.ErrConflict) || errors.Is(err, earshot.ErrInvalid) ||
		errors.Is(err, earshot.ErrFenced) || errors.Is(err, tables.ErrPlanned)
}
