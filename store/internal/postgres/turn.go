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

const turnColumns = `number, anchor, replies, policy, hash, cursor, epoch, input, output, cache_read, cache_write, time, form, zone`

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, turn earshot.Turn) (int, error) {
	id = rule.Conversation(id)
	turn, err := rule.CheckTurn(turn)
	if err != nil {
		return 0, err
	}
	number := 0
	err = s.apply(ctx, "commit turn", func(ctx context.Context, t *tx) error {
		t.shared(id.Scope)
		c, err := t.locked(ctx, id)
		if err != nil {
			return err
		}
		gone, err := t.unanswered(ctx, c, turn)
		if err != nil {
			return err
		}
		if turn.Epoch < c.Epoch {
			return fmt.Errorf("the turn is of epoch %d, the conversation in %d: %w", turn.Epoch, c.Epoch, earshot.ErrConflict)
		}
		number = c.turns
		return t.commitTurn(c, turn, gone, earshot.TimeOf(s.now()))
	})
	return number, answered(err, turn.Answer.Anchor)
}

// answered tells a second answer to an anchor, which another conversation of
// the agent's gave at the same moment, from other trouble.
func answered(err error, anchor earshot.MessageID) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == "turn_by_anchor" {
		return twice(anchor)
	}
	return err
}

func twice(anchor earshot.MessageID) error {
	return fmt.Errorf("anchor %q was answered already: %w", anchor, earshot.ErrConflict)
}

// unanswered returns [earshot.ErrConflict] where turn's anchor was answered;
// else whether something that turn has read is deleted by now.
func (t *tx) unanswered(ctx context.Context, c conversation, turn earshot.Turn) (gone bool, err error) {
	taken := false
	t.ask(`SELECT number FROM turn`+ofAgent+` AND anchor = $5`, own(c.ID, string(turn.Answer.Anchor)), one(&taken, new(int)))
	t.askDeleted(c.ID.Scope, rule.Read(turn), &gone)
	err = t.send(ctx)
	if err == nil && taken {
		err = twice(turn.Answer.Anchor)
	}
	return gone, err
}

// commitTurn queues the rows of a turn of a conversation that is locked. An
// outdated one, which has read what is deleted by now, leaves no text and ends
// its epoch.
func (t *tx) commitTurn(c conversation, turn earshot.Turn, outdated bool, now earshot.Time) error {
	turn = rule.Number(turn, c.turns, now)
	epoch := turn.Epoch
	if outdated {
		turn = rule.WithoutText(turn)
		epoch++
	} else {
		t.hasRead(c.ID, turn.Epoch, rule.Read(turn))
	}
	at := func(more ...any) []any { return own(c.ID, append([]any{c.ID.Name}, more...)...) }
	replies, err := json.Marshal(turn.Answer.Replies)
	if err != nil {
		return err
	}
	u := turn.Usage
	t.write(`INSERT INTO turn (agent, platform, workspace, channel, conversation, `+turnColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		at(turn.Number, string(turn.Answer.Anchor), string(replies), turn.Policy, turn.Hash, turn.Cursor, turn.Epoch,
			u.Input, u.Output, u.CacheRead, u.CacheWrite, int64(turn.Time), turn.Form, turn.Zone)...)
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
	metadata, err := json.Marshal(rule.TurnMetadata(c.Metadata, turn.Metadata))
	if err != nil {
		return err
	}
	t.write(`UPDATE conversation SET cursor = $6, epoch = $7, turns = $8, metadata = $9, updated = $10`+named,
		at(max(c.Cursor, turn.Cursor), max(c.Epoch, epoch), turn.Number+1, string(metadata), int64(now))...)
	return nil
}

// Turns implements [earshot.Turns].
func (s *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	if limit <= 0 {
		limit = 1<<31 - 1
	}
	id = rule.Conversation(id)
	out, err := list(ctx, s, "read turns", `SELECT `+turnColumns+` FROM turn`+ofConversation+` ORDER BY number DESC LIMIT $6`,
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
	found, err := list(ctx, s, "read turns", `SELECT `+turnColumns+` FROM turn`+ofConversation+` AND number = $6`, own(id, id.Name, number), scanTurn)
	if err != nil {
		return earshot.Turn{}, err
	}
	if len(found) == 0 {
		return earshot.Turn{}, fmt.Errorf("turn %d of conversation %q: %w", number, id.Name, earshot.ErrNotFound)
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

func scanTurn(rows pgx.Rows, t *earshot.Turn) error {
	var replies string
	u := &t.Usage
	err := rows.Scan(&t.Number, &t.Answer.Anchor, &replies, &t.Policy, &t.Hash, &t.Cursor, &t.Epoch,
		&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &t.Time, &t.Form, &t.Zone)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(replies), &t.Answer.Replies)
}

var _ earshot.Store = (*Store)(nil)
