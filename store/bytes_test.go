package store_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/testdata"
)

// An export has the same bytes, whichever kind of store it comes from.
func TestEveryStoreExportsTheSameBytes(t *testing.T) {
	t.Parallel()
	bundled, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	export := func(t *testing.T, spec string) []byte {
		s := open(t, spec)
		if _, err := archive.ImportSlackFS(t.Context(), s, bundled, "workspace", nil); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := archive.Export(t.Context(), s, &b, nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	want := export(t, "memory:")
	if len(want) < 100_000 {
		t.Fatalf("the bundled workspace is exported as %d bytes", len(want))
	}
	for name, spec := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "x.db") },
		"postgres": func(t *testing.T) string { return pgtest.Spec(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := export(t, spec(t)); !bytes.Equal(got, want) {
				t.Errorf("got other bytes than from memory: %d against %d", len(got), len(want))
			}
		})
	}
}
