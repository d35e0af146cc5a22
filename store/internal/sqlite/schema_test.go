package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/google/go-cmp/cmp"
)

// undo7 takes back what version 7 and those after it made.
var undo7 = []string{
	`ALTER TABLE turn DROP COLUMN form`, `ALTER TABLE turn DROP COLUMN zone`, `ALTER TABLE session DROP COLUMN more`, `ALTER TABLE attachment DROP COLUMN tokens`,
	`DROP TABLE named`, `DROP TABLE blob`, `DROP TABLE blob_data`, `DROP TABLE blob_file`,
	`DROP TABLE resume`, `DELETE FROM goose_db_version WHERE version_id >= 7`,
}

func TestTurnsFromBeforeThereWereFormsAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	answer(t, s, 1, dm, "text")
	for _, query := range undo7 {
		check(t, s.apply(t.Context(), "undo", func(t *tx) error { return t.exec(query) }))
	}
	check(t, s.Close())
	s = opened(t, path)
	got, err := s.Turn(t.Context(), dm, 0)
	check(t, err)
	want := []earshot.SessionEntry{{Role: earshot.User, Text: "session text"}, {Role: earshot.Assistant}, {Role: earshot.ToolRole, Text: "found text"}, {Role: earshot.Assistant, Text: "text"}}
	if d := cmp.Diff(got.Session, want); d != "" || got.Form != "" || got.Zone != "" || got.Names != nil || got.Attached[0].Tokens != 0 {
		t.Errorf("got %+v; session (-got +want):\n%s", got, d)
	}
	answer(t, s, 2, dm, "next")
	m, err := s.Manifest(t.Context(), dm)
	check(t, err)
	if len(m.Names) != 1 || len(m.Attached) != 2 {
		t.Errorf("got %+v, want what both turns attached and the name of the second", m)
	}
}
