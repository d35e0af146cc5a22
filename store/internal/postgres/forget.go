package postgres

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// EraseTurnsOf implements [tables.Conn].
func (t *tx) EraseTurnsOf(id earshot.ConversationID, from, to int) {
	t.eraseDraftsOf(id)
	a := tables.Own(id, id.Name, from, to)
	const epochs = tables.OfConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.Ask(`SELECT count(*) FROM queued_turn q`+epochs+` AND (input <> '' OR EXISTS (SELECT 1 FROM journal WHERE turn = q.id AND erased = 0)
		OR NOT `+rule.BegunSQL+` AND EXISTS (SELECT 1 FROM outbox o WHERE o.turn = q.id AND text <> ''))`, a, func(rows tables.Row) error {
		var n int
		err := rows.Scan(&n)
		t.Tally.Turns += n
		return err
	})
	t.eraseTurns(`id = ANY(ARRAY(SELECT id FROM queued_turn`+epochs+`))`, a...)
}

// eraseTurns erases the text of turns. The texts of a turn's posts stay while the turn
// is about to post them, until it ends or begins again.
func (t *tx) eraseTurns(which string, a ...any) {
	t.Write(`UPDATE queued_turn SET input = '' WHERE `+which+` AND input <> ''`, a...)
	t.Write(`UPDATE journal SET data = '', erased = 1 WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND erased = 0`, a...)
	t.erasePosts(which+` AND NOT `+rule.BegunSQL, a...)
}

// erasePosts removes the texts of turns' posts.
func (t *tx) erasePosts(which string, a ...any) {
	t.Write(`UPDATE outbox SET text = '' WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND text <> ''`, a...)
}
