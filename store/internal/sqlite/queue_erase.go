package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// forget erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries.
func (t *tx) forget(scope earshot.Scope, gone []earshot.Message) error {
	now := earshot.TimeOf(t.now())
	for _, m := range gone {
		if err := t.forgetOne(scope, m, now); err != nil {
			return fmt.Errorf("erase message %q: %w", m.ID, err)
		}
	}
	return nil
}

func (t *tx) forgetOne(scope earshot.Scope, m earshot.Message, now earshot.Time) error {
	id := string(m.ID)
	const raw = `UPDATE event SET raw = x''` + inPlace + ` AND message `
	if err := t.exec(raw+`= ?`, args(scope, id)...); err != nil {
		return err
	}
	for _, quoting := range []string{`thread = ?`, `reply_to = ? AND reply_to <> ''`} {
		err := t.exec(raw+`IN (SELECT id FROM message`+inPlace+` AND `+quoting+` AND deleted = 0)`, append(args(scope), args(scope, id)...)...)
		if err != nil {
			return err
		}
	}
	if err := t.dropAnchored(scope, m.ID, now); err != nil {
		return err
	}
	readings, err := t.readings(scope, m.ID)
	if err != nil {
		return err
	}
	for _, r := range readings {
		if err := t.forgetReading(r, m.Time, now); err != nil {
			return err
		}
	}
	return nil
}

// dropAnchored drops the turns that would answer a deleted message, unless one of
// their posts may be visible.
func (t *tx) dropAnchored(scope earshot.Scope, anchor earshot.MessageID, now earshot.Time) error {
	query := `SELECT ` + rule.QueuedColumns + ` FROM queued_turn` + in + ` AND anchor = ? AND +` + rule.UnfinishedSQL + ` ORDER BY agent`
	turns, err := all(t, query, args(scope, string(anchor)), func(rows *sql.Rows, q *rule.Queued) error { return rows.Scan(rule.QueuedFields(q)...) })
	if err != nil {
		return err
	}
	for _, q := range turns {
		states, err := all(t, `SELECT state FROM outbox WHERE turn = ? ORDER BY chunk`, []any{int64(q.ID)},
			func(rows *sql.Rows, s *earshot.PostState) error { return rows.Scan(s) })
		if err != nil {
			return err
		}
		if err := t.change(q, rule.DropAnchored(q, states, now), now); err != nil {
			return err
		}
	}
	return nil
}

// all reads all rows of a query within the transaction, each with scan.
func all[T any](t *tx, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	rows, err := t.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// A reading is an epoch of a conversation that holds a message's text.
type reading struct {
	id    earshot.ConversationID
	epoch int
}

func (t *tx) readings(scope earshot.Scope, id earshot.MessageID) ([]reading, error) {
	return all(t, `SELECT agent, conversation, epoch FROM reading`+in+` AND message = ? ORDER BY agent, conversation, epoch`, args(scope, string(id)),
		func(rows *sql.Rows, r *reading) error {
			r.id.Scope = scope
			return rows.Scan(&r.id.Agent, &r.id.Name, &r.epoch)
		})
}

// forgetReading erases the text of an epoch that has read a deleted message, and the
// summary that covers it, with the later epochs that may have read the summary.
func (t *tx) forgetReading(r reading, said, now earshot.Time) error {
	current := 0
	var sum earshot.Summary
	covered, err := t.one(`SELECT from_time, to_time FROM summary`+ofConversation, own(r.id, r.id.Name), []any{&sum.From, &sum.To})
	if err != nil {
		return err
	}
	if covered = covered && rule.Covers(sum, said); covered {
		c, err := t.conversation(r.id, "name", r.id.Name)
		if err != nil {
			return err
		}
		current = c.Epoch
		if err := t.exec(`DELETE FROM summary`+ofConversation, own(r.id, r.id.Name)...); err != nil {
			return err
		}
	}
	return t.eraseEpochs(r.id, r.epoch, rule.ErasedTo(r.epoch, current, covered), now)
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (t *tx) eraseEpochs(id earshot.ConversationID, from, to int, now earshot.Time) error {
	for _, table := range []string{"session", "named"} {
		if err := t.exec(`DELETE FROM `+table+ofConversation+` AND epoch >= ? AND epoch <= ?`, own(id, id.Name, from, to)...); err != nil {
			return err
		}
	}
	turns, err := all(t, `SELECT id FROM queued_turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch, id`, own(id, id.Name, from, to),
		func(rows *sql.Rows, id *earshot.TurnID) error { return rows.Scan(id) })
	if err != nil {
		return err
	}
	for _, turn := range turns {
		if err := t.eraseTurn(turn); err != nil {
			return err
		}
	}
	return t.endEpoch(id, to, now)
}

// eraseTurn erases the text of a turn. The texts of its posts stay while the turn is
// about to post them, until it ends or begins again.
func (t *tx) eraseTurn(id earshot.TurnID) error {
	for _, query := range []string{
		`UPDATE queued_turn SET input = x'' WHERE id = ? AND input <> x''`,
		`UPDATE journal SET data = x'', erased = 1 WHERE turn = ? AND erased = 0`,
		erasePosts + ` AND NOT EXISTS (SELECT 1 FROM queued_turn WHERE id = turn AND +` + rule.BegunSQL + `)`,
	} {
		if err := t.exec(query, int64(id)); err != nil {
			return err
		}
	}
	return t.needScrub()
}

const erasePosts = `UPDATE outbox SET text = '' WHERE turn = ? AND text <> ''`

// endEpoch ends a conversation's epoch and those before it.
func (t *tx) endEpoch(id earshot.ConversationID, epoch int, now earshot.Time) error {
	return t.exec(`UPDATE conversation SET epoch = ?, updated = ?`+ofAgent+` AND name = ? AND epoch <= ?`,
		append([]any{epoch + 1, int64(now)}, own(id, id.Name, epoch)...)...)
}

// deleted returns those of the messages that are tombstones.
func (t *tx) deleted(scope earshot.Scope, ids []earshot.MessageID) ([]earshot.MessageID, error) {
	var out []earshot.MessageID
	for len(ids) > 0 {
		n := chunk(len(ids))
		a := args(scope)
		for _, id := range ids[:n] {
			a = append(a, string(id))
		}
		found, err := all(t, `SELECT id FROM message`+inPlace+` AND id IN `+marks(n, 1)+` AND +deleted = 1`, a,
			func(rows *sql.Rows, id *earshot.MessageID) error { return rows.Scan(id) })
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	return out, nil
}

// anyDeleted reports whether one of the messages is a tombstone.
func (t *tx) anyDeleted(scope earshot.Scope, ids ...earshot.MessageID) (bool, error) {
	found, err := t.deleted(scope, ids)
	return len(found) > 0, err
}

// hasRead records that a conversation's epoch holds the text of messages.
func (t *tx) hasRead(id earshot.ConversationID, epoch int, ids []earshot.MessageID) error {
	for len(ids) > 0 {
		n := chunk(len(ids))
		var a []any
		for _, m := range ids[:n] {
			a = append(a, args(id.Scope, string(m), string(id.Agent), id.Name, epoch)...)
		}
		err := t.exec(`INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch) VALUES `+marks(7, n)+` ON CONFLICT DO NOTHING`, a...)
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
