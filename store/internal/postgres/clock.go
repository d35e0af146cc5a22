package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// askEvery is how often a transaction asks the database for its time.
const askEvery = time.Second

// A clock tells the database's time. A transaction asks for it along with its first
// statements; in between the clock goes by this machine's monotonic clock, which nobody
// sets. So neither the time of this machine nor a jump of it matters.
type clock struct {
	began time.Time // with a monotonic reading

	mu    sync.Mutex // guards what follows
	at    time.Time  // the database's time when began was read
	asked time.Duration
}

// Now returns the database's time, to within the time of a round trip.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Add(time.Since(c.began))
}

// due reports whether the database is to be asked, and counts that as asked.
func (c *clock) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Since(c.began)
	if now-c.asked < askEvery {
		return false
	}
	c.asked = now
	return true
}

// heard takes the database's time, for which it was asked after sent, both as times since
// began, and that was answered by got. The clock moves only as far as these bounds prove
// it wrong: an answer that took long says little.
func (c *clock) heard(database time.Time, sent, got time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, last := database.Add(-got), database.Add(-sent)
	switch {
	case c.at.IsZero():
		c.at = first.Add((got - sent) / 2)
	case c.at.Before(first):
		c.at = first
	case c.at.After(last):
		c.at = last
	}
}

// ask queues the question of the time in a batch that is about to be sent.
func (c *clock) ask(b *pgx.Batch) {
	sent := time.Since(c.began)
	b.Queue(`SELECT clock_timestamp()`).QueryRow(func(row pgx.Row) error {
		var database time.Time
		err := row.Scan(&database)
		if err == nil {
			c.heard(database, sent, time.Since(c.began))
		}
		return err
	})
}

// set asks the database for its time, on a connection that stands.
func (c *clock) set(ctx context.Context, conn *pgx.Conn) error {
	b := &pgx.Batch{}
	c.ask(b)
	return conn.SendBatch(ctx, b).Close()
}

// Now implements [earshot.Clock].
func (s *Store) Now() time.Time { return s.now() }
