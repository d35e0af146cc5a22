package eval

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // registers the driver
)

// An fts ranks texts by SQLite's FTS5, with its tokenizer "porter unicode61" and its
// function bm25, the words of a query joined by OR. It shares nothing with search, which
// is measured against it.
type fts struct {
	db      *sql.DB // in memory; nil before the first query
	texts   int     // in db
	further []string
	err     error // of the first query that failed
}

// add adds a text; they are numbered from 0.
func (f *fts) add(text string) { f.further = append(f.further, text) }

// rank yields the texts that have one of the query's words, the best first, of equal ones
// the newer.
func (f *fts) rank(query string) iter.Seq[int] {
	return func(yield func(int) bool) { f.err = errors.Join(f.err, f.each(context.Background(), query, yield)) }
}

func (f *fts) each(ctx context.Context, query string, yield func(int) bool) error {
	words := strings.FieldsFunc(query, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.Co, unicode.Mn) })
	if len(words) == 0 {
		return nil
	}
	if err := f.index(ctx); err != nil {
		return err
	}
	rows, err := f.db.QueryContext(ctx, `SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank, rowid DESC`, `"`+strings.Join(words, `" OR "`)+`"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil || !yield(n) {
			return err
		}
	}
	return rows.Err()
}

// index puts what was added into the database.
func (f *fts) index(ctx context.Context) (err error) {
	if f.db == nil {
		if f.db, err = sql.Open("sqlite", "file::memory:"); err != nil {
			return err
		}
		f.db.SetMaxOpenConns(1)
		if _, err := f.db.ExecContext(ctx, `CREATE VIRTUAL TABLE said USING fts5(text, content='', tokenize='porter unicode61')`); err != nil {
			return err
		}
	}
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of what was committed nothing is left to roll back
	for _, text := range f.further {
		if _, err := tx.ExecContext(ctx, `INSERT INTO said(rowid, text) VALUES (?, ?)`, f.texts, text); err != nil {
			return err
		}
		f.texts++
	}
	f.further = nil
	return tx.Commit()
}

func (f *fts) close() {
	if f.db != nil {
		f.db.Close()
	}
}
