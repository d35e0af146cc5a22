package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Erase implements [earshot.Store].
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	scope = rule.Scope(scope)
	return s.apply(ctx, "erase a channel", func(t *tx) error {
		for _, step := range []func(earshot.Scope) error{t.raiseErased, t.eraseTurns, t.eraseAgents, t.eraseAuthors, t.eraseBlobs, t.eraseMessages} {
			if err := step(scope); err != nil {
				return err
			}
		}
		return t.needScrub()
	})
}

// raiseErased stores the greatest turn id and sequence of the channel, so that they
// are not given again.
func (t *tx) raiseErased(scope earshot.Scope) error {
	return t.exec(`UPDATE erased SET turn = max(turn, coalesce((SELECT max(id) FROM queued_turn`+in+`), 0), coalesce((SELECT max(id) FROM draft`+in+`), 0)),
		seq = max(seq, coalesce((SELECT seq FROM channel WHERE platform = ? AND workspace = ? AND id = ?), 0)) WHERE one = 1`,
		append(append(args(scope), args(scope)...), args(scope)...)...)
}

func (t *tx) eraseTurns(scope earshot.Scope) error {
	for _, table := range []string{"journal", "outbox"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE turn IN (SELECT id FROM queued_turn`+in+`)`, args(scope)...); err != nil {
			return err
		}
	}
	for _, table := range []string{"draft_reading", "draft", "queued_turn"} {
		if err := t.exec(`DELETE FROM `+table+in, args(scope)...); err != nil {
			return err
		}
	}
	return nil
}

// agentTables hold what belongs to a conversation, besides its own row and the queue.
var agentTables = []string{"lease", "turn", "session", "manifest", "attachment", "named", "ledger", "summary", "summarised"}

// eraseAgents deletes the conversations of all agents in the channel, one agent after
// another, since the indexes begin with the agent.
func (t *tx) eraseAgents(scope earshot.Scope) error {
	agents, err := all(t, `SELECT DISTINCT agent FROM conversation`, nil,
		func(rows *sql.Rows, agent *earshot.AgentID) error { return rows.Scan(agent) })
	if err != nil {
		return err
	}
	for _, agent := range agents {
		for _, table := range append(agentTables, "conversation") {
			if err := t.exec(`DELETE FROM `+table+ofAgent, own(earshot.ConversationID{Agent: agent, Scope: scope})...); err != nil {
				return err
			}
		}
	}
	return nil
}

// eraseAuthors deletes the workspace's authors who have spoken in no other channel;
// with the workspace's last channel, all its authors.
func (t *tx) eraseAuthors(scope earshot.Scope) error {
	const inWorkspace = ` WHERE platform = ? AND workspace = ?`
	workspace := args(scope)[:2]
	var a []any
	for _, more := range [][]any{workspace, args(scope), args(scope), args(scope)} {
		a = append(a, more...)
	}
	return t.exec(`DELETE FROM author`+inWorkspace+` AND (
		id IN (SELECT author FROM message`+inPlace+`) AND id NOT IN (SELECT author FROM message WHERE place IN (SELECT place FROM channel`+inWorkspace+` AND id <> ?))
		OR NOT EXISTS (SELECT 1 FROM channel`+inWorkspace+` AND id <> ?))`, a...)
}

func (t *tx) eraseMessages(scope earshot.Scope) error {
	for _, from := range []string{"event" + inPlace, "reaction" + inPlace, "reading" + in, "revision" + inPlace, "thread" + inPlace, "coverage" + in, "message" + inPlace} {
		if err := t.exec(`DELETE FROM `+from, args(scope)...); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM channel WHERE platform = ? AND workspace = ? AND id = ?`, args(scope)...)
}
