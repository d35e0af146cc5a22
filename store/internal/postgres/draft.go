package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PruneDrafts implements [earshot.Drafts]. It skips rows that another transaction has
// locked; the next call finds them.
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	step := func(which, change string, a ...any) func(context.Context, *tx) (int, error) {
		return func(ctx context.Context, t *tx) (int, error) {
			var ids []int64
			t.Ask(`SELECT id FROM draft WHERE `+which+` ORDER BY expires, id LIMIT $2 FOR UPDATE SKIP LOCKED`, append(a, pruneRows),
				tables.Gather(&ids, tables.Scan[int64]))
			if err := t.Send(ctx); err != nil || len(ids) == 0 {
				return 0, err
			}
			t.Write(`DELETE FROM draft_reading WHERE draft = ANY($1)`, ids)
			t.Write(change+` WHERE id = ANY($1)`, ids)
			return len(ids), nil
		}
	}
	gone, err := s.prune(ctx, "prune drafts", step(`expires < $1`, `DELETE FROM draft`, int64(rule.DraftGone(before))))
	if err != nil {
		return gone, err
	}
	emptied, err := s.prune(ctx, "prune drafts", step(`expires < $1 AND `+rule.DraftContentsSQL,
		`UPDATE draft SET `+rule.PruneDraftSQL, int64(before)))
	return gone + emptied, err
}

// eraseDraftsOf erases the open drafts of a conversation.
func (t *tx) eraseDraftsOf(id earshot.ConversationID) {
	t.eraseDrafts(`SELECT id FROM draft`+tables.OfConversation, tables.Own(id, id.Name)...)
}

// EraseDraftsReading implements [tables.Conn].
func (t *tx) EraseDraftsReading(scope earshot.Scope, ids []earshot.MessageID) {
	t.eraseDrafts(`SELECT draft FROM draft_reading`+in+` AND message = ANY($4)`, tables.Args(scope, tables.Texts(ids))...)
}

func (t *tx) eraseDrafts(which string, a ...any) {
	const erase = `WITH gone AS (UPDATE draft SET ` + rule.EraseDraftSQL + ` WHERE id = ANY(ARRAY(%s)) AND ` + rule.ErasableDraftSQL + ` RETURNING id),
		unread AS (DELETE FROM draft_reading WHERE draft IN (SELECT id FROM gone))
		SELECT count(*) FROM gone`
	t.Ask(fmt.Sprintf(erase, which), a, func(rows tables.Row) error {
		var n int
		err := rows.Scan(&n)
		t.Tally.Turns += n
		return err
	})
}
