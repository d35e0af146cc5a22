package postgres

import (
	"slices"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// A channel's move changes every table that names the channel: a new one must be in the
// list.
func TestAMoveKnowsEveryTableThatNamesAChannel(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	found, err := tables.List(t.Context(), s, "tables", `SELECT table_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = 'channel' AND table_name <> 'erasure' ORDER BY table_name COLLATE "C"`, nil, tables.Scan[string])
	check(t, err)
	want := slices.Sorted(slices.Values(slices.Concat(tables.ChannelTables, tables.MessageTables)))
	if !slices.Equal(found, want) {
		t.Errorf("these tables name a channel:\n%v\nand these are moved:\n%v", found, want)
	}
}
