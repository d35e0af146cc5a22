package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// An eraser is the writer's transaction as [rule.Eraser]. Whatever deletes or
// changes text calls needScrub.
type eraser struct {
	tables.Eraser
	*tx
}

// Spoken implements [rule.Eraser].
func (e eraser) Spoken(_ context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) ([]earshot.MessageID, error) {
	by, a := ``, tables.Args(s)
	if author != "" {
		by, a = ` AND author = ?`, append(a, string(author))
	}
	return all(e.tx, `SELECT id FROM message`+inPlace+by+` AND deleted = 0 AND time <= ? ORDER BY time LIMIT ? + 0`, append(a, int64(until), limit), tables.Scan[earshot.MessageID])
}

// Purge implements [rule.Eraser].
func (e eraser) Purge(_ context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	gone, err := all(e.tx, `DELETE FROM message WHERE no IN (SELECT no FROM message`+inPlace+` AND deleted = 1 AND time <= ? LIMIT ? + 0) RETURNING id`,
		tables.Args(s, int64(until), limit), tables.Scan[earshot.MessageID])
	if err != nil {
		return false, err
	}
	for _, id := range gone {
		if err := e.exec(`DELETE FROM reading`+in+` AND message = ?`, tables.Args(s, string(id))...); err != nil {
			return false, err
		}
	}
	return len(gone) == limit, nil
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := e.LastSpoken(context.Background(), earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return err
		}
		if last != 0 {
			continue
		}
		n, err := e.affected(`DELETE FROM author WHERE platform = ? AND workspace = ? AND id = ?`, string(p), string(w), string(id))
		if err := errors.Join(err, e.needScrub()); err != nil {
			return err
		}
		e.tx.Tally.Names += n
	}
	return nil
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(_ context.Context, s earshot.Scope) error {
	var place int64
	found, err := e.one(`UPDATE channel SET name = '', topic = '', purpose = ''`+ofChannel+` RETURNING place`, tables.Args(s), []any{&place})
	if err != nil || !found {
		return err
	}
	_, err = e.dropEarly(place, rule.Forever)
	return errors.Join(err, e.needScrub())
}
