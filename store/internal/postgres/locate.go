package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// locateBlocks is how many blocks of a table one step of Locate reads: 4 MiB.
const locateBlocks = 512

// blockSize is the size of a block of most servers, for the progress.
const blockSize = 8192

// errEnough ends a Locate whose caller has seen enough.
var errEnough = errors.New("enough")

// Locate implements [earshot.Locator]. It reads one snapshot, of the rows that are
// live in it: what the server keeps of older rows in its files, and in its WAL, no
// query can show.
func (s *Store) Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[earshot.Place, error] {
	return func(yield func(earshot.Place, error) bool) {
		finder, err := rule.NewFinder(text)
		if err == nil {
			err = s.tryOnce(ctx, func(conn *pgx.Conn) error {
				o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
				return pgx.BeginTxFunc(ctx, conn, o, func(t pgx.Tx) error { return s.locate(ctx, t, finder, looked, yield) })
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(earshot.Place{}, fmt.Errorf("locate: %w", err))
		}
	}
}

// A table is one of the catalogue.
type table struct {
	name    string
	columns []string
	types   []string
	shown   []string // what names a row to people
	blocks  int64
}

// locate looks through all tables of the schema.
func (s *Store) locate(ctx context.Context, t pgx.Tx, finder rule.Finder, looked func(string, int64), yield func(earshot.Place, error) bool) error {
	tables, err := s.tables(ctx, t)
	if err != nil {
		return err
	}
	for _, x := range tables {
		for from := int64(0); from < x.blocks; from += locateBlocks {
			if err := s.locateIn(ctx, t, x, from, finder, yield); err != nil {
				return err
			}
			if looked != nil {
				looked(x.name, (from+locateBlocks)*blockSize)
			}
		}
	}
	return nil
}

// tables lists the tables of the schema with their columns.
func (s *Store) tables(ctx context.Context, t pgx.Tx) ([]table, error) {
	// The catalogue itself: the views of information_schema read that of every schema.
	rows, err := t.Query(ctx, `SELECT c.relname, a.attname, format_type(a.atttypid, NULL), coalesce(a.attnum = ANY (k.indkey), false),
			pg_relation_size(c.oid) / current_setting('block_size')::bigint
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index k ON k.indrelid = c.oid AND k.indisprimary
		WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT')
		ORDER BY c.relname, a.attnum`, s.schema)
	if err != nil {
		return nil, err
	}
	var out []table
	var name, column, typ string
	var key bool
	var blocks int64
	_, err = pgx.ForEachRow(rows, []any{&name, &column, &typ, &key, &blocks}, func() error {
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, table{name: name, blocks: blocks})
		}
		x := &out[len(out)-1]
		x.columns, x.types = append(x.columns, column), append(x.types, typ)
		if key || rule.NamesRow(column) {
			x.shown = append(x.shown, column)
		}
		return nil
	})
	return out, err
}

// locateIn looks through the rows of a table that stand in the blocks from first on.
func (s *Store) locateIn(ctx context.Context, t pgx.Tx, x table, first int64, finder rule.Finder, yield func(earshot.Place, error) bool) error {
	var hits, may, shown []string
	for i, c := range x.columns {
		value := fmt.Sprintf("convert_to(%s::text, 'UTF8')", pgx.Identifier{c}.Sanitize())
		if x.types[i] == "bytea" {
			value = pgx.Identifier{c}.Sanitize()
		}
		hit := fmt.Sprintf("(SELECT bool_or(position(f IN %s) > 0) FROM unnest($1::bytea[]) f)", value)
		escapes := fmt.Sprintf(`position('\x5c'::bytea IN %s) > 0`, value)
		// What has a backslash may spell the text in another way.
		hits = append(hits, fmt.Sprintf("CASE WHEN %s THEN ''::bytea WHEN %s THEN %s END", hit, escapes, value))
		may = append(may, hit, escapes)
	}
	for _, c := range x.shown {
		shown = append(shown, pgx.Identifier{c}.Sanitize()+"::text")
	}
	if len(shown) == 0 {
		shown, x.shown = []string{"ctid::text"}, []string{"ctid"}
	}
	rows, err := t.Query(ctx, fmt.Sprintf(`SELECT ARRAY[%s], ARRAY[%s] FROM %s WHERE ctid >= '(%d,0)' AND ctid < '(%d,0)' AND (%s) ORDER BY ctid`,
		strings.Join(hits, ", "), strings.Join(shown, ", "), pgx.Identifier{s.schema, x.name}.Sanitize(), first, first+locateBlocks,
		strings.Join(may, " OR ")), finder.Literals)
	if err != nil {
		return err
	}
	var in [][]byte
	var names []*string
	_, err = pgx.ForEachRow(rows, []any{&in, &names}, func() error {
		values := make([]any, len(names))
		for i, n := range names {
			if values[i] = "NULL"; n != nil {
				values[i] = *n
			}
		}
		for i, c := range x.columns {
			if in[i] != nil && (len(in[i]) == 0 || finder.In(in[i])) && !yield(earshot.Place{Table: x.name, Column: c, Row: rule.RowName(x.shown, values)}, nil) {
				return errEnough
			}
		}
		return nil
	})
	return err
}
