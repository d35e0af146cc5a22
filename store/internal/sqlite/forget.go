package sqlite

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// all reads all rows of a query within the transaction, each with scan.
func all[T any](t *tx, query string, args []any, scan func(tables.Row, *T) error) ([]T, error) {
	var out []T
	rows, err := t.query(query, args...)
	if err := eachRow(rows, err, tables.Gather(&out, scan)); err != nil {
		return nil, err
	}
	return out, nil
}

// eraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (t *tx) eraseTurnsOf(id earshot.ConversationID, from, to int) error {
	if err := t.eraseDraftsOf(id); err != nil {
		return err
	}
	turns, err := all(t, `SELECT id FROM queued_turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch, id`, tables.Own(id, id.Name, from, to), tables.Scan[earshot.TurnID])
	if err != nil {
		return err
	}
	for _, turn := range turns {
		if err := t.eraseTurn(turn); err != nil {
			return err
		}
	}
	return nil
}

// eraseTurn erases the text of a turn. The texts of its posts stay while the turn is
// about to post them, until it ends or begins again.
func (t *tx) eraseTurn(id earshot.TurnID) error {
	some := 0
	for _, query := range []string{
		`UPDATE queued_turn SET input = x'' WHERE id = ? AND input <> x''`,
		`UPDATE journal SET data = x'', erased = 1 WHERE turn = ? AND erased = 0`,
		erasePosts + ` AND NOT EXISTS (SELECT 1 FROM queued_turn WHERE id = turn AND +` + rule.BegunSQL + `)`,
	} {
		n, err := t.affected(query, int64(id))
		if err != nil {
			return err
		}
		some = max(some, min(n, 1))
	}
	t.Tally.Turns += some
	return t.needScrub()
}

const erasePosts = `UPDATE outbox SET text = '' WHERE turn = ? AND text <> ''`

// deleted returns those of the messages that are tombstones.
func (t *tx) deleted(scope earshot.Scope, ids []earshot.MessageID) ([]earshot.MessageID, error) {
	var out []earshot.MessageID
	for len(ids) > 0 {
		n := chunk(len(ids))
		a := tables.Args(scope)
		for _, id := range ids[:n] {
			a = append(a, string(id))
		}
		found, err := all(t, `SELECT id FROM message`+inPlace+` AND id IN `+marks(n, 1)+` AND +deleted = 1`, a, tables.Scan[earshot.MessageID])
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	return out, nil
}
