package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// located returns the places of a text: those in tables, and those in files.
func located(t *testing.T, s *Store, text string) (tables, raw []earshot.Place) {
	t.Helper()
	for p, err := range s.Locate(t.Context(), text, nil) {
		check(t, err)
		if p.Table == "" {
			raw = append(raw, p)
		} else {
			tables = append(tables, p)
		}
	}
	return tables, raw
}

func TestLocateFindsATableThatItWasNotToldOf(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.alone(t, func() {
		check(t, s.writer.tx.exec(`CREATE TABLE "odd ""table" (a TEXT, b BLOB, n INTEGER, PRIMARY KEY (n, a)) WITHOUT ROWID`))
		check(t, s.writer.tx.exec(`CREATE TABLE plain (x)`))
		for i := range 3 * locateRows {
			check(t, s.writer.tx.exec(`INSERT INTO "odd ""table" VALUES ('k', x'', ?)`, i))
			check(t, s.writer.tx.exec(`INSERT INTO plain VALUES (?)`, i))
		}
		check(t, s.writer.tx.exec(`UPDATE "odd ""table" SET b = CAST('a canary' AS BLOB) WHERE n IN (0, ?, ?, ?)`, locateRows-1, locateRows, 3*locateRows-1))
		check(t, s.writer.tx.exec(`UPDATE plain SET x = 'canary' WHERE x IN (0, ?, ?, ?)`, locateRows-1, locateRows, 3*locateRows-1))
	})
	tables, raw := located(t, s, "canary")
	var got []string
	for _, p := range tables {
		got = append(got, p.Table+"|"+p.Column+"|"+p.Row)
	}
	want := []string{`odd "table|b|a=k n=0`, `odd "table|b|a=k n=499`, `odd "table|b|a=k n=500`, `odd "table|b|a=k n=1499`,
		`plain|x|rowid=1`, `plain|x|rowid=500`, `plain|x|rowid=501`, `plain|x|rowid=1500`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(raw) < 8 {
		t.Errorf("in the files: %v", raw)
	}
}

// Text that no table has any more, in the database's file and in the WAL, also
// across pages.
func TestLocateFindsRawBytesWhereverAPageEnds(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const canary = "canary-of-twenty-char"
	for _, name := range []string{"in the WAL", "in the database"} {
		// An overflow page holds 4092 bytes. These pads lie around the end of one: the first
		// canaries stand before it, the last after it, and those between across it, each
		// cut at another letter.
		split := 0
		for pad := 11810; pad < 11870; pad += 3 {
			s.alone(t, func() {
				check(t, s.writer.tx.exec(`CREATE TABLE junk (x)`))
				check(t, s.writer.tx.exec(`INSERT INTO junk VALUES (?)`, strings.Repeat("z", pad)+canary+strings.Repeat("y", 20000-pad)))
				check(t, s.writer.tx.pragma("secure_delete = 0"))
				check(t, s.writer.tx.exec(`DROP TABLE junk`))
				check(t, s.writer.tx.pragma("secure_delete = 1"))
				if name == "in the database" {
					check(t, s.writer.tx.truncateWAL())
				}
			})
			tables, raw := located(t, s, canary)
			if len(tables) != 0 || len(raw) == 0 {
				t.Fatalf("%s, behind %d bytes: %v %v", name, pad, tables, raw)
			}
			if strings.Contains(raw[0].Row, "and on page") {
				split++
			}
			s.alone(t, func() { // zeros over the free pages
				check(t, s.writer.tx.exec(`CREATE TABLE junk (x)`))
				check(t, s.writer.tx.exec(`INSERT INTO junk VALUES (?)`, strings.Repeat("0", 40000)))
				check(t, s.writer.tx.exec(`DROP TABLE junk`))
				check(t, s.writer.tx.truncateWAL())
			})
		}
		if _, raw := located(t, s, canary); len(raw) != 0 {
			t.Errorf("%s: left %v", name, raw)
		}
		if split < len(canary)/3-1 {
			t.Errorf("%s: %d canaries stood across a page's end", name, split)
		}
	}
}

// A look at a store takes no lock away from it, and none from another store of the
// same process over the same file.
func TestLocateKeepsTheLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s, other := opened(t, path), opened(t, path)
	for i := range 50 {
		_, err := s.Record(t.Context(), scope, said(earshot.MessageID(fmt.Sprint("m", i)), earshot.Time(i+1), "canary"))
		check(t, err)
		for _, st := range []*Store{s, other} {
			if tables, _ := located(t, st, "canary"); len(tables) == 0 {
				t.Fatal("not found")
			}
		}
	}
	check(t, s.Close())
	_, err := other.Record(t.Context(), scope, said("last", 99, "x"))
	check(t, err)
	var sound string
	check(t, other.reader.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&sound))
	if sound != "ok" {
		t.Error(sound)
	}
	check(t, other.Close())
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the WAL was left behind")
	}
}

func TestScrubReturnsOnceNothingIsLeftInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s, other := opened(t, path), opened(t, path)
	scrubbed(t, s) // nothing is due
	for i, by := range []*Store{s, other} {
		id := earshot.MessageID(fmt.Sprint("m", i))
		_, err := by.Record(t.Context(), scope, said(id, 1, "canary"))
		check(t, err)
		_, err = by.Record(t.Context(), scope, earshot.Message{ID: id, Time: 1, Deleted: true})
		check(t, err)
		scrubbed(t, s) // the second was deleted by another process
		if _, raw := located(t, s, "canary"); len(raw) != 0 {
			t.Errorf("%s: left: %v", id, raw)
		}
	}
	reading, err := other.reader.Conn(t.Context())
	check(t, err)
	_, err = reading.ExecContext(t.Context(), "BEGIN")
	check(t, err)
	var n int
	check(t, reading.QueryRowContext(t.Context(), `SELECT count(*) FROM message`).Scan(&n))
	_, err = s.Record(t.Context(), scope, said("m3", 1, "canary"))
	check(t, err)
	_, err = s.Record(t.Context(), scope, earshot.Message{ID: "m3", Time: 1, Deleted: true})
	check(t, err)
	if err := s.Scrub(t.Context()); err == nil || !strings.Contains(err.Error(), "a reader still uses it") {
		t.Errorf("while somebody reads: %v", err)
	}
	_, err = reading.ExecContext(t.Context(), "ROLLBACK")
	check(t, err)
	check(t, reading.Close())
	scrubbed(t, s)
	if _, raw := located(t, s, "canary"); len(raw) != 0 {
		t.Errorf("left: %v", raw)
	}
	check(t, s.Close())
	if err := s.Scrub(t.Context()); err == nil {
		t.Error("a closed store scrubs")
	}
}
