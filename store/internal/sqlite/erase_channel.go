package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
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
		append(append(tables.Args(scope), tables.Args(scope)...), tables.Args(scope)...)...)
}

// RaiseErased implements [tables.Conn].
func (t *tx) RaiseErased(id earshot.ConversationID) {
	t.Write(`UPDATE erased SET turn = max(turn, coalesce((SELECT max(id) FROM queued_turn`+tables.OfConversation+`), 0),
		coalesce((SELECT max(id) FROM draft`+tables.OfConversation+`), 0)) WHERE one = 1`, tables.Own(id, id.Name)...)
}

// RaiseDrafts implements [tables.Conn].
func (t *tx) RaiseDrafts(ids any) {
	t.Write(`UPDATE erased SET turn = max(turn, (SELECT max(value) FROM json_each($1))) WHERE one = 1`, ids)
}

func (t *tx) eraseTurns(scope earshot.Scope) error {
	for _, table := range []string{"journal", "outbox"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE turn IN (SELECT id FROM queued_turn`+in+`)`, tables.Args(scope)...); err != nil {
			return err
		}
	}
	for _, table := range []string{"draft_reading", "draft", "queued_turn"} {
		if err := t.exec(`DELETE FROM `+table+in, tables.Args(scope)...); err != nil {
			return err
		}
	}
	return nil
}

// eraseAgents deletes the conversations of all agents in the channel, one agent after
// another, since the indexes begin with the agent.
func (t *tx) eraseAgents(scope earshot.Scope) error {
	agents, err := all(t, `SELECT DISTINCT agent FROM conversation`, nil, tables.Scan[earshot.AgentID])
	if err != nil {
		return err
	}
	for _, agent := range agents {
		for _, table := range append(tables.AgentTables, "conversation") {
			if err := t.exec(`DELETE FROM `+table+ofAgent, tables.Own(earshot.ConversationID{Agent: agent, Scope: scope})...); err != nil {
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
	workspace := tables.Args(scope)[:2]
	var a []any
	for _, more := range [][]any{workspace, tables.Args(scope), tables.Args(scope), tables.Args(scope)} {
		a = append(a, more...)
	}
	return t.exec(`DELETE FROM author`+inWorkspace+` AND (
		id IN (SELECT author FROM message`+inPlace+`) AND id NOT IN (SELECT author FROM message WHERE place IN (SELECT place FROM channel`+inWorkspace+` AND id <> ?))
		OR NOT EXISTS (SELECT 1 FROM channel`+inWorkspace+` AND id <> ?))`, a...)
}

func (t *tx) eraseMessages(scope earshot.Scope) error {
	for _, from := range []string{"event" + inPlace, "reaction" + inPlace, "reading" + in, "revision" + inPlace, "thread" + inPlace, "coverage" + in, "message" + inPlace} {
		if err := t.exec(`DELETE FROM `+from, tables.Args(scope)...); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM channel WHERE platform = ? AND workspace = ? AND id = ?`, tables.Args(scope)...)
}
