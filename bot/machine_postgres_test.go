package bot_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/pgtest"
)

// TestWhateverHappensOnPostgreSQL runs the scripts on PostgreSQL, where nothing but
// the database keeps processes apart.
func TestWhateverHappensOnPostgreSQL(t *testing.T) {
	t.Parallel()
	inRealTime(t, 6, 200*time.Millisecond, func() string { return pgtest.Spec(t) })
}
