package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"
)

// Once the WAL has grown, SQLite copies it back into the database within a commit.
// That commit then waits for thousands of pages and an fsync of the whole file, up
// to a tenth of a second, and so do all its callers. A checkpointer does the copying
// in parallel, over a connection of its own: a passive checkpoint neither waits
// for others nor blocks them. What little it leaves is copied by the writer's own
// checkpoint (wal_autocheckpoint), which also restarts the WAL.
// (https://sqlite.org/wal.html#avoiding_excessively_large_wal_files)

const (
	// A checkpoint is made after this many writes, and at most once in this time.
	checkpointWrites = 256
	checkpointEvery  = 200 * time.Millisecond
)

// A checkpointer makes checkpoints in a goroutine of its own.
type checkpointer struct {
	db   *sql.DB
	log  *slog.Logger
	kick chan struct{} // holds a token when a checkpoint is due
	quit chan struct{}
	idle chan struct{} // closed when the goroutine has ended

	// Used by the writer only: the writes since the last token, and when that was.
	writes int
	last   time.Time
}

func newCheckpointer(db *sql.DB, log *slog.Logger) *checkpointer {
	c := &checkpointer{db: db, log: log, kick: make(chan struct{}, 1), quit: make(chan struct{}), idle: make(chan struct{})}
	go c.run()
	return c
}

// wrote counts n writes; the writer calls it after a commit. A nil checkpointer
// does nothing.
func (c *checkpointer) wrote(n int) {
	if c == nil {
		return
	}
	if c.writes += n; c.writes < checkpointWrites {
		return
	}
	now := time.Now()
	if now.Sub(c.last) < checkpointEvery {
		return
	}
	c.writes, c.last = 0, now
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

func (c *checkpointer) run() {
	defer close(c.idle)
	for {
		select {
		case <-c.kick:
		case <-c.quit:
			return
		}
		var busy, frames, moved int
		err := c.db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &moved)
		if err != nil {
			c.log.Debug("the WAL is not written back beside the writer", "err", err)
		}
	}
}

// close waits for a checkpoint that is under way.
func (c *checkpointer) close() error {
	if c == nil {
		return nil
	}
	close(c.quit)
	<-c.idle
	return c.db.Close()
}
