package bot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
)

// TestWhateverHappensOnSQLite runs the same scripts in real time, with short
// leases: a disk has no clock of its own.
func TestWhateverHappensOnSQLite(t *testing.T) {
	t.Parallel()
	scripts := 8
	if testing.Short() {
		scripts = 2
	}
	for seed := range scripts {
		placeholder := seed%2 == 1
		script := acts(points(placeholder)).Example(seed + 1)
		st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "bot.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		x := newMachine(st.(bot.Store), 300*time.Millisecond, placeholder)
		x.play(t, script)
		x.check(t.Context())
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if len(x.errs) > 0 {
			t.Fatalf("script %d: %s\n%+v", seed, strings.Join(x.errs, "\n"), script)
		}
	}
}
