package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// nextTurn is the id of the next turn or draft.
const nextTurn = `1 + max((SELECT coalesce(max(id), 0) FROM queued_turn), (SELECT coalesce(max(id), 0) FROM draft), (SELECT turn FROM erased WHERE one = 1))`

// PruneDrafts implements [earshot.Drafts].
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	gone, err := s.prune(ctx, "prune drafts", func(t *tx) (int, error) {
		ids, err := all(t, `DELETE FROM draft WHERE id IN (SELECT id FROM draft WHERE expires < ? ORDER BY expires, id LIMIT ?) RETURNING id`,
			[]any{int64(rule.DraftGone(before)), pruneRows}, tables.Scan[int64])
		for _, id := range ids {
			err = errors.Join(err, t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id), t.exec(`UPDATE erased SET turn = max(turn, ?) WHERE one = 1`, id))
		}
		return len(ids), err
	})
	if err != nil {
		return gone, err
	}
	emptied, err := s.prune(ctx, "prune drafts", func(t *tx) (int, error) {
		ids, err := all(t, `UPDATE draft SET `+rule.PruneDraftSQL+`
			WHERE id IN (SELECT id FROM draft WHERE expires < ? AND `+rule.DraftContentsSQL+` ORDER BY expires, id LIMIT ?) RETURNING id`,
			[]any{int64(before), pruneRows}, tables.Scan[int64])
		for _, id := range ids {
			err = errors.Join(err, t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id))
		}
		return len(ids), err
	})
	return gone + emptied, err
}

// eraseDraftsOf erases the open drafts of a conversation.
func (t *tx) eraseDraftsOf(id earshot.ConversationID) error {
	return t.eraseDrafts(ofConversation, tables.Own(id, id.Name)...)
}

// EraseDraftsReading implements [tables.Conn].
func (t *tx) EraseDraftsReading(scope earshot.Scope, ids []earshot.MessageID) {
	t.try(func() error {
		return t.eraseDrafts(` WHERE id IN (SELECT draft FROM draft_reading`+tables.In+` AND `+dialect.Any(`message`, 4)+`)`, tables.Args(scope, asJSON(ids))...)
	})
}

func (t *tx) eraseDrafts(where string, a ...any) error {
	ids, err := all(t, `UPDATE draft SET `+rule.EraseDraftSQL+where+` AND `+rule.ErasableDraftSQL+` RETURNING id`, a, tables.Scan[int64])
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id); err != nil {
			return err
		}
	}
	t.Tally.Turns += len(ids)
	return t.needScrub()
}
