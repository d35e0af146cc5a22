package sqlite

import "github.com/earshot-ai/earshot/store/internal/tables"

// all reads all rows of a query within the transaction, each with scan.
func all[T any](t *tx, query string, args []any, scan func(tables.Row, *T) error) ([]T, error) {
	var out []T
	rows, err := t.query(query, args...)
	if err := eachRow(rows, err, tables.Gather(&out, scan)); err != nil {
		return nil, err
	}
	return out, nil
}
