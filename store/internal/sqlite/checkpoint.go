package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"
)

// SQLite copies the WAL back into the database within a commit, once it has
// grown. The commit then waits for thousands of pages and an fsync of the whole
// file, and with it everybody whose write it is: up to a tenth of a second. A
// checkpointer does that beside the writer, over a connection of its own: a
// passive checkpoint waits for nobody and holds nobody up. What it leaves is
// little, and is copied back by the writer's own checkpoint
// (wal_autocheckpoint), which also makes the WAL begin anew.
// (https://sqlite.org/wal.html#avoiding_excessively_large_wal_files)

const (
	// A checkpoint is made after so many writes, and not more often than that.
	checkpointWrites = 256
	checkpointEvery  = 200 * time.Millisecond
)

// A checkpointer runs in one goroutine of the store's.
type checkpointer struct {
	db   *sql.DB
	log  *slog.Logger
	kick chan struct{} // holds a token when a checkpoint is due
	quit chan struct{}
	idle chan struct{} // closed when the goroutine has ended

	// The writer's own: writes since the last token, and when that was.
	writes int
	last   time.Time
}

func newCheckpointer(db *sql.DB, log *slog.Logger) *checkpointer {
	c := &checkpointer{db: db, log: log, kick: make(chan struct{}, 1), quit: make(chan struct{}), idle: make(chan struct{})}
	go c.run()
	return c
}

// wrote is called by the writer after a commit. On nil it does nothing.
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
