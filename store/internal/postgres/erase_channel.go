package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// Erase implements [earshot.Store]. The leases, conversations and turns are locked
// first: a writer under a lease finishes before, or finds its rows gone after.
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	scope = rule.Scope(scope)
	return s.apply(ctx, "erase a channel", func(ctx context.Context, t *tx) error {
		var agents []string
		t.exclusive(scope)
		t.ask(`SELECT DISTINCT agent FROM conversation ORDER BY agent`, nil,
			gather(&agents, func(rows pgx.Rows, agent *string) error { return rows.Scan(agent) }))
		if err := t.send(ctx); err != nil {
			return err
		}
		const ofAgents = in + ` AND agent = ANY($4)`
		a := args(scope, agents)
		t.write(`SELECT 1 FROM lease`+ofAgents+` ORDER BY agent, conversation FOR UPDATE`, a...)
		t.write(`SELECT 1 FROM conversation`+ofAgents+` ORDER BY agent, name FOR UPDATE`, a...)
		t.write(`SELECT 1 FROM queued_turn`+in+` ORDER BY id FOR UPDATE`, args(scope)...)
		for _, table := range []string{"journal", "outbox"} {
			t.write(`DELETE FROM `+table+` WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn`+in+`))`, args(scope)...)
		}
		for _, table := range append(agentTables, "conversation") {
			t.write(`DELETE FROM `+table+ofAgents, a...)
		}
		t.eraseAuthors(scope)
		for _, table := range []string{"blob", "blob_file", "draft_reading", "draft", "queued_turn", "event", "reaction", "reading", "revision", "thread", "coverage", "message"} {
			t.write(`DELETE FROM `+table+in, args(scope)...)
		}
		t.write(`WITH gone AS (DELETE FROM channel WHERE platform = $1 AND workspace = $2 AND id = $3 RETURNING seq)
			UPDATE erased SET seq = greatest(erased.seq, gone.seq) FROM gone`, args(scope)...)
		return nil
	})
}

// agentTables hold what belongs to a conversation, besides its own row and the queue.
var agentTables = []string{"lease", "turn", "session", "manifest", "attachment", "named", "ledger", "summary", "summarised"}

// eraseAuthors deletes the workspace's authors who have spoken in no other channel;
// with the workspace's last channel, all its authors.
func (t *tx) eraseAuthors(scope earshot.Scope) {
	const inWorkspace = ` WHERE platform = $1 AND workspace = $2`
	t.write(`DELETE FROM author`+inWorkspace+` AND id = ANY(ARRAY(SELECT id FROM author`+inWorkspace+` AND (
		id IN (SELECT author FROM message`+in+`) AND id NOT IN (SELECT author FROM message`+inWorkspace+` AND channel <> $3)
		OR NOT EXISTS (SELECT 1 FROM channel`+inWorkspace+` AND id <> $3)) ORDER BY id FOR UPDATE))`, args(scope)...)
}
