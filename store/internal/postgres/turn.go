package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, turn earshot.Turn) (int, error) {
	id = rule.Conversation(id)
	turn, err := rule.CheckTurn(turn)
	if err != nil {
		return 0, err
	}
	number := 0
	err = s.apply(ctx, "commit turn", func(ctx context.Context, t *tx) error {
		var a rule.Answered
		t.shared(id.Scope)
		var c conversation
		t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(id, id.Name), c.into(id))
		t.askAnswered(id, turn, &a)
		if err := c.orNotFound(t.send(ctx), id); err != nil {
			return err
		}
		a.Conversation, a.Turns, a.Weight = c.Conversation, c.Turns, c.Weight
		done, err := rule.CommitTurn(turn, a, earshot.TimeOf(s.now()))
		if err != nil {
			return err
		}
		number = done.Turn.Number
		return t.commitTurn(done)
	})
	return number, answered(err, turn.Answer.Anchor)
}

// answered tells a second answer to an anchor, which another conversation of
// the agent's gave at the same moment, from other trouble.
func answered(err error, anchor earshot.MessageID) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == "turn_by_anchor" {
		return rule.AnsweredAlready(anchor)
	}
	return err
}

// askAnswered asks what it takes to commit a turn, besides its conversation,
// which is locked.
func (t *tx) askAnswered(id earshot.ConversationID, turn earshot.Turn, a *rule.Answered) {
	*a = rule.Answered{}
	t.ask(`SELECT number FROM turn`+ofAgent+` AND anchor = $5`, own(id, string(turn.Answer.Anchor)), one(&a.Taken, new(int)))
	t.askDeleted(id.Scope, rule.Read(turn), &a.Gone)
}

// commitTurn queues the rows of a turn of a conversation that is locked.
func (t *tx) commitTurn(done rule.Commit) error {
	turn, c := done.Turn, done.Conversation
	t.hasRead(c.ID, turn.Epoch, done.Read)
	at := func(more ...any) []any { return own(c.ID, append([]any{c.ID.Name}, more...)...) }
	values, err := rule.TurnValues(turn)
	if err != nil {
		return err
	}
	t.write(`INSERT INTO turn (agent, platform, workspace, channel, conversation, `+rule.TurnColumns+`, weight)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
		at(append(values, done.Weight)...)...)
	if err := t.writeSession(turn, at); err != nil {
		return err
	}
	t.writeManifest(turn, at)
	if len(turn.Ledger) > 0 {
		ledger, err := rule.WriteLedger(turn.Ledger)
		if err != nil {
			return err
		}
		t.write(`INSERT INTO ledger (agent, platform, workspace, channel, conversation, turn, entries) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			at(turn.Number, ledger)...)
	}
	metadata, err := json.Marshal(c.Metadata)
	if err != nil {
		return err
	}
	t.write(`UPDATE conversation SET cursor = $6, epoch = $7, turns = $8, weight = $9, metadata = $10, updated = $11`+named,
		at(c.Cursor, c.Epoch, done.Turns, done.Weight, string(metadata), int64(c.Updated))...)
	return nil
}

// Turns implements [earshot.Turns].
func (s *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	if limit <= 0 {
		limit = 1<<31 - 1
	}
	id = rule.Conversation(id)
	out, err := list(ctx, s, "read turns", `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` ORDER BY number DESC LIMIT $6`,
		own(id, id.Name, limit), scanTurn)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	slices.Reverse(out)
	// Epochs never go back, so the wanted stretch of the manifest is one of
	// its index.
	var m manifest
	err = s.read(ctx, func(t *tx) {
		m.ask(t, id, `(epoch, turn) >= ($6, $7) AND (epoch, turn) <= ($8, $9)`,
			out[0].Epoch, out[0].Number, out[len(out)-1].Epoch, out[len(out)-1].Number)
	})
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	m.share(out)
	return out, nil
}

// Turn implements [earshot.Turns].
func (s *Store) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	id = rule.Conversation(id)
	found, err := list(ctx, s, "read turns", `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` AND number = $6`, own(id, id.Name, number), scanTurn)
	if err != nil {
		return earshot.Turn{}, err
	}
	if len(found) == 0 {
		return earshot.Turn{}, rule.NoCommitted(id, number)
	}
	turn := &found[0]
	var m manifest
	err = s.read(ctx, func(t *tx) {
		const which = `epoch = $6 AND turn = $7`
		m.ask(t, id, which, turn.Epoch, number)
		turn.Session, turn.Ledger = nil, nil
		t.askSession(id, which, &turn.Session, turn.Epoch, number)
		t.ask(`SELECT entries FROM ledger`+ofConversation+` AND turn = $6`, own(id, id.Name, number), func(rows pgx.Rows) (err error) {
			var entries string
			if err = rows.Scan(&entries); err == nil {
				turn.Ledger, err = rule.ReadLedger(entries)
			}
			return err
		})
	})
	if err != nil {
		return earshot.Turn{}, fmt.Errorf("read turn %d: %w", number, err)
	}
	m.share(found)
	return *turn, nil
}

func scanTurn(rows pgx.Rows, t *earshot.Turn) error { return rule.ScanTurn(rows.Scan, t) }

var _ earshot.Store = (*Store)(nil)
