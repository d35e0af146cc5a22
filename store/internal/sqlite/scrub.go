package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// What is deleted must leave the files, not just the tables. SQLite's
// secure_delete overwrites a deleted row where it stands, but two copies stay:
// the page as it was before, in the WAL, and the row as it was before SQLite
// moved it to a neighbouring page, in the unused gap of the page that it left.
// A scrub empties the WAL and writes zeros over the gaps of all pages.
//
// It runs on the writer's goroutine, scrubAfter a deletion and at Close, some
// pages at a time between jobs. The table chore remembers across a crash that
// one is due.

const (
	scrubAfter = 5 * time.Second
	retryAfter = time.Second // while somebody reads from the WAL
	// scrubPages is how many pages one step looks at: some ten milliseconds.
	scrubPages = 1500
	// maxScrubPages bounds the databases in which a page's first byte tells
	// its kind: beyond it a page number may look like one.
	maxScrubPages = 1 << 25
)

// A scrub is where the writer stands with it.
type scrub struct {
	timer *time.Timer
	armed bool
	page  int64 // the next page to look at; 0 when none is under way
	ready chan struct{}
}

func newScrub() scrub {
	s := scrub{timer: time.NewTimer(scrubAfter), ready: make(chan struct{})}
	s.timer.Stop()
	close(s.ready)
	return s
}

// scheduleScrub is called after each group: a deletion asks for a scrub.
func (w *writer) scheduleScrub() {
	if w.tx.erased && !w.scrub.armed && w.scrub.page == 0 {
		w.scrub.arm(scrubAfter)
	}
}

func (s *scrub) arm(after time.Duration) {
	s.timer.Reset(after)
	s.armed = true
}

// work returns a channel that can be received from while a scrub is under way.
func (s *scrub) work() <-chan struct{} {
	if s.page == 0 {
		return nil
	}
	return s.ready
}

// startScrub starts a scrub.
func (w *writer) startScrub() {
	w.scrub.armed = false
	w.tx.erased = false // what is deleted from now on asks for the next one
	w.scrub.page = 1
}

// scrubStep does a part of the scrub that is under way.
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
		return
	}
	w.scheduleScrub()
}

// finishScrub scrubs to the end, for Close.
func (w *writer) finishScrub() {
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

// needScrub notes, in the transaction that deletes, that a scrub is due.
func (t *tx) needScrub() error {
	if t.erased {
		return nil
	}
	t.erased = true
	return t.exec(`INSERT INTO chore (name) VALUES ('scrub') ON CONFLICT (name) DO NOTHING`)
}

// scrubbed empties the WAL and, unless more was deleted meanwhile, notes that
// no scrub is due.
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

// scrub looks at scrubPages pages from first on, in one transaction, and
// returns the page to go on with, 0 after the last.
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

// truncateWAL writes the WAL back and empties it. It waits a moment only for
// others who read from it.
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
		return errors.New("write the WAL back: another process reads from it")
	}
	return nil
}

func (t *tx) pragma(text string) error {
	_, err := t.conn.ExecContext(context.Background(), "PRAGMA "+text)
	return err
}
