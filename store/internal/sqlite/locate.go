package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// locateRows is how many rows one step of Locate reads. Between steps no read
// transaction is open, so that the WAL can be emptied.
const locateRows = 500

// A locator is one search through the store. It yields places until stop is set.
type locator struct {
	s      *Store
	finder rule.Finder
	looked func(what string, n int64)
	yield  func(earshot.Place, error) bool
	stop   bool
}

// Locate implements [earshot.Locator].
func (s *Store) Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[earshot.Place, error] {
	return func(yield func(earshot.Place, error) bool) {
		finder, err := rule.NewFinder(text)
		l := &locator{s: s, finder: finder, looked: looked, yield: yield}
		if l.looked == nil {
			l.looked = func(string, int64) {}
		}
		if err == nil {
			err = l.tables(ctx)
		}
		if err == nil && !l.stop {
			err = l.files(ctx)
		}
		if err != nil && !l.stop {
			yield(earshot.Place{}, fmt.Errorf("locate: %w", err))
		}
	}
}

func (l *locator) found(table, column, row string) {
	l.stop = l.stop || !l.yield(earshot.Place{Table: table, Column: column, Row: row}, nil)
}

// tables looks through all tables of the catalogue, and the catalogue itself.
func (l *locator) tables(ctx context.Context) error {
	names, err := tables.List(ctx, l.s, "list the tables", `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name`, nil, tables.Scan[string])
	if err != nil {
		return err
	}
	for _, name := range append(names, "sqlite_schema") {
		t, err := l.s.table(ctx, name)
		if err != nil {
			return err
		}
		if err := l.table(ctx, t); err != nil || l.stop {
			return err
		}
	}
	return nil
}

// A table is one of the catalogue, with the columns that order its rows.
type table struct {
	name    string
	columns []string
	key     []string // its primary key; rowid where it has one
	shown   []string // what names a row to people
}

// table reads the catalogue's description of a table.
func (s *Store) table(ctx context.Context, name string) (table, error) {
	t := table{name: name}
	type column struct {
		name string
		key  int
	}
	columns, err := tables.List(ctx, s, "read a table's columns", `SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, []any{name},
		func(rows tables.Row, c *column) error { return rows.Scan(&c.name, &c.key) })
	if err != nil {
		return t, err
	}
	var rowless int
	if err := s.reader.QueryRowContext(ctx, `SELECT coalesce(sum(wr), 0) FROM pragma_table_list WHERE schema = 'main' AND name = ?`, name).Scan(&rowless); err != nil {
		return t, err
	}
	for _, c := range columns {
		t.columns = append(t.columns, c.name)
		if c.key > 0 || rule.NamesRow(c.name) {
			t.shown = append(t.shown, c.name)
		}
	}
	if t.key = []string{"rowid"}; rowless != 0 {
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.key == 0 })
		slices.SortFunc(columns, func(a, b column) int { return a.key - b.key })
		t.key = nil
		for _, c := range columns {
			t.key = append(t.key, c.name)
		}
	}
	if len(t.shown) == 0 {
		t.shown = t.key
	}
	return t, nil
}

// table looks through the rows of a table, some at a time in the order of its key.
func (l *locator) table(ctx context.Context, t table) error {
	key := quoteNames(t.key)
	var after []any
	for read := int64(0); !l.stop; {
		if err := ctx.Err(); err != nil {
			return err
		}
		where, args := "", slices.Clone(after)
		if after != nil {
			where = fmt.Sprintf(" WHERE (%s) > (%s)", key, holders(len(t.key)))
		}
		upTo := make([]any, len(t.key))
		err := l.s.reader.QueryRowContext(ctx, fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s LIMIT 1 OFFSET %d`,
			key, quote(t.name), where, key, locateRows-1), args...).Scan(pointers(upTo)...)
		last := errors.Is(err, sql.ErrNoRows)
		switch {
		case last && where == "":
			where = " WHERE true"
		case last:
		case err != nil:
			return err
		case where == "":
			where, args = fmt.Sprintf(" WHERE (%s) <= (%s)", key, holders(len(t.key))), upTo
		default:
			where, args = where+fmt.Sprintf(" AND (%s) <= (%s)", key, holders(len(t.key))), append(args, upTo...)
		}
		if err := l.rows(ctx, t, where, args); err != nil {
			return err
		}
		read += locateRows
		if last {
			return nil
		}
		l.looked(t.name, read)
		after = upTo
	}
	return nil
}

// rows yields the places in the rows that where selects.
func (l *locator) rows(ctx context.Context, t table, where string, args []any) error {
	literals := []any{}
	for _, f := range l.finder.Literals {
		literals = append(literals, f)
	}
	var hits, may []string
	for _, c := range t.columns {
		value := fmt.Sprintf("CAST(%s AS BLOB)", quote(c))
		var in []string
		for i := range literals {
			in = append(in, fmt.Sprintf("instr(%s, ?%d) > 0", value, i+1))
		}
		hit, escapes := strings.Join(in, " OR "), fmt.Sprintf(`instr(%s, x'5c') > 0`, value)
		// What has a backslash may spell the text in another way.
		hits = append(hits, fmt.Sprintf("CASE WHEN %s THEN 1 WHEN %s THEN %s ELSE 0 END", hit, escapes, value))
		may = append(may, hit, escapes)
	}
	// A ? takes the number after the largest before it: the bounds of the key
	// follow the literals.
	query := fmt.Sprintf(`SELECT %s, %s FROM %s%s AND (%s) ORDER BY %s`,
		strings.Join(hits, ", "), quoteNames(t.shown), quote(t.name), where, strings.Join(may, " OR "), quoteNames(t.key))
	rows, err := l.s.reader.QueryContext(ctx, query, append(literals, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() && !l.stop {
		at, names := make([]any, len(t.columns)), make([]any, len(t.shown))
		if err := rows.Scan(append(pointers(at), pointers(names)...)...); err != nil {
			return err
		}
		row := rule.RowName(t.shown, names)
		for i, c := range t.columns {
			has := at[i] == int64(1)
			if value, ok := at[i].([]byte); ok {
				has = l.finder.In(value)
			}
			if has && !l.stop {
				l.found(t.name, c, row)
			}
		}
	}
	return rows.Err()
}

func pointers(list []any) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func holders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteNames(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
