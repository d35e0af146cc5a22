package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Erase implements [earshot.Store]. The leases, conversations and turns are locked
// first: a writer under a lease finishes before, or finds its rows gone after.
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	scope = rule.Scope(scope)
	return s.apply(ctx, "erase a channel", func(ctx context.Context, t *tx) error {
		var agents []string
		t.Exclusive(scope)
		t.Ask(`SELECT DISTINCT agent FROM conversation ORDER BY agent`, nil, tables.Gather(&agents, tables.Scan[string]))
		if err := t.Send(ctx); err != nil {
			return err
		}
		const ofAgents = in + ` AND agent = ANY($4)`
		a := tables.Args(scope, agents)
		t.Write(`SELECT 1 FROM lease`+ofAgents+` ORDER BY agent, conversation FOR UPDATE`, a...)
		t.Write(`SELECT 1 FROM conversation`+ofAgents+` ORDER BY agent, name FOR UPDATE`, a...)
		t.Write(`SELECT 1 FROM queued_turn`+in+` ORDER BY id FOR UPDATE`, tables.Args(scope)...)
		for _, table := range []string{"journal", "outbox"} {
			t.Write(`DELETE FROM `+table+` WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn`+in+`))`, tables.Args(scope)...)
		}
		for _, table := range append(tables.AgentTables, "conversation") {
			t.Write(`DELETE FROM `+table+ofAgents, a...)
		}
		t.eraseAuthors(scope)
		for _, table := range []string{"blob", "blob_file", "draft_reading", "draft", "queued_turn", "event", "reaction", "reading", "revision", "thread", "coverage", "message"} {
			t.Write(`DELETE FROM `+table+in, tables.Args(scope)...)
		}
		t.Write(`WITH gone AS (DELETE FROM channel WHERE platform = $1 AND workspace = $2 AND id = $3 RETURNING seq)
			UPDATE erased SET seq = greatest(erased.seq, gone.seq) FROM gone`, tables.Args(scope)...)
		return nil
	})
}

// eraseAuthors deletes the workspace's authors who have spoken in no other channel;
// with the workspace's last channel, all its authors.
func (t *tx) eraseAuthors(scope earshot.Scope) {
	const inWorkspace = ` WHERE platform = $1 AND workspace = $2`
	t.Write(`DELETE FROM author`+inWorkspace+` AND id = ANY(ARRAY(SELECT id FROM author`+inWorkspace+` AND (
		id IN (SELECT author FROM message`+in+`) AND id NOT IN (SELECT author FROM message`+inWorkspace+` AND channel <> $3)
		OR NOT EXISTS (SELECT 1 FROM channel`+inWorkspace+` AND id <> $3)) ORDER BY id FOR UPDATE))`, tables.Args(scope)...)
}
