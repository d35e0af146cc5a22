package summarize_test

import (
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
)

// engines are the stores that several processes can share.
var engines = []struct {
	name string
	spec func(t *testing.T) string
}{
	{"sqlite", func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "x.db") }},
	{"postgres", func(t *testing.T) string { return pgtest.Spec(t) }},
}
