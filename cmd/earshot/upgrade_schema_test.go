package main

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/earshot-ai/earshot/store"
)

// columns describes the tables and indexes of a database, sorted.
func columns(t *testing.T, spec string) (out []string) {
	t.Helper()
	ctx := t.Context()
	if path, ok := store.File(spec); ok {
		db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(ctx, `SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk
			FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
			UNION ALL SELECT 'index ' || coalesce(sql, '') FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				t.Fatal(err)
			}
			out = append(out, one)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	conn, err := pgx.Connect(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')
		FROM information_schema.columns WHERE table_schema = current_schema()
		UNION ALL SELECT 'index ' || replace(indexdef, quote_ident(schemaname) || '.', '') FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return out
}
