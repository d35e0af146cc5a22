package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, turn earshot.Turn) (int, error) {
	id = rule.Conversation(id)
	turn, err := rule.CheckTurn(turn)
	if err != nil {
		return 0, err
	}
	number := 0
	err = s.apply(ctx, "commit turn", func(t *tx) error {
		a, err := t.answered(id, turn)
		if err != nil {
			return err
		}
		done, err := rule.CommitTurn(turn, a, earshot.TimeOf(s.now()))
		if err != nil {
			return err
		}
		number = done.Turn.Number
		return t.commitTurn(done)
	})
	return number, err
}

// answered loads what it takes to commit a turn, or [earshot.ErrNotFound] where
// there is no such conversation.
func (t *tx) answered(id earshot.ConversationID, turn earshot.Turn) (rule.Answered, error) {
	c, err := t.conversation(id, "name", id.Name)
	if err != nil {
		return rule.Answered{}, err
	}
	a := rule.Answered{Conversation: c.Conversation, Turns: c.Turns, Weight: c.Weight}
	var number int
	a.Taken, err = t.one(`SELECT number FROM turn`+ofAgent+` AND anchor = ?`, own(id, string(turn.Answer.Anchor)), []any{&number})
	if err == nil {
		a.Gone, err = t.anyDeleted(id.Scope, rule.Read(turn)...)
	}
	return a, err
}

// commitTurn appends a turn.
func (t *tx) commitTurn(done rule.Commit) error {
	turn, c := done.Turn, done.Conversation
	if err := t.hasRead(c.ID, turn.Epoch, done.Read); err != nil {
		return err
	}
	at := func(more ...any) []any { return own(c.ID, append([]any{c.ID.Name}, more...)...) }
	values, err := rule.TurnValues(turn)
	if err != nil {
		return err
	}
	err = t.exec(`INSERT INTO turn (agent, platform, workspace, channel, conversation, `+rule.TurnColumns+`, weight) VALUES `+marks(20, 1),
		at(append(values, done.Weight)...)...)
	if err != nil {
		return err
	}
	if err := errors.Join(t.putSession(turn, at), t.putManifest(turn, at)); err != nil {
		return err
	}
	if len(turn.Ledger) > 0 {
		ledger, err := rule.WriteLedger(turn.Ledger)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO ledger (agent, platform, workspace, channel, conversation, turn, entries) VALUES `+marks(7, 1), at(turn.Number, ledger)...); err != nil {
			return err
		}
	}
	metadata, err := json.Marshal(c.Metadata)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE conversation SET cursor = ?, epoch = ?, turns = ?, weight = ?, metadata = ?, updated = ?`+ofAgent+` AND name = ?`,
		append([]any{c.Cursor, c.Epoch, done.Turns, done.Weight, string(metadata), int64(c.Updated)}, at()...)...)
}

// Turns implements [earshot.Turns].
func (s *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	if limit <= 0 {
		limit = 1<<31 - 1
	}
	id = rule.Conversation(id)
	out, err := s.turns(ctx, `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` ORDER BY number DESC LIMIT ? + 0`, own(id, id.Name, limit))
	if err != nil || len(out) == 0 {
		return nil, err
	}
	slices.Reverse(out)
	// Epochs never go back, so the wanted stretch of the manifest is one of
	// its index.
	m, err := s.manifest(ctx, id, `(epoch, turn) >= (?, ?) AND (epoch, turn) <= (?, ?)`,
		out[0].Epoch, out[0].Number, out[len(out)-1].Epoch, out[len(out)-1].Number)
	if err != nil {
		return nil, err
	}
	for i := range out {
		m.share(&out[i])
	}
	return out, nil
}

// Turn implements [earshot.Turns].
func (s *Store) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	id = rule.Conversation(id)
	found, err := s.turns(ctx, `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` AND number = ?`, own(id, id.Name, number))
	if err != nil {
		return earshot.Turn{}, err
	}
	if len(found) == 0 {
		return earshot.Turn{}, rule.NoCommitted(id, number)
	}
	t := found[0]
	m, err := s.manifest(ctx, id, `epoch = ? AND turn = ?`, t.Epoch, number)
	if err != nil {
		return earshot.Turn{}, err
	}
	m.share(&t)
	if t.Session, err = s.session(ctx, id, `epoch = ? AND turn = ?`, t.Epoch, number); err != nil {
		return earshot.Turn{}, err
	}
	var entries string
	err = s.row(ctx, `SELECT entries FROM ledger`+ofConversation+` AND turn = ?`, own(id, id.Name, number), &entries)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return earshot.Turn{}, fmt.Errorf("read the ledger of turn %d: %w", number, err)
	default:
		if t.Ledger, err = rule.ReadLedger(entries); err != nil {
			return earshot.Turn{}, fmt.Errorf("turn %d: %w", number, err)
		}
	}
	return t, nil
}

func (s *Store) turns(ctx context.Context, query string, args []any) ([]earshot.Turn, error) {
	return list(ctx, s, "read turns", query, args, func(rows *sql.Rows, t *earshot.Turn) error { return rule.ScanTurn(rows.Scan, t) })
}

var _ earshot.Store = (*Store)(nil)
