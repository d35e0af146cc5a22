package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot/store/internal/tables"
)

// A channel's move changes every table that names the channel: a new one must be in the
// list.
func TestAMoveKnowsEveryTableThatNamesAChannel(t *testing.T) {
	t.Parallel()
	s := opened(t, filepath.Join(t.TempDir(), "db"))
	found, err := tables.List(t.Context(), s, "tables", `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.name = 'channel' AND m.name <> 'erasure' ORDER BY m.name`, nil, tables.Scan[string])
	check(t, err)
	want := slices.Sorted(slices.Values(tables.ChannelTables))
	if !slices.Equal(found, want) {
		t.Errorf("these tables name a channel:\n%v\nand these are moved:\n%v", found, want)
	}
}

// A workspace that is erased is in none of the tables that name one: a new one must be in
// the lists.
func TestAnErasedWorkspaceIsTakenOutOfEveryTableThatNamesIt(t *testing.T) {
	t.Parallel()
	s := opened(t, filepath.Join(t.TempDir(), "db"))
	found, err := tables.List(t.Context(), s, "tables", `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.name = 'workspace' AND m.name NOT IN ('erasure', 'channel') ORDER BY m.name`, nil, tables.Scan[string])
	check(t, err)
	want := slices.Sorted(slices.Values(slices.Concat(tables.ChannelTables, tables.WorkspaceTables)))
	if !slices.Equal(found, want) {
		t.Errorf("these tables name a workspace:\n%v\nand it is taken out of these:\n%v", found, want)
	}
}
