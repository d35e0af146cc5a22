package rule

import (
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Newest returns the newest schema version among migrations. The name of each
// file begins with its version.
func Newest(migrations fs.FS) (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	var known int64
	for _, f := range files {
		v, err := goose.NumericComponent(f)
		if err != nil {
			return 0, err
		}
		known = max(known, v)
	}
	return known, nil
}
