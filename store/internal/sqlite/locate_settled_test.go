package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A checkpoint that writes the file while it is opened makes its schema look
// damaged for a moment. The test damages the file by hand, and mends it.
func TestAFileThatACheckpointWritesIsOpenedOnceItIsWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if _, _, err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	clear(damaged[100:4096]) // the root of the schema's table, behind the file's header
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := rawPages(t.Context(), path); resultCode(err) != codeCorrupt {
		t.Fatalf("a damaged file: got %v, %v", p.count, err)
	}
	synctest.Test(t, func(t *testing.T) { // whose clock moves only while all wait
		mended := make(chan error, 1)
		time.AfterFunc(2*rawPause+rawPause/2, func() { mended <- os.WriteFile(path, whole, 0o600) })
		p, err := settledPages(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		if err := <-mended; err != nil {
			t.Fatal(err)
		}
		if page, err := p.page(t.Context(), 1); err != nil || !bytes.Equal(page, whole[:len(page)]) {
			t.Errorf("its first page: %v, %d bytes", err, len(page))
		}
	})
}
