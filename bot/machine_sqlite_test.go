package bot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/store"
)

// TestWhateverHappensOnSQLite runs the same scripts in real time and with short
// leases, because a disk does not follow the clock of synctest.
func TestWhateverHappensOnSQLite(t *testing.T) {
	t.Parallel()
	inRealTime(t, 8, 300*time.Millisecond, func() string { return "sqlite:" + filepath.Join(t.TempDir(), "bot.db") })
}

// inRealTime runs scripts, each over its own store, every second one with a
// placeholder.
func inRealTime(t *testing.T, scripts int, lease time.Duration, spec func() string) {
	if testing.Short() {
		scripts = 2
	}
	for seed := range scripts {
		placeholder := seed%2 == 1
		script := acts(points(placeholder)).Example(seed + 1)
		st, err := store.Open(t.Context(), spec(), nil)
		if err != nil {
			t.Fatal(err)
		}
		x := newMachine(st, lease, placeholder)
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
