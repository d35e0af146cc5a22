package tables

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// WorkspaceTables are the tables with a column workspace that are no channel's, but for the
// erasures, of which a number may stay.
var WorkspaceTables = []string{"author", "call_count"}

// lastErasure selects the newest erasure of all, whose id must not be given again.
const lastErasure = ` AND id = (SELECT max(id) FROM erasure)`

// EraseWorkspace implements [earshot.Store]. Each channel has a transaction of its own: a
// large workspace would keep all others from writing for as long as it takes.
func (s *Store) EraseWorkspace(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID) error {
	p, w = rule.ID(p), rule.ID(w)
	const named = ` WHERE platform = $1 AND workspace = $2`
	channels, err := List(ctx, s.engine, "list a workspace's channels", `SELECT id FROM channel`+named+` UNION SELECT channel FROM conversation`+named+`
		UNION SELECT channel FROM queued_turn`+named+` UNION SELECT channel FROM blob`+named+` ORDER BY 1`, []any{string(p), string(w)}, Scan[earshot.ChannelID])
	if err != nil {
		return err
	}
	for _, c := range channels {
		if err := s.Erase(ctx, earshot.Scope{Platform: p, Workspace: w, Channel: c}); err != nil {
			return err
		}
	}
	return s.engine.Apply(ctx, "erase a workspace", func(ctx context.Context, t *Tx) error {
		var notes, rates, purses []string
		t.Ask(`SELECT key FROM note ORDER BY key`, nil, Gather(&notes, Scan[string]))
		t.Ask(`SELECT key FROM rate ORDER BY key`, nil, Gather(&rates, Scan[string]))
		t.Ask(`SELECT DISTINCT purse FROM spend ORDER BY purse`, nil, Gather(&purses, Scan[string]))
		if err := t.Send(ctx); err != nil {
			return err
		}
		for _, of := range []struct {
			table, column string
			keys          []string
			of            func(string, earshot.Platform, earshot.WorkspaceID) bool
		}{{"note", "key", notes, rule.NamesWorkspace}, {"rate", "key", rates, rule.NamesWorkspace}, {"spend", "purse", purses, rule.PurseIn}} {
			for _, key := range of.keys {
				if of.of(key, p, w) {
					t.Write(`DELETE FROM `+of.table+` WHERE `+of.column+` = $1`, key)
				}
			}
		}
		for _, table := range slices.Concat(ChannelTables, WorkspaceTables) {
			t.Write(`DELETE FROM `+table+named, string(p), string(w))
		}
		now := int64(t.now())
		t.Write(`UPDATE erasure SET workspace = '', channel = '', author = '', messages = '', at_channel = '', at = '', ended = CASE ended WHEN 0 THEN $3 ELSE ended END`+named+lastErasure,
			string(p), string(w), now)
		t.Write(`DELETE FROM erasure`+named, string(p), string(w))
		t.Erased()
		return nil
	})
}
