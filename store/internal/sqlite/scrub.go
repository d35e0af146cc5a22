package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Deleted text must leave the files, not just the tables. SQLite's secure_delete
// overwrites a deleted row in place, but two copies may stay: the old version of
// the page, in the WAL, and an old copy of the row that SQLite left in the unused
// gap of a page when it moved the row to a neighbouring page. A scrub empties the
// WAL and overwrites the gaps of all pages with zeros.
//
// It runs on the writer's goroutine, scrubAfter a deletion and at Close, some
// pages at a time between jobs. A row in the table chore says that a scrub is due,
// so that a crash does not lose it.

const (
	scrubAfter = 5 * time.Second
	retryAfter = time.Second // while a reader keeps the WAL from being emptied
	// While an erasure does its steps, a scrub waits for its end, at most lastScrub
	// after the deletion: what a scrub writes back would soon be written again.
	stepsApart = 500 * time.Millisecond
	lastScrub  = 30 * time.Second
	// scrubPages is how many pages one step reads: some ten milliseconds.
	scrubPages = 1500
	// maxScrubPages is the size up to which the first byte of a page tells its kind.
	// In larger databases an overflow page, which begins with a page number, could
	// look like a b-tree page.
	maxScrubPages = 1 << 25
)

// A scrub is the writer's state of scrubbing.
type scrub struct {
	timer *time.Timer
	armed bool
	since time.Time // when the timer was first set for what was deleted
	heavy time.Time // when a step of an erasure was last run
	page  int64     // the next page to scrub; 0 when no scrub is under way
	ready chan struct{}
	waits []chan<- error // who waits for the end of a scrub
}

// Scrub implements [earshot.Scrubber].
func (s *Store) Scrub(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case s.writer.scrubs <- done:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.writer.idle:
		return errClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitScrub has done told of the end of a scrub, which begins now if one is due.
func (w *writer) awaitScrub(done chan<- error) {
	if !w.tx.erased && w.scrub.page == 0 { // another process may have deleted something
		if err := w.tx.conn.QueryRowContext(context.Background(), scrubDue).Scan(&w.tx.erased); err != nil || !w.tx.erased {
			done <- err
			return
		}
	}
	w.scrub.waits = append(w.scrub.waits, done)
	if w.scrub.page == 0 {
		w.startScrub()
	}
}

// tell tells those who wait for a scrub that it has ended.
func (s *scrub) tell(err error) {
	for _, done := range s.waits {
		done <- err
	}
	s.waits = nil
}

func newScrub() scrub {
	s := scrub{timer: time.NewTimer(scrubAfter), ready: make(chan struct{})}
	s.timer.Stop()
	close(s.ready)
	return s
}

const scrubDue = `SELECT count(*) > 0 FROM chore WHERE name = 'scrub'`

// scheduleScrub sets the timer of a scrub if something was deleted. The writer calls
// it after each transaction.
func (w *writer) scheduleScrub() {
	if w.tx.erased && !w.scrub.armed && w.scrub.page == 0 {
		w.scrub.since = time.Now()
		w.scrub.arm(scrubAfter)
	}
}

// dueScrub starts a scrub whose time has come, unless an erasure is under way.
func (w *writer) dueScrub() {
	if time.Since(w.scrub.heavy) < stepsApart && time.Since(w.scrub.since) < lastScrub {
		w.scrub.arm(stepsApart)
		return
	}
	w.startScrub()
}

func (s *scrub) arm(after time.Duration) {
	s.timer.Reset(after)
	s.armed = true
}

// work returns a channel that is always ready while a scrub is under way, and nil
// otherwise.
func (s *scrub) work() <-chan struct{} {
	if s.page == 0 {
		return nil
	}
	return s.ready
}

// startScrub starts a scrub.
func (w *writer) startScrub() {
	w.scrub.timer.Stop()
	w.scrub.armed = false
	w.tx.erased = false // a deletion from now on needs another scrub
	w.scrub.page = 1
}

// scrubStep scrubs the next pages of the scrub under way.
func (w *writer) scrubStep() {
	next, err := w.tx.scrub(w.scrub.page)
	if err == nil && next == 0 {
		err = w.tx.scrubbed()
	}
	w.scrub.page = next
	if err != nil {
		w.log.Warn("deleted text stays in the database's files for now", "err", err)
		w.scrub.page, w.tx.erased = 0, true
		w.scrub.arm(retryAfter)
		w.scrub.tell(err)
		return
	}
	switch {
	case next != 0:
	case w.tx.erased && len(w.scrub.waits) > 0: // more was deleted meanwhile
		w.startScrub()
	default:
		w.scrub.tell(nil)
	}
	w.scheduleScrub()
}

// finishScrub does the whole scrub that is due or under way, for Close.
func (w *writer) finishScrub() {
	defer w.scrub.tell(errClosed)
	if !w.tx.erased && w.scrub.page == 0 {
		return
	}
	var err error
	for page := int64(1); page != 0 && err == nil; {
		page, err = w.tx.scrub(page)
	}
	if err == nil {
		w.tx.erased = false
		err = w.tx.scrubbed()
	}
	if err != nil {
		w.log.Warn("deleted text stays in the database's files until it is opened again", "err", err)
	}
}

// needScrub stores, in the transaction that deletes, that a scrub is due.
func (t *tx) needScrub() error {
	if t.erased {
		return nil
	}
	t.erased = true
	return t.exec(`INSERT INTO chore (name) VALUES ('scrub') ON CONFLICT (name) DO NOTHING`)
}

// scrubbed ends a scrub: it empties the WAL and, unless more was deleted meanwhile,
// stores that no scrub is due.
func (t *tx) scrubbed() error {
	if err := t.truncateWAL(); err != nil || t.erased {
		return err
	}
	if err := t.begin(); err != nil {
		return err
	}
	err := t.exec(`DELETE FROM chore WHERE name = 'scrub'`)
	if err == nil {
		err = t.exec("COMMIT")
	}
	if err != nil {
		t.rollback()
	}
	return err
}

// scrub clears the gaps of scrubPages pages from first on, in one transaction. It
// returns the next page, 0 after the last.
func (t *tx) scrub(first int64) (next int64, err error) {
	if err := t.begin(); err != nil {
		return first, err
	}
	defer func() {
		if err != nil {
			t.rollback()
		}
	}()
	var count int64
	if _, err := t.one("PRAGMA page_count", nil, []any{&count}); err != nil {
		return first, err
	}
	if count >= maxScrubPages {
		return first, fmt.Errorf("the database has %d pages, too many to scrub", count)
	}
	next = min(first+scrubPages, count+1)
	for n := first; n < next; n++ {
		var page []byte
		found, err := t.one(`SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?`, []any{n}, []any{&page})
		if err != nil {
			return first, err
		}
		if !found || !clearGap(page, n == 1) {
			continue
		}
		if err := t.exec(`UPDATE sqlite_dbpage SET data = ? WHERE pgno = ? AND schema = 'main'`, page, n); err != nil {
			return first, err
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		return first, err
	}
	if next > count {
		next = 0
	}
	return next, nil
}

// clearGap writes zeros between a b-tree page's cell pointers and its cells
// and reports whether that changed anything. It leaves every other kind of
// page alone. (https://sqlite.org/fileformat2.html#b_tree_pages)
func clearGap(page []byte, first bool) bool {
	head := 0
	if first {
		head = 100
	}
	if len(page) < head+12 {
		return false
	}
	pointers := head + 8
	switch page[head] {
	case 2, 5: // interior pages
		pointers += 4
	case 10, 13: // leaves
	default:
		return false
	}
	cells := int(binary.BigEndian.Uint16(page[head+3:]))
	content := int(binary.BigEndian.Uint16(page[head+5:]))
	if content == 0 {
		content = 65536
	}
	gap := pointers + 2*cells
	if gap > content || content > len(page) {
		return false
	}
	for i := range cells {
		if at := int(binary.BigEndian.Uint16(page[pointers+2*i:])); at < content || at >= len(page) {
			return false
		}
	}
	changed := false
	for i := gap; i < content; i++ {
		changed = changed || page[i] != 0
	}
	clear(page[gap:content])
	return changed
}

// truncateWAL writes the WAL back and empties it. It waits at most 300 ms for those who
// read from it, which a busy machine's own searches do too, not only other processes.
func (t *tx) truncateWAL() (err error) {
	if err := t.pragma("busy_timeout = 300"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.pragma("busy_timeout = 0")) }()
	var busy, log, moved int
	if err := t.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return fmt.Errorf("write the WAL back: %w", err)
	}
	if busy != 0 {
		return errors.New("write the WAL back: a reader still uses it")
	}
	return nil
}

func (t *tx) pragma(text string) error {
	_, err := t.conn.ExecContext(context.Background(), "PRAGMA "+text)
	return err
}
