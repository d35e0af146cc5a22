package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Erase implements [earshot.Store]. The leases, conversations and turns are locked
// first: a writer under a lease finishes before, or finds its rows gone after. The rows
// of agents are found by the agents, with whom their indexes begin.
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	scope = rule.Scope(scope)
	return s.engine.Apply(ctx, "erase a channel", func(ctx context.Context, t *Tx) error {
		var agents []earshot.AgentID
		t.Exclusive(scope)
		t.Ask(`SELECT DISTINCT agent FROM conversation ORDER BY agent`, nil, Gather(&agents, Scan[earshot.AgentID]))
		if err := t.Send(ctx); err != nil {
			return err
		}
		at := Args(scope)
		ofAgents, a := In+` AND `+t.SQL.Any(`agent`, 4), Args(scope, t.SQL.List(Texts(agents)))
		t.Lock(`SELECT 1 FROM lease`+ofAgents+` ORDER BY agent, conversation`, a...)
		t.Lock(`SELECT 1 FROM conversation`+ofAgents+` ORDER BY agent, name`, a...)
		t.Lock(`SELECT 1 FROM queued_turn`+In+` ORDER BY id`, at...)
		t.RaiseErased(In, at...)
		for _, table := range []string{"journal", "outbox"} {
			t.Write(`DELETE FROM `+table+` WHERE `+t.SQL.Among(`turn`, `SELECT id FROM queued_turn`+In), at...)
		}
		for _, table := range append(agentTables, "conversation") {
			t.Write(`DELETE FROM `+table+ofAgents, a...)
		}
		t.eraseAuthors(scope)
		t.DeleteBlobs(new(int), ``, at...)
		for _, table := range []string{"blob_file", "draft_reading", "draft", "queued_turn", "reading", "coverage", "approval", "feedback"} {
			t.Write(`DELETE FROM `+table+In, at...)
		}
		for _, table := range []string{"event", "reaction", "revision", "thread", "message"} {
			t.Write(`DELETE FROM `+table+t.SQL.MessagesIn, at...)
		}
		t.Write(`DELETE FROM spend WHERE purse = $1`, rule.ChannelPurse(scope))
		// No sequence is given again. This comes last, since all channels share the row.
		t.Write(`UPDATE erased SET seq = `+t.SQL.Greatest+`(seq, coalesce((SELECT seq FROM channel`+OfChannel+`), 0)) WHERE one = 1`, at...)
		t.Write(`DELETE FROM channel`+OfChannel, at...)
		t.Erased()
		return nil
	})
}

// eraseAuthors deletes the workspace's authors who have spoken in no other channel;
// with the workspace's last channel, all its authors.
func (t *Tx) eraseAuthors(s earshot.Scope) {
	const inWorkspace = ` WHERE platform = $1 AND workspace = $2`
	t.Write(`DELETE FROM author`+inWorkspace+` AND `+t.SQL.Among(`id`, `SELECT id FROM author`+inWorkspace+` AND (
		id IN (SELECT author FROM message`+t.SQL.MessagesIn+`) AND id NOT IN (SELECT author FROM message WHERE `+t.SQL.OtherChannels+`)
		OR NOT EXISTS (SELECT 1 FROM channel`+inWorkspace+` AND id <> $3)) ORDER BY id`+t.SQL.Lock), Args(s)...)
}
